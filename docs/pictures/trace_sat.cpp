// The kernels of summed-area tables, on images of a few tiles of 32f32f.

#include <areal/array.hpp>
#include <cstring>
#include "cases.hpp"
#include "kernels/sat/lookback/all-partials.hpp"
#include "kernels/sat/lookback/lookback-diagonal.hpp"
#include "kernels/sat/lookback/lookback.hpp"
#include "kernels/sat/thin/thin.hpp"
#include "recorder.hpp"
#include "simt/plan.hpp"

namespace areal::simt {
namespace {

using In = float;
using T = float;

template <class Config>
void name_lookback(Recorder& recorder, const kernels::TableRequest& request, void* workspace) {
  const kernels::LookbackPlan<Config> plan(request.image, request.border, workspace);
  if (Config::order != kernels::LookbackOrder::direct) recorder.add("ticket", plan.args.ticket, 8);
  recorder.add("rows", plan.args.rows, 8);
  if (Config::order == kernels::LookbackOrder::rows) recorder.add("group_sums", plan.args.group_sums, 8);
  recorder.add("columns", plan.args.columns, 8);
  recorder.add("totals", plan.args.totals, 8);
}

}  // namespace

void trace_sat(const std::string& id) {
  const std::map<std::string, Shape> shapes{{"lookback", {18 * 128, 3 * 128}},
                                            {"lookback-diagonal", {6 * 128, 5 * 128}},
                                            {"all-partials", {5 * 128, 3 * 64}},
                                            {"thin", {20 * 2048, 3}}};
  kernels::SatRequest request{shapes.at(id), {Type::f32, Type::f32}, Border::none};
  request.id = id;
  Array image(request.image, Type::f32), table(request.image, Type::f32);
  for (std::size_t i = 0; i < image.bytes() / sizeof(In); ++i) image.as<In>()[i] = static_cast<In>(i % 7);
  Array workspace({static_cast<std::int64_t>(make_plan<kernels::Sat>(request)->workspace_bytes()), 1}, Type::u8);
  std::memset(workspace.data(), 0, workspace.bytes());

  Recorder recorder;
  const auto named = [&](const char* name, const Array& array) {
    recorder.add(
        {name, static_cast<const char*>(array.data()), array.bytes(), 4, request.image.width, request.image.height});
  };
  named("image", image);
  named("table", table);
  const kernels::TableRequest of_sum{id, kernels::TableKind::pixels, request.types, request.image, request.border};
  using ByRows = kernels::LookbackConfig<In, T, kernels::GatherByRows>;
  using AlongDiagonals = kernels::LookbackConfig<In, T, kernels::GatherAlongDiagonals>;
  using LowTiles = kernels::LookbackLowConfig<In, T, false>;
  if (id == "lookback") name_lookback<ByRows>(recorder, of_sum, workspace.data());
  if (id == "lookback-diagonal") name_lookback<AlongDiagonals>(recorder, of_sum, workspace.data());
  if (id == "all-partials") name_lookback<LowTiles>(recorder, of_sum, workspace.data());
  if (id == "thin") {
    const kernels::ThinPlan<kernels::ThinConfig<In, T>> plan(of_sum, workspace.data());
    recorder.add("ticket", plan.args.ticket, 8);
    recorder.add("sums", plan.args.sums, 8);
    recorder.add("group_sums", plan.args.group_sums, 8);
  }
  recorder.close(static_cast<const char*>(workspace.data()) + workspace.bytes());
  Options options;
  options.residents = 6, options.together = 20;
  options.trace = [&](const Event& event) { recorder(event); };
  const auto launches = execute<kernels::Sat>(request, {image.view(), table.view()}, workspace.data(), options);
  recorder.write(id.c_str(), "32f32f", launches);
}

}  // namespace areal::simt
