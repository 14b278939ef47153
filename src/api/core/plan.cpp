// Plans and workspaces: memory and streams.
#include <areal/plan.hpp>
#include <optional>
#include <utility>
#include "api/core/memory_check.hpp"
#include "api/core/plan_state.hpp"
#include "api/core/require.hpp"
#include "cuda/device.hpp"

namespace areal {
namespace {

void require_stream_on(Backend backend, Stream stream) {
  if (backend == Backend::cuda)
    require(!stream.is_host(), "stream: work on cuda needs the CUDA stream that it may use, not Stream::host()");
  else
    require(stream.is_host(), "stream: a CUDA stream, but the backend is ", name_of(backend),
            ", which takes Stream::host()");
}

void require_no_capture(Backend backend, Stream stream) {
  if (backend == Backend::cuda)
    require(
        !cuda::is_capturing(stream),
        "stream: it is being captured into a CUDA graph: make the workspace before, as it must be ready once, not at "
        "each replay");
}

}  // namespace

void require_stream_of(const Execution& execution) {
  if (execution.stream && execution.backend != Backend::automatic)
    require_stream_on(execution.backend, *execution.stream);
}

std::size_t Plan::workspace_bytes() const noexcept { return state_->workspace_bytes; }
Backend Plan::backend() const noexcept { return state_->execution.backend; }
MemoryPlace Plan::memory() const noexcept { return state_->memory(); }
const Execution& Plan::execution() const noexcept { return state_->execution; }
const std::string& Plan::algorithm() const noexcept { return state_->algorithm; }
const std::string& Plan::reason() const noexcept { return state_->reason; }

Workspace::Workspace(const Plan& plan) : state_(std::make_unique<State>()) {
  State& s = *state_;
  const Plan::State& p = *plan.state_;
  s.plan = plan.state_;
  std::optional<cuda::DeviceScope> scope;
  if (p.on_cuda()) {
    scope.emplace(p.execution.device);
    s.stream = p.execution.stream.value_or(Stream::legacy_default());
    s.waits = !p.execution.stream;
    require_no_capture(p.execution.backend, s.stream);
  }
  s.owned = Memory(p.workspace_bytes, p.memory());
  s.memory = s.owned.data();
  p.prepare(s.memory, s.stream);
}

Workspace::Workspace(const Plan& plan, Span<std::byte> memory, Stream stream)
    : Workspace(plan, memory, stream, false) {}

Workspace Workspace::in_graph(const Plan& plan, Span<std::byte> memory, Stream stream) {
  return Workspace(plan, memory, stream, true);
}

Workspace::Workspace(const Plan& plan, Span<std::byte> memory, Stream stream, bool may_capture)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  const Plan::State& p = *plan.state_;
  require_stream_on(p.execution.backend, stream);
  require(memory.size() >= p.workspace_bytes, "workspace of ", memory.size(), " bytes: this plan needs ",
          p.workspace_bytes);
  require(memory.data() != nullptr || p.workspace_bytes == 0, "workspace is a null pointer: this plan needs ",
          p.workspace_bytes, " bytes");
  if (p.workspace_bytes > 0) require_memory("workspace", memory.memory(), plan, false);
  std::optional<cuda::DeviceScope> scope;
  if (p.on_cuda()) scope.emplace(p.execution.device);
  if (!may_capture) require_no_capture(p.execution.backend, stream);
  s.plan = plan.state_;
  s.stream = stream;
  s.memory = memory.data();
  s.borrowed = true;
  p.prepare(s.memory, s.stream);
}

Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

Stream Workspace::stream() const noexcept { return state_ ? state_->stream : Stream::host(); }

std::string Workspace::algorithm() const {
  if (!state_) return {};
  return state_->ran.empty() ? state_->plan->algorithm : std::string(state_->ran);
}

void Workspace::wait() const {
  if (!state_ || state_->stream.is_host()) return;
  const cuda::DeviceScope scope(state_->plan->execution.device);
  cuda::synchronize(state_->stream);
}

}  // namespace areal
