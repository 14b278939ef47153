// Owned tables: views of them, copies, other borders.
#include <areal/region.hpp>
#include <utility>
#include "api/core/require.hpp"
#include "api/sat/sat_plan.hpp"

namespace areal {
namespace {

View view_of(const OwnedView SatTable::State::*table, const SatTable::State* state) noexcept {
  return state ? (state->*table).view() : View();
}
constexpr OwnedView SatTable::State::*all_tables[] = {&SatTable::State::sum, &SatTable::State::squares,
                                                      &SatTable::State::tilted, &SatTable::State::count};

/// The same description, without tables.
std::unique_ptr<SatTable::State> like(const SatTable::State& state, MemoryPlace place) {
  auto made = std::make_unique<SatTable::State>();
  made->image = state.image, made->types = state.types, made->border = state.border, made->volume = state.volume;
  made->reverse = state.reverse;
  made->memory = place;
  return made;
}

Shape with(Shape table, Border from, Border to) {
  const std::int64_t more = (to == Border::zero ? 1 : 0) - (from == Border::zero ? 1 : 0);
  table.width += more, table.height += more;
  return table;
}

}  // namespace

SatTable::SatTable() noexcept = default;
SatTable::SatTable(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
SatTable::~SatTable() = default;
SatTable::SatTable(SatTable&&) noexcept = default;
SatTable& SatTable::operator=(SatTable&&) noexcept = default;

View SatTable::sum() noexcept { return view_of(&State::sum, state_.get()); }
ConstView SatTable::sum() const noexcept { return view_of(&State::sum, state_.get()); }
View SatTable::squares() noexcept { return view_of(&State::squares, state_.get()); }
ConstView SatTable::squares() const noexcept { return view_of(&State::squares, state_.get()); }
View SatTable::tilted() noexcept { return view_of(&State::tilted, state_.get()); }
ConstView SatTable::tilted() const noexcept { return view_of(&State::tilted, state_.get()); }
View SatTable::count() noexcept { return view_of(&State::count, state_.get()); }
ConstView SatTable::count() const noexcept { return view_of(&State::count, state_.get()); }

Border SatTable::border() const noexcept { return state_ ? state_->border : Border::zero; }
TypePair SatTable::types() const noexcept { return state_ ? state_->types : TypePair{}; }
MemoryPlace SatTable::memory() const noexcept { return state_ ? state_->memory : MemoryPlace{}; }
bool SatTable::is_volume() const noexcept { return state_ && state_->volume; }
bool SatTable::is_reversed() const noexcept { return state_ && state_->reverse; }
const Shape& SatTable::image_shape() const noexcept {
  static const Shape none;
  return state_ ? state_->image : none;
}

SatView SatTable::view(std::int64_t channel, std::int64_t image) const {
  require(state_ != nullptr, "table: it was moved from");
  require(!state_->volume, "table of a volume: box_sums reads it, as sum()");
  require(!state_->reverse || state_->border == Border::zero,
          "table: a reversed one answers in border `zero` alone, not `", name_of(state_->border), "`");
  const auto one = [&](const OwnedView& table, std::int64_t c) -> std::optional<TableView> {
    if (!table.exists()) return std::nullopt;
    return TableView(plane(ConstView(table.view()), c, image), state_->border);
  };
  SatView view(TableView(plane(sum(), channel, image), state_->border));
  view.squares = one(state_->squares, channel);
  view.count = one(state_->count, 0);
  if (state_->tilted.exists()) view.tilted = plane(tilted(), channel, image);
  return view;
}

SatTable::operator SatView() const {
  require(state_ != nullptr, "table: it was moved from");
  require(state_->image.channels == 1 && state_->image.batch == 1, "table of ", state_->image.channels,
          " channels, batch ", state_->image.batch, ": name the channel and the image, table.view(channel, image)");
  return view();
}

SatTable SatTable::copy_to(MemoryPlace place, const Execution& execution) const {
  require(state_ != nullptr, "table: it was moved from");
  auto copy = like(*state_, place);
  for (const auto table : all_tables) {
    const OwnedView& from = (*state_).*table;
    if (from.exists()) (*copy).*table = OwnedView(from.view().shape, from.view().type, place);
  }
  copy_between(state_->memory, place, execution, [&](Stream stream) {
    for (const auto table : all_tables) ((*copy).*table).copy_from((*state_).*table, stream);
  });
  return SatTable(std::move(copy));
}

SatTable SatTable::with_border(Border border, const ConstView& image, const Execution& execution) const {
  require(state_ != nullptr, "table: it was moved from");
  require(!state_->volume, "border: a table of a volume keeps the border that it was computed with");
  require(!state_->reverse, "border: a reversed table keeps the border that it was computed with");
  require(image.memory.is_host() || image.memory == state_->memory, "image: it is in other memory than the tables");
  if (!state_->memory.is_host()) {
    const auto pixels = image.data != nullptr && !image.memory.is_host() ? host_copy(image, execution) : Array();
    return copy_to({}, execution)
        .with_border(border, pixels.data() != nullptr ? pixels.view() : image, execution)
        .copy_to(state_->memory);  // without a stream, which waits: the host's tables end here
  }
  const bool completes = state_->border == Border::exclusive && border != Border::exclusive;
  require(!completes || (!state_->squares.exists() && !state_->count.exists()),
          "border: an `exclusive` table with squares or counts lacks what an image alone cannot complete: compute it "
          "in border `",
          name_of(border), "`");
  auto made = like(*state_, state_->memory);
  made->border = border;
  for (const auto table : {&State::sum, &State::squares, &State::count}) {
    const View& from = ((*state_).*table).view();
    if (!((*state_).*table).exists()) continue;
    (*made).*table = OwnedView(with(from.shape, state_->border, border), from.type, state_->memory);
    const View& to = ((*made).*table).view();
    for (std::int64_t n = 0; n < from.shape.batch; ++n)
      for (std::int64_t c = 0; c < from.shape.channels; ++c) {
        const bool has_image = completes && image.data != nullptr;
        const ConstView pixels = has_image ? plane(image, c, n) : ConstView();
        convert_border({plane(ConstView(from), c, n), state_->border}, plane(to, c, n), border, pixels);
      }
  }
  if (state_->tilted.exists()) {
    made->tilted = OwnedView(state_->tilted.view().shape, state_->tilted.view().type, state_->memory);
    made->tilted.copy_from(state_->tilted, Stream::host());
  }
  return SatTable(std::move(made));
}

}  // namespace areal
