// Sums of regions of a table that is spread: each strip answers for the rows above a region's corners that it has, and
// the two answers of a region are subtracted.
#include <areal/error.hpp>
#include <cstdint>
#include <type_traits>
#include <vector>
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "cluster/spread_sat.hpp"

namespace areal {
namespace {

using cluster::SpreadWork;

void require_inside(const SpreadWork& work, Span<const Region> regions) {
  const std::int64_t less = work.border == Border::exclusive ? 1 : 0;
  const Shape& image = work.image;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const Region& r = regions[i];
    require(r.x >= 0 && r.y >= 0 && r.width >= 0 && r.height >= 0 && r.x <= image.width && r.y <= image.height &&
                r.width <= image.width - r.x && r.height <= image.height - r.y,
            "regions[", i, "] ", r.x, ",", r.y, ",", r.width, ",", r.height, ": it does not lie inside the image of ",
            image.width, "x", image.height);
    require(
        r.width == 0 || r.height == 0 || (r.x + r.width <= image.width - less && r.y + r.height <= image.height - less),
        "regions[", i, "] ", r.x, ",", r.y, ",", r.width, ",", r.height,
        ": an exclusive table lacks the last row and column of the image of ", image.width, "x", image.height);
  }
}

/// One strip's questions: regions of its rows of sums, from the first on, and whose they are.
struct Questions {
  std::vector<Region> regions;
  std::vector<std::size_t> of, of_tops;  // the first `of.size()` regions end with a region's last row, the others above
};

/// Rows of sums [first, first + count) of the image, as a table of border none.
struct SumRows {
  std::int64_t first = 0, count = 0;
  ConstView view;
};

SumRows sum_rows(const SpreadWork& work, std::size_t strip, const ConstView& table) {
  const SpreadStrip& of = work.strips[strip];
  SumRows rows;
  const bool exclusive = work.border == Border::exclusive;
  // A strip of an exclusive table begins with the sums of the row above it; the first begins with zeros.
  const bool zeros = exclusive ? of.first == 0 : work.border == Border::zero && strip == 0;
  const std::int64_t skipped = zeros && table.shape.height > 0 ? 1 : 0;
  rows.first = of.first - (exclusive && !zeros ? 1 : 0);
  rows.count = table.shape.height - skipped;
  const char* const data = static_cast<const char*>(table.data);
  const std::int64_t column = work.column_offset();
  rows.view = ConstView(data == nullptr ? data : data + skipped * table.row_pitch + column * table.column_pitch(),
                        table.type, {work.cut.width, rows.count}, table.row_pitch)
                  .in(of.memory);
  return rows;
}

template <class T>
void answer(const SpreadWork& work, Span<const ConstView> tables, Span<const Region> regions, Span<T> out) {
  require(tables.size() == work.strips.size(), "tables: views of ", tables.size(), " strips, there are ",
          work.strips.size());
  require(regions.memory().is_host() && out.memory().is_host(), "regions and out: they must lie in host memory");
  require(out.size() == regions.size(), "out of ", out.size(), ": ", regions.size(), " answers are asked for");
  const Type type = work.table_type();
  constexpr bool real = std::is_same_v<T, double>;
  require(real || (!is_float(type) && is_signed_integer(type) == std::is_signed_v<T>), "out: the table has sums of ",
          name_of(type), ", which double takes",
          is_float(type)            ? ""
          : is_signed_integer(type) ? " and std::int64_t"
                                    : " and std::uint64_t");
  require_inside(work, regions);
  for (std::size_t s = 0; s < tables.size(); ++s) {
    check_view(sentence("tables[", s, "]"), tables[s], work.strips[s].table, type);
    require(tables[s].data == nullptr || tables[s].memory == work.strips[s].memory, "tables[", s,
            "] does not lie in the memory of ", name_of(work.strips[s].worker));
  }

  // Integers as 64 bits, of which the table's type counts; double would lose some.
  const auto all = [&](auto as) {
    using W = decltype(as);
    std::vector<W> bottoms(regions.size(), W(0)), tops(regions.size(), W(0));
    for (std::size_t s = 0; s < tables.size(); ++s) {
      const SumRows rows = sum_rows(work, s, tables[s]);
      const auto has = [&](std::int64_t y) { return y >= rows.first && y < rows.first + rows.count; };
      Questions asked;
      const auto ask = [&](std::vector<std::size_t>& whose, std::int64_t past_last, std::size_t i) {
        const Region& r = regions[i];
        if (r.width == 0 || r.height == 0 || past_last == 0 || !has(past_last - 1)) return;
        asked.regions.push_back({r.x, 0, r.width, past_last - rows.first});
        whose.push_back(i);
      };
      for (std::size_t i = 0; i < regions.size(); ++i) ask(asked.of, regions[i].y + regions[i].height, i);
      for (std::size_t i = 0; i < regions.size(); ++i) ask(asked.of_tops, regions[i].y, i);
      if (asked.regions.empty()) continue;
      const Worker& worker = work.strips[s].worker;
      const Execution on{.backend = worker.backend, .device = worker.device, .threads = worker.threads};
      const auto sums = cluster::named(
          worker, [&] { return region_sums<W>(SatView(rows.view, Border::none), asked.regions, {.execution = on}); });
      for (std::size_t k = 0; k < asked.of.size(); ++k) bottoms[asked.of[k]] = sums[k];
      for (std::size_t k = 0; k < asked.of_tops.size(); ++k) tops[asked.of_tops[k]] = sums[asked.of.size() + k];
    }
    const bool narrow = size_of(type) == 4;
    for (std::size_t i = 0; i < regions.size(); ++i) {
      if constexpr (std::is_same_v<W, double>)
        out[i] = static_cast<T>(bottoms[i] - tops[i]);
      else if constexpr (std::is_signed_v<W>) {
        const auto sum = static_cast<std::uint64_t>(bottoms[i]) - static_cast<std::uint64_t>(tops[i]);
        out[i] = static_cast<T>(narrow ? static_cast<std::int64_t>(static_cast<std::int32_t>(sum))
                                       : static_cast<std::int64_t>(sum));
      } else {
        const std::uint64_t sum = bottoms[i] - tops[i];
        out[i] = static_cast<T>(narrow ? static_cast<std::uint32_t>(sum) : sum);
      }
    }
  };
  if (is_float(type)) {
    if constexpr (real) all(double{});
  } else if (is_signed_integer(type)) {
    all(std::int64_t{});
  } else {
    all(std::uint64_t{});
  }
}

}  // namespace

void SpreadSat::region_sums(Span<const ConstView> tables, Span<const Region> regions, Span<double> out) const {
  answer(state_->work, tables, regions, out);
}
void SpreadSat::region_sums(Span<const ConstView> tables, Span<const Region> regions, Span<std::uint64_t> out) const {
  answer(state_->work, tables, regions, out);
}
void SpreadSat::region_sums(Span<const ConstView> tables, Span<const Region> regions, Span<std::int64_t> out) const {
  answer(state_->work, tables, regions, out);
}

}  // namespace areal
