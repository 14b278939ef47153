// Doors of arrays and streams as device.hpp has them: on cpu and simt the same code runs in host memory.

#include <areal/array.hpp>
#include <areal/device.hpp>
#include <areal/histogram.hpp>
#include <areal/sat.hpp>

#include "door.hpp"
#include "histograms.hpp"
#include "tables.hpp"

namespace doors {
namespace {

/// Page-locked, then copied to where the stream works.
areal::DeviceArray uploaded(const Elements& elements, const areal::OwnedStream& stream, areal::PinnedArray& pinned) {
  pinned = areal::PinnedArray(elements.shape, elements.type, stream.execution());
  const Room room(elements, Lie(), areal::MemoryPlace());
  areal::copy_view(room.view(), pinned.view());
  return areal::DeviceArray::copy_of(std::as_const(pinned).view(), stream.execution());
}

std::optional<areal::DeviceArray> cleared(bool wanted, const areal::Shape& shape, areal::Type type,
                                          const areal::OwnedStream& stream) {
  if (!wanted) return {};
  std::optional<areal::DeviceArray> array(std::in_place, shape, type, stream.execution());
  areal::clear_view(array->view(), stream.get());
  return array;
}

std::optional<Elements> downloaded(const std::optional<areal::DeviceArray>& array, const areal::OwnedStream& stream) {
  if (!array) return {};
  const areal::Array host = array->to_host(stream.execution());
  return gather(host.view());
}

/// A plan's work on a stream of its own, between events.
template <class Plan, class Arguments>
void execute(const Plan& plan, const Arguments& arguments, const areal::OwnedStream& stream) {
  areal::DeviceArray memory({static_cast<std::int64_t>(plan.workspace_bytes()), 1}, areal::Type::u8,
                            stream.execution());
  areal::Workspace workspace(plan, {static_cast<std::byte*>(memory.view().data), memory.bytes(), memory.memory()},
                             stream);
  areal::Event begin(stream.execution()), end(stream.execution());
  begin.record(stream);
  plan.execute(arguments, workspace);
  end.record(stream);
  end.wait();
  if (!end.has_happened() || end.seconds_since(begin) < 0)
    throw Failed("an event that was waited for has not happened");
  stream.wait();
}

Json sat_on_stream(const Question& q) {
  const areal::OwnedStream stream(execution_of(q));
  areal::PinnedArray pinned_image, pinned_mask;
  const areal::DeviceArray image = uploaded(image_elements(q), stream, pinned_image);
  std::optional<areal::DeviceArray> mask;
  if (const auto elements = mask_elements(q)) mask = uploaded(*elements, stream, pinned_mask);
  const areal::SatPlan plan(image.shape(), image.type(), sat_options(q), stream.execution());
  const areal::SatOptions& options = plan.options();
  const auto squares_type = plan.squares_type();
  auto sum = cleared(true, plan.table_shape(), plan.types().table, stream);
  auto squares = cleared(squares_type.has_value(), plan.table_shape(), squares_type.value_or(areal::Type::u64), stream);
  auto tilted = cleared(options.tilted, plan.tilted_shape(), plan.types().table, stream);
  auto count = cleared(options.mask || options.ignore_nan, plan.count_shape(), areal::Type::u32, stream);
  areal::SatArguments arguments{image.view(), sum->view()};
  if (mask) arguments.mask = std::as_const(*mask).view();
  if (squares) arguments.squares = squares->view();
  if (tilted) arguments.tilted = tilted->view();
  if (count) arguments.count = count->view();
  execute(plan, arguments, stream);
  Tables tables = tables_of(*downloaded(sum, stream), downloaded(squares, stream), downloaded(tilted, stream),
                            downloaded(count, stream), q, plan.types());
  tables.ran = plan.algorithm();
  return respond(q, tables);
}

Json histogram_on_stream(const Question& q) {
  const areal::OwnedStream stream(execution_of(q));
  areal::PinnedArray pinned, pinned_weights;
  const areal::DeviceArray image = uploaded(image_elements(q), stream, pinned);
  std::optional<areal::DeviceArray> weights;
  if (const auto elements = weights_elements(q, image.shape().batch))
    weights = uploaded(*elements, stream, pinned_weights);
  const areal::HistogramPlan plan(image.shape(), image.type(), binning_of(q), histogram_options(q), stream.execution());
  auto tensor = cleared(true, plan.tensor_shape(), plan.options().counter, stream);
  areal::HistogramArguments arguments{image.view(), tensor->view()};
  if (weights) arguments.weights = std::as_const(*weights).view();
  execute(plan, arguments, stream);
  Elements elements = *downloaded(tensor, stream);
  auto room = std::make_shared<Room>(elements, lie_of_outputs(q), areal::MemoryPlace());
  Tensor made = tensor_in(room, plan.options().border);
  made.ran = plan.algorithm();
  return respond(q, made);
}

const std::vector<Door> doors = {{"device-arrays", {"table", "regions", "window"}, sat_on_stream},
                                 {"histogram-device-arrays", {"histogram"}, histogram_on_stream}};

}  // namespace

std::span<const Door> device_doors() { return doors; }

}  // namespace doors
