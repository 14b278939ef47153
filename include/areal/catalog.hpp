#pragma once
/// \file catalog.hpp The algorithms as plain rows, which the command, the tests and the documentation iterate.

#include <areal/type_pair.hpp>
#include <cstdint>
#include <span>
#include <string_view>

namespace areal {

/// The parameters that an algorithm reads; it ignores the others.
struct AlgorithmOptions {
  bool r = false;        ///< research::SatParameters::r, --r
  bool scan = false;     ///< research::SatParameters::scan, --scan
  bool tile = false;     ///< research::HistogramParameters::tile and tile_threads, --tile and --tile-threads
  bool threads = false;  ///< ScanOptions::threads, --threads
  bool group = false;    ///< ScanOptions::group, --k
};

/// One algorithm. The key is (family, id).
///
/// Costs are numbers or formulas per element: of the table, of the tensor for histograms, of the line for scans, of the
/// output for filters. Reads and writes are the leading terms, without what tiles, blocks and lines exchange or save at
/// their ends. Barrier steps are exact. All are for Border::none. On a GPU they count every access to global memory
/// except the flags by which blocks wait for each other, and barrier steps are launches less one. On the CPU they are
/// for one thread and count every access, cached or not, except a tile's scratch, and barrier steps are passes less
/// one.
///
/// - h, w, b: height and width of the image, or of a filter's window, and bins
/// - n: elements of the line
/// - T: side of the tiles: 32 in tables, research::HistogramParameters::tile in histograms; the 16 lines of `thin`; the
///   rows of a band of `count-then-write`, 16 to 128
/// - r: of `hybrid-1r1w`, the triangles' share of the tiles, and k their side in tiles: r = k (k + 1) T^2 / (h w) for
///   whole tiles
/// - k: of `sequential-parallel`, elements of a group, at most n
/// - d: of `2r1w`, levels of the recursion; of `hybrid-1r1w`, those of both triangles together
/// - C: elements of a line that a block holds: 2048; of `lee-choe` and `lee-choe-multiple` 8192, or 4096 of 8-byte sums
///
/// log2(x) is rounded up, and is 0 for x <= 1; ceil, floor, min and max are the usual ones; mod(x, y) is the remainder
/// of x / y; above(x, y) is 1 if x > y, else 0. Adjacent factors are multiplied.
struct Algorithm {
  std::string_view family;  ///< "sat", "histogram", "scan" or "filter"
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
/// The type pairs that an algorithm of the families `sat` and `scan` supports, in the order of `type_pairs()`; none for
/// other families. The papers' algorithms for GPUs lack the rare ones: 8s64s, 64u64u, 64s64s and 16f64f.
std::span<const TypePair> type_pairs_of(const Algorithm& row) noexcept;

}  // namespace areal
