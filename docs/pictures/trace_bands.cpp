// bands with a few warps of each kind, on two clusters of four blocks.

#include <areal/array.hpp>
#include <cstring>
#include "cases.hpp"
#include "kernels/sat/bands/bands.hpp"
#include "recorder.hpp"
#include "simt/launcher.hpp"

namespace areal::simt {
namespace {

struct FewWarps {
  using In = float;
  using T = float;
  static constexpr int columns = 128, rows = 3, exchangers = 2, fetchers = 1, summers = 2, writers = 4, group = 3,
                       early = 1;
  static constexpr bool reverse = false;
  static constexpr std::size_t shared_bytes = 30 * 1024;
};

}  // namespace

void trace_bands() {
  using Plan = kernels::BandsPlan<FewWarps, FewWarps>;
  const Shape shape{8 * 128, 8 * 8};
  const kernels::BandsGrid grid{2, 4, 2};
  Array image(shape, Type::f32), table(shape, Type::f32);
  for (std::size_t i = 0; i < image.bytes() / sizeof(float); ++i) image.as<float>()[i] = static_cast<float>(i % 7);
  Array workspace({static_cast<std::int64_t>(Plan(shape, grid).workspace_bytes), 1}, Type::u8);
  std::memset(workspace.data(), 0, workspace.bytes());

  Recorder recorder;
  const auto named = [&](const char* name, const Array& array) {
    recorder.add({name, static_cast<const char*>(array.data()), array.bytes(), 4, shape.width, shape.height});
  };
  named("image", image);
  named("table", table);
  const Plan plan(shape, grid, workspace.data());
  recorder.add("sums", plan.args.sums, 8);
  recorder.add("prefixes", plan.args.prefixes, 8);
  recorder.close(static_cast<const char*>(workspace.data()) + workspace.bytes());
  Options options;
  options.residents = static_cast<int>(grid.blocks());
  options.trace = [&](const Event& event) { recorder(event); };
  Launcher launcher(options);
  launcher.add({"image", image.data(), image.bytes(), true, false});
  launcher.add({"table", table.data(), table.bytes(), false});
  launcher.add({"workspace", workspace.data(), workspace.bytes(), true});
  kernels::bands<Plan>(launcher, image.view(), {table.view()}, workspace.data(), grid);
  recorder.write("bands", "32f32f", launcher.launches());
}

}  // namespace areal::simt
