#pragma once
/// \file chunked_table.hpp Summed-area tables beyond memory: written tile by tile, read a few tiles at a time.
///
/// The library is areal::chunked (libareal_chunked). A chunked table is a folder, a group of Zarr format 3;
/// docs/chunked-tables.md specifies it, and areal.zarr reads and writes it from Python.

#include <areal/execution.hpp>
#include <areal/pieces.hpp>
#include <areal/region.hpp>
#include <areal/span.hpp>
#include <areal/type.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace areal {

struct ChunkedWriteOptions {
  /// Pixels along a side of a tile: a power of two from 64 to 4096, to 256 for 16u. 0: 1024, or 256 for 16u.
  std::int64_t tile = 0;
  /// The most bytes that the call may allocate, excluding what `read` allocates. It limits the threads. 0: enough for
  /// all threads.
  std::uint64_t memory = 0;
  int threads = 0;  ///< 0: all
  /// Continues an interrupted call; does nothing if the table is complete, and starts one if there is none. Type, shape
  /// and tile must match the interrupted call's; that the pixels are the same is not checked. Reads what is there once:
  /// the rows of shards from the first one on whose objects differ in length, index or checksum are written again.
  bool resume = false;
  /// With `resume`: reads a complete table, too, and writes its rows of shards again from the first faulty one on.
  /// Meanwhile it is not complete.
  bool repair = false;
  bool overwrite = false;  ///< replaces an existing chunked table
  /// The table is on the disk on return, and all of it before the attribute `complete` is. False: the operating system
  /// writes it later, so that a loss of power may leave a damaged table with the attribute, which verify() finds.
  bool sync = true;
  /// Reports the blocks that are done; may cancel, after which the table can be resumed. A block has at least as many
  /// pixels as a tile.
  Progress progress = {};
  /// Called with a sentence for a damaged object that `resume` finds and writes again.
  std::function<void(std::string)> note = {};
};

/// Writes the chunked table of an image of that shape (one image of one channel) and type (8u or 16u) in one pass:
/// `read` is called for each pixel once, in blocks from left to right and from top to bottom, by any of the call's
/// threads, one at a time. O(H W), about 4 bytes a pixel written. Memory: for each thread the pixels and the table of a
/// block of 1024 x 1024 or of a tile, whichever is larger, and 8 bytes + 32 KiB / tile for each column of the image.
///
/// Readers refuse a folder without the attribute `complete`. An interrupted call, even a killed one or one without
/// power, can be resumed from the last complete row of shards (4096 rows of pixels), and then writes the same bytes as
/// an uninterrupted call.
///
/// Throws InvalidArgument for another shape, type or tile; IoError, one sentence that names the path, if the path is
/// something else, or a table without `resume` or `overwrite`, or a table of another image, or is being written by
/// another process, or the disk is full; OutOfMemory, with the bytes, if `memory` is too small; Cancelled; what `read`
/// throws.
void write_chunked_table(const std::filesystem::path& path, const Shape& image, Type type, const ImageReader& read,
                         const ChunkedWriteOptions& options = {});

/// The smallest `memory` that write_chunked_table accepts: one thread's.
std::uint64_t least_chunked_memory(const Shape& image, Type type, std::int64_t tile = 0);

struct ChunkedReadOptions {
  Outside outside = Outside::error;  ///< for regions that reach outside the image
  int threads = 0;                   ///< 0: all. Answers do not depend on it
  /// The most bytes that the call may allocate; regions that do not fit are answered in further passes. 0: a million
  /// regions a pass, in 112 MiB, and a tile for each thread.
  std::uint64_t memory = 0;
  /// True: tiles are read whole and their checksums verified. False: only the needed entries of a tile are read,
  /// unverified; faster for tiles with few corners.
  bool checked = true;
  std::size_t most_findings = 100;  ///< the most that verify() returns
  Progress progress = {};           ///< reports shards done, restarting with each pass; may cancel
};

/// A complete chunked table, open for reading. Thread-safe.
class ChunkedTable {
 public:
  /// Throws IoError, one sentence that names the path, if the table is missing, incomplete or violates the format.
  explicit ChunkedTable(const std::filesystem::path& path);
  ~ChunkedTable();
  ChunkedTable(ChunkedTable&&) noexcept;
  ChunkedTable& operator=(ChunkedTable&&) noexcept;

  Shape shape() const noexcept;               ///< of the image
  Type type() const noexcept;                 ///< of the image's pixels: 8u (also of bool) or 16u
  const std::string& dtype() const noexcept;  ///< element type of the image as stored: "bool", "uint8" or "uint16"
  std::int64_t tile() const noexcept;
  const std::filesystem::path& path() const noexcept;

  /// Sums of N regions, modulo 2^64: exact if the region's own sum is below 2^64. At most four tiles a region. Corners
  /// are sorted, so that each tile and each shard's index is read once a pass. O(N log N), plus the tiles. Numbers of
  /// `top`, `left` and `corner` are read without their checksums; verify() checks those.
  /// Throws InvalidArgument for a region that reaches outside or has a negative extent, and for spans of mismatched
  /// sizes or outside host memory; IoError for missing, damaged or truncated files; OutOfMemory if `memory` does not
  /// hold a tile; Cancelled.
  void sums(Span<const Region> regions, Span<std::uint64_t> out, const ChunkedReadOptions& options = {}) const;
  std::vector<std::uint64_t> sums(Span<const Region> regions, const ChunkedReadOptions& options = {}) const {
    std::vector<std::uint64_t> out(regions.size());
    sums(regions, Span<std::uint64_t>(out), options);
    return out;
  }

  /// Reads everything once, and returns a sentence for each tile, index or carry that is missing, truncated or fails
  /// its checksum, in the order of the table: none for a sound one, at most `most_findings`. O(H W).
  std::vector<std::string> verify(const ChunkedReadOptions& options = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace areal
