// The compressors of Zarr chunks, of the libraries available when areal was built.
#include <areal/version.hpp>
#include <cstddef>
#include <limits>
#include <string>
#include "media/plugin.hpp"
#if AREAL_HAS_ZLIB
#include <zlib.h>
#endif
#if AREAL_HAS_ZSTD
#include <zstd.h>
#endif
#if AREAL_HAS_BLOSC
#include <blosc.h>
#endif

namespace areal::media {
namespace {

bool has(ZarrCodec codec) {
  switch (codec) {
    case ZarrCodec::gzip:
    case ZarrCodec::zlib:
      return AREAL_HAS_ZLIB;
    case ZarrCodec::zstd:
      return AREAL_HAS_ZSTD;
    case ZarrCodec::blosc:
      return AREAL_HAS_BLOSC;
    case ZarrCodec::crc32c:
      break;
  }
  return false;
}

#if AREAL_HAS_ZLIB
bool inflate_all(const char* from, std::size_t size, char* into, std::size_t bytes, std::string& why) {
  z_stream stream{};
  if (::inflateInit2(&stream, 15 + 32) != Z_OK) {  // 32: zlib or gzip, by the header
    why = "zlib could not begin";
    return false;
  }
  // zlib counts 32 bits at a time.
  constexpr std::size_t most = std::numeric_limits<uInt>::max();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from));  // which it only reads
  stream.next_out = reinterpret_cast<Bytef*>(into);
  int state = Z_OK;
  while (state == Z_OK) {
    const auto read = static_cast<std::size_t>(reinterpret_cast<const char*>(stream.next_in) - from);
    const auto written = static_cast<std::size_t>(reinterpret_cast<char*>(stream.next_out) - into);
    stream.avail_in = static_cast<uInt>(size - read < most ? size - read : most);
    stream.avail_out = static_cast<uInt>(bytes - written < most ? bytes - written : most);
    state = ::inflate(&stream, Z_NO_FLUSH);  // without input or output space: Z_BUF_ERROR
  }
  const auto written = static_cast<std::size_t>(reinterpret_cast<char*>(stream.next_out) - into);
  if (state != Z_STREAM_END) why = stream.msg ? stream.msg : "it ends too early or gives too much";
  ::inflateEnd(&stream);
  return state == Z_STREAM_END && written == bytes;
}
#endif

bool decode(ZarrCodec codec, const char* from, std::size_t size, char* into, std::size_t bytes, std::string& why) {
  switch (codec) {
    case ZarrCodec::gzip:
    case ZarrCodec::zlib:
#if AREAL_HAS_ZLIB
      return inflate_all(from, size, into, bytes, why);
#endif
      break;
    case ZarrCodec::zstd: {
#if AREAL_HAS_ZSTD
      const std::size_t got = ::ZSTD_decompress(into, bytes, from, size);
      if (::ZSTD_isError(got)) why = ::ZSTD_getErrorName(got);
      return got == bytes;
#endif
      break;
    }
    case ZarrCodec::blosc: {
#if AREAL_HAS_BLOSC
      std::size_t declared = 0;
      if (size < BLOSC_MIN_HEADER_LENGTH || ::blosc_cbuffer_validate(from, size, &declared) < 0) {
        why = "its header is damaged";
        return false;
      }
      if (declared != bytes) {
        why = "it declares " + std::to_string(declared);
        return false;
      }
      const int got = ::blosc_decompress_ctx(from, into, bytes, 1);
      return got >= 0 && static_cast<std::size_t>(got) == bytes;
#endif
      break;
    }
    case ZarrCodec::crc32c:
      break;
  }
  (void)from, (void)size, (void)into, (void)bytes, (void)why;
  return false;
}

}  // namespace
}  // namespace areal::media

AREAL_PLUGIN_EXPORT const areal::media::CodecPlugin* areal_codec_plugin() {
  static const areal::media::CodecPlugin plugin{AREAL_VERSION_STRING, &areal::media::has, &areal::media::decode};
  return &plugin;
}
