#pragma once
// Sums of weights by bin, of regions straight from the pixels. 1 launch, a block a region. The order of additions
// depends on the region and the number of bins alone: strand t of n adds the pixels t, t + n, .. of the region, row by
// row, in cells of its own, and a bin's cells are added in the order of the strands. Reads a pixel and its weight once
// for each 4096 bins; writes 8 bytes a bin.

#include <cstdint>
#include "formulas/variance.hpp"
#include "kernels/primitives/counted_image.hpp"
#include "kernels/query/launches.hpp"
#include "kernels/query/regions.hpp"

namespace areal::kernels {

struct WeightsArgs {
  static constexpr int cells = 4096;

  RegionArgs regions;
  CountedImage image;
  int bins = 0;
  int group = 0;    ///< bins that are summed in one pass over the pixels
  int strands = 0;  ///< a power of two
  const char* weights = nullptr;
  Strides weight;
  Type type = Type::f32;  ///< of the weights
  double* out = nullptr;
};

template <class M, class C>
struct SumWeights {
  using In = typename C::T;
  using Args = WeightsArgs;
  static constexpr int threads = 256, resident = 4;
  struct Shared {
    double cells[WeightsArgs::cells];
    ByteBins<sizeof(In)> bin_of;
  };
  M m;
  const Args& a;  // a copy, whose tables are read by index, would lie in local memory

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    s.bin_of.fill(m, a.image, threads);
    const std::int64_t i = m.block();
    const CheckedRegion region = checked_region(m, a.regions, i);
    double* const sums = a.out + i * a.bins;
    if (m.warp() == 0) report(m, a.regions.refused, i, region.refused && m.lane() == 0);
    for (int first = 0; first < a.bins; first += a.group) {
      const int count = a.bins - first < a.group ? a.bins - first : a.group;
      for (int k = m.thread(); k < count * a.strands; k += threads) m.put(s.cells[k], 0.0);
      m.sync();
      if (m.thread() < a.strands) add(s, region.region, first, count);
      m.sync();
      for (int bin = m.thread(); bin < count; bin += threads) {
        double sum = 0;
        for (int t = 0; t < a.strands; ++t) sum += m.get(s.cells[bin * a.strands + t]);
        m.store(sums + first + bin, region.refused ? formulas::not_a_number() : sum);
      }
      m.sync();
    }
  }

  /// What this thread's strand adds to the bins [first, first + count).
  AREAL_DEVICE void add(Shared& s, const Region& region, int first, int count) {
    if (region.width == 0 || region.height == 0) return;
    const std::int64_t rows_on = a.strands / region.width, pixels_on = a.strands % region.width;
    std::int64_t y = m.thread() / region.width, x = m.thread() % region.width;
    while (y < region.height) {
      const std::int64_t row = region.y + y, column = region.x + x;
      const char* const pixel = a.image.data + row * a.image.in.row + column * a.image.in.column;
      const int bin = bin_at<In>(m, a.image, s.bin_of, pixel) - first;
      if (bin >= 0 && bin < count) {
        double& cell = s.cells[bin * a.strands + m.thread()];
        m.put(cell, m.get(cell) + weight(a.weights + row * a.weight.row + column * a.weight.column));
      }
      y += rows_on, x += pixels_on;
      if (x >= region.width) x -= region.width, ++y;
    }
  }
  AREAL_DEVICE double weight(const char* from) const {
    const bool aligned = a.weight.alignment != Alignment::bytes;
    switch (a.type) {
      case Type::u8:
        return load_element<M, std::uint8_t>(m, from, aligned);
      case Type::u16:
        return load_element<M, std::uint16_t>(m, from, aligned);
      case Type::f32:
        return load_element<M, float>(m, from, aligned);
      default:
        return load_element<M, double>(m, from, aligned);
    }
  }
};

template <class Launcher>
void sum_weights(Launcher& launcher, const CountsRequest& request) {
  forget_refused(launcher, request.regions);
  if (request.regions.count == 0) return;
  const ConstView& weights = *request.weights;
  WeightsArgs a;
  a.regions = region_args(request.regions, request.image.shape.width, request.image.shape.height, false);
  a.image = counted_image(request.image, request.rule);
  a.bins = request.bins;
  a.group = request.bins < WeightsArgs::cells ? request.bins : WeightsArgs::cells;
  for (a.strands = 1; a.strands < 256 && 2 * a.strands * a.group <= WeightsArgs::cells;) a.strands *= 2;
  a.weights = static_cast<const char*>(weights.data);
  a.weight = strides(weights);
  a.weight.alignment = alignment_of(weights.data, a.weight, size_of(weights.type), size_of(weights.type));
  a.type = weights.type;
  a.out = static_cast<double*>(request.out);
  with_pixel(request.image.type, [&](auto pixel) {
    launcher.template launch<SumWeights, ElementConfig<decltype(pixel)>>(request.regions.count, a, false);
  });
}

}  // namespace areal::kernels
