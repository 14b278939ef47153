#pragma once
/// \file model.hpp What the memory machines say of algorithms: simulated time units beside bounds.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace areal {

/// The DMM, whose memory is banks as a GPU's shared memory, and the UMM, whose memory is groups as its global memory.
enum class MemoryKind : std::uint8_t { dmm, umm };
std::string_view name_of(MemoryKind kind);

/// A memory machine of Nakano 2013: p threads in warps of w, a memory of width w and latency l.
struct MemoryMachine {
  MemoryKind kind = MemoryKind::umm;
  std::int64_t threads = 32, width = 32, latency = 32;
};

/// What one program took.
struct ModelTime {
  std::string_view program;
  std::int64_t time_units = 0;
  std::int64_t requests = 0;  ///< of threads
  std::int64_t entries = 0;   ///< of the memory's pipeline: 1 where a warp's requests are served together
  std::int64_t barriers = 0;
  double bound = 0;  ///< what the paper has inside O(), e.g. n/w + nl/p + l log n
  /// The constant c of time <= c * bound. Where n, p or w is no power of two, a table has a side below w, or the
  /// transposes of `sat` have more threads than work (p w > n), none.
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
  bool enough_threads = false;              ///< wl <= p: the latency of a request is hidden by those of other threads
  bool enough_elements = false;             ///< wl <= n / log n: so are the stages with few elements
  std::vector<ModelTime>
      programs;  ///< contiguous, sum, ordered-sum, naive, optimal, sequential-parallel, sat, sat-direct
};

/// Runs them all, step by step: about n log n requests.
/// \param elements n, 2 to 2^20.
/// \param workspace k, p to n (n where p is more); 0: the least that keeps the sequential-parallel prefix-sums within a
/// constant of n/w + nl/p.
/// \throws InvalidArgument where the width, the latency or n is out of range, or the threads are no multiple of the
/// width.
NakanoTimes nakano_times(const MemoryMachine& machine, std::int64_t elements, std::int64_t workspace = 0);

}  // namespace areal
