#pragma once
/// \file chunked_table.hpp Summed-area tables beyond memory: written tile by tile, read a few tiles at a time.
///
/// The library is areal::chunked (libareal_chunked). A chunked table is a folder, a group of Zarr format 3;
/// docs/chunked-tables.md specifies it, and areal.zarr reads and writes it from Python.

#include <areal/execution.hpp>
#include <areal/image_reader.hpp>
#include <areal/region.hpp>
#include <areal/span.hpp>
#include <areal/type.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace areal {

struct ChunkedWriteOptions {
  /// Pixels along a side of a tile: a power of two from 64 to 4096, to 256 for 16u. 0: 1024, or 256 for 16u.
  std::int64_t tile = 0;
  /// The most bytes that the call may allocate, what `read` allocates not counted. It decides how many threads work. 0:
  /// what all threads take.
  std::uint64_t memory = 0;
  int threads = 0;  ///< 0: all
  /// Goes on where an interrupted call has stopped; does nothing where the table is complete, and begins where there is
  /// none. Type, shape and tile must be those of before; whether the pixels are cannot be known.
  bool resume = false;
  bool overwrite = false;  ///< replaces a chunked table that is there
  /// Told of the blocks that are done; may cancel, and the table can be resumed then. A block has at least as many
  /// pixels as a tile.
  Progress progress = {};
};

/// Writes the chunked table of an image of that shape (one image of one channel) and type (8u or 16u) in one pass:
/// `read` is asked for each pixel once, in blocks from left to right and from top to bottom, by any of the call's
/// threads, one at a time. O(H W), about 4 bytes a pixel written. Memory: for each thread the pixels and the table of a
/// block of 1024 x 1024 or of a tile, whichever is larger, and 8 bytes + 32 KiB / tile for each column of the image.
///
/// A folder without the attribute `complete` is refused by every reader. A call that was interrupted, also by a
/// signal that cannot be caught, can be resumed from the last complete row of shards (4096 rows of pixels), with the
/// same bytes at the end as without the interruption.
///
/// Throws InvalidArgument for another shape, type or tile; IoError, one sentence that names the path, for a path that
/// has something else or a table and neither `resume` nor `overwrite` was asked for, for a table of another image, for
/// a table that another process is writing and for a full disk; OutOfMemory, with the bytes, where `memory` is too
/// little; Cancelled; what `read` throws.
void write_chunked_table(const std::filesystem::path& path, const Shape& image, Type type, const ImageReader& read,
                         const ChunkedWriteOptions& options = {});

/// The least `memory` with which write_chunked_table works, on one thread.
std::uint64_t least_chunked_memory(const Shape& image, Type type, std::int64_t tile = 0);

struct ChunkedReadOptions {
  Outside outside = Outside::error;  ///< for regions that reach outside the image
  int threads = 0;                   ///< 0: all. Answers never depend on it
  /// The most bytes that the call may allocate; more regions than fit are answered in several passes. 0: a
  /// million regions a pass, in 112 MiB, and a tile for each thread.
  std::uint64_t memory = 0;
  /// True: tiles are read whole and held to their checksums. False: of a tile only the entries that are needed are
  /// read, unchecked; less is read where a tile has few corners.
  bool checked = true;
  std::size_t most_findings = 100;  ///< of verify()
  Progress progress = {};           ///< told of shards that are done, of each pass anew; may cancel
};

/// A complete chunked table, opened. Thread-safe.
class ChunkedTable {
 public:
  /// Throws IoError, one sentence that names the path, for what is not there, not complete, or not as the format says.
  explicit ChunkedTable(const std::filesystem::path& path);
  ~ChunkedTable();
  ChunkedTable(ChunkedTable&&) noexcept;
  ChunkedTable& operator=(ChunkedTable&&) noexcept;

  Shape shape() const noexcept;               ///< of the image
  Type type() const noexcept;                 ///< of the image's pixels: 8u (also of bool) or 16u
  const std::string& dtype() const noexcept;  ///< of the image's pixels as it is stored: "bool", "uint8" or "uint16"
  std::int64_t tile() const noexcept;
  const std::filesystem::path& path() const noexcept;

  /// Sums of N regions, modulo 2^64: exact where the region's own sum is below 2^64. At most four tiles a region. The
  /// corners are sorted, so that each tile and each shard's index is read once a pass. O(N log N), and the tiles.
  /// Numbers of `top`, `left` and `corner` are read without their checksums, which verify() reads.
  /// Throws InvalidArgument for a region that reaches outside or has a negative extent, and for spans that do not
  /// belong together or are not host memory; IoError for what is missing, damaged or cut short; OutOfMemory where
  /// `memory` does not hold a tile; Cancelled.
  void sums(Span<const Region> regions, Span<std::uint64_t> out, const ChunkedReadOptions& options = {}) const;
  std::vector<std::uint64_t> sums(Span<const Region> regions, const ChunkedReadOptions& options = {}) const {
    std::vector<std::uint64_t> out(regions.size());
    sums(regions, Span<std::uint64_t>(out), options);
    return out;
  }

  /// Reads everything once, and returns a sentence for each tile, index or carry that is missing, cut short or differs
  /// from its checksum, in the order of the table: none for a sound one, at most `most_findings`. O(H W).
  std::vector<std::string> verify(const ChunkedReadOptions& options = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace areal
