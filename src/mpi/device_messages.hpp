#pragma once
// Which messages MPI takes from device memory and brings there. The others go through host memory.

#include <areal/execution.hpp>
#include <areal/type.hpp>
#include <optional>

namespace areal::mpi {

/// What is known of the MPI, and what the user wants.
struct MessageFacts {
  bool asked = false;     ///< MPI's headers have MPIX_Query_cuda_support
  bool says_yes = false;  ///< its answer while MPI runs
  bool by_host = false;   ///< AREAL_MPI_MESSAGES=host
};

/// Do the carries of a strip in that memory, sums of that type, travel between devices? Sums of floats do not: each
/// rank adds its own to them on the host.
bool travels_between_devices(MemoryPlace strip, Type sums, const MessageFacts& facts);

/// Of the MPI that this program runs with, or what a test has planted.
MessageFacts message_facts();
extern std::optional<MessageFacts> planted_message_facts;

}  // namespace areal::mpi
