#pragma once
// Combines the accesses of a warp's lanes into requests, and computes a request's cost.
//
// Lanes run one after another between two synchronisations of the warp, so the accesses of one GPU instruction arrive
// here separately. Accesses belong together if they have the same site and the same occurrence: their lane's n-th visit
// of the site since the last synchronisation of the warp. A request is charged when every lane has made it, or at the
// next synchronisation.

#include <areal/research/launch_counts.hpp>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "simt/engine/sites.hpp"

namespace areal::simt {

/// The accesses of one request: addresses of the lanes in mask.
struct Request {
  std::uint32_t mask = 0;
  std::array<std::uint64_t, 32> at;
};

/// Called for every request to the memories. The requests of a warp come in the order in which they are charged:
/// requests by all of its lanes when the last lane makes them, the others when the warp synchronises.
class Witness {
 public:
  virtual ~Witness() = default;
  virtual void requested(std::int64_t block, int warp, const Request& request, const Sites::Entry& site) = 0;
  /// All threads of the block have reached its barrier.
  virtual void barrier(std::int64_t block) = 0;
  /// The launch has ended.
  virtual void launch_ended(const LaunchCounts& launch) = 0;
  /// A lane has moved a word of global memory by an atomic, acquire, release or relaxed access. Called at once, not
  /// when the request is charged.
  virtual void flag_accessed(std::int64_t /*block*/, int /*thread*/, Op, std::uint64_t /*at*/) {}
};

/// Adds a request to the counts. Shared addresses count from the start of the block's shared memory. w: elements of an
/// address group.
void charge(const Request& request, const Sites::Entry& site, unsigned w, Counts& counts);

class Requests {
 public:
  /// Starts a new warp with these lanes, the n-th of a block. The requests of the previous one have been charged.
  void begin(std::uint32_t lanes, std::int64_t block, int warp, Witness* witness) {
    lanes_ = lanes, block_ = block, warp_ = warp, witness_ = witness;
  }

  void add(unsigned number, unsigned lane, std::uint64_t at, const Sites& sites, unsigned w, Counts& counts) {
    if (number >= slots_.size()) slots_.resize(number + 1 + slots_.size());
    Slot& slot = slots_[number];
    if (!slot.touched) {
      slot.touched = true;
      slot.next.fill(0);
      slot.used = 0;
      touched_.push_back(number);
    }
    const std::uint32_t occurrence = slot.next[lane]++;
    if (occurrence >= slot.used) open(slot, occurrence);
    Request& request = slot.requests[occurrence % most];
    request.at[lane] = at;
    request.mask |= 1u << lane;
    if (request.mask == lanes_) {
      pay(request, sites[number], w, counts);
      request.mask = 0;
    } else if (occurrence >= most - 1) {
      overtake(slot, number, occurrence, sites, w, counts);
    }
  }

  /// The warp has synchronised: open requests are charged, and occurrences restart.
  void settle(const Sites& sites, unsigned w, Counts& counts);

 private:
  // A lane may be this many occurrences ahead of the others before its requests are charged.
  static constexpr std::uint32_t most = 1u << 15;

  struct Slot {
    bool touched = false;
    std::uint32_t used = 0;
    std::array<std::uint32_t, 32> next;
    std::vector<Request> requests;
  };
  static void open(Slot& slot, std::uint32_t occurrence) {
    slot.used = occurrence + 1;
    if (occurrence >= slot.requests.size() && occurrence < most) slot.requests.resize(2 * occurrence + 1);
    slot.requests[occurrence % most].mask = occurrence < most ? 0 : slot.requests[occurrence % most].mask;
  }
  void overtake(Slot& slot, unsigned number, std::uint32_t occurrence, const Sites& sites, unsigned w, Counts& counts);
  void pay(const Request& request, const Sites::Entry& site, unsigned w, Counts& counts) {
    charge(request, site, w, counts);
    if (witness_ != nullptr) witness_->requested(block_, warp_, request, site);
  }

  std::uint32_t lanes_ = 0;
  int warp_ = 0;
  std::int64_t block_ = 0;
  Witness* witness_ = nullptr;
  std::vector<Slot> slots_;
  std::vector<unsigned> touched_;
};

}  // namespace areal::simt
