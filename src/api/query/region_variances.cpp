// Variances of regions: the kind of the two tables chooses the arithmetic, once.
#include <areal/region.hpp>
#include <cmath>
#include "api/core/table_check.hpp"
#include "api/query/region_blocks.hpp"
#include "cpu/query/corner_sums.hpp"
#include "formulas/variance.hpp"

namespace areal {

namespace {

// |S| of an integer table, whatever its sign.
void magnitudes(Type type, const cpu::Corners* corners, std::int64_t n, std::uint64_t* out) {
  if (!is_signed_integer(type)) return cpu::corner_sums<std::uint64_t>(type)(corners, n, out);
  std::array<std::int64_t, regions_per_block> sums;
  cpu::corner_sums<std::int64_t>(type)(corners, n, sums.data());
  for (std::int64_t i = 0; i < n; ++i)
    out[i] = sums[i] < 0 ? 0 - static_cast<std::uint64_t>(sums[i]) : static_cast<std::uint64_t>(sums[i]);
}

// The block's variances, of its first table's sums and its second's squares over n pixels each.
template <std::size_t Tables>
void variances(const RegionBlock<Tables>& block, Type sum, Type squares, const std::uint64_t* n, double* out) {
  std::array<std::uint64_t, regions_per_block> s1, s2;
  std::array<double, regions_per_block> d1, d2;
  const cpu::Corners *first = block.corners[0].data(), *second = block.corners[1].data();
  const bool integers = !is_float(sum), integer_squares = !is_float(squares);
  if (integers) magnitudes(sum, first, block.count, s1.data());
  if (!integers) cpu::corner_sums<double>(sum)(first, block.count, d1.data());
  if (integers && integer_squares) magnitudes(squares, second, block.count, s2.data());
  if (!integers || !integer_squares) cpu::corner_sums<double>(squares)(second, block.count, d2.data());
  for (std::int64_t i = 0; i < block.count; ++i) {
    if (integers && integer_squares)
      out[i] = formulas::variance(s1[i], s2[i], n[i]);
    else if (integers)
      out[i] = formulas::variance(s1[i], d2[i], n[i]);
    else
      out[i] = formulas::variance(d1[i], d2[i], static_cast<double>(n[i]));
  }
}

}  // namespace

void region_variances(const TableView& sum, const TableView& squares, std::span<const Region> regions,
                      std::span<double> out, Outside outside, int threads, const TableView* count) {
  require_variance_tables(sum, squares, count);
  require_answers(out.size(), "variances", regions.size(), sum.view.shape);
  const bool lacks_last = sum.border == Border::exclusive || squares.border == Border::exclusive ||
                          (count && count->border == Border::exclusive);
  const RegionRules rules{sum.image_width(), sum.image_height(), outside, lacks_last};
  const Type type = sum.view.type, squares_type = squares.view.type;
  const std::int64_t planes = planes_of(sum.view.shape), channels = sum.view.shape.channels;
  for (std::int64_t p = 0; p < planes; ++p) {
    const PlaneAnswers<double> answers{out.data(), planes, p};
    const cpu::Corner sum_corner = plane_corner(sum, p, channels), squares_corner = plane_corner(squares, p, channels);
    if (!count) {
      for_each_region_block<2>(regions, rules, {sum_corner, squares_corner}, threads, [&](const RegionBlock<2>& block) {
        answers.put(block, [&](double* to) { variances(block, type, squares_type, block.pixels.data(), to); });
      });
      continue;
    }
    for_each_region_block<3>(regions, rules, {sum_corner, squares_corner, plane_corner(*count, p, channels)}, threads,
                             [&](const RegionBlock<3>& block) {
                               std::array<std::uint64_t, regions_per_block> n;
                               magnitudes(count->view.type, block.corners[2].data(), block.count, n.data());
                               answers.put(block,
                                           [&](double* to) { variances(block, type, squares_type, n.data(), to); });
                             });
  }
}

void region_standard_deviations(const TableView& sum, const TableView& squares, std::span<const Region> regions,
                                std::span<double> out, Outside outside, int threads, const TableView* count) {
  region_variances(sum, squares, regions, out, outside, threads, count);
  for (double& value : out) value = std::sqrt(value);
}

}  // namespace areal
