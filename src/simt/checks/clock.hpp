#pragma once
// Happens-before: what each thread knows of other threads' accesses.
//
// A thread has its own time, which a barrier, a collective or a release advances, so that an access is (thread, time).
// Its knowledge of other threads is a vector clock, kept in layers that are nearly always empty or shared:
//   - all threads of its block up to block_known: since the last block barrier (kept by the block, for all its threads)
//   - all lanes of its warp up to warp_known: since the last collective of the whole warp
//   - row: lanes of its warp, after collectives of a part of it
//   - view: threads of its block, after named barriers and mbarriers, and the block's agents: those of its copies, and
//   of
//     what landed at its mbarriers
//   - front: knowledge from other blocks (and warps) by flags, sends and cluster barriers: a graph of releases, joined
//     without copying, and searched only if an access conflicts with a stamp that the layers above do not cover.

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

namespace areal::simt {

using Row = std::array<std::uint32_t, 32>;
using BlockClock = std::vector<std::uint32_t>;

struct Front;

/// A publisher's knowledge at its publish; a thread that polls the value gains it.
struct Release {
  std::int64_t block;
  std::uint32_t thread;  // in the block
  std::uint32_t time, warp_known, block_known;
  std::shared_ptr<const Row> row;
  std::shared_ptr<const BlockClock> view;
  const Front* front;
  bool reads_only = false;   // passes on the sender's reads, not its writes: a send
  std::uint64_t number = 0;  // in the order of creation, with the fronts
};

/// A join of fronts, and perhaps one more release.
struct Front {
  const Release* release = nullptr;
  std::vector<const Front*> from;
  std::uint64_t number = 0;  // it refers only to fronts and releases of lower numbers
  mutable std::uint64_t visited = 0;
};

struct ThreadClock {
  std::uint32_t time = 1;
  std::uint32_t warp_known = 0;
  std::shared_ptr<const Row> row;
  std::shared_ptr<const BlockClock> view;
  const Front* front = nullptr;
};

/// The elementwise maximum of two views. Null means no knowledge; no copy is made if one view contains the other.
std::shared_ptr<const BlockClock> join(const std::shared_ptr<const BlockClock>& a,
                                       const std::shared_ptr<const BlockClock>& b);

/// The releases and fronts of one launch.
class Fronts {
 public:
  const Release* release(Release r);

  /// The front that contains both; a and b may be null.
  const Front* join(const Front* a, const Front* b);
  const Front* join(const std::vector<const Front*>& distinct);
  const Front* acquire(const Front* front, const Release* release);

  /// True if something in that front followed what this thread of this block did at this time. Threads from `agents` on
  /// are the block's copy agents, which no barrier covers. Sets `found` to the release that shows it. `write`: the
  /// access was a write.
  bool covers(const Front* front, std::int64_t block, std::uint32_t thread, std::uint32_t time, std::uint32_t agents,
              bool write, const Release*& found);

  void clear() {
    fronts_.clear();
    releases_.clear();
    of_block_.clear();
    vain_.clear();
  }

 private:
  /// A search that found nothing, which it never will, as a front never changes.
  struct Vain {
    const Front* front = nullptr;
    std::int64_t block;
    std::uint32_t thread, time;
    bool write;
    bool operator==(const Vain&) const = default;
  };

  const Front* add(const Release* release, std::vector<const Front*> from);
  /// The number of the first release of the block that shows the access; ~0: none does.
  std::uint64_t first_that_shows(std::int64_t block, std::uint32_t thread, std::uint32_t time, std::uint32_t agents,
                                 bool write) const;

  std::deque<Release> releases_;
  std::unordered_map<std::int64_t, std::vector<const Release*>> of_block_;
  std::deque<Front> fronts_;
  std::vector<const Front*> queue_;
  std::uint64_t visit_ = 0, numbers_ = 0;
  std::vector<Vain> vain_;  // the last ones, by their hash: neighbours in memory have the same readers
};

/// The joint knowledge of the arrivals at a named barrier or an mbarrier in one phase.
struct Gathered {
  BlockClock view;
  std::vector<const Front*> fronts;  // distinct

  /// Adds what this thread of a block of `stride` threads and agents knows.
  void add(std::uint32_t thread, std::uint32_t time, std::uint32_t warp_known, const Row* row, const BlockClock* view,
           const Front* front, std::uint32_t stride);
  void clear() {
    view.clear();
    fronts.clear();
  }
};

}  // namespace areal::simt
