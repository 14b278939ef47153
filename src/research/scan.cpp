// Sums of a line: checks, and the request to a device.
#include <algorithm>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <areal/research/scan.hpp>
#include <bit>
#include <memory>
#include "api/core/device_plan.hpp"
#include "api/core/execute.hpp"
#include "api/core/plan_state.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "kernels/scan/request.hpp"

namespace areal {
namespace {

std::string known_scans() {
  std::string list;
  for (const Algorithm& row : algorithms())
    if (row.family == "scan") list += (list.empty() ? "" : ", ") + std::string(row.id);
  return list;
}

/// The least group that keeps the sequential-parallel sums within a constant of the optimal ones, for p threads.
std::int64_t least_group(std::int64_t p, std::int64_t n) {
  if (p == 0 || p >= n) return std::max<std::int64_t>(n, 1);
  const auto logarithm = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(p - 1)));  // rounded up
  return p >= n / std::max<std::int64_t>(logarithm, 1) ? n : p * std::max<std::int64_t>(logarithm, 1);
}

}  // namespace

struct ScanPlan::State : Plan::State {
  ScanOptions options;
  kernels::ScanRequest request;
  std::shared_ptr<const kernels::AnyDevicePlan<kernels::Scan>> plan;

  void prepare(void* memory, Stream stream) const override {
    if (workspace_bytes > 0) plan->prepare(memory, stream);
  }
  void run(const ConstView& line, const View& sums, void* memory, Stream stream) const {
    plan->execute({line, sums}, memory, stream, options.on_launch);
  }
};

namespace {

struct Line {
  ConstView line;
  View sums;
};
constexpr ArgumentViews<Line, 1, 1> views{{{{"line", &Line::line}}}, {{{"sums", &Line::sums}}}};

std::shared_ptr<ScanPlan::State> plan_scan(std::int64_t n, TypePair types, const ScanOptions& options,
                                           const Execution& execution) {
  check_shape("line", {n, 1}, types.input);
  check_shape("sums", {n, 1}, types.table);
  require(options.threads >= 0, "threads ", options.threads, ": it may be 0 (as many as there is work) or more");
  require(options.group >= 0, "group ", options.group, ": it may be 0 (chosen) or more");
  const Algorithm* const row = find_algorithm("scan", options.algorithm);
  require(row != nullptr, "algorithm ", options.algorithm, " is not one of ", known_scans());
  const auto pairs = type_pairs_of(*row);
  require(std::find(pairs.begin(), pairs.end(), types) != pairs.end(), "types ", name_of(types),
          ": a scan does not sum ", name_of(types.input), " elements in ", name_of(types.table));
  auto state = std::make_shared<ScanPlan::State>();
  state->execution = execution;
  state->options = options;
  state->algorithm = state->options.algorithm;
  state->reason = "requested";
  if (execution.backend == Backend::automatic) state->execution.backend = Backend::cuda;
  const Backend backend = state->execution.backend;
  require(backend == Backend::cuda || backend == Backend::simt, "backend ", name_of(backend),
          " has no sums of a line; cuda and simt have");
  require_stream_of(state->execution);
  require_launches(options.on_launch, backend);
  require_backend(backend, execution.device);
  if (options.group == 0) state->options.group = least_group(options.threads, n);
  state->request = {state->options.algorithm, types, n, options.threads, state->options.group};
  state->plan = device_plan<kernels::Scan>(backend, execution.device, state->request);
  state->workspace_bytes = state->plan->workspace_bytes();
  return state;
}

}  // namespace

ScanPlan::ScanPlan(std::int64_t n, TypePair types, const ScanOptions& options, const Execution& execution)
    : Plan(plan_scan(n, types, options, execution)) {}

const ScanPlan::State& ScanPlan::state() const noexcept { return static_cast<const State&>(*state_); }
std::int64_t ScanPlan::length() const noexcept { return state().request.n; }
TypePair ScanPlan::types() const noexcept { return state().request.types; }
const ScanOptions& ScanPlan::options() const noexcept { return state().options; }

void ScanPlan::execute(const ConstView& line, const View& sums, Workspace& workspace) const {
  const State& s = state();
  Workspace::State& w = require_workspace(s, workspace);
  check_view("line", line, {s.request.n, 1}, s.request.types.input);
  check_view("sums", sums, {s.request.n, 1}, s.request.types.table);
  const Line arguments{line, sums};
  require_memories(*this, views, arguments, !w.borrowed);
  require(!may_overlap(sums, line), "the line and its sums share memory");
  execute_in(w, views, arguments,
             [&](const Line& there, void* memory, Stream stream) { s.run(there.line, there.sums, memory, stream); });
}

}  // namespace areal
