// StripSat: tables strip by strip. Strips are computed with border `zero`, whatever the border: of its entries every
// other one has a part.

#include <memory>
#include <utility>
#include "api/core/require.hpp"
#include "pieces/core/frame.hpp"
#include "pieces/core/table_work.hpp"
#include "pieces/strips/driver.hpp"

namespace areal {
namespace {

void check_options(const Shape& image, const SatOptions& options) {
  require(image.batch == 1, "image of batch ", image.batch, ": tables by strips are of one image");
  require(!options.tilted && !options.volume && !options.reverse,
          "tables by strips are sums, squares and counts: no tilted table, no volume and no reverse");
  require(!options.progress, "progress: tables by strips have theirs in PieceOptions");
  pieces::require_carries("sat", options.algorithm, "tables by strips");
}

pieces::StripDriver driver_of(const Shape& image, Type type, SatOptions options, TypePair types,
                              const PieceOptions& strips) {
  pieces::require_no_bins(strips, "tables by strips");
  options.border = Border::zero, options.types = types;
  auto work = std::make_unique<pieces::TableWork>(image, type, options, pieces::strips_on(strips),
                                                  pieces::TableWork::Tables::leave);
  const std::int64_t height = pieces::StripHeights(*work, image, strips).chosen();
  return pieces::StripDriver(std::move(work), image, strips, height, "mask");
}

}  // namespace

struct StripSat::State {
  Shape image;
  Border border;
  SatPlan whole;  // of the whole image, for its shapes
  Progress progress;
  pieces::StripDriver driver;

  State(const Shape& shape, Type type, const SatOptions& options, const PieceOptions& strips)
      : image(shape),
        border(options.border),
        whole(shape, type, pieces::of_whole(options), {.backend = Backend::cpu}),
        progress(strips.progress),
        driver(driver_of(shape, type, options, whole.types(), strips)) {}

  pieces::StripUse use(const PieceSink& sink) const {
    require(static_cast<bool>(sink), "sink: there is none");
    return {.give =
                [this, sink](const pieces::Part& strip, const std::vector<ConstView>& tables) {
                  const pieces::Frame frame(border, strip);
                  const std::vector<ConstView> framed = frame.of(tables);
                  return framed[0].shape.empty() ||
                         sink(pieces::piece_of(0, frame.y(), framed, whole.squares_type().has_value()));
                },
            .done = pieces::reporter(progress, image.height)};
  }
};

StripSat::StripSat(const Shape& image, Type type, const SatOptions& options, const PieceOptions& strips) {
  check_options(image, options);
  state_ = std::make_unique<State>(image, type, options, strips);
}
StripSat::~StripSat() = default;
StripSat::StripSat(StripSat&&) noexcept = default;
StripSat& StripSat::operator=(StripSat&&) noexcept = default;

void StripSat::run(const ImageReader& read, const PieceSink& sink, const ImageReader& read_mask) {
  state_->driver.run(read, read_mask, state_->use(sink));
}
void StripSat::begin(PieceSink sink) { state_->driver.begin(state_->use(sink)); }
bool StripSat::push(std::int64_t x, std::int64_t y, const ConstView& block, const ConstView& mask) {
  return state_->driver.push(x, y, block, mask);
}
void StripSat::finish() { state_->driver.finish(); }

std::int64_t StripSat::strip_height() const noexcept { return state_->driver.height(); }
std::uint64_t StripSat::memory_bytes() const noexcept { return state_->driver.memory_bytes(); }
Backend StripSat::backend() const noexcept { return state_->driver.work().execution().backend; }
Shape StripSat::table_shape() const noexcept { return state_->whole.table_shape(); }
Shape StripSat::count_shape() const noexcept { return state_->whole.count_shape(); }
TypePair StripSat::types() const noexcept { return state_->whole.types(); }
std::optional<Type> StripSat::squares_type() const noexcept { return state_->whole.squares_type(); }

}  // namespace areal
