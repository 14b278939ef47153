// Metadata of Zarr: any bytes give either an array that can be read, or an error of areal.
#include <areal/error.hpp>
#include <cstdlib>
#include <string>
#include <string_view>
#include "media/zarr/metadata.hpp"

using areal::media::ZarrArray;

static void require_sound(const ZarrArray& array) {
  const std::size_t axes = array.shape.size();
  if (axes == 0 || array.grid.size() != axes || array.chunk.size() != axes) std::abort();
  if (!array.names.empty() && array.names.size() != axes) std::abort();
  if (array.chunk_bytes() <= 0 || array.chunk_bytes() > (std::int64_t{1} << 40)) std::abort();
  if (array.chunks_of_shard() <= 0 || array.chunks_of_shard() > (std::int64_t{1} << 40)) std::abort();
  for (std::size_t i = 0; i < axes; ++i)
    if (array.shape[i] < 0 || array.grid[i] % array.chunk[i] != 0) std::abort();
  if (array.key(array.shape).find("..") != std::string::npos) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (int kind = 0; kind < 4; ++kind) try {
      if (kind == 0) {
        require_sound(areal::media::parse_zarr_array_v2(text, "-"));
      } else if (kind == 1) {
        if (const auto array = areal::media::parse_zarr_array_v3(text, "-")) require_sound(*array);
      } else if (kind == 2) {
        areal::media::parse_array_dimensions(text, "-");
      } else {
        for (const std::string& path : areal::media::parse_multiscales(text, "-").paths)
          if (path.starts_with('/') || path == ".." || path.starts_with("../") ||
              path.find("/../") != std::string::npos)
            std::abort();
      }
    } catch (const areal::Error& error) {
      const std::string what = error.what();
      if (!what.starts_with("-: ") || what.find('\n') != std::string::npos || what.size() > 400) std::abort();
    }
  return 0;
}
