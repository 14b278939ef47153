#pragma once
// Which messages MPI sends from and receives in device memory. The others go through host memory.

#include <areal/execution.hpp>
#include <areal/type.hpp>
#include <optional>

namespace areal::mpi {

/// The capabilities of the MPI, and the user's choice.
struct MessageFacts {
  bool has_query = false;  ///< MPI's headers have MPIX_Query_cuda_support
  bool says_yes = false;   ///< its answer while MPI runs
  bool by_host = false;    ///< AREAL_MPI_MESSAGES=host
};

/// True if the carries of a strip in that memory, sums of that type, go from device to device. Sums of floats do not:
/// each rank adds its own on the host.
bool travels_between_devices(MemoryPlace strip, Type sums, const MessageFacts& facts);

/// Those of the running MPI, or a test's.
MessageFacts message_facts();
extern std::optional<MessageFacts> planted_message_facts;

}  // namespace areal::mpi
