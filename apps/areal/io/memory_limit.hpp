#pragma once
// --memory: what the command may take in all.

#include <cstdint>
#include <string>

namespace areal::command {

/// Bytes that --memory leaves for the work, beside what the process has at its start; 0 where it was not given.
/// Throws InvalidArgument for what is no size, OutOfMemory where nothing is left.
std::uint64_t memory_for_work(const std::string& option);

/// What the process has at its start: programs, libraries and their tables.
inline constexpr std::uint64_t process_bytes = std::uint64_t{160} << 20;

}  // namespace areal::command
