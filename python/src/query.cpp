// Statistics of boxes from tables. Host boxes are checked first and the call waits; for device boxes the work is
// queued.
#include <areal/error.hpp>
#include <areal/region.hpp>
#include <areal/scatter.hpp>
#include <string_view>
#include <utility>
#include "bindings.hpp"
#include "boxes.hpp"
#include "windows.hpp"

namespace areal::python {
namespace {

template <class T>
Span<T> span_at(void* data, std::size_t size, const CallArrays& arrays) {
  return Span<T>(static_cast<T*>(data), size, arrays.place().memory);
}

/// Appends the extents N and C of the array, as far as the axes have these.
std::vector<std::int64_t> with_planes(std::vector<std::int64_t> extents, const ArrayRef& array, const Axes& axes) {
  for (const int dimension : {axes.n, axes.c})
    if (dimension >= 0 && !axes.volume) extents.push_back(array.extents[static_cast<std::size_t>(dimension)]);
  return extents;
}

std::size_t product(const std::vector<std::int64_t>& extents) {
  std::int64_t all = 1;
  for (const std::int64_t extent : extents)
    if (__builtin_mul_overflow(all, extent, &all)) throw InvalidArgument("boxes: their answers do not fit 64 bits");
  return static_cast<std::size_t>(all);
}

/// Sums of boxes of a volume.
nb::object volume_query(const CallArrays& arrays, const Pixels& table, Border border, nb::handle boxes,
                        std::string_view format, bool clip, bool refused, int threads) {
  const Boxes<Box> items(boxes, format, table.order.transposed, arrays);
  const Span<const Box> all = items.span();
  return answered(arrays, Type::f64, {static_cast<std::int64_t>(all.size())}, clip, refused, threads,
                  [&](void* data, const QueryOptions& options) {
                    box_sums(TableView(table.view, border), all, span_at<double>(data, all.size(), arrays), options);
                  });
}

/// Boxes x N x C. `squares` and `count` if the statistic needs them.
nb::object query(nb::handle on, std::string_view stat, nb::handle sum, nb::handle squares, nb::handle count,
                 const std::string& border, std::string_view letters, nb::handle boxes, std::string_view format,
                 bool clip, bool refused, int threads) {
  const Statistic statistic = statistic_of(stat);
  const Border known = border_of(border);
  CallArrays arrays{Framework(on)};
  PythonArray table = arrays.first(sum, "table"), of_squares, of_count;
  const Axes& axes = Axes::of(letters, table.ref().dimensions);
  const Pixels pixels = arrays.pixels(sum, axes, arrays.on_host(), count.is_none(), table);
  if (axes.volume) return volume_query(arrays, pixels, known, boxes, format, clip, refused, threads);
  const ConstView& view = pixels.view;
  SatView tables(TableView(view, known));
  if (!squares.is_none())
    tables.squares = TableView(arrays.view(squares, "squares", axes, pixels.order, of_squares), known);
  if (!count.is_none())
    tables.count = TableView(arrays.view(count, "count", axes.without_channels(),
                                         {Layout::interleaved, pixels.order.transposed, 0}, of_count),
                             known);
  const Boxes<Region> items(boxes, format, pixels.order.transposed, arrays);
  const Span<const Region> all = items.span();
  const auto extents = with_planes({static_cast<std::int64_t>(all.size())}, table.ref(), axes);
  const std::size_t size = product(extents);
  const bool integers = statistic == Statistic::sum && !is_float(view.type), is_signed = is_signed_integer(view.type);
  const Type type = !integers ? Type::f64 : !arrays.framework().is_signed() && !is_signed ? Type::u64 : Type::s64;
  return answered(arrays, type, extents, clip, refused, threads, [&](void* data, const QueryOptions& options) {
    const Span<double> out = span_at<double>(data, size, arrays);
    switch (statistic) {
      case Statistic::mean:
        return region_means(tables, all, out, options);
      case Statistic::variance:
        return region_variances(tables, all, out, options);
      case Statistic::deviation:
        return region_standard_deviations(tables, all, out, options);
      case Statistic::sum:
        break;
    }
    if (!integers) return region_sums(tables, all, out, options);
    if (is_signed) return signed_region_sums(tables, all, span_at<std::int64_t>(data, size, arrays), options);
    region_sums(tables, all, span_at<std::uint64_t>(data, size, arrays), options);
  });
}

/// Sums of rectangles rotated by 45 degrees: N x C x rectangles.
nb::object tilted_query(nb::handle on, nb::handle table, std::string_view letters, nb::handle rectangles,
                        std::string_view format, int threads) {
  CallArrays arrays{Framework(on)};
  PythonArray tilted = arrays.first(table, "tilted");
  const Axes& axes = Axes::of(letters, tilted.ref().dimensions);
  if (axes.volume) throw InvalidArgument("tilted_sum: a volume has no tilted sums");
  const std::optional<Pixels> pixels = pixels_of(tilted.ref(), axes, false, true);
  if (!pixels || (pixels->view.shape.layout == Layout::interleaved && pixels->view.shape.channels > 1))
    throw InvalidArgument("tilted_sum: the channels of this table are interleaved; put them first, as CHW");
  const Boxes<Region> items(rectangles, format, false, arrays);
  const Span<const Region> all = items.span();
  const ConstView& view = pixels->view;
  auto extents = with_planes({}, tilted.ref(), axes);
  extents.push_back(static_cast<std::int64_t>(all.size()));
  static_cast<void>(product(extents));
  return answered(arrays, Type::f64, extents, false, false, threads, [&](void* data, const QueryOptions& options) {
    auto* out = static_cast<double*>(data);
    for (std::int64_t n = 0; n < view.shape.batch; ++n)
      for (std::int64_t c = 0; c < view.shape.channels; ++c, out += all.size())
        tilted_sums(plane(view, c, n), all, span_at<double>(out, all.size(), arrays), options);
  });
}

/// Scatters values (boxes x N x C, float64 or int64) to the corners of boxes, into a contiguous table. Skips invalid
/// boxes.
void scatter(nb::handle on, nb::handle values, nb::handle boxes, nb::handle table, const std::string& border,
             std::string_view letters, bool clip) {
  const Border known = border_of(border);
  const Axes& axes = Axes::of(letters, letters.empty() ? 2 : letters.size());
  CallArrays arrays{Framework(on)};
  const PythonArray to = arrays.first(table, "table"), from = arrays.read(values, "values");
  const std::optional<Pixels> pixels = pixels_of(to.ref(), axes, false, true);
  if (!pixels) throw InvalidArgument("table: it must be contiguous");
  const Boxes<Region> regions(boxes, "xywh", false, arrays);
  QueryOptions options;
  options.outside = clip ? Outside::clip : Outside::error;
  options.execution = execution_where(arrays, 0);
  NewArray first = arrays.empty(Type::s64, {1}), memory;
  options.first_invalid = span_at<std::int64_t>(first.data(), 1, arrays);
  Span<std::byte> workspace;
  if (!arrays.on_host()) {
    const std::size_t bytes = scatter_workspace_bytes(regions.span().size());
    memory = arrays.empty(Type::u8, {static_cast<std::int64_t>(bytes)});
    workspace = span_at<std::byte>(memory.data(), bytes, arrays);
  }
  const View out = writable_view(pixels->view);
  const bool floats = from.ref().type == Type::f64;
  const Span<const double> doubles = floats ? from.span<const double>() : Span<const double>();
  const Span<const std::int64_t> integers = floats ? Span<const std::int64_t>() : from.span<const std::int64_t>();
  without_gil(arrays.on_host(), [&] {
    if (floats) return scatter_corners(regions.span(), doubles, out, known, options, workspace);
    scatter_corners(regions.span(), integers, out, known, options, workspace);
  });
}

/// Boxes as N x 4 of int64, x, y, width, height, each inside an image of that size.
nb::object checked_regions(nb::handle on, nb::handle boxes, std::string_view format, std::int64_t height,
                           std::int64_t width, bool clip) {
  CallArrays arrays{Framework(on)};
  const Boxes<Region> given(boxes, format, false, arrays);
  const Span<const Region> regions = given.span();
  NewArray made = arrays.empty(Type::s64, {static_cast<std::int64_t>(regions.size()), 4});
  auto* const inside = static_cast<Region*>(made.data());
  for (std::size_t i = 0; i < regions.size(); ++i)
    inside[i] = checked_region(regions.data()[i], static_cast<std::int64_t>(i), width, height,
                               clip ? Outside::clip : Outside::error);
  return made.take();
}

}  // namespace

void bind_query(nb::module_& m) {
  m.def("checked_regions", &checked_regions, nb::arg("on"), nb::arg("boxes"), nb::arg("format"), nb::arg("height"),
        nb::arg("width"), nb::arg("clip"));
  m.def("query", &query, nb::arg("on"), nb::arg("stat"), nb::arg("sum"), nb::arg("squares").none(),
        nb::arg("count").none(), nb::arg("border"), nb::arg("axes"), nb::arg("boxes"), nb::arg("format"),
        nb::arg("clip"), nb::arg("refused"), nb::arg("threads"));
  m.def("tilted_query", &tilted_query, nb::arg("on"), nb::arg("table"), nb::arg("axes"), nb::arg("rectangles"),
        nb::arg("format"), nb::arg("threads"));
  m.def("scatter", &scatter, nb::arg("on"), nb::arg("values"), nb::arg("boxes"), nb::arg("table"), nb::arg("border"),
        nb::arg("axes"), nb::arg("clip"));
}

}  // namespace areal::python
