#pragma once
// --memory: the memory limit of the whole process.

#include <cstdint>
#include <string>

namespace areal::command {

/// --memory less `process_bytes`, in bytes; 0 for an empty option. Throws InvalidArgument if the option is not a size,
/// OutOfMemory if nothing remains.
std::uint64_t memory_for_work(const std::string& option);

/// Memory of the process before it does any work: code, libraries and their tables.
inline constexpr std::uint64_t process_bytes = std::uint64_t{160} << 20;

}  // namespace areal::command
