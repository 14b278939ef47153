#pragma once
// One execute of a plan in a workspace: checks of the views' memory, and copies of host views for a plan on CUDA.

#include <areal/carry.hpp>
#include <areal/plan.hpp>
#include <array>
#include <cstddef>
#include "api/core/memory_check.hpp"
#include "api/core/plan_state.hpp"
#include "api/core/require.hpp"
#include "cuda/device.hpp"
#include "formulas/float_environment.hpp"

namespace areal {

/// The views of a plan's arguments, by name.
template <class Arguments, std::size_t inputs, std::size_t outputs, std::size_t carries = 0>
struct ArgumentViews {
  struct Input {
    const char* name;
    ConstView Arguments::*view;
  };
  struct Output {
    const char* name;
    View Arguments::*view;
  };
  /// The two inputs of a carry.
  struct CarryInput {
    const char *above, *left;
    Carry Arguments::*carry;
  };
  std::array<Input, inputs> in;
  std::array<Output, outputs> out;
  std::array<CarryInput, carries> carried = {};

  /// f(name, view) for each input, carries last.
  template <class A, class F>
  void each_input(A& arguments, const F& f) const {
    for (const Input& one : in) f(one.name, arguments.*one.view);
    for (const CarryInput& one : carried) {
      f(one.above, (arguments.*one.carry).above);
      f(one.left, (arguments.*one.carry).left);
    }
  }
};

/// Throws InvalidArgument, naming the view, for memory that the plan does not support; see require_memory.
template <class Arguments, class Views>
void require_memories(const Plan& plan, const Views& views, const Arguments& arguments, bool staged) {
  views.each_input(arguments, [&](const char* name, const ConstView& view) {
    if (view.data != nullptr) require_memory(name, view.memory, plan, staged);
  });
  for (const auto& one : views.out)
    if (const View& view = arguments.*one.view; view.data != nullptr)
      require_memory(one.name, view.memory, plan, staged);
}

/// The workspace's state. Throws InvalidArgument for another plan's workspace.
inline Workspace::State& require_workspace(const Plan::State& plan, Workspace& workspace) {
  require(workspace.state() != nullptr, "workspace: it was moved from");
  require(workspace.state()->plan.get() == &plan,
          "workspace: it was made for another plan; a workspace serves its plan and the plan's copies");
  return *workspace.state();
}

/// Runs a checked execute: run(arguments, memory, stream) with views of memory where the plan runs.
template <class Arguments, class Views, class Run>
void execute_in(Workspace::State& workspace, const Views& views, const Arguments& arguments, const Run& run) {
  const FloatEnvironment floats;
  const Plan::State& plan = *workspace.plan;
  if (!plan.on_cuda()) return run(arguments, workspace.memory, workspace.stream);

  const cuda::DeviceScope scope(plan.execution.device);
  const Stream stream = workspace.stream;
  const auto is_staged = [](const auto& view) { return view.data != nullptr && view.memory.is_host(); };
  bool staged = false;
  views.each_input(arguments, [&](const char*, const ConstView& view) { staged = staged || is_staged(view); });
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
    if (!buffer.fits(view.shape, view.type)) buffer = StagingBuffer(view.shape, view.type, plan.memory());
    return buffer;
  };
  views.each_input(there, [&](const char*, ConstView& view) {
    if (is_staged(view)) {
      StagingBuffer& buffer = buffer_of(view);
      buffer.copy_in(view, stream);
      view = buffer.view();
    }
    ++slot;
  });
  const std::size_t first_output = slot;
  for (const auto& one : views.out) {
    if (const View& view = arguments.*one.view; is_staged(view)) there.*one.view = buffer_of(view).view();
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
