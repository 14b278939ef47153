// Sums of regions of a table that is spread: what each strip's rows add, added up.
#include <areal/error.hpp>
#include <cstdint>
#include <type_traits>
#include <vector>
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "pieces/spread/spread_sat.hpp"

namespace areal {
namespace {

/// Sums modulo 2^64 as integers of the table's type.
template <class T>
void cut_to(Type type, Span<T> sums) {
  if constexpr (!std::is_same_v<T, double>)
    if (size_of(type) == 4)
      for (T& sum : sums)
        sum = std::is_signed_v<T> ? static_cast<T>(static_cast<std::int32_t>(sum))
                                  : static_cast<T>(static_cast<std::uint32_t>(sum));
}

template <class T>
std::vector<T> sums_of(const pieces::SpreadWork& work, Span<const ConstView> tables, Span<const Region> regions,
                       std::size_t answers) {
  std::vector<T> sums(answers, T(0)), part(answers);
  for (std::size_t s = 0; s < tables.size(); ++s) {
    const SpreadStrip& strip = work.strips[s];
    if (tables[s].shape.empty()) continue;
    pieces::on_worker(strip.worker, [&] {
      partial_region_sums(TableView(tables[s].in(strip.memory), work.border()), strip.table_row,
                          work.whole.image_shape().height, regions, Span<T>(part), pieces::execution_of(strip.worker));
    });
    for (std::size_t i = 0; i < sums.size(); ++i)
      if constexpr (std::is_same_v<T, double>)
        sums[i] += part[i];
      else
        sums[i] = static_cast<T>(static_cast<std::uint64_t>(sums[i]) + static_cast<std::uint64_t>(part[i]));
  }
  cut_to(work.whole.types().table, Span<T>(sums));
  return sums;
}

template <class T>
void answer(const pieces::SpreadWork& work, Span<const ConstView> tables, Span<const Region> regions, Span<T> out) {
  require(tables.size() == work.strips.size(), "tables: views of ", tables.size(), " strips, there are ",
          work.strips.size());
  require(regions.memory().is_host() && out.memory().is_host(), "regions and out: they must lie in host memory");
  const Shape& image = work.whole.image_shape();
  const std::size_t answers = regions.size() * static_cast<std::size_t>(image.channels);
  require(out.size() == answers, "out of ", out.size(), ": ", regions.size(), " regions have ", answers, " sums");
  const Type type = work.whole.types().table;
  constexpr bool real = std::is_same_v<T, double>;
  require(real || (!is_float(type) && is_signed_integer(type) == std::is_signed_v<T>), "out: the table has sums of ",
          name_of(type), ", which double takes",
          is_float(type)            ? ""
          : is_signed_integer(type) ? " and std::int64_t"
                                    : " and std::uint64_t");
  for (std::size_t i = 0; i < regions.size(); ++i)
    checked_region(regions[i], static_cast<std::int64_t>(i), image.width, image.height, Outside::error, work.border());
  for (std::size_t s = 0; s < tables.size(); ++s) {
    check_view(sentence("tables[", s, "]"), tables[s], work.strips[s].table, type);
    require(tables[s].data == nullptr || tables[s].memory == work.strips[s].memory, "tables[", s,
            "] does not lie in the memory of ", name_of(work.strips[s].worker));
  }
  const auto put = [&](const auto& sums) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(sums[i]);
  };
  // Integers as 64 bits, of which the table's type counts; double would lose some.
  if (is_float(type))
    put(sums_of<double>(work, tables, regions, answers));
  else if (is_signed_integer(type))
    put(sums_of<std::int64_t>(work, tables, regions, answers));
  else
    put(sums_of<std::uint64_t>(work, tables, regions, answers));
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
