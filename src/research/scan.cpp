// Sums of a line: checks, and the call of a device.
#include <algorithm>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <areal/research/scan.hpp>
#include <bit>
#include <memory>
#include "api/core/device_plan.hpp"
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

struct ScanPlan::State {
  ScanOptions options;
  kernels::ScanRequest request;
  std::shared_ptr<const kernels::AnyDevicePlan<kernels::Scan>> plan;

  bool on_cuda() const { return options.backend == Backend::cuda; }
  void check_workspace(const void* workspace) const {
    const std::size_t bytes = plan->workspace_bytes();
    require(workspace != nullptr || bytes == 0, "workspace is a null pointer: this plan needs ", bytes, " bytes");
  }
};

ScanPlan::ScanPlan(std::int64_t n, TypePair types, const ScanOptions& options) {
  check_shape("line", {n, 1}, types.input);
  check_shape("sums", {n, 1}, types.table);
  require(std::find(type_pairs().begin(), type_pairs().end(), types) != type_pairs().end(), "types ", name_of(types),
          " do not exist: sums of ", name_of(types.table), " cannot be made of ", name_of(types.input), " elements");
  require(options.threads >= 0, "threads ", options.threads, ": it may be 0 (as many as there is work) or more");
  require(options.group >= 0, "group ", options.group, ": it may be 0 (chosen) or more");
  require(find_algorithm("scan", options.algorithm) != nullptr, "algorithm ", options.algorithm, " is not one of ",
          known_scans());
  auto state = std::make_shared<State>();
  state->options = options;
  if (options.backend == Backend::automatic) state->options.backend = Backend::cuda;
  const Backend backend = state->options.backend;
  require(backend == Backend::cuda || backend == Backend::simt, "backend ", name_of(backend),
          " has no sums of a line; cuda and simt have");
  require_launches(options.launched, backend);
  require_backend(backend, options.device);
  if (options.group == 0) state->options.group = least_group(options.threads, n);
  state->request = {state->options.algorithm, types, n, options.threads, state->options.group};
  state->plan = device_plan<kernels::Scan>(backend, options.device, state->request);
  state_ = std::move(state);
}

std::size_t ScanPlan::workspace_bytes() const noexcept { return state_->plan->workspace_bytes(); }
std::int64_t ScanPlan::length() const noexcept { return state_->request.n; }
TypePair ScanPlan::types() const noexcept { return state_->request.types; }
const ScanOptions& ScanPlan::options() const noexcept { return state_->options; }
Backend ScanPlan::backend() const noexcept { return state_->options.backend; }
const std::string& ScanPlan::algorithm() const noexcept { return state_->options.algorithm; }

void ScanPlan::prepare(void* workspace, Stream stream) const {
  const State& s = *state_;
  s.check_workspace(workspace);
  if (s.plan->workspace_bytes() == 0) return;
  if (s.on_cuda()) require_stream(stream);
  s.plan->prepare(workspace, stream);
}

void ScanPlan::execute(const ConstView& line, const View& sums, void* workspace, Stream stream) const {
  const State& s = *state_;
  s.check_workspace(workspace);
  check_view("line", line, {s.request.n, 1}, s.request.types.input);
  check_view("sums", sums, {s.request.n, 1}, s.request.types.table);
  require(!may_overlap(sums, line), "the line and its sums share memory");
  if (s.on_cuda()) require_stream(stream);
  s.plan->execute({line, sums}, workspace, stream, s.options.launched);
}

}  // namespace areal
