#pragma once
// The schedule of guided-walk: which kernels a request gets, and how an image is cut into bands, strips and segments.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <variant>
#include "kernels/filter/constants.hpp"
#include "kernels/filter/guided/bytes.hpp"
#include "kernels/filter/guided/passes.hpp"
#include "kernels/filter/guided/steps.hpp"
#include "kernels/filter/request.hpp"
#include "kernels/filter/segments.hpp"
#include "kernels/primitives/workspace.hpp"

namespace areal::kernels {

inline constexpr std::int64_t most_guided_rows = 512, most_guided_columns = 384;
/// Bytes of the lines of a band. Guided 32f of radius 8 at 8192^2 takes 8.6 ms with 24 MiB, 6.1 with 96, 4.9 with 768.
inline constexpr std::int64_t guided_band_bytes = std::int64_t{96} << 20;

/// Windows that hold a pixel.
inline formulas::WindowAxis reversed(formulas::WindowAxis axis) {
  axis.before = axis.size - 1 - axis.before;
  return axis;
}
inline FilterArguments guided_views(const FilterRequest& request, const FilterArguments& views) {
  FilterArguments all = views;
  if (request.guide == 0) all.guide = views.image;
  return all;
}
inline bool is_self_guided(const FilterRequest& request) { return request.guide == 0; }

inline GuidedView guided_view(const ConstView& view) {
  const Strides s = strides(view);
  const std::size_t size = size_of(view.type);
  return {static_cast<const char*>(view.data), s, view.type,
          alignment_of(view.data, s, size, size) != Alignment::bytes};
}
inline bool has_vectors(const ConstView& view) {
  return alignment_of(view.data, strides(view), size_of(view.type), 4 * size_of(view.type)) == Alignment::vectors;
}
inline void set_guided(GuidedArgs& a, const FilterRequest& request, const FilterArguments& views) {
  a.image = guided_view(views.image), a.guide = guided_view(views.guide);
  a.out = static_cast<char*>(views.out.data), a.to = strides(views.out), a.out_type = request.out;
  a.out_aligned = alignment_of(a.out, a.to, size_of(request.out), size_of(request.out)) != Alignment::bytes;
  a.vectors = has_vectors(views.image) && has_vectors(views.guide);
  a.channels = static_cast<int>(request.image.channels);
  a.eps = std::get<filter::Guided>(request.filter).eps;
  a.beyond = request.columns.edge == Edge::constant ? request.value : 0;
  a.pixel_beyond = static_cast<float>(a.beyond);
}

// ---------------------------------------------------------------- two passes

/// Rows of a band, planes of it, and where its lines lie.
struct GuidedBands {
  std::int64_t rows, planes, line_rows;
  explicit GuidedBands(const FilterRequest& request) {
    const std::int64_t width = request.image.width, height = request.image.height, size = request.rows.size;
    const std::int64_t all = request.image.channels * request.image.batch;
    const std::int64_t fit =
        guided_band_bytes / (std::max<std::int64_t>(1, width) * static_cast<std::int64_t>(sizeof(Line)));
    rows = std::min(height, std::max(fit - size, 4 * size));
    line_rows = rows + size;
    planes = std::clamp<std::int64_t>(fit / line_rows, 1, std::max<std::int64_t>(1, all));
  }
};
template <template <class, class> class Kernel, class C>
std::int64_t guided_ring_bytes(const FilterRequest& request) {
  return block_ring_bytes<Kernel<NoMachine, C>, C>(request.rows.size);
}

template <bool self>
struct GuidedPassMemory {
  Line* lines = nullptr;
  char *first = nullptr, *second = nullptr;
  std::size_t bytes;
  GuidedPassMemory(const FilterRequest& request, void* workspace) {
    const GuidedBands bands(request);
    Workspace all(workspace);
    all.take(lines, bands.planes * bands.line_rows * request.image.width);
    all.take(first, guided_ring_bytes<GuidedLines, GuidedTerms<self>>(request) *
                        most_with_rings<GuidedLines<NoMachine, GuidedTerms<self>>>);
    all.take(second, guided_ring_bytes<GuidedMeans, GuidedPairs>(request) *
                         most_with_rings<GuidedMeans<NoMachine, GuidedPairs>>);
    bytes = all.bytes();
  }
};

template <template <class, class> class Kernel, class C, class Launcher>
void launch_guided_pass(Launcher& launcher, GuidedArgs a, const formulas::WindowAxis& columns, std::int64_t first_plane,
                        std::int64_t planes) {
  const std::int64_t held = std::min(held_blocks<Kernel, C>(launcher), most_with_rings<Kernel<NoMachine, C>>);
  a.strips = block_strips(columns, a.strip_columns);
  cut_segments(a, a.end - a.begin, block_begin_rows(a.rows.size), planes, held);
  a.first_unit = first_plane * a.strips * a.segments;
  launcher.template launch<Kernel, C>(std::min(a.units, held), a, false);
}

template <bool self, class Launcher>
void launch_guided_passes(Launcher& launcher, const FilterRequest& request, const FilterArguments& views,
                          void* workspace) {
  const GuidedPassMemory<self> memory(request, workspace);
  const GuidedBands bands(request);
  const formulas::WindowAxis columns = reversed(request.columns), rows = reversed(request.rows);
  const std::int64_t planes = request.image.channels * request.image.batch, height = request.image.height;
  GuidedArgs a{};
  set_guided(a, request, views);
  a.lines = memory.lines;
  a.row_lines = request.image.width, a.plane_lines = bands.line_rows * request.image.width;
  a.wraps = request.rows.edge == Edge::wrap;
  for (std::int64_t plane = 0; plane < planes; plane += bands.planes)
    for (std::int64_t y = 0; y < height; y += bands.rows) {
      const std::int64_t count = std::min(bands.planes, planes - plane), end = std::min(height, y + bands.rows);
      // The rows of lines that the windows of these outputs show.
      std::int64_t first = y, last = end - 1;
      const auto show = [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t v = from; v < to; ++v) {
          const std::int64_t row = a.wraps ? v : formulas::shown_pixel(v, height, rows.edge);
          if (row >= 0 || a.wraps) first = std::min(first, row), last = std::max(last, row);
        }
      };
      show(y - rows.before, y), show(end, end + rows.size - 1 - rows.before);
      a.first_row = static_cast<int>(first);
      GuidedArgs lines = a, means = a;
      set_block_sums(lines, request.columns, request.rows, 4 * GuidedTerms<self>::threads);
      lines.begin = static_cast<int>(first), lines.end = static_cast<int>(last + 1);
      lines.ring = memory.first, lines.ring_bytes = guided_ring_bytes<GuidedLines, GuidedTerms<self>>(request);
      launch_guided_pass<GuidedLines, GuidedTerms<self>>(launcher, lines, request.columns, plane, count);
      set_block_sums(means, columns, rows, 4 * GuidedPairs::threads);
      means.begin = static_cast<int>(y), means.end = static_cast<int>(end);
      means.ring = memory.second, means.ring_bytes = guided_ring_bytes<GuidedMeans, GuidedPairs>(request);
      launch_guided_pass<GuidedMeans, GuidedPairs>(launcher, means, columns, plane, count);
    }
}

// ---------------------------------------------------------------- bytes

/// Whether both passes run in one kernel. Sums of products fit 31 bits.
inline bool guided_by_bytes(const FilterRequest& request) {
  const Edge edge = request.rows.edge;
  return request.in == Type::u8 && (request.guide == 0 || request.guide_type == Type::u8) &&
         (edge == Edge::shrink || edge == Edge::zero || edge == Edge::constant) &&
         request.columns.size <= GuidedBytes<NoMachine, GuidedOfBytes<true>>::most_width &&
         request.columns.size * request.rows.size * 255 * 255 < std::int64_t{1} << 31;
}
/// Rows of lines that wait: a power of 2.
inline int guided_kept_rows(const FilterRequest& request) {
  int rows = 8;
  while (rows < request.rows.size - 1) rows *= 2;
  return rows;
}
/// f<C>() for the kernel of such a request.
template <class F>
void with_guided_bytes(const FilterRequest& request, const F& f) {
  is_self_guided(request) ? f.template operator()<GuidedOfBytes<true>>()
                          : f.template operator()<GuidedOfBytes<false>>();
}
template <class C>
struct GuidedBytesMemory {
  char *ring = nullptr, *rows = nullptr;
  std::int64_t ring_bytes, rows_bytes;
  std::size_t bytes;
  GuidedBytesMemory(const FilterRequest& request, void* workspace) {
    using Held = typename GuidedBytes<NoMachine, C>::Held;
    ring_bytes = guided_ring_bytes<GuidedBytes, C>(request);
    rows_bytes = guided_kept_rows(request) * static_cast<std::int64_t>(sizeof(Held));
    Workspace all(workspace);
    all.take(ring, ring_bytes * most_with_rings<GuidedBytes<NoMachine, C>>);
    all.take(rows, rows_bytes * most_with_rings<GuidedBytes<NoMachine, C>>);
    bytes = all.bytes();
  }
};

/// As block_begin_rows: rows enter the integers, then the lines, before the first output.
inline double guided_begin_rows(std::int64_t rows) { return 3 + 2 * static_cast<double>(rows); }

/// The words that cover a thread's windows, and their masks.
inline void set_words(GuidedBytesArgs& a) {
  const int over = ((-a.around.before % 4) + 4) % 4, size = a.around.size;
  a.first_word = -a.around.before - over;
  a.words = (over + 3 + size + 3) / 4, a.head = (over + 6) / 4, a.tail = std::max(a.head, (over + size) / 4);
  const auto mask = [&](int word, int j) {
    std::uint32_t bytes = 0;
    for (int b = 0; b < 4; ++b)
      if (4 * word + b >= over + j && 4 * word + b < over + j + size) bytes |= 0xffu << (8 * b);
    return bytes;
  };
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) {
      a.head_masks[i].at[j] = i < a.head ? mask(i, j) : 0;
      a.tail_masks[i].at[j] = mask(a.tail + i, j);
    }
}

template <class C, class Launcher>
void launch_guided_bytes(Launcher& launcher, const FilterRequest& request, const FilterArguments& views,
                         void* workspace) {
  const GuidedBytesMemory<C> memory(request, workspace);
  const formulas::WindowAxis columns = reversed(request.columns), rows = reversed(request.rows);
  GuidedBytesArgs a{};
  set_guided(a, request, views);
  set_block_sums(a, columns, rows, 4 * C::threads);
  a.ring = memory.ring, a.ring_bytes = memory.ring_bytes;
  a.rows_of_blocks = memory.rows, a.rows_bytes = memory.rows_bytes, a.row_mask = guided_kept_rows(request) - 1;
  a.around = FilterAxis(request.columns), a.above = FilterAxis(request.rows);
  set_words(a);
  a.outside = static_cast<std::uint32_t>(in_every_place(element_of<std::uint8_t>(Type::u8, a.beyond)));
  a.words_fit = a.vectors;
  a.out_words = request.out == Type::u8 && a.vectors && a.columns.before % 4 == 0 &&
                alignment_of(a.out, a.to, 1, 4) == Alignment::vectors;
  const double count = static_cast<double>(a.around.size) * static_cast<double>(a.above.size);
  a.inverse = a.eps * (count * count), a.share = 1 / count;
  const std::int64_t held = std::min(held_blocks<GuidedBytes, C>(launcher), most_with_rings<GuidedBytes<NoMachine, C>>);
  a.strips = block_strips(columns, a.strip_columns);
  cut_segments(a, a.rows.outputs, guided_begin_rows(a.rows.size), request.image.channels * request.image.batch, held);
  launcher.template launch<GuidedBytes, C>(std::min(a.units, held), a, false);
}

// ---------------------------------------------------------------- bytes, in steps of 8 rows

/// The fixed-point numbers of a and b: bits behind the point, and how far off outputs may be.
struct GuidedPrecision {
  int a, b;
  double error;
  explicit GuidedPrecision(const FilterRequest& request) {
    // |cov(I, p)| is at most 127.5 sd(I), and sd / (sd^2 + eps) is largest where sd^2 = eps. Where the image guides
    // itself, a lies in 0 to 1 and b in 0 to 255.
    const bool self = is_self_guided(request);
    const double most_a = self ? 1 : 63.75 / std::sqrt(std::get<filter::Guided>(request.filter).eps) + 1e-3;
    const double most_b = self ? 255 : 255 * (1 + most_a);
    const auto below = [](double most, int bits) { return bits - static_cast<int>(std::ceil(std::log2(most))); };
    a = below(most_a, 30), b = below(most_b, 30);
    error = 255 * std::ldexp(1., -a - 1) + std::ldexp(1., -b - 1) + 1e-9 * (1 + most_a);
  }
  std::uint32_t near() const { return static_cast<std::uint32_t>(std::ceil(std::ldexp(error, 32))) + 2; }
};
/// Rows of lines that wait.
inline int guided_ring(const FilterRequest& request) {
  return static_cast<int>(std::max<std::int64_t>(8, request.rows.size));
}
/// Whether a request runs in steps. Lines beyond the edge are those of copies where windows have as many pixels on both
/// sides of their own.
inline bool guided_by_steps(const FilterRequest& request) {
  const auto serves = [](const formulas::WindowAxis& axis, std::int64_t more) {
    const bool even = 2 * axis.before == axis.size - 1;
    return axis.edge == Edge::shrink || axis.edge == Edge::zero || axis.edge == Edge::constant ||
           (even && axis.edge != Edge::replicate && axis.extent >= 3 * axis.size + more);
  };
  const double eps = std::get<filter::Guided>(request.filter).eps;
  if (request.in != Type::u8 || request.out != Type::u8 || (request.guide != 0 && request.guide_type != Type::u8) ||
      !serves(request.columns, 320) || !serves(request.rows, 32) ||
      request.columns.size > GuidedSteps<NoMachine, GuidedBySteps<true, 0>>::most_width ||
      request.columns.size * request.rows.size * 255 * 255 >= std::int64_t{1} << 31 ||
      (request.columns.edge == Edge::constant && !(request.value >= 0 && request.value <= 255)) ||
      !(eps >= 1e-6 && eps <= 1e9) || request.rows.outputs >= 1 << 18)
    return false;
  return GuidedPrecision(request).error < 1e-3;
}
/// f<C>() for the kernel of such a request.
template <class F>
void with_guided_steps(const FilterRequest& request, const F& f) {
  const bool self = is_self_guided(request);
  const int rows = guided_ring(request);
  if (self)
    rows <= 24 ? f.template operator()<GuidedBySteps<true, 24>>() : f.template operator()<GuidedBySteps<true, 0>>();
  else
    rows <= 19 ? f.template operator()<GuidedBySteps<false, 19>>() : f.template operator()<GuidedBySteps<false, 0>>();
}
/// Outputs of a strip.
template <class Kernel>
std::int64_t guided_strip_columns(const FilterRequest& request) {
  return (Kernel::threads - 2 * (request.columns.size - 1)) / Kernel::block * Kernel::block;
}
/// Strips of a plane.
template <class Kernel>
std::int64_t guided_strips(const FilterRequest& request) {
  return (request.columns.outputs - 1) / guided_strip_columns<Kernel>(request) + 1;
}
/// Strips and segments: as many as fit one to four rounds of the blocks that a device holds.
template <class C>
struct GuidedStepsCut {
  using Kernel = GuidedSteps<NoMachine, C>;
  int strip_columns, strips, segments = 0, segment_rows = 0;
  std::int64_t units;
  GuidedStepsCut(const FilterRequest& request, std::int64_t held) {
    const auto outputs = static_cast<int>(request.rows.outputs);
    strip_columns = static_cast<int>(guided_strip_columns<Kernel>(request));
    strips = static_cast<int>(guided_strips<Kernel>(request));
    const std::int64_t columns = strips * request.image.channels * request.image.batch;
    double least = 0;
    for (std::int64_t rounds = 1; rounds <= 4 || segments == 0; ++rounds) {
      const std::int64_t most = std::min<std::int64_t>(rounds * held / columns, (outputs - 1) / 8 + 1);
      if (most == 0) {
        if (rounds >= 4) segments = 1, segment_rows = outputs;
        continue;
      }
      const auto rows = static_cast<int>(((outputs - 1) / most + 8) / 8 * 8);
      const double time = static_cast<double>(rounds) * (rows + static_cast<double>(request.rows.size) + 8);
      if (segments > 0 && time >= least) continue;
      least = time, segment_rows = rows, segments = (outputs - 1) / rows + 1;
    }
    units = columns * segments;
  }
};
template <class C>
struct GuidedStepsMemory {
  using Kernel = GuidedSteps<NoMachine, C>;
  char* far = nullptr;
  std::uint32_t* close = nullptr;
  std::size_t bytes;
  /// Each of the grid's blocks notes as many rows as a segment may have.
  GuidedStepsMemory(const FilterRequest& request, void* workspace) {
    Workspace all(workspace);
    if (Kernel::far)
      all.take(far, guided_ring(request) * static_cast<std::int64_t>(sizeof(typename Kernel::Fixed)) * Kernel::threads *
                        most_with_rings<Kernel>);
    const auto columns = guided_strips<Kernel>(request) * request.image.channels * request.image.batch;
    all.take(close, warp_size * (std::min(columns, most_with_rings<Kernel>) * request.rows.outputs +
                                 32 * most_with_rings<Kernel>));
    bytes = all.bytes();
  }
};

/// False: the device does not hold a block of the kernel.
template <class C, class Launcher>
bool launch_guided_steps(Launcher& launcher, const FilterRequest& request, const FilterArguments& views,
                         void* workspace) {
  const std::int64_t together = launcher.template most_together<GuidedSteps, C>();
  if (together == 0) return false;
  const GuidedPrecision precision(request);
  const GuidedStepsMemory<C> memory(request, workspace);
  GuidedStepsArgs a{};
  a.columns = FilterAxis(request.columns), a.rows = FilterAxis(request.rows);
  a.image = static_cast<const char*>(views.image.data), a.guide = static_cast<const char*>(views.guide.data);
  a.out = static_cast<char*>(views.out.data), a.far = memory.far, a.close = memory.close;
  a.image_strides = strides(views.image), a.guide_strides = strides(views.guide), a.to = strides(views.out);
  a.channels = static_cast<int>(request.image.channels);
  a.lead = (8 - (a.rows.size - 1) % 8) % 8, a.ring = guided_ring(request);
  a.copies = a.columns.copies();
  a.beyond = a.columns.edge == Edge::constant ? request.value : 0;
  a.outside = static_cast<int>(element_of<std::uint8_t>(Type::u8, a.beyond));
  a.line_beyond = static_cast<int>(std::nearbyint(std::ldexp(a.beyond, precision.b)));
  const auto vectors = [](const auto& view) {
    return alignment_of(view.data, strides(view), 1, 8) == Alignment::vectors;
  };
  a.vectors = vectors(views.guide) && vectors(views.out);
  const double count = static_cast<double>(a.columns.size) * static_cast<double>(a.rows.size);
  a.eps = std::get<filter::Guided>(request.filter).eps, a.least = a.eps * (count * count), a.share = 1 / count;
  a.scale_a = std::ldexp(1., precision.a), a.scale_b = std::ldexp(1., precision.b);
  a.units_a = std::ldexp(1., 32 - precision.a), a.units_b = std::ldexp(1., 32 - precision.b);
  a.share_a = a.units_a / count, a.share_b = a.units_b / count;
  a.near = precision.near();
  const std::int64_t held = std::min(together, most_with_rings<GuidedSteps<NoMachine, C>>);
  const GuidedStepsCut<C> cut(request, held);
  a.strip_columns = cut.strip_columns, a.strips = cut.strips;
  a.segments = cut.segments, a.segment_rows = cut.segment_rows, a.units = cut.units;
  launcher.template launch<GuidedSteps, C>(std::min(a.units, held), a, false);
  return true;
}

// ---------------------------------------------------------------- requests

template <class Launcher>
void launch_guided(Launcher& launcher, const FilterRequest& request, const FilterArguments& given, void* workspace) {
  const FilterArguments views = guided_views(request, given);
  bool launched = false;
  if (guided_by_steps(request))
    with_guided_steps(request,
                      [&]<class C>() { launched = launch_guided_steps<C>(launcher, request, views, workspace); });
  if (launched) return;
  if (guided_by_bytes(request))
    return with_guided_bytes(request, [&]<class C>() { launch_guided_bytes<C>(launcher, request, views, workspace); });
  is_self_guided(request) ? launch_guided_passes<true>(launcher, request, views, workspace)
                          : launch_guided_passes<false>(launcher, request, views, workspace);
}
inline std::size_t guided_workspace_bytes(const FilterRequest& request) {
  std::size_t bytes = 0;
  if (guided_by_bytes(request))
    with_guided_bytes(request, [&]<class C>() { bytes = GuidedBytesMemory<C>(request, nullptr).bytes; });
  else
    bytes = is_self_guided(request) ? GuidedPassMemory<true>(request, nullptr).bytes
                                    : GuidedPassMemory<false>(request, nullptr).bytes;
  if (guided_by_steps(request))
    with_guided_steps(request,
                      [&]<class C>() { bytes = std::max(bytes, GuidedStepsMemory<C>(request, nullptr).bytes); });
  return bytes;
}
inline std::size_t guided_shared_bytes(const FilterRequest& request) {
  std::size_t bytes = 0;
  if (guided_by_bytes(request))
    with_guided_bytes(request, [&]<class C>() { bytes = sizeof(typename GuidedBytes<NoMachine, C>::Shared); });
  else
    bytes = std::max(sizeof(GuidedMeans<NoMachine, GuidedPairs>::Shared),
                     is_self_guided(request) ? sizeof(GuidedLines<NoMachine, GuidedTerms<true>>::Shared)
                                             : sizeof(GuidedLines<NoMachine, GuidedTerms<false>>::Shared));
  return bytes;
}

/// What guided-walk needs, if it does not take the request.
inline std::string guided_takes(const FilterRequest& request) {
  const auto is = [](std::int64_t n) { return std::to_string(n); };
  if (!std::holds_alternative<filter::Guided>(request.filter)) return "it takes guided filters";
  if (request.guide == 3) return "it takes guides of 1 channel; those of 3 run on the CPU";
  if (std::max(request.columns.extent, request.rows.extent) > most_of_filter_axis)
    return "it takes images of up to " + is(most_of_filter_axis) + " rows and columns; this one has " +
           is(request.rows.extent) + " and " + is(request.columns.extent);
  if (request.columns.size > most_guided_columns || request.rows.size > most_guided_rows)
    return "it takes windows of up to " + is(most_guided_rows) + " rows and " + is(most_guided_columns) +
           " columns; this one has " + is(request.rows.size) + " and " + is(request.columns.size);
  return {};
}

}  // namespace areal::kernels
