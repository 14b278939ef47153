#pragma once
// The faults that the simulated machine finds in a kernel: one kind for each rule of
// src/kernels/primitives/machine.hpp.

#include <areal/error.hpp>
#include <cstdint>
#include <string>

#include "kernels/primitives/machine.hpp"

namespace areal::simt {

using kernels::Site;

enum class FaultKind {
  out_of_bounds,         ///< a global access outside every region, or across a region's end
  misaligned,            ///< an address that is not a multiple of the access's size
  uninitialised,         ///< a read of bytes that no thread wrote
  read_only,             ///< a write to a region that may not be written
  shared_out_of_bounds,  ///< a shared access outside the block's shared structure
  race,                  ///< two unordered accesses, one of them a write
  hand_over,             ///< a read of another block's data with no flag polled that was published after its write
  in_flight,             ///< an asynchronous copy's source or target touched before the copy was waited for
  missing_fence,         ///< the bulk engine uses data without a fence_init or fence_async
  barrier,               ///< a block barrier that some threads do not reach, or a named one with counts that disagree
  collective,            ///< masks of a warp collective that disagree, lack the caller or name an exited lane
  shuffle_source,        ///< a shuffle that reads from a lane outside its mask
  mbarrier,              ///< an mbarrier used before its init, with more arrivals than it expects, or left with bytes
  cluster,               ///< a send to no block of the cluster or to one that ends first; a launch without clusters
  stuck,                 ///< nothing can advance
};

const char* name(FaultKind kind);

/// A kernel broke a rule. what() is one sentence with all of the fields below.
class Fault : public Error {
 public:
  Fault(const std::string& what, FaultKind which) : Error(what), kind(which) {}

  FaultKind kind;
  std::string kernel;
  std::int64_t block = -1;   ///< in the grid
  int thread = -1;           ///< in the block; -1 if the fault belongs to no single thread (stuck)
  int lane = -1;             ///< thread % 32
  Site site;                 ///< the access or call that broke the rule
  Site other;                ///< the access that it conflicts with; line 0 if there is none
  std::uint64_t seed = 0;    ///< of the launcher: the same seed reproduces the fault
  std::uint64_t launch = 0;  ///< which launch of the launcher, from 0
};

}  // namespace areal::simt
