#pragma once
// The clock of the memory machines (Nakano 2013, section 2; Kasagi, Nakano, Ito 2014, section II).
//
// A memory of width w is a pipeline of l stages that takes one entry in a time unit; an entry is complete l units after
// it began to enter. The threads form warps of w. Those that request are activated in turn, round robin, and what a
// warp requests takes as many entries as the wiring demands: requests for different cells of one bank (cell i is in
// bank i mod w) come one after another where there are banks, requests for different groups (cell i is in group i div
// w) where there are groups. Several requests of a warp for one cell are one. So k entries take k + l - 1 units.
//
// A warp requests again when all that it requested is complete: its threads run the same program in step. Only requests
// take time, as in the papers' counts; what threads compute between them does not, nor does a barrier. A request may
// wait for events, which other requests' completions are.

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

/// What an address says of a thread that requests nothing in this step.
inline constexpr std::int64_t no_request = -1;

/// Warps that wait for one memory, taken round robin.
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
  /// The warps belong to `blocks` blocks, as many to each; a block is what meets.
  Schedule(const std::vector<Pipeline>& memories, std::int64_t threads, std::int64_t width, std::int64_t blocks = 1);

  /// One step of the program: each thread i of [first, first + count) requests cell address(i) of the memory, or
  /// nothing. `touch(i, cell)` does what is requested. `first` is the first thread of a warp.
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
  /// The same for one warp, of whose requests is known how many entries they take.
  void step(std::int64_t warp, std::size_t memory, std::int64_t entries, std::int64_t requests) {
    step(warp, memory, entries, requests, none, {});
  }
  /// And an event, a number from 0, happens when this is complete; it does not enter before all that it awaits have.
  void step(std::int64_t warp, std::size_t memory, std::int64_t entries, std::int64_t requests, std::int64_t event,
            std::span<const std::int64_t> awaited);
  /// Every warp waits here for all warps of its block.
  void meet();
  /// The warps of one block do.
  void meet(std::int64_t block);
  /// All warps wait for all: runs what was requested since the last barrier. Throws Fault where a warp waits for an
  /// event that does not happen before; events are forgotten here.
  void barrier();

  const Time& time() const { return time_; }
  /// Entries that the requests of one warp for these cells take.
  std::int64_t entries(Wiring wiring, std::span<const std::int64_t> cells);

 private:
  static constexpr std::int64_t none = -1;
  // What a warp does next; to meet takes no entries.
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
  std::vector<std::int64_t> arrived_;               // at each block's meeting
  std::vector<std::int64_t> cells_, sorted_;        // of the warp at hand
  std::vector<std::int64_t> of_bank_;               // zero between calls
  Time time_;
};

}  // namespace areal::memory
