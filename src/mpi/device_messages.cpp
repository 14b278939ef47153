#include "mpi/device_messages.hpp"
#include <mpi.h>
#include <cstdlib>
#include <string_view>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>  // Open MPI's
#endif

namespace areal::mpi {

std::optional<MessageFacts> planted_message_facts;

bool travels_between_devices(MemoryPlace strip, Type sums, const MessageFacts& facts) {
  return !strip.is_host() && !is_float(sums) && facts.has_query && facts.says_yes && !facts.by_host;
}

MessageFacts message_facts() {
  if (planted_message_facts) return *planted_message_facts;
  MessageFacts facts;
#if defined(MPIX_CUDA_AWARE_SUPPORT)  // 0 in a build without; the library at run time may differ
  facts.has_query = true;
  facts.says_yes = MPIX_Query_cuda_support() == 1;
#endif
  const char* const wanted = std::getenv("AREAL_MPI_MESSAGES");
  facts.by_host = wanted != nullptr && std::string_view(wanted) == "host";
  return facts;
}

}  // namespace areal::mpi
