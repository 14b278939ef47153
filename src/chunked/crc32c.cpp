#include "chunked/crc32c.hpp"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace areal::chunked {
namespace {

// Slicing by 8 (Kounavis and Berry 2005): table k has the effect of a byte that k more bytes follow.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82F63B78u : 0u);
    tables[0][i] = value;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t i = 0; i < 256; ++i) tables[k][i] = (tables[k - 1][i] >> 8) ^ tables[0][tables[k - 1][i] & 255];
  return tables;
}
constexpr Tables tables = make_tables();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(const unsigned char* at, std::size_t bytes,
                                                               std::uint32_t state) {
  std::uint64_t wide = state;
  for (; bytes >= 8; at += 8, bytes -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  state = static_cast<std::uint32_t>(wide);
  for (; bytes > 0; ++at, --bytes) state = _mm_crc32_u8(state, *at);
  return state;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(const void* data, std::size_t bytes, std::uint32_t before) noexcept {
  const auto* at = static_cast<const unsigned char*>(data);
  std::uint32_t state = ~before;
  if constexpr (std::endian::native == std::endian::little)
    for (; bytes >= 8; at += 8, bytes -= 8) {
      std::uint64_t word;
      std::memcpy(&word, at, 8);
      word ^= state;
      state = 0;
      for (std::size_t k = 0; k < 8; ++k) state ^= tables[7 - k][(word >> (8 * k)) & 255];
    }
  for (; bytes > 0; ++at, --bytes) state = (state >> 8) ^ tables[0][(state ^ *at) & 255];
  return ~state;
}

std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t before) noexcept {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  if (has_instruction) return ~by_instruction(static_cast<const unsigned char*>(data), bytes, ~before);
#endif
  return crc32c_by_table(data, bytes, before);
}

}  // namespace areal::chunked
