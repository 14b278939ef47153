#pragma once
// CRC-32C (Castagnoli) of RFC 3720: reflected polynomial 0x82F63B78, all ones before and after.

#include <cstddef>
#include <cstdint>

namespace areal::chunked {

/// The checksum of `bytes` bytes, continuing that of the bytes before them.
std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t before = 0) noexcept;

/// The same without the CPU's instruction.
std::uint32_t crc32c_by_table(const void* data, std::size_t bytes, std::uint32_t before = 0) noexcept;

}  // namespace areal::chunked
