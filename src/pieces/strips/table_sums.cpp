#include "pieces/strips/table_sums.hpp"
#include <algorithm>
#include <type_traits>

namespace areal::pieces {
namespace {

constexpr std::size_t events_at_once = 16384;

/// f(values) of a typed row.
template <class F>
void with_values(Type type, const void* row, const F& f) {
  switch (type) {
    case Type::u32:
      return f(static_cast<const std::uint32_t*>(row));
    case Type::s32:
      return f(static_cast<const std::int32_t*>(row));
    case Type::s64:
      return f(static_cast<const std::int64_t*>(row));
    case Type::u64:
      return f(static_cast<const std::uint64_t*>(row));
    default:
      return f(static_cast<const double*>(row));
  }
}

void add_row(const void* row, Type type, std::size_t first, std::size_t n, Sums& above) {
  with_values(type, row, [&](const auto* values) {
    if constexpr (std::is_same_v<decltype(values), const double*>)
      for (std::size_t i = 0; i < n; ++i) above.real[first + i] += values[i];
    else
      for (std::size_t i = 0; i < n; ++i) above.integer[first + i] += static_cast<std::uint64_t>(values[i]);
  });
}

}  // namespace

TableSums::TableSums(const RegionEvents& events, std::int64_t width, const Work& work)
    : events_(events),
      work_(work),
      channels_(static_cast<std::size_t>(work.form().outputs[0].channels)),
      columns_(static_cast<std::size_t>(width + 1)) {
  for (const Rows& table : work.form().outputs) {
    const bool real = is_float(table.type);
    tables_.push_back({table.type, Sums(real, columns_ * channels_), Sums(real, events.regions().size() * channels_)});
  }
}

void TableSums::restart() {
  next_ = 0;
  for (Table& table : tables_)
    for (Sums* const sums : {&table.above, &table.answers}) {
      std::fill(sums->integer.begin(), sums->integer.end(), 0);
      std::fill(sums->real.begin(), sums->real.end(), 0.0);
    }
}

void TableSums::add(const Part& strip, PieceLane& lane) {
  while (next_ < events_.size() && events_[next_].row <= strip.end()) {
    std::size_t last = next_;
    local_.clear();
    for (; last < events_.size() && local_.size() < events_at_once; ++last) {
      const auto event = events_[last];
      if (event.row > strip.end()) break;
      const Region& region = events_.regions()[static_cast<std::size_t>(event.region)];
      local_.push_back({region.x, 0, region.width, event.row - strip.pixels.y});
    }
    for (std::size_t t = 0; t < tables_.size(); ++t) pick(tables_[t], lane.output(strip, t), last, lane.stream());
    next_ = last;
  }
  if (next_ == events_.size() || strip.pixels.height == 0) return;  // no event needs what is above
  const std::vector<ConstView> rows = lane.last_rows(strip);
  for (std::size_t t = 0; t < tables_.size(); ++t)
    for (std::size_t c = 0; c < channels_; ++c)
      add_row(rows[t].row(0, static_cast<std::int64_t>(c)), rows[t].type, c * columns_, columns_, tables_[t].above);
}

template <class Local, class T>
void TableSums::pick_as(const SatView& strip, std::size_t last, const QueryOptions& query, std::vector<Local>& sums,
                        const std::vector<T>& above, std::vector<T>& answers) {
  sums.resize(local_.size() * channels_);
  region_sums(strip, local_, Span<Local>(sums), query);
  for (std::size_t i = next_, from = 0; i < last; ++i) {
    const auto event = events_[i];
    const auto index = static_cast<std::size_t>(event.region);
    const Region& region = events_.regions()[index];
    const auto x = static_cast<std::size_t>(region.x), width = static_cast<std::size_t>(region.width);
    for (std::size_t c = 0; c < channels_; ++c, ++from) {
      const T* const row = above.data() + c * columns_;
      const T sum = static_cast<T>(sums[from]) + (row[x + width] - row[x]);
      T& answer = answers[index * channels_ + c];
      answer = event.adds ? answer + sum : answer - sum;
    }
  }
}

// The events from `next_` to `last`.
void TableSums::pick(Table& table, const ConstView& view, std::size_t last, Stream stream) {
  const SatView strip(TableView(view, Border::zero));
  QueryOptions query;
  query.execution = work_.execution();
  if (work_.on_cuda()) query.execution.stream = stream;
  if (is_float(table.type))
    pick_as(strip, last, query, reals_, table.above.real, table.answers.real);
  else if (is_signed_integer(table.type))
    pick_as(strip, last, query, signed_integers_, table.above.integer, table.answers.integer);
  else
    pick_as(strip, last, query, integers_, table.above.integer, table.answers.integer);
}

}  // namespace areal::pieces
