// What tables answer about boxes.
#include <algorithm>
#include <areal/error.hpp>
#include <areal/region.hpp>
#include <string_view>
#include <utility>
#include "answers.hpp"
#include "bindings.hpp"
#include "regions.hpp"
#include "table.hpp"
#include "windows.hpp"

namespace areal::python {
namespace {

/// N x C of the planes, or nothing.
std::vector<std::size_t> planes_of(const Table& t) {
  std::vector<std::size_t> extents;
  if (t.axes->volume) return extents;
  const std::int64_t folded = t.order.folded ? t.order.folded : 1;
  if (t.axes->n >= 0) extents.push_back(static_cast<std::size_t>(t.image.batch / folded));
  if (t.axes->c >= 0) extents.push_back(static_cast<std::size_t>(t.image.channels * folded));
  return extents;
}

/// Sums or means of boxes of a volume; of pixels that count, where a mask left some out.
nb::object volume_answers(const Table& t, const std::vector<Box>& boxes, bool means, const QueryOptions& options) {
  const SatView view = t.view();
  return answers<double>(boxes.size(), {}, [&](Span<double> out) {
    box_sums(view, boxes, out, options);
    if (!means) return;
    std::vector<double> count;
    if (view.count) count = box_sums(SatView(*view.count), boxes, options);
    const auto inside = [](std::int64_t begin, std::int64_t extent, std::int64_t size) {
      const std::int64_t first = std::max<std::int64_t>(begin, 0);
      return static_cast<double>(std::max<std::int64_t>(0, std::min(size - first, extent - (first - begin))));
    };
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const Box& b = boxes[i];
      const double voxels = inside(b.x, b.width, t.image.width) * inside(b.y, b.height, t.image.height) *
                            inside(b.z, b.depth, t.image.batch);
      out[i] /= view.count ? count[i] : voxels;  // 0 / 0 for an empty one
    }
  });
}

/// The answers, and where `refused` the index of the first box that cannot be answered.
nb::object query(const Table& t, const BoxArray& array, std::string_view stat, std::string_view format, bool clip,
                 bool refused, int threads) {
  const Statistic asked = statistic_of(stat);
  std::int64_t first_invalid = -1;
  QueryOptions options;
  options.outside = clip ? Outside::clip : Outside::error;
  options.execution = execution_of("auto", 0, threads);
  if (refused) options.first_invalid = Span<std::int64_t>(&first_invalid, 1);
  const auto answered = [&](nb::object all) -> nb::object {
    return refused ? nb::object(nb::make_tuple(all, first_invalid)) : all;
  };
  if (t.axes->volume) {
    if (asked != Statistic::sum && asked != Statistic::mean)
      throw InvalidArgument("stat " + std::string(stat) + ": boxes of a volume have sum and mean");
    return answered(
        volume_answers(t, volume_boxes_of(array, format, t.order.transposed), asked == Statistic::mean, options));
  }
  const std::vector<Region> regions = regions_of(array, format, t.order.transposed);
  const std::vector<std::size_t> planes = planes_of(t);
  const SatView view = t.view();
  const auto with = [&](auto zero, const auto& ask) {
    using T = decltype(zero);
    return answered(answers<T>(regions.size(), planes, [&](Span<T> out) { ask(out); }));
  };
  switch (asked) {
    case Statistic::mean:
      return with(0.0, [&](Span<double> out) { region_means(view, regions, out, options); });
    case Statistic::variance:
      return with(0.0, [&](Span<double> out) { region_variances(view, regions, out, options); });
    case Statistic::deviation:
      return with(0.0, [&](Span<double> out) { region_standard_deviations(view, regions, out, options); });
    case Statistic::sum:
      break;
  }
  const Type type = view.sum.view.type;
  if (is_float(type)) return with(0.0, [&](Span<double> out) { region_sums(view, regions, out, options); });
  if (is_signed_integer(type))
    return with(std::int64_t{}, [&](Span<std::int64_t> out) { signed_region_sums(view, regions, out, options); });
  return with(std::uint64_t{}, [&](Span<std::uint64_t> out) { region_sums(view, regions, out, options); });
}

/// Of rectangles rotated by 45 degrees, of each plane.
nb::object tilted_query(const Table& t, const BoxArray& array, int threads) {
  const ConstView& tilted = t.views[tilted_sums_of];
  if (!t.has[tilted_sums_of]) throw InvalidArgument("tilted_sum: the table was made without tilted=True");
  if (tilted.shape.layout == Layout::interleaved && tilted.shape.channels > 1)
    throw InvalidArgument("tilted_sum: the channels of this table are interleaved; put them first, as CHW");
  const std::vector<Region> rectangles = regions_of(array, "xywh", false);
  QueryOptions options;
  options.execution = execution_of("auto", 0, threads);
  const auto planes = static_cast<std::size_t>(tilted.shape.batch * tilted.shape.channels);
  return answers<double>(rectangles.size(), planes_of(t), [&](Span<double> out) {
    for (std::size_t p = 0; p < planes; ++p) {
      const auto channels = static_cast<std::size_t>(tilted.shape.channels);
      const auto some =
          tilted_sums(plane(tilted, static_cast<std::int64_t>(p % channels), static_cast<std::int64_t>(p / channels)),
                      rectangles, options);
      for (std::size_t i = 0; i < some.size(); ++i) out[i * planes + p] = some[i];
    }
  });
}

}  // namespace

void bind_query(nb::module_& m) {
  m.def("query", &query, nb::arg("table"), nb::arg("boxes"), nb::arg("stat"), nb::arg("format"), nb::arg("clip"),
        nb::arg("refused"), nb::arg("threads"));
  m.def("tilted_query", &tilted_query, nb::arg("table"), nb::arg("rectangles"), nb::arg("threads"));
}

}  // namespace areal::python
