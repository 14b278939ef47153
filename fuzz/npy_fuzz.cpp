// .npy streams: any bytes give either arrays with all their bytes, or an error of areal; never more memory than
// allowed.
#include <areal/error.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include "media/media.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t limit = 1 << 20;
  if (size == 0) return 0;
  for (const auto axes :
       {areal::media::Axes::hwc, areal::media::Axes::chw, areal::media::Axes::nhw, areal::media::Axes::line}) {
    std::FILE* stream = ::fmemopen(const_cast<std::uint8_t*>(data), size, "rb");
    if (!stream) return 0;
    std::size_t bytes = 0;
    try {
      while (true) {
        const areal::Array array = areal::media::read_npy(stream, "-", axes, limit);
        if (array.bytes() > limit) std::abort();
        bytes += array.bytes();
        if (bytes > size) std::abort();
        if (std::feof(stream)) break;
      }
    } catch (const areal::Error& error) {
      const std::string what = error.what();
      if (!what.starts_with("-: ") || what.find('\n') != std::string::npos || what.size() > 400) std::abort();
    }
    std::fclose(stream);
  }
  return 0;
}
