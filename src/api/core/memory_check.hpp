#pragma once
// In which memory a view may lie.

#include <areal/execution.hpp>
#include <areal/plan.hpp>
#include <areal/view.hpp>
#include <string>
#include <string_view>

namespace areal {

/// "host memory", "memory of CUDA device 1".
std::string words_of(MemoryPlace place);

/// The execution of a one-line form: where the backend is left open, an image in device memory names its device.
Execution execution_of(const ConstView& image, const Execution& execution);

/// Throws InvalidArgument, naming the argument, unless the plan works on that memory, or stages it: host memory for a
/// plan on CUDA, where `staged`.
void require_memory(std::string_view name, MemoryPlace memory, const Plan& plan, bool staged);

}  // namespace areal
