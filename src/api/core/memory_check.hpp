#pragma once
// In which memory a view may lie.

#include <areal/execution.hpp>
#include <areal/plan.hpp>
#include <areal/view.hpp>
#include <ostream>
#include <string_view>
#include "api/core/require.hpp"

namespace areal {

/// "host memory", "memory of CUDA device 1".
inline auto words_of(MemoryPlace place) {
  return Phrase{[=](std::ostream& out) {
    if (place.is_host())
      out << "host memory";
    else
      out << "memory of CUDA device " << place.device;
  }};
}

/// The execution of a one-line form: Backend::automatic becomes the device of an image in device memory.
Execution execution_of(const ConstView& image, const Execution& execution);

/// Throws InvalidArgument, naming the argument, unless the plan works on that memory, or `staged` allows host memory
/// for a plan on CUDA.
void require_memory(std::string_view name, MemoryPlace memory, const Plan& plan, bool staged);

}  // namespace areal
