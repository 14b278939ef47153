#pragma once
/// \file model.hpp The memory machines' predictions for algorithms: simulated time units against bounds, and the
/// simulated machine's counts against the papers' formulas.

#include <areal/catalog.hpp>
#include <areal/research/launch_counts.hpp>
#include <areal/research/warp_scan.hpp>
#include <areal/type_pair.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace areal {

/// The DMM, whose memory is banked like a GPU's shared memory, and the UMM, whose memory has address groups like its
/// global memory.
enum class MemoryKind : std::uint8_t { dmm, umm };
std::string_view name_of(MemoryKind kind);

/// A memory machine of Nakano 2013: p threads in warps of w, a memory of width w and latency l.
struct MemoryMachine {
  MemoryKind kind = MemoryKind::umm;
  std::int64_t threads = 32, width = 32, latency = 32;
};

/// The time of one program.
struct ModelTime {
  std::string_view program;
  std::int64_t time_units = 0;
  std::int64_t requests = 0;  ///< of threads
  std::int64_t entries = 0;   ///< of the memory's pipeline: 1 where a warp's requests are served together
  std::int64_t barriers = 0;
  double bound = 0;  ///< the expression inside the paper's O(), e.g. n/w + nl/p + l log n
  /// The constant c of time <= c * bound. None if n, p or w is no power of two, a table has a side below w, or the
  /// transposes of `sat` have more threads than work (p w > n).
  std::optional<double> constant;
};

/// The programs of Nakano 2013 on one machine, for n elements.
struct NakanoTimes {
  std::int64_t workspace = 0;               ///< k of `sequential-parallel`
  std::int64_t height = 0, width = 0;       ///< of the tables: the squarest of n elements
  std::int64_t bandwidth = 0, latency = 0;  ///< limits: n/w and nl/p, rounded up
  std::int64_t reduction = 0;               ///< limit: l log n, rounded up
  std::int64_t lower_bound = 0;             ///< the largest of the three; `contiguous` is not bound by the reduction
  std::string_view limit;                   ///< "bandwidth", "latency" or "reduction": which one that is
  bool enough_threads = false;              ///< wl <= p: other threads hide the latency of a request
  bool enough_elements = false;             ///< wl <= n / log n: also in the stages with few elements
  std::vector<ModelTime>
      programs;  ///< contiguous, sum, ordered-sum, naive, optimal, sequential-parallel, sat, sat-direct
};

/// Runs all programs step by step: about n log n requests.
/// \param machine Its latency, its width, and its threads, a multiple of the width.
/// \param elements n, 2 to 2^20.
/// \param workspace k, p to n (n where p is more); 0: the least that keeps the sequential-parallel prefix-sums within a
/// constant of n/w + nl/p.
/// \throws InvalidArgument if the width, the latency or n is out of range, or the threads are no multiple of the width.
NakanoTimes nakano_times(const MemoryMachine& machine, std::int64_t elements, std::int64_t workspace = 0);

/// The asynchronous Hierarchical Memory Machine of Kasagi 2014: DMMs (multiprocessors with their shared memory) over a
/// UMM (the global memory).
struct HierarchicalMachine {
  std::int64_t threads = 2048;  ///< p, threads that one DMM holds
  std::int64_t width = 32;      ///< w: banks, cells of a group, threads of a warp
  std::int64_t latency = 32;    ///< l of the UMM; a DMM's is 1
  std::int64_t dmms = 16;       ///< d
};

/// An image and a table or tensor of it, border none; or a line, an image of height 1, and its sums.
struct AlgorithmRequest {
  std::string_view algorithm;  ///< id of a GPU algorithm
  std::int64_t height = 128, width = 128;
  TypePair types = {Type::f32, Type::f32};  ///< of a table and of a line. Tensors: images of labels in 32u
  Type counter = Type::u32;                 ///< of a tensor: 16u, 32u or 64u
  std::int64_t bins = 16;                   ///< of a tensor
  int tile = 32;                            ///< side of the tiles of cw-tis and wf-tis; a table's tiles have 32
  int tile_threads = 0;                     ///< of a block of these two, one of tile_threads(tile); 0: the default
  double r = 0.25;                          ///< of hybrid-1r1w
  WarpScan scan = WarpScan::kogge_stone;    ///< of scanrow-brlt and scanrow-column
  /// sat, histogram or scan; "": the algorithm's family, and histogram if scan has the algorithm too.
  std::string_view family = {};
  std::int64_t threads = 0, group = 0;  ///< of a line: see ScanOptions
};

/// A count and the catalogue formula's value.
struct CountBeside {
  std::string_view formula;  ///< per element, for counts of elements
  double counted = 0, expected = 0;
  double difference() const { return counted - expected; }
};

/// A memory machine's cost or time, and the value of the paper's formula, if there is one.
struct CostBeside {
  /// n elements, w and l of the machine; p as the requested threads, in whole blocks, or enough for the work, limited
  /// to what the machine holds. Empty if the paper has none.
  std::string formula;
  std::optional<double> counted;  ///< none: AlgorithmModel::no_time
  std::optional<double> expected;
  std::optional<double> difference() const {
    return counted && expected ? std::optional(*counted - *expected) : std::nullopt;
  }
};

/// An algorithm on the simulated machine and on the HMM.
struct AlgorithmModel {
  const Algorithm* row = nullptr;
  std::int64_t elements = 0;  ///< of the table, of the tensor, or of the line
  /// T, r, the side k of its triangles, d and C of the formulas; 0 if the algorithm has none.
  double tile = 0, r = 0, side = 0, depth = 0, capacity = 0;
  bool recursive = false;              ///< the formulas have d
  std::int64_t group = 0;              ///< k of sequential-parallel; 0 for others
  Counts counts;                       ///< of all launches
  std::uint64_t coalesced = 0;         ///< C: elements read and written
  std::uint64_t strided = 0;           ///< S: address groups of the requests that are not coalesced
  std::uint64_t strided_elements = 0;  ///< elements of those
  std::uint64_t groups = 0;            ///< address groups of w of all requests: the UMM's cost
  std::uint64_t shared = 0;            ///< elements read from and written to shared memory
  std::int64_t barrier_steps = 0;      ///< B, launches - 1
  CountBeside reads, writes, steps;
  CostBeside cost;            ///< the global memory access cost, C/w + S + (B + 1)(l - 1)
  double cost_of_groups = 0;  ///< the same with `groups` for C/w + S
  CostBeside dmm;             ///< stages of shared memory, of all DMMs together, conflicts included
  CostBeside umm;  ///< time units of the requests for global memory alone, on a UMM with the threads of all DMMs
  /// Time units on the HMM, where a thread waits for each of its requests; block k runs on DMM k mod d.
  CostBeside hmm;
  std::string no_time;     ///< why umm and hmm have no time
  std::string no_formula;  ///< why some or all costs have no formula
};

/// Runs the algorithm on the simulated machine, checks included. The tiles keep their side for every width.
/// \throws InvalidArgument if a parameter is out of range (elements 1 to 2^20, the width a divisor of 32, threads a
/// multiple of it, up to 1024 DMMs) or if simt does not run such an algorithm of the family. Unavailable if this build
/// has no simt.
AlgorithmModel algorithm_model(const AlgorithmRequest& request, const HierarchicalMachine& machine = {});

}  // namespace areal
