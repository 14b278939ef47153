#pragma once
// The clock of the memory machines (Nakano 2013, section 2; Kasagi, Nakano, Ito 2014, section II).
//
// A memory of width w is a pipeline of l stages that accepts one entry in a time unit; an entry is complete l units
// after it began to enter. The threads form warps of w. Warps with requests are activated in turn, round robin. The
// wiring determines the entries of a warp's requests: with banks, requests for different cells of one bank (cell i is
// in bank i mod w) are separate entries; with groups, requests for different groups (cell i is in group i div w) are.
// Several requests of a warp for one cell count as one. So k entries take k + l - 1 units.
//
// A warp requests again when all its requests are complete: its threads run the same program in step. Only requests
// take time, as in the papers' counts; neither computation nor barriers do. A request may wait for events, which are
// completions of other requests.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <stdexcept>
#include <vector>

namespace areal::memory {

/// A program broke a rule of its machine; one sentence.
class Fault : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

enum class Wiring : std::uint8_t { banks, groups };

struct Pipeline {
  Wiring wiring;
  std::int64_t latency;
};

struct Time {
  std::int64_t units = 0;
  std::int64_t entries = 0;   // of pipelines
  std::int64_t requests = 0;  // of threads
  std::int64_t barriers = 0;
};

/// The address of a thread that requests nothing in this step.
inline constexpr std::int64_t no_request = -1;

/// Warps that wait for one memory, served round robin.
class Turns {
 public:
  explicit Turns(std::int64_t warps) : bits_(static_cast<std::size_t>((warps + 63) / 64)) {}
  bool empty() const { return waiting_ == 0; }
  void add(std::int64_t warp);
  std::int64_t take();
  void start_over() { next_ = 0; }

 private:
  std::vector<std::uint64_t> bits_;
  std::int64_t waiting_ = 0, next_ = 0;
};

class Schedule {
 public:
  /// The warps belong to `blocks` blocks of equal size; the warps of a block can synchronise.
  Schedule(const std::vector<Pipeline>& memories, std::int64_t threads, std::int64_t width, std::int64_t blocks = 1);

  /// One step of the program: each thread i of [first, first + count) requests cell address(i) of the memory, or
  /// nothing. `touch(i, cell)` performs the request. `first` is the first thread of a warp.
  template <class Address, class Touch>
  void step(std::int64_t first, std::int64_t count, std::size_t memory, const Address& address, const Touch& touch) {
    for (std::int64_t begin = first; begin < first + count; begin += width_) {
      cells_.clear();
      for (std::int64_t i = begin; i < std::min(begin + width_, first + count); ++i) {
        const std::int64_t cell = address(i);
        if (cell == no_request) continue;
        touch(i, cell);
        cells_.push_back(cell);
      }
      if (!cells_.empty()) request(begin / width_, memory);
    }
  }
  /// The same for one warp with a known number of entries.
  void step(std::int64_t warp, std::size_t memory, std::int64_t entries, std::int64_t requests) {
    step(warp, memory, entries, requests, none, {});
  }
  /// The same with an event, numbered from 0, that happens when this completes. The request does not enter before all
  /// awaited events have happened.
  void step(std::int64_t warp, std::size_t memory, std::int64_t entries, std::int64_t requests, std::int64_t event,
            std::span<const std::int64_t> awaited);
  /// Every warp waits for all warps of its block.
  void block_barrier();
  /// The warps of one block wait for each other.
  void block_barrier(std::int64_t block);
  /// All warps wait for all: runs everything requested since the last barrier. Throws Fault if a warp waits for an
  /// event that does not happen before. The barrier forgets all events.
  void barrier();

  const Time& time() const { return time_; }
  /// The entries of one warp's requests for these cells.
  std::int64_t entries(Wiring wiring, std::span<const std::int64_t> cells);

 private:
  static constexpr std::int64_t none = -1;
  // The next item of a warp; a synchronisation has no entries.
  struct Item {
    std::int64_t entries;
    std::size_t memory;
    std::int64_t next, event;
    std::size_t first_awaited, awaited;  // in awaited_
  };
  struct Flight {
    std::int64_t complete, warp, event;
  };
  struct Memory {
    Pipeline pipeline;
    Turns turns;
    std::deque<Flight> flights;  // in the order in which they complete
    std::int64_t free = 0;       // when the next entry may begin
  };

  void request(std::int64_t warp, std::size_t memory);
  void append(std::int64_t warp, const Item& item);
  void advance(std::int64_t warp);
  bool waits(std::int64_t warp, Item& item);
  void happen(std::int64_t event);
  bool next_moment(std::int64_t& now) const;

  std::int64_t width_, warps_, warps_of_block_;
  std::vector<Memory> memories_;
  std::vector<Item> items_;
  std::vector<std::int64_t> heads_, tails_;         // of each warp, in items_
  std::vector<std::int64_t> awaited_;               // events
  std::vector<char> happened_;                      // of each event
  std::vector<std::vector<std::int64_t>> waiting_;  // warps, for each event
  std::vector<std::int64_t> active_;                // warps that have items
  std::vector<std::int64_t> arrived_;               // at each block's synchronisation
  std::vector<std::int64_t> cells_, sorted_;        // of the current warp
  std::vector<std::int64_t> of_bank_;               // zero between calls
  Time time_;
};

}  // namespace areal::memory
