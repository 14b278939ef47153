// What tables answer about boxes.
#include <algorithm>
#include <areal/error.hpp>
#include <areal/region.hpp>
#include <areal/window.hpp>
#include <array>
#include <string_view>
#include <utility>
#include "answers.hpp"
#include "bindings.hpp"
#include "regions.hpp"
#include "table.hpp"

namespace areal::python {
namespace {

enum class Statistic { sum, mean, variance, deviation };

Statistic statistic_of(std::string_view name) {
  if (name == "sum") return Statistic::sum;
  if (name == "mean") return Statistic::mean;
  if (name == "var") return Statistic::variance;
  if (name == "std") return Statistic::deviation;
  throw InvalidArgument("stat " + std::string(name) + ": may be sum, mean, var or std");
}

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

Edge edge_of(std::string_view name) {
  constexpr std::pair<std::string_view, Edge> edges[] = {
      {"valid", Edge::valid},     {"shrink", Edge::shrink},       {"zero", Edge::zero}, {"replicate", Edge::replicate},
      {"reflect", Edge::reflect}, {"symmetric", Edge::symmetric}, {"wrap", Edge::wrap}, {"constant", Edge::constant}};
  for (const auto& [known, edge] : edges)
    if (known == name) return edge;
  throw InvalidArgument("edge " + std::string(name) +
                        ": may be valid, shrink, zero, replicate, reflect, symmetric, wrap or constant");
}

/// Of every window: an array of the table's axes.
nb::object window(const Table& t, std::array<std::int64_t, 2> size, std::array<std::int64_t, 2> anchor,
                  std::string_view stat, std::string_view edge, double value, const std::string& dtype, nb::handle out,
                  int threads) {
  if (t.axes->volume) throw InvalidArgument("window: a volume has none");
  const Statistic asked = statistic_of(stat);
  areal::Window window{size[1], size[0], anchor[1], anchor[0], edge_of(edge), value};
  if (t.order.transposed) std::swap(window.width, window.height), std::swap(window.anchor_x, window.anchor_y);
  const Execution execution = execution_of("auto", 0, threads);
  const SatView view = t.view();
  const Type type = type_of_numpy_name(dtype, "dtype");
  Shape shape = window_shape(t.image.width, t.image.height, window);
  shape.channels = t.image.channels, shape.batch = t.image.batch, shape.layout = view.sum.view.shape.layout;
  const auto compute = [&](const View& to) {
    without_gil(true, [&] {
      switch (asked) {
        case Statistic::sum:
          return window_sums(view, window, to, execution);
        case Statistic::mean:
          return window_means(view, window, to, execution);
        case Statistic::variance:
          return window_variances(view, window, to, execution);
        case Statistic::deviation:
          return window_standard_deviations(view, window, to, execution);
      }
    });
  };
  if (!out.is_none()) {
    const auto array = array_ref(out, "out", true);
    if (!array) throw InvalidArgument("out: it must be a writable array");
    require_like(*array, array_shape(ConstView(nullptr, type, shape), *t.axes, t.order), type);
    if (const auto room = room_in(*array, *t.axes, t.order)) {
      compute(*room);
      return nb::borrow(out);
    }
    throw InvalidArgument("out: its memory must lie as the table's does");
  }
  Array made(shape, type);
  compute(made.view());
  return owned_array(std::move(made), *t.axes, t.order);
}

}  // namespace

void bind_query(nb::module_& m) {
  m.def("query", &query, nb::arg("table"), nb::arg("boxes"), nb::arg("stat"), nb::arg("format"), nb::arg("clip"),
        nb::arg("refused"), nb::arg("threads"));
  m.def("tilted_query", &tilted_query, nb::arg("table"), nb::arg("rectangles"), nb::arg("threads"));
  m.def("window", &window, nb::arg("table"), nb::arg("size"), nb::arg("anchor"), nb::arg("stat"), nb::arg("edge"),
        nb::arg("value"), nb::arg("dtype"), nb::arg("out").none(), nb::arg("threads"));
}

}  // namespace areal::python
