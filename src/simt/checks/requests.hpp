#pragma once
// Puts the accesses of a warp's lanes together into requests, and says what a request costs.
//
// Lanes run one after another between two meetings of the warp, so that what a GPU does in one instruction comes here
// scattered: accesses belong together that have the same site and the same occurrence, the n-th time that their lane
// came to the site since the warp last met. A request is charged when every lane has made it, or at the next meeting.

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

/// Is told what the memories are asked for. The requests of a warp come in the order in which they are charged: those
/// that all of its lanes made as the last one makes it, the others when the warp meets.
class Witness {
 public:
  virtual ~Witness() = default;
  virtual void asked(std::int64_t block, int warp, const Request& request, const Sites::Entry& site) = 0;
  /// All threads of the block have met at its barrier.
  virtual void met(std::int64_t block) = 0;
  /// The launch has ended.
  virtual void ended(const LaunchCounts& launch) = 0;
  /// A lane has moved a word of global memory by an atomic, publish, poll, post or peek: now, whenever it is charged.
  virtual void handed(std::int64_t /*block*/, int /*thread*/, Op, std::uint64_t /*at*/) {}
};

/// Adds a request to the counts. Shared addresses count from the block's shared memory's begin. w: elements of an
/// address group.
void charge(const Request& request, const Sites::Entry& site, unsigned w, Counts& counts);

class Requests {
 public:
  /// A new warp with these lanes, the n-th of a block. The last one's requests have been settled.
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

  /// The warp has met: what is open is charged, and occurrences count anew.
  void settle(const Sites& sites, unsigned w, Counts& counts);

 private:
  // A lane that runs so far ahead of the others is not waited for any more.
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
    if (witness_ != nullptr) witness_->asked(block_, warp_, request, site);
  }

  std::uint32_t lanes_ = 0;
  int warp_ = 0;
  std::int64_t block_ = 0;
  Witness* witness_ = nullptr;
  std::vector<Slot> slots_;
  std::vector<unsigned> touched_;
};

}  // namespace areal::simt
