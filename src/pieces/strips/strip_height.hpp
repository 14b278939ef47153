#pragma once
// How many rows a strip has: as many as memory takes.

#include <areal/strips.hpp>
#include <cstdint>
#include <optional>
#include "pieces/core/work.hpp"

namespace areal::pieces {

/// Bytes where strips of so many rows are computed, and on CUDA in the host's page-locked memory, too; see
/// StripSat.
struct StripBytes {
  std::uint64_t computing = 0, host = 0;
  std::uint64_t most() const noexcept { return computing > host ? computing : host; }
};

/// The strips of one image.
class StripHeights {
 public:
  /// Throws InvalidArgument for options that cannot be. The work must stay.
  StripHeights(const Work& work, const Shape& image, const PieceOptions& options);

  /// None where they do not fit 63 bits.
  std::optional<StripBytes> bytes(std::int64_t height) const;
  /// The most rows whose bytes the options allow. Throws OutOfMemory where there are none.
  std::int64_t chosen() const;
  /// The most rows of so many bytes, or those that the options name; 0 where they take more.
  std::int64_t within(std::uint64_t bytes) const;
  /// Where no memory is given: the work's usual bytes, or what 8 rows, or as many as the halo has, take where that is
  /// more.
  std::uint64_t usual_bytes() const;

 private:
  const Work& work_;
  Shape image_;
  PieceOptions options_;
};

/// On the host, where no memory is given: so many strips that the stages overlap, and that new memory takes less time
/// than an image of few pixels.
constexpr std::int64_t usual_most_rows(std::int64_t height) { return height / 16 > 64 ? height / 16 : 64; }

}  // namespace areal::pieces
