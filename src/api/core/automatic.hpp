#pragma once
// Plans with Backend::automatic.

#include <areal/catalog.hpp>
#include <areal/execution.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include "cpu/threads.hpp"
#include "cuda/device.hpp"
#include "policy/backend_choice.hpp"

namespace areal {

/// The plan state on the backend that `automatic` selects. make(execution) makes the state for a named backend;
/// lacks(execution) says why an available device has no kernel for it, or is empty. Completes the question's workspace,
/// threads and algorithm.
template <class Lacks, class Make>
auto automatic_plan(std::string_view family, std::string_view algorithm, const Execution& execution,
                    policy::BackendQuestion question, const Lacks& lacks, const Make& make)
    -> decltype(make(execution)) {
  const auto named = [&](Backend backend) {
    Execution one = execution;
    one.backend = backend;
    return one;
  };
  const auto on = [&](Backend backend, const std::string& why) {
    auto state = make(named(backend));
    state->reason += "; " + why;
    return state;
  };
  if (execution.stream)
    return execution.stream->is_host() ? on(Backend::cpu, "backend cpu, as the stream is the host's")
                                       : on(Backend::cuda, "backend cuda, as the stream is one of CUDA's");
  if (algorithm != "auto") {
    const Algorithm* const row = find_algorithm(family, algorithm);
    question.cuda_has_it = row != nullptr && row->cuda;
    question.cpu_has_it = row == nullptr || row->cpu;
  }
  question.threads = execution.threads > 0 ? execution.threads : cpu::default_threads();
  // Querying a device's memory creates a context, which takes longer than most tables: only if the device is expected
  // to be faster.
  policy::BackendMachine machine;
  if (cuda::device_count() == 0) machine.why_no_cuda = cuda::why_not(execution.device);
  machine.device_memory = std::numeric_limits<std::uint64_t>::max();
  policy::BackendChoice choice = choose_backend(question, machine);
  if (choice.backend == Backend::cuda) {
    machine.why_no_cuda = cuda::why_not(execution.device);
    machine.device_memory = machine.why_no_cuda.empty() ? cuda::free_memory(execution.device) : 0;
    choice = choose_backend(question, machine);
  }
  if (choice.backend == Backend::cuda) {
    if (const std::string why = lacks(named(Backend::cuda)); !why.empty())
      return on(Backend::cpu, "backend cpu, as on cuda " + why);
    auto state = on(Backend::cuda, choice.reason);
    question.workspace = state->workspace_bytes;
    choice = choose_backend(question, machine);
    if (choice.backend == Backend::cuda) return state;
  }
  return on(Backend::cpu, choice.reason);
}

}  // namespace areal
