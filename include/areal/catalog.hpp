#pragma once
/// \file catalog.hpp The algorithms: plain rows that the command, the tests and the documentation iterate.

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

/// One algorithm. The key is (family, id). Costs are numbers or formulas in h, w, b, T, r, d, for scans
/// n and k; an element is one of the table, of the tensor for histograms, of the line for scans.
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

}  // namespace areal
