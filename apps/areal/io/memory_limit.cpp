#include "memory_limit.hpp"

#include <fmt/format.h>
#include <areal/error.hpp>
#include "numbers.hpp"

namespace areal::command {

std::uint64_t memory_for_work(const std::string& option) {
  if (option.empty()) return 0;
  const std::uint64_t memory = byte_size("--memory", option);
  if (memory <= process_bytes)
    throw OutOfMemory(fmt::format("--memory {}: the command itself takes {}M", option, process_bytes >> 20),
                      process_bytes);
  return memory - process_bytes;
}

}  // namespace areal::command
