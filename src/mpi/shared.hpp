#pragma once
// Checks and agreement that the calls about strips share.

#include <areal/mpi.hpp>
#include <vector>
#include "mpi/communicator.hpp"

namespace areal::mpi {

/// The properties of a strip and the options that must be equal on all ranks.
inline std::vector<Shared> shared_of(const ConstView& strip, const Options& how) {
  const Shape& s = strip.shape;
  return {{"width", s.width, {}},
          {"channels", s.channels, {}},
          {"batch", s.batch, {}},
          {"layout of the strip", s.channels > 1 ? static_cast<int>(s.layout) : 0, {}},
          {"type", static_cast<int>(strip.type), std::string(name_of(strip.type))},
          {"message_bytes", static_cast<std::int64_t>(how.message_bytes), {}},
          {"carry_bytes", static_cast<std::int64_t>(how.carry_bytes), {}}};
}

inline void require_strip(const ConstView& strip) {
  const Shape& s = strip.shape;
  if (s.width < 0 || s.height < 0 || s.channels < 0 || s.batch < 0)
    throw InvalidArgument("strip of " + std::to_string(s.width) + "x" + std::to_string(s.height) +
                          ": extents may be 0 or more");
  if (strip.data == nullptr && !s.empty()) throw InvalidArgument("strip: its memory is a null pointer");
}

/// The execution of a plan for the strip: an image in device memory is processed there.
inline Execution execution_for(const ConstView& strip, const Options& how) {
  Execution execution = how.execution;
  if (!strip.memory.is_host() && execution.backend == Backend::automatic)
    execution.backend = Backend::cuda, execution.device = strip.memory.device;
  return execution;
}

}  // namespace areal::mpi
