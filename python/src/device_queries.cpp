// What tables in arrays of other frameworks answer about boxes. Host boxes are checked first and the call waits; for
// boxes on the device the work is queued.
#include <algorithm>
#include <areal/region.hpp>
#include <areal/scatter.hpp>
#include <memory>
#include <utility>
#include "bindings.hpp"
#include "device_arrays.hpp"
#include "process.hpp"
#include "regions.hpp"

namespace areal::python {
namespace {

enum class Asked { sum, mean, variance, deviation };

std::vector<Region> on_host(const BoxArray& boxes, std::string_view format, bool transposed, Region) {
  return regions_of(boxes, format, transposed);
}
std::vector<Box> on_host(const BoxArray& boxes, std::string_view format, bool transposed, Box) {
  return volume_boxes_of(boxes, format, transposed);
}

/// Boxes of the host in any format, or of the device as x, y, width, height. Item is Region, or Box of a volume.
template <class Item>
class Boxes {
 public:
  Boxes(nb::handle boxes, std::string_view format, bool transposed, const ForeignArray& table) {
    if (!table.memory().is_host() && is_on_device(boxes)) {
      if (format != "xywh" || transposed)
        throw InvalidArgument("format " + std::string(format) + ": boxes on the device are x, y, width, height");
      array_.emplace(boxes, table.work_stream(), "boxes");
      require_rows(array_->tensor());
      const Span<const std::int64_t> all = array_->span<const std::int64_t>();
      span_ = Span<const Item>(reinterpret_cast<const Item*>(all.data()), all.size() / numbers, all.memory());
      return;
    }
    ForeignArray array(boxes, std::nullopt, "boxes");
    require_rows(array.tensor());
    if (array.type() != Type::s64) throw InvalidArgument("boxes: their numbers must be int64");
    const dl::Tensor& t = array.tensor();
    const std::size_t extents[2] = {static_cast<std::size_t>(t.shape[0]), numbers};
    const BoxArray all(static_cast<const std::int64_t*>(array.data()), 2, extents, {}, t.strides);
    host_ = on_host(all, format, transposed, Item{});
    span_ = Span<const Item>(host_.data(), host_.size());
  }
  Span<const Item> span() const noexcept { return span_; }

 private:
  static constexpr std::size_t numbers = sizeof(Item) / sizeof(std::int64_t);
  static bool is_on_device(nb::handle boxes) {
    if (!nb::hasattr(boxes, "__dlpack_device__")) return nb::hasattr(boxes, "__cuda_array_interface__");
    const auto device = nb::cast<std::pair<int, int>>(boxes.attr("__dlpack_device__")());
    return device.first == dl::cuda || device.first == dl::cuda_managed;
  }
  static void require_rows(const dl::Tensor& t) {
    if (t.ndim != 2 || t.shape[1] != static_cast<std::int64_t>(numbers))
      throw InvalidArgument("boxes: they must be N x " + std::to_string(numbers) + " numbers");
  }

  std::optional<ForeignArray> array_;
  std::vector<Item> host_;
  Span<const Item> span_;
};

struct Read {
  ForeignArray array;
  std::optional<Pixels> pixels;
  Read(nb::handle object, const Axes& axes, bool may_fold, std::optional<Stream> stream, const char* name)
      : array(object, stream, name), pixels(pixels_of(array.ref(), axes, true, may_fold)) {}
};

std::optional<TableView> view_of(const std::optional<Read>& table, Border border) {
  if (!table) return std::nullopt;
  return TableView(table->pixels->view, border);
}

QueryOptions options_of(const ForeignArray& table, bool clip, int threads) {
  QueryOptions options;
  options.outside = clip ? Outside::clip : Outside::error;
  options.execution.threads = is_forked_child() ? 1 : threads;
  if (!table.memory().is_host()) options.execution.stream = table.work_stream();
  return options;
}

template <class Run>
nb::object answered(const ForeignArray& like, nb::object empty, Type type, const std::vector<std::int64_t>& extents,
                    bool refused, QueryOptions options, const Run& run) {
  const Allocator allocator(like, std::move(empty));
  NewArray answers = allocator.make(type, extents), first;
  if (refused) {
    first = allocator.make(Type::s64, {1});
    options.first_invalid = Span<std::int64_t>(static_cast<std::int64_t*>(first.data()), 1, like.memory());
  }
  without_gil(like.memory().is_host(), [&] { run(answers.data(), options); });
  return nb::make_tuple(answers.take(), refused ? first.take() : nb::none());
}

/// Sums of boxes of a volume: N of float64. None where the table cannot be read as it lies.
nb::object volume_query(int asked, nb::handle sum, Border border, const Axes& axes, nb::handle boxes,
                        std::string_view format, bool clip, int threads, bool refused, nb::object empty,
                        nb::handle stream) {
  if (static_cast<Asked>(asked) != Asked::sum) throw InvalidArgument("boxes: those of a volume have sum and mean");
  const Read table(sum, axes, false, stream_given(stream), "table");
  if (!table.pixels) return nb::none();
  const bool transposed = table.pixels->order.transposed;
  if (transposed && !table.array.memory().is_host()) return nb::none();
  const Boxes<Box> items(boxes, format, transposed, table.array);
  const Span<const Box> all = items.span();
  const SatView volume(TableView(table.pixels->view, border));
  return answered(table.array, std::move(empty), Type::f64, {static_cast<std::int64_t>(all.size())}, refused,
                  options_of(table.array, clip, threads), [&](void* data, const QueryOptions& options) {
                    const Span<double> out(static_cast<double*>(data), all.size(), table.array.memory());
                    box_sums(volume, all, out, options);
                  });
}

/// None where the tables cannot be read as they lie. Answers are boxes x N x C, in float64 where `as_double`.
nb::object tensor_query(int asked, nb::handle sum, nb::handle squares, nb::handle count, const std::string& border,
                        std::string_view letters, nb::handle boxes, std::string_view format, bool clip, int threads,
                        bool refused, nb::object empty, nb::handle stream, bool as_double) {
  const auto known = border_named(border);
  if (!known) throw InvalidArgument("border " + border + ": may be zero, none or exclusive");
  const Axes& axes = Axes::of(letters, letters.empty() ? 2 : letters.size());
  if (axes.volume)
    return volume_query(asked, sum, *known, axes, boxes, format, clip, threads, refused, std::move(empty), stream);
  const bool may_fold = count.is_none();
  const Read table(sum, axes, may_fold, stream_given(stream), "table");
  if (!table.pixels) return nb::none();
  const auto same_stream = table.array.memory().is_host() ? std::nullopt : std::optional(table.array.work_stream());
  std::optional<Read> of_squares, of_count;
  if (!squares.is_none()) of_squares.emplace(squares, axes, may_fold, same_stream, "squares");
  if (!count.is_none()) of_count.emplace(count, axes.without_channels(), may_fold, same_stream, "count");
  const bool transposed = table.pixels->order.transposed;
  if (of_squares && (!of_squares->pixels || !(of_squares->pixels->order == table.pixels->order))) return nb::none();
  if (of_count && (!of_count->pixels || of_count->pixels->order.transposed != transposed)) return nb::none();
  if (transposed && !table.array.memory().is_host()) return nb::none();
  const Boxes<Region> regions(boxes, format, transposed, table.array);
  const Span<const Region> all = regions.span();
  const ConstView& view = table.pixels->view;
  const SatView tables(TableView(view, *known), view_of(of_squares, *known), view_of(of_count, *known));
  std::vector<std::int64_t> extents{static_cast<std::int64_t>(all.size())};
  const ArrayShape shape = ArrayShape::of(table.array.ref());
  for (const int dimension : {axes.n, axes.c})
    if (dimension >= 0)
      extents.push_back(static_cast<std::int64_t>(shape.extents[static_cast<std::size_t>(dimension)]));
  std::size_t values = 1;
  for (const std::int64_t extent : extents) values *= static_cast<std::size_t>(extent);
  const bool integers = static_cast<Asked>(asked) == Asked::sum && !is_float(view.type) && !as_double;
  const MemoryPlace place = table.array.memory();
  return answered(table.array, std::move(empty), integers ? Type::s64 : Type::f64, extents, refused,
                  options_of(table.array, clip, threads), [&](void* data, const QueryOptions& options) {
                    const Span<double> out(static_cast<double*>(data), values, place);
                    switch (static_cast<Asked>(asked)) {
                      case Asked::mean:
                        return region_means(tables, all, out, options);
                      case Asked::variance:
                        return region_variances(tables, all, out, options);
                      case Asked::deviation:
                        return region_standard_deviations(tables, all, out, options);
                      case Asked::sum:
                        break;
                    }
                    if (!integers) return region_sums(tables, all, out, options);
                    if (is_signed_integer(view.type))
                      return signed_region_sums(
                          tables, all, Span<std::int64_t>(static_cast<std::int64_t*>(data), values, place), options);
                    region_sums(tables, all, Span<std::uint64_t>(static_cast<std::uint64_t*>(data), values, place),
                                options);
                  });
}

/// Scatters values (boxes x N x C, float64 or int64) to the corners of boxes, into a contiguous table. Boxes that
/// cannot be answered scatter nothing.
void tensor_scatter(nb::handle values, nb::handle boxes, nb::handle table, const std::string& border,
                    std::string_view letters, bool clip, nb::object empty, nb::handle stream) {
  const auto known = border_named(border);
  if (!known) throw InvalidArgument("border " + border + ": may be zero, none or exclusive");
  const Axes& axes = Axes::of(letters, letters.empty() ? 2 : letters.size());
  const ForeignArray to(table, stream_given(stream), "table");
  const std::optional<Pixels> pixels = pixels_of(to.ref(), axes, false, true);
  if (!pixels) throw InvalidArgument("table: it must be contiguous");
  const bool on_host = to.memory().is_host();
  const std::optional<Stream> same = on_host ? std::nullopt : std::optional(to.work_stream());
  const ForeignArray from(values, same, "values");
  const Boxes<Region> regions(boxes, "xywh", false, to);
  const Allocator allocator(to, std::move(empty));
  QueryOptions options = options_of(to, clip, 0);
  NewArray first = allocator.make(Type::s64, {1}), memory;
  options.first_invalid = Span<std::int64_t>(static_cast<std::int64_t*>(first.data()), 1, to.memory());
  Span<std::byte> workspace;
  if (!on_host) {
    const std::size_t bytes = scatter_workspace_bytes(regions.span().size());
    memory = allocator.make(Type::u8, {static_cast<std::int64_t>(bytes)});
    workspace = Span<std::byte>(static_cast<std::byte*>(memory.data()), bytes, to.memory());
  }
  const ConstView& v = pixels->view;
  const View out =
      View(const_cast<void*>(v.data), v.type, v.shape, v.row_pitch, v.plane_pitch, v.batch_pitch).in(v.memory);
  const bool floats = from.type() == Type::f64;
  const Span<const double> doubles = floats ? from.span<const double>() : Span<const double>();
  const Span<const std::int64_t> integers = floats ? Span<const std::int64_t>() : from.span<const std::int64_t>();
  without_gil(on_host, [&] {
    if (floats) return scatter_corners(regions.span(), doubles, out, *known, options, workspace);
    scatter_corners(regions.span(), integers, out, *known, options, workspace);
  });
}

}  // namespace

void bind_device_queries(nb::module_& m) {
  m.def("tensor_query", &tensor_query, nb::arg("asked"), nb::arg("sum"), nb::arg("squares").none(),
        nb::arg("count").none(), nb::arg("border"), nb::arg("axes"), nb::arg("boxes"), nb::arg("format"),
        nb::arg("clip"), nb::arg("threads"), nb::arg("refused"), nb::arg("empty").none() = nb::none(),
        nb::arg("stream").none() = nb::none(), nb::arg("as_double") = false);
  m.def("tensor_scatter", &tensor_scatter, nb::arg("values"), nb::arg("boxes"), nb::arg("table"), nb::arg("border"),
        nb::arg("axes"), nb::arg("clip"), nb::arg("empty").none() = nb::none(), nb::arg("stream").none() = nb::none());
}

}  // namespace areal::python
