#pragma once
// The mapping from entries of tables with border zero to the image's pixels: for the floors, which write the same
// entries as areal, and for their test on the host.

#include <cstdint>

#ifdef __CUDACC__
#define AREAL_HOST_DEVICE __host__ __device__
#else
#define AREAL_HOST_DEVICE
#endif

namespace areal::bench {

/// Division by a divisor of at least 2, known before the kernel starts, as one multiplication. Exact while
/// dividend * divisor is below 2^64.
struct Divider {
  explicit Divider(std::uint64_t by) : divisor(by), inverse(~std::uint64_t{0} / by + 1) {}
  AREAL_HOST_DEVICE std::uint64_t quotient(std::uint64_t of) const {
#ifdef __CUDA_ARCH__
    return __umul64hi(of, inverse);
#else
    using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(Wide{of} * inverse >> 64);
#endif
  }
  std::uint64_t divisor, inverse;  // inverse: 2^64 / divisor, rounded up
};

/// Consecutive tables of (width+1)x(height+1). Pixels keep their order, so a walk over the entries visits pixel after
/// pixel, with zeros between.
struct Bordered {
  Bordered(std::int64_t width_, std::int64_t height_)
      : width(width_),
        height(height_),
        columns(static_cast<std::uint64_t>(width_ + 1)),
        rows(static_cast<std::uint64_t>(height_ + 1)) {}

  struct Walk {
    std::int64_t x, y, pixel;  // of the next entry; the next pixel
  };
  AREAL_HOST_DEVICE Walk from(std::int64_t entry) const {
    const auto row = static_cast<std::int64_t>(columns.quotient(static_cast<std::uint64_t>(entry)));
    const auto image = static_cast<std::int64_t>(rows.quotient(static_cast<std::uint64_t>(row)));
    const std::int64_t x = entry - row * (width + 1), y = row - image * (height + 1);
    const std::int64_t before = y == 0 ? 0 : (y - 1) * width + (x == 0 ? 0 : x - 1);
    return {x, y, image * width * height + before};
  }
  /// The next entry's pixel, or -1 if the entry is a zero of the border.
  AREAL_HOST_DEVICE std::int64_t next(Walk& walk) const {
    const std::int64_t pixel = walk.x > 0 && walk.y > 0 ? walk.pixel++ : -1;
    if (++walk.x > width) {
      walk.x = 0;
      if (++walk.y > height) walk.y = 0;
    }
    return pixel;
  }

  std::int64_t width, height;
  Divider columns, rows;
};

}  // namespace areal::bench
