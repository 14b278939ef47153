#pragma once
// One execute of a plan in a workspace: which memory its views may lie in, and the copies of host views for a plan on
// CUDA.

#include <areal/plan.hpp>
#include <array>
#include <cstddef>
#include "api/core/memory_check.hpp"
#include "api/core/plan_state.hpp"
#include "api/core/require.hpp"

namespace areal {

/// The views of a plan's arguments, by name.
template <class Arguments, std::size_t inputs, std::size_t outputs>
struct ArgumentViews {
  struct Input {
    const char* name;
    ConstView Arguments::*view;
  };
  struct Output {
    const char* name;
    View Arguments::*view;
  };
  std::array<Input, inputs> in;
  std::array<Output, outputs> out;
};

/// Throws InvalidArgument, naming the view, for one in memory that the plan does not take; see require_memory.
template <class Arguments, class Views>
void require_memories(const Plan& plan, const Views& views, const Arguments& arguments, bool staged) {
  for (const auto& one : views.in)
    if (const ConstView& view = arguments.*one.view; view.data != nullptr)
      require_memory(one.name, view.memory, plan, staged);
  for (const auto& one : views.out)
    if (const View& view = arguments.*one.view; view.data != nullptr)
      require_memory(one.name, view.memory, plan, staged);
}

/// The workspace's state. Throws InvalidArgument unless it is one of this plan's.
inline Workspace::State& require_workspace(const Plan::State& plan, Workspace& workspace) {
  require(workspace.state() != nullptr, "workspace: it was moved from");
  require(workspace.state()->plan.get() == &plan,
          "workspace: it was made for another plan; a workspace serves its plan and the plan's copies");
  return *workspace.state();
}

/// Runs what has been checked: run(arguments, memory, stream) with views of memory where the plan runs.
template <class Arguments, class Views, class Run>
void execute_in(Workspace::State& workspace, const Views& views, const Arguments& arguments, const Run& run) {
  const Plan::State& plan = *workspace.plan;
  if (!plan.on_cuda()) return run(arguments, workspace.memory, workspace.stream);

  const cuda::DeviceScope scope(plan.execution.device);
  const Stream stream = workspace.stream;
  const auto is_staged = [](const auto& view) { return view.data != nullptr && view.memory.is_host(); };
  bool staged = false;
  for (const auto& one : views.in) staged = staged || is_staged(arguments.*one.view);
  for (const auto& one : views.out) staged = staged || is_staged(arguments.*one.view);
  require(!(staged || workspace.waits) || !cuda::is_capturing(stream),
          "stream: it is being captured into a CUDA graph, which takes ",
          staged ? "no views of host memory" : "executes in workspaces of that stream alone");
  if (!staged) {
    run(arguments, workspace.memory, stream);
    if (workspace.waits) cuda::synchronize(stream);
    return;
  }
  const cuda::HostCopyGuard guard(stream);
  Arguments there = arguments;
  std::size_t slot = 0;
  const auto buffer_of = [&](const auto& view) -> StagingBuffer& {
    StagingBuffer& buffer = workspace.staging[slot];
    if (!buffer.fits(view.shape, view.type)) buffer = StagingBuffer(view.shape, view.type);
    return buffer;
  };
  for (const auto& one : views.in) {
    if (const ConstView& view = arguments.*one.view; is_staged(view)) {
      StagingBuffer& buffer = buffer_of(view);
      buffer.copy_in(view, stream);
      there.*one.view = buffer.view().in(plan.memory());
    }
    ++slot;
  }
  const std::size_t first_output = slot;
  for (const auto& one : views.out) {
    if (const View& view = arguments.*one.view; is_staged(view))
      there.*one.view = buffer_of(view).view().in(plan.memory());
    ++slot;
  }
  run(there, workspace.memory, stream);
  const auto each_output = [&](const auto& f) {
    slot = first_output;
    for (const auto& one : views.out) {
      if (const View& view = arguments.*one.view; is_staged(view)) f(workspace.staging[slot], view);
      ++slot;
    }
  };
  each_output([&](StagingBuffer& buffer, const View& view) { buffer.copy_out(view, stream); });
  cuda::synchronize(stream);
  each_output([](StagingBuffer& buffer, const View& view) { buffer.finish(view); });
}

}  // namespace areal
