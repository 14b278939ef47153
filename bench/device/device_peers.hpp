#pragma once
// Other libraries' kernels, timed on the device against areal's: each prepares for one image, then queues its work.

#include <cuda_runtime_api.h>
#include <areal/border.hpp>
#include <areal/type_pair.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace areal::bench {

/// The input of a peer; the image is on the device, contiguous.
struct Scene {
  TypePair types;
  std::optional<Type> squares;
  std::int64_t width, height;
  const void* image;
  int device;
  cudaStream_t stream;
};

struct DevicePeer {
  std::string name;
  std::function<void()> run;  ///< queues one execute; throws Error if the library refuses
  Border border;              ///< of the tables that it makes
  std::optional<Type> squares;
  bool whole = true;  ///< else only the table's last entry is a sum of the image
  /// The address of the whole table on the device (a scan's table is that of an image of one row), and the bytes from
  /// row to row.
  const void* table = nullptr;
  std::int64_t pitch = 0;
  /// Copies the result to the host: contiguous tables, or the one entry. `squares` may be null.
  std::function<void(void* table, void* squares)> fetch;
};

/// NPP's integral of bytes, from libnppist.so, which this function opens. Null, with the reason in `missing`, if NPP
/// does not support the scene.
std::optional<DevicePeer> npp_integral(const Scene& scene, std::string& missing);

/// NPP's mean of square windows of bytes, of an image whose edge it repeats beforehand. `table` is the output.
std::optional<DevicePeer> npp_box(const Scene& scene, std::int64_t side, std::string& missing);

/// CUB's scan of all pixels as one line, in the table's type: an upper bound for a scan, which has no columns to add
/// up.
std::optional<DevicePeer> cub_scan(const Scene& scene, std::string& missing);

/// The scan along rows, then along columns, that Chen 2018 compares with: scan_scan.hpp. For the type pairs of its
/// figures.
std::optional<DevicePeer> scan_scan(const Scene& scene, std::string& missing);

}  // namespace areal::bench
