// StripSums: sums of regions as an image passes, by tables of strips or, of small integers on the host, by panels.

#include <areal/error.hpp>
#include <areal/table.hpp>
#include <cmath>
#include <memory>
#include <optional>
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "formulas/variance.hpp"
#include "pieces/core/table_work.hpp"
#include "pieces/strips/driver.hpp"
#include "pieces/strips/non_finite.hpp"
#include "pieces/strips/panel_work.hpp"
#include "pieces/strips/region_events.hpp"
#include "pieces/strips/table_sums.hpp"

namespace areal {
namespace {

constexpr std::int64_t least_rows = 16;  // of a strip that is summed in 32 bits: below, its overhead takes more

Type sums_type(Type input, bool narrow) {
  if (is_float(input)) return Type::f64;
  if (is_signed_integer(input)) return narrow ? Type::s32 : Type::s64;
  return narrow ? Type::u32 : Type::u64;
}

}  // namespace

struct StripSums::State {
  Shape image;
  Type type;
  PieceOptions options;
  pieces::RegionEvents events;
  std::unique_ptr<pieces::PanelSums> panels;  // then there are no tables
  std::optional<pieces::StripDriver> driver;
  std::optional<pieces::TableSums> tables;
  std::optional<pieces::NonFinite> non_finite;  // of floats
  bool done = false;

  State(const Shape& shape, Type of, Span<const Region> regions, const StripSumsOptions& sums_options,
        const PieceOptions& strip_options)
      : image(shape),
        type(of),
        options(strip_options),
        events(regions, shape.width, shape.height, strip_options.outside) {
    choose(sums_options.squares);
    if (is_float(type))
      non_finite.emplace(image, std::vector<Region>(events.regions().begin(), events.regions().end()));
    if (!panels) tables.emplace(events, image.width, driver->work());
  }

  // On the host no more than stays in a cache: no table leaves.
  std::int64_t chosen_height(const pieces::Work& work) const {
    const pieces::StripHeights heights(work, image, options);
    if (work.on_cuda() || options.memory == 0 || options.height > 0) return heights.chosen();
    PieceOptions limited = options;
    limited.memory = std::min(options.memory, heights.usual_bytes());
    return std::min(pieces::StripHeights(work, image, limited).chosen(), pieces::usual_most_rows(image.height));
  }

  std::unique_ptr<pieces::TableWork> work_of(bool squares, Type table) const {
    SatOptions sat{.border = Border::zero, .types = TypePair{type, table}};
    if (squares) sat.squares = Squares::automatic;
    return std::make_unique<pieces::TableWork>(image, type, sat, pieces::strips_on(options),
                                               pieces::TableWork::Tables::stay);
  }
  void drive(std::unique_ptr<const pieces::Work> work, std::int64_t height) {
    driver.emplace(std::move(work), image, options, height, "mask");
  }

  // 32 bits where the strip's sums fit them and strips are not too flat, else 64.
  void choose(bool squares) {
    if (!squares && pieces::PanelSums::takes(image, type)) {
      const Execution on = work_of(false, sums_type(type, true))->execution();  // what it refuses, and its backend
      if (on.backend == Backend::cpu) return by_panels(on);
    }
    if (!is_float(type) && size_of(type) <= 2) {
      const TypePair narrow{type, sums_type(type, true)};
      const std::int64_t fit = largest_safe_region(narrow) / std::max<std::int64_t>(1, image.width);
      const std::int64_t wanted = options.height > 0 ? options.height : least_rows;
      if (fit >= std::min(wanted, std::max<std::int64_t>(1, image.height))) {
        auto work = work_of(squares, narrow.table);
        const std::int64_t height = std::min(chosen_height(*work), fit);
        return drive(std::move(work), height);
      }
    }
    auto work = work_of(squares, sums_type(type, false));
    const std::int64_t height = chosen_height(*work);
    drive(std::move(work), height);
  }

  void by_panels(const Execution& on) {
    panels = std::make_unique<pieces::PanelSums>(image, type, on.threads, events);
    auto work = std::make_unique<pieces::PanelWork>(*panels, image, type, on);
    std::int64_t height = chosen_height(*work);
    const std::int64_t rows = panels->panel().rows;
    if (options.height == 0 && height > rows) height -= height % rows;
    drive(std::move(work), height);
  }

  void restart() {
    done = false;
    if (non_finite) non_finite->restart();
    if (panels) panels->restart();
    if (tables) tables->restart();
  }

  pieces::StripUse use() {
    pieces::StripUse use;
    if (tables) use.computed = [this](const pieces::Part& strip, pieces::PieceLane& lane) { tables->add(strip, lane); };
    if (non_finite)
      use.filled = [this](const pieces::Part& strip, const View& pixels) { non_finite->take(strip.pixels.y, pixels); };
    use.done = pieces::reporter(options.progress, image.height);
    return use;
  }
  void finished() {
    if (non_finite) non_finite->finish();
    done = true;
  }

  void require_answered(std::size_t t) const {
    require(done, "the image has not passed: run, or begin, push and finish, come before answers");
    require(t < (panels ? 1 : tables->tables()), "squares were not asked for: StripSumsOptions has them");
  }
  bool is_real(std::size_t t) const { return !panels && is_float(tables->type(t)); }
  const std::vector<std::uint64_t>& integer_answers(std::size_t t) const {
    return panels ? panels->answers() : tables->answers(t).integer;
  }
  void require_room(std::size_t n) const {
    const std::size_t all = events.regions().size() * static_cast<std::size_t>(image.channels);
    require(n == all, "output of ", n, " elements: ", events.regions().size(), " regions of ", image.channels,
            " channels need ", all);
  }
  double pixels(std::size_t answer) const {
    const Region& region = events.regions()[answer / static_cast<std::size_t>(image.channels)];
    return static_cast<double>(region.width) * static_cast<double>(region.height);
  }
  void write(std::size_t t, Span<double> out) const {
    require_answered(t);
    require_room(out.size());
    if (is_real(t)) {
      const std::vector<double>& sums = tables->answers(t).real;
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = !non_finite ? sums[i] : t == 0 ? non_finite->sum(i, sums[i]) : non_finite->squares(i, sums[i]);
      return;
    }
    const bool is_signed = t == 0 && is_signed_integer(type);
    const std::vector<std::uint64_t>& sums = integer_answers(t);
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = is_signed ? static_cast<double>(static_cast<std::int64_t>(sums[i])) : static_cast<double>(sums[i]);
  }
  template <class T>
  void write_integers(std::size_t t, Span<T> out) const {
    require_answered(t);
    require_room(out.size());
    const bool is_signed = t == 0 && is_signed_integer(type);
    const char* const what = t == 0 ? "sums" : "squares";
    require(!is_real(t), what, " of ", name_of(type), " pixels are 64f: request them as double");
    require(is_signed == std::is_signed_v<T>, what, " of ", name_of(type), " pixels are ", is_signed ? "64s" : "64u",
            ", not ", is_signed ? "64u" : "64s");
    const std::vector<std::uint64_t>& sums = integer_answers(t);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(sums[i]);
  }
  double variance(std::size_t i) const {
    const pieces::Sums &s1 = tables->answers(0), &s2 = tables->answers(1);
    const Region& region = events.regions()[i / static_cast<std::size_t>(image.channels)];
    if (non_finite && non_finite->in(i)) return formulas::not_a_number();
    if (is_float(type)) return formulas::variance(s1.real[i], s2.real[i], pixels(i));
    const auto n = static_cast<std::uint64_t>(region.width) * static_cast<std::uint64_t>(region.height);
    const bool negative = is_signed_integer(type) && static_cast<std::int64_t>(s1.integer[i]) < 0;
    const std::uint64_t magnitude = negative ? 0 - s1.integer[i] : s1.integer[i];
    return is_real(1) ? formulas::variance(magnitude, s2.real[i], n) : formulas::variance(magnitude, s2.integer[i], n);
  }
};

StripSums::StripSums(const Shape& image, Type type, Span<const Region> regions, const StripSumsOptions& options,
                     const PieceOptions& strips) {
  check_shape("image", image, type);
  require(image.batch == 1, "image of batch ", image.batch, ": sums by strips are of one image");
  state_ = std::make_unique<State>(image, type, regions, options, strips);
}
StripSums::~StripSums() = default;
StripSums::StripSums(StripSums&&) noexcept = default;
StripSums& StripSums::operator=(StripSums&&) noexcept = default;

void StripSums::run(const ImageReader& read) {
  State& s = *state_;
  s.restart();
  s.driver->run(read, {}, s.use());
  s.finished();
}
void StripSums::begin() {
  State& s = *state_;
  s.restart();
  s.driver->begin(s.use());
}
void StripSums::push(std::int64_t x, std::int64_t y, const ConstView& block) { state_->driver->push(x, y, block, {}); }
void StripSums::finish() {
  state_->driver->finish();
  state_->finished();
}

void StripSums::sums(Span<double> out) const { state_->write(0, out); }
void StripSums::sums(Span<std::uint64_t> out) const { state_->write_integers(0, out); }
void StripSums::sums(Span<std::int64_t> out) const { state_->write_integers(0, out); }
void StripSums::squares(Span<double> out) const { state_->write(1, out); }
void StripSums::squares(Span<std::uint64_t> out) const { state_->write_integers(1, out); }
void StripSums::squares(Span<std::int64_t> out) const { state_->write_integers(1, out); }

std::vector<double> StripSums::means() const {
  std::vector<double> out(answers());
  state_->write(0, Span<double>(out));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double pixels = state_->pixels(i);
    out[i] = pixels > 0 ? out[i] / pixels : formulas::not_a_number();
  }
  return out;
}
std::vector<double> StripSums::variances() const {
  state_->require_answered(1);
  std::vector<double> out(answers());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = state_->variance(i);
  return out;
}
std::vector<double> StripSums::standard_deviations() const {
  std::vector<double> out = variances();
  for (double& value : out) value = std::sqrt(value);
  return out;
}
std::size_t StripSums::answers() const noexcept {
  return state_->events.regions().size() * static_cast<std::size_t>(state_->image.channels);
}
std::int64_t StripSums::strip_height() const noexcept { return state_->driver->height(); }
std::uint64_t StripSums::memory_bytes() const noexcept { return state_->driver->memory_bytes(); }
Backend StripSums::backend() const noexcept { return state_->driver->work().execution().backend; }

}  // namespace areal
