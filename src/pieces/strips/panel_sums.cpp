#include "pieces/strips/panel_sums.hpp"
#include <algorithm>
#include <areal/sat.hpp>
#include "api/core/memory.hpp"
#include "api/core/planned.hpp"
#include "cpu/threads.hpp"

namespace areal::pieces {
namespace {

// Entries of a panel's table, 512 KiB: half of a core's second cache. 1024 to 4096 columns: threads of one strip share
// it, and rows are long enough for the kernel's vectors.
constexpr std::int64_t most_entries = 131072, least_columns = 1024, most_columns = 4096;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

Type entry_type(Type pixels) { return is_signed_integer(pixels) ? Type::s32 : Type::u32; }

PanelShape panel_shape(const Shape& image, Type type, int threads) {
  const std::int64_t share = ceil_div(ceil_div(image.width, cpu::slots(threads)), 64) * 64;
  const std::int64_t entries = std::min(most_entries, largest_safe_region({type, entry_type(type)}));
  PanelShape panel;
  panel.width = std::clamp<std::int64_t>(std::clamp(share, least_columns, most_columns), 1,
                                         std::max<std::int64_t>(1, image.width));
  panel.rows = std::clamp<std::int64_t>(entries / panel.width, 1, 256);
  return panel;
}

constexpr std::int64_t cache_line = 64;  // bytes
std::int64_t table_pitch(const PanelShape& panel, Type entry) {
  return ceil_div(panel.width * static_cast<std::int64_t>(size_of(entry)), cache_line) * cache_line + cache_line;
}
std::size_t table_bytes(const PanelShape& panel, Type entry) {
  return static_cast<std::size_t>((panel.rows + 1) * table_pitch(panel, entry) + cache_line);
}

}  // namespace

/// What one thread has.
struct PanelSums::Scratch {
  Scratch(Type pixels, Type entry, const PanelShape& panel)
      : types{pixels, entry}, table(table_bytes(panel, entry), MemoryPlace{}), pitch(table_pitch(panel, entry)) {}

  Planned<SatPlan>& plan(const Shape& shape) {
    auto& made = plans[{shape.width, shape.height}];
    if (!made)
      made = std::make_unique<Planned<SatPlan>>(SatPlan(shape, types.input, {.border = Border::zero, .types = types},
                                                        {.backend = Backend::cpu, .threads = 1}),
                                                Stream::host());
    return *made;
  }

  // Column 1 begins a cache line, so that the kernel's vectors do not cross two.
  View view(const Shape& shape) {
    const auto size = static_cast<std::int64_t>(size_of(types.table));
    return View(table.at(static_cast<std::size_t>(cache_line - size)), types.table, shape, pitch);
  }

  TypePair types;
  Memory table;
  std::int64_t pitch;  // bytes
  std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<Planned<SatPlan>>> plans;
};

bool PanelSums::takes(const Shape& image, Type type) noexcept {
  return image.channels == 1 && !is_float(type) && size_of(type) <= 2;
}

PanelSums::PanelSums(const Shape& image, Type type, int threads, const RegionEvents& events)
    : image_(image),
      type_(type),
      entry_(entry_type(type)),
      threads_(threads),
      events_(events),
      panel_(panel_shape(image, type, threads)),
      answers_(events.regions().size()),
      above_(static_cast<std::size_t>(image.width)) {
  for (Side* side : {&lefts_, &rights_}) side->first.resize(static_cast<std::size_t>(panels()) + 2);
}
PanelSums::~PanelSums() = default;

std::int64_t PanelSums::panels() const noexcept { return ceil_div(image_.width, panel_.width); }
std::int64_t PanelSums::columns_of(std::int64_t panel) const noexcept {
  return std::min(panel_.width, image_.width - panel * panel_.width);
}

std::size_t PanelSums::workspace_bytes(std::int64_t rows) const {
  const std::int64_t threads = std::min<std::int64_t>(cpu::slots(threads_), std::max<std::int64_t>(1, panels()));
  return static_cast<std::size_t>(threads) * table_bytes(panel_, entry_) +
         static_cast<std::size_t>((panels() + 1) * (rows + 1)) * sizeof(std::uint64_t);
}

void PanelSums::restart() {
  y_ = 0, next_ = 0;
  std::fill(answers_.begin(), answers_.end(), 0);
  std::fill(above_.begin(), above_.end(), 0);
}

void PanelSums::add(const ConstView& rows) {
  const std::int64_t height = rows.shape.height;
  if (next_ < events_.size() && image_.width > 0) {
    std::size_t last = next_;
    while (last < events_.size() && events_[last].row <= y_ + height) ++last;
    gather<false>(lefts_, last);
    gather<true>(rights_, last);
    next_ = last;
    ends_.resize(static_cast<std::size_t>(panels() * (height + 1)));
    compute_all(rows);
    add_left_parts(height);
  }
  y_ += height;
}

void PanelSums::compute_all(const ConstView& rows) {
  const std::int64_t count = panels(), threads = std::min<std::int64_t>(cpu::slots(threads_), count);
  while (static_cast<std::int64_t>(scratch_.size()) < threads)
    scratch_.push_back(std::make_unique<Scratch>(type_, entry_, panel_));
  std::atomic<std::int64_t> taken = 0;
  cpu::parallel_for(threads_, threads, [&](std::int64_t i) {
    Scratch& scratch = *scratch_[static_cast<std::size_t>(i)];
    for (std::int64_t panel; (panel = taken.fetch_add(1, std::memory_order_relaxed)) < count;)
      if (entry_ == Type::s32)
        compute<std::int32_t>(scratch, panel, rows);
      else
        compute<std::uint32_t>(scratch, panel, rows);
  });
}

void PanelSums::add_left_parts(std::int64_t height) {
  left_.assign(static_cast<std::size_t>(height + 1), 0);
  for (std::int64_t panel = 0; panel < panels(); ++panel) {
    add_left<false>(lefts_, panel);
    add_left<true>(rights_, panel);
    const std::uint64_t* const ends = &ends_[static_cast<std::size_t>(panel * (height + 1))];
    for (std::size_t r = 0; r < left_.size(); ++r) left_[r] += ends[r];
  }
}

// Events `next_` to `last` by the panel of their left or right column; none at column 0, where all sums are 0. Column x
// belongs to the panel of pixel x - 1.
template <bool Right>
void PanelSums::gather(Side& side, std::size_t last) const {
  const auto panel_of = [&](std::uint32_t key) {
    const Region& region = events_.regions()[key / 2];
    const std::int64_t x = Right ? region.x + region.width : region.x;
    return x > 0 ? (x - 1) / panel_.width : -1;
  };
  std::fill(side.first.begin(), side.first.end(), 0);
  for (std::size_t i = next_; i < last; ++i)
    if (const std::int64_t p = panel_of(events_.key(i)); p >= 0) ++side.first[static_cast<std::size_t>(p) + 2];
  for (std::size_t p = 2; p < side.first.size(); ++p) side.first[p] += side.first[p - 1];
  side.keys.resize(side.first.back());
  for (std::size_t i = next_; i < last; ++i) {
    const std::uint32_t key = events_.key(i);
    if (const std::int64_t p = panel_of(key); p >= 0) side.keys[side.first[static_cast<std::size_t>(p) + 1]++] = key;
  }
}

template <class Entry>
void PanelSums::compute(Scratch& scratch, std::int64_t panel, const ConstView& rows) {
  const std::int64_t n = columns_of(panel), x = panel * panel_.width;
  std::uint64_t* const above = &above_[static_cast<std::size_t>(x)];
  std::uint64_t* const ends = &ends_[static_cast<std::size_t>(panel * (rows.shape.height + 1))];
  std::size_t left = lefts_.first[static_cast<std::size_t>(panel)],
              right = rights_.first[static_cast<std::size_t>(panel)];
  for (std::int64_t top = 0; top < rows.shape.height; top += panel_.rows) {
    const Shape shape{n, std::min(panel_.rows, rows.shape.height - top)};
    const View table = scratch.view({n + 1, shape.height + 1});
    SatArguments arguments;
    arguments.image = ConstView(static_cast<const char*>(rows.row(top)) + x * static_cast<std::int64_t>(size_of(type_)),
                                type_, shape, rows.row_pitch);
    arguments.sum = table;
    auto& planned = scratch.plan(shape);
    planned.plan.execute(arguments, planned.workspace);

    pick<Entry, false>(lefts_, panel, left, y_ + top, table);
    pick<Entry, true>(rights_, panel, right, y_ + top, table);
    for (std::int64_t r = 1; r <= shape.height; ++r)
      ends[top + r] = above[n - 1] + static_cast<std::uint64_t>(static_cast<const Entry*>(table.row(r))[n]);
    const Entry* const bottom = static_cast<const Entry*>(table.row(shape.height)) + 1;
    for (std::int64_t i = 0; i < n; ++i) above[i] += static_cast<std::uint64_t>(bottom[i]);
  }
}

// What the panel and all that is above it have left of the corners in the rows of the table, which begin at `top`.
// `next` is the first that is not done. Two panels may have corners of one region.
template <class Entry, bool Right>
void PanelSums::pick(const Side& side, std::int64_t panel, std::size_t& next, std::int64_t top, const View& table) {
  for (const std::size_t end = side.first[static_cast<std::size_t>(panel) + 1]; next < end; ++next) {
    const RegionEvents::Event event = events_.of(side.keys[next]);
    if (event.row - top >= table.shape.height) return;
    const auto index = static_cast<std::size_t>(event.region);
    const Region& region = events_.regions()[index];
    const std::int64_t x = Right ? region.x + region.width : region.x, column = x - panel * panel_.width;
    const std::uint64_t sum = above_[static_cast<std::size_t>(x - 1)] +
                              static_cast<std::uint64_t>(static_cast<const Entry*>(table.row(event.row - top))[column]);
    std::atomic_ref<std::uint64_t>(answers_[index])
        .fetch_add(Right == event.adds ? sum : 0 - sum, std::memory_order_relaxed);
  }
}

template <bool Right>
void PanelSums::add_left(const Side& side, std::int64_t panel) {
  const auto p = static_cast<std::size_t>(panel);
  for (std::size_t i = side.first[p]; i < side.first[p + 1]; ++i) {
    const RegionEvents::Event event = events_.of(side.keys[i]);
    const std::uint64_t sum = left_[static_cast<std::size_t>(event.row - y_)];
    answers_[static_cast<std::size_t>(event.region)] += Right == event.adds ? sum : 0 - sum;
  }
}

}  // namespace areal::pieces
