#pragma once
/// \file catalog.hpp The algorithms: plain rows that the command, the tests and the documentation iterate.

#include <areal/type_pair.hpp>
#include <cstdint>
#include <span>
#include <string_view>

namespace areal {

/// What an algorithm may be asked beside its input; all others ignore it.
struct AlgorithmOptions {
  bool r = false;        ///< research::SatParameters::r, --r
  bool scan = false;     ///< research::SatParameters::scan, --scan
  bool tile = false;     ///< research::HistogramParameters::tile and tile_threads, --tile and --tile-threads
  bool threads = false;  ///< ScanOptions::threads, --threads
  bool group = false;    ///< ScanOptions::group, --k
};

/// One algorithm. The key is (family, id).
///
/// Costs are numbers or formulas; an element is one of the table, of the tensor for histograms, of the line for scans.
/// Reads and writes are the leading terms: beside them stand what tiles, blocks and lines hand over and save at their
/// ends. Barrier steps are exact. Both are those of Border::none. On a GPU, all of global memory counts but the words
/// by which blocks wait for one another, and barrier steps are launches less one. On the CPU, for one thread, all
/// counts but the scratch of a tile, cached or not, and barrier steps are passes less one.
///
/// - h, w, b: height and width of the image, and bins
/// - n: elements of the line
/// - T: side of the tiles: 32 in tables, research::HistogramParameters::tile in histograms; the 16 lines of `thin`; the
///   rows of a band of `count-then-write`, 16 to 128
/// - r: of `hybrid-1r1w`, the share of the triangles' tiles, and k their side in tiles: r = k (k + 1) T^2 / (h w) for
///   whole tiles
/// - k: of `sequential-parallel`, elements of a group, at most n
/// - d: of `2r1w`, levels of the recursion; of `hybrid-1r1w`, those of both triangles together
/// - C: elements of a line that a block holds: 2048; of `lee-choe` and `lee-choe-multiple` 8192, or 4096 of 8-byte sums
///
/// log2(x) is rounded up, and 0 up to 1; ceil and floor round, min and max are the lesser and the greater; mod(x, y) is
/// what x / y leaves over; above(x, y) is 1 where x is more than y, else 0. What stands side by side is multiplied.
struct Algorithm {
  std::string_view family;  ///< "sat", "histogram" or "scan"
  std::string_view id;
  std::string_view source;  ///< paper and place, or "areal"
  bool cpu, cuda, simt;     ///< backends it exists on
  bool plain_only;          ///< single-channel plain sums with the three borders, nothing else
  std::string_view reads_per_element;
  std::string_view writes_per_element;
  std::string_view barrier_steps;
  bool deterministic;  ///< floats are the same from run to run
  AlgorithmOptions takes = {};
};

std::span<const Algorithm> algorithms() noexcept;
/// The row, or nullptr.
const Algorithm* find_algorithm(std::string_view family, std::string_view id) noexcept;
/// The type pairs that an algorithm of the families `sat` and `scan` takes, in the order of `type_pairs()`. The papers'
/// algorithms for GPUs lack the rare ones: 8s64s, 64u64u, 64s64s and 16f64f.
std::span<const TypePair> type_pairs_of(const Algorithm& row) noexcept;

}  // namespace areal
