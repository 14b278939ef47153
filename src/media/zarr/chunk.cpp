// Decodes a chunk: checksums here, compressors in the plug-in areal_codecs.so.
#include <array>
#include <cstring>
#include "media/file_error.hpp"
#include "media/plugin.hpp"
#include "media/zarr/zarr.hpp"
#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace areal::media {
namespace {

// RFC 3720, B.4: the polynomial 0x1edc6f41, reflected.
constexpr std::array<std::uint32_t, 256> crc_table = [] {
  std::array<std::uint32_t, 256> out{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82f63b78u : 0);
    out[i] = value;
  }
  return out;
}();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(const char* at, std::size_t bytes, std::uint32_t state) {
  std::uint64_t wide = state;
  for (; bytes >= 8; at += 8, bytes -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    wide = _mm_crc32_u64(wide, word);
  }
  state = static_cast<std::uint32_t>(wide);
  for (; bytes > 0; ++at, --bytes) state = _mm_crc32_u8(state, static_cast<unsigned char>(*at));
  return state;
}
#endif

}  // namespace

std::uint32_t crc32c(const char* data, std::size_t bytes, std::uint32_t before) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  if (has_instruction) return ~by_instruction(data, bytes, ~before);
#endif
  std::uint32_t value = ~before;
  for (std::size_t i = 0; i < bytes; ++i)
    value = value >> 8 ^ crc_table[(value ^ static_cast<unsigned char>(data[i])) & 255];
  return ~value;
}

void require_codecs(const std::vector<ZarrCodec>& codecs, const std::string& name) {
  for (const ZarrCodec codec : codecs) {
    if (codec == ZarrCodec::crc32c) continue;
    try {
      if (codec_plugin().has(codec)) continue;
    } catch (const Unavailable& error) {
      throw Unavailable(name + ": has chunks compressed by " + name_of(codec) + ", and " + error.what());
    }
    throw Unavailable(name + ": has chunks compressed by " + name_of(codec) +
                      ", which areal was built without (Debian packages zlib1g-dev, libzstd-dev and libblosc-dev)");
  }
}

void decode_chunk(const std::vector<ZarrCodec>& codecs, const std::vector<char>& coded, char* into, std::size_t bytes,
                  const std::string& name) {
  const char* data = coded.data();
  std::size_t size = coded.size();
  std::vector<char> unpacked;
  for (std::size_t i = codecs.size(); i-- > 0;) {
    if (codecs[i] == ZarrCodec::crc32c) {
      std::uint32_t stored = 0;
      if (size < sizeof(stored)) fail(name, "is truncated: it has no checksum");
      size -= sizeof(stored);
      std::memcpy(&stored, data + size, sizeof(stored));
      if (stored != crc32c(data, size)) fail(name, "is damaged: its checksum is another one");
      continue;
    }
    // The bytes still include checksums added before the compression.
    const std::size_t expected = bytes + 4 * i;
    char* to = into;
    if (i > 0) {
      unpacked.resize(expected);
      to = unpacked.data();
    }
    std::string why;
    if (!codec_plugin().decode(codecs[i], data, size, to, expected, why))
      fail(name, "is damaged or truncated: ", name_of(codecs[i]), " does not give its ", expected, " bytes",
           why.empty() ? "" : " (" + printable(why) + ")");
    data = to;
    size = expected;
  }
  if (size != bytes) fail(name, "is damaged or truncated: it has ", size, " of its ", bytes, " bytes");
  if (data != into) std::memcpy(into, data, bytes);
}

}  // namespace areal::media
