// relay with a few warps of each kind, on three blocks that each have a strip.

#include <areal/array.hpp>
#include <cstring>
#include "cases.hpp"
#include "kernels/sat/relay/relay.hpp"
#include "recorder.hpp"
#include "simt/launcher.hpp"

namespace areal::simt {
namespace {

struct FewWarps {
  using T = std::uint32_t;
  static constexpr bool aligned = true, reverse = false;
  static constexpr int unit_rows = 32, band = 2, slots = 4, summers = 1, writers = 2, columns_carriers = 2,
                       together = 4, units_at_once = 4, few_units = 1;
};

}  // namespace

void trace_relay() {
  using Plan = kernels::RelayPlan<FewWarps, FewWarps>;
  const Shape shape{3 * 256, 6 * 32};
  Array image(shape, Type::u8), table(shape, Type::u32);
  for (std::size_t i = 0; i < image.bytes(); ++i) image.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i % 7);
  Array workspace({static_cast<std::int64_t>(Plan(shape, Border::none).workspace_bytes), 1}, Type::u8);
  std::memset(workspace.data(), 0, workspace.bytes());

  Recorder recorder;
  const auto named = [&](const char* name, const Array& array, int size) {
    recorder.add({name, static_cast<const char*>(array.data()), array.bytes(), size, shape.width, shape.height});
  };
  named("image", image, 1);
  named("table", table, 4);
  const Plan plan(shape, Border::none, workspace.data());
  recorder.add("rows", plan.args.rows, 4);
  recorder.add("left", plan.args.left, 4);
  recorder.add("columns", plan.args.columns, 4);
  recorder.add("above", plan.args.above, 4);
  recorder.add("corners", plan.args.corners, 8);
  recorder.close(static_cast<const char*>(workspace.data()) + workspace.bytes());
  Options options;
  options.together = 3;
  options.trace = [&](const Event& event) { recorder(event); };
  Launcher launcher(options);
  launcher.add({"image", image.data(), image.bytes(), true, false});
  launcher.add({"table", table.data(), table.bytes(), false});
  launcher.add({"workspace", workspace.data(), workspace.bytes(), true});
  kernels::relay<Plan>(launcher, Border::none, image.view(), {table.view()}, workspace.data());
  recorder.write("relay", "8u32u", launcher.launches());
}

}  // namespace areal::simt
