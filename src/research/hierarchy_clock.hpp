#pragma once
// The time of launches on the asynchronous HMM (memory_machines/hierarchy.hpp): receives the requests that the
// simulated machine charges, and replays them on the memory machines' clock, launch by launch.
//
// A request of a warp, as charged (requests.hpp), becomes the requests of 32 / w of the HMM's warps; a cell is what an
// access moves. Block k runs on DMM k mod d, as many at a time as the DMM's p threads hold, the others after those
// before them. The threads of a block wait at its barriers; all wait at a launch's end. Between requests nothing takes
// time, and a warp has one request in flight, as in the model: a GPU has several.
//
// The HMM has neither atomics nor blocks that wait for each other. They are idealised:
//   - An atomic of global memory is an ordinary request, one entry for each group; one of shared memory takes as many
//     entries as threads access a bank, including those that add to one cell.
//   - Publishing a word is a write. A thread that waits for it reads it once, after it is written: of a thread's polls
//   of
//     a word only the last is charged, and it enters when the write that it saw is complete. Waiting costs nothing,
//     whereas
//     a GPU's polls use memory bandwidth.
//   - Blocks start in the order of their tickets, their first atomics, so that a block that waits for smaller tickets
//     progresses. Where a block can choose which words to read, the simulated run's choice is used, and so is its order
//     of
//     tickets: times are those of that run.
// A request, also for published words, that some lanes of a warp did not make is charged at the warp's next
// synchronisation.
//
// Barriers of some of a block's warps, and copies by the copy engine, are not supported: launches with these have no
// time.

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include "memory_machines/hierarchy.hpp"
#include "simt/checks/requests.hpp"
#include "simt/engine/groups.hpp"

namespace areal::simt {

class HierarchyClock final : public Witness {
 public:
  /// The width divides 32. Throws memory::Fault for an invalid shape.
  explicit HierarchyClock(const memory::HierarchyShape& shape)
      : shape_(shape), entries_({{memory::Wiring::banks, 1}}, shape.width, shape.width) {
    if (shape.width > 32 || 32 % shape.width != 0) throw memory::Fault("the width of the clock divides 32");
  }

  void flag_accessed(std::int64_t block, int thread, Op op, std::uint64_t at) override {
    if (is_atomic(op)) {
      tickets_.emplace(block, static_cast<std::int64_t>(tickets_.size()));
    } else if (is_write(op)) {
      versions_[at] = static_cast<std::int64_t>(event_of_version_.size());
      unpaid_[{block, thread, at}].push_back(versions_[at]);
      event_of_version_.push_back(none);
    } else if (const auto last = versions_.find(at); last != versions_.end()) {
      looks_[{block, thread, at}].version = last->second;
    }
  }

  void requested(std::int64_t block, int warp, const Request& request, const Sites::Entry& site) override {
    if (!is_charged(site.op)) return;
    const bool shared = is_shared(site.op);
    if (!shared && !is_flag(site.op)) {
      const Touched what = touched(Dense(request), site.bytes, static_cast<unsigned>(shape_.width));
      if (!what.coalesced) strided_groups_ += what.groups;
    }
    const int w = static_cast<int>(shape_.width);
    for (int first = 0; first < 32; first += w) {
      cells_.clear();
      for (int lane = first; lane < first + w; ++lane)
        if ((request.mask >> lane & 1) != 0)
          cells_.push_back(static_cast<std::int64_t>(request.at[static_cast<std::size_t>(lane)] / site.bytes));
      if (cells_.empty()) continue;
      const auto of_warp = static_cast<std::int16_t>((warp * 32 + first) / w);
      if (is_flag(site.op)) {
        add_words(block, of_warp, warp * 32, request, first, site);
        continue;
      }
      const std::int64_t entries = site.op == Op::shared_add ? in_one_bank() : entries_.entries(wiring(shared), cells_);
      if (shared) stages_ += entries;
      items_of(block).push_back(
          {none, of_warp, static_cast<std::uint8_t>(entries), static_cast<std::uint8_t>(cells_.size()), shared});
    }
  }

  void barrier(std::int64_t block) override { items_of(block).push_back({none, meeting, 0, 0, false}); }

  void launch_ended(const LaunchCounts& launch) override {
    if (why_not_.empty() && launch.blocks > 0) {
      const Counts& c = launch.counts;
      const std::int64_t threads = (launch.threads + 31) / 32 * 32;
      if (c.named_barriers + c.mbarrier_phases > 0)
        why_not_ = "some warps of a block synchronise, which the HMM does not know";
      else if (c.bulk_loaded_bytes + c.bulk_stored_bytes > 0)
        why_not_ = "the HMM has no bulk copies";
      else if (c.sends + c.cluster_barriers > 0)
        why_not_ = "the HMM has no clusters";
      else if (threads > shape_.threads)
        why_not_ = "a block has " + std::to_string(threads) + " threads, a DMM " + std::to_string(shape_.threads);
      else
        run(launch.blocks, threads / shape_.width);
    }
    blocks_.clear(), words_.clear(), event_of_version_.clear();
    tickets_.clear(), versions_.clear(), unpaid_.clear(), looks_.clear();
  }

  /// Of all launches; nothing if why_not() has a reason.
  std::optional<std::int64_t> units() const { return why_not_.empty() ? std::optional(units_) : std::nullopt; }
  /// The same for requests for global memory only, on a UMM with the threads of all DMMs.
  std::optional<std::int64_t> global_units() const {
    return why_not_.empty() ? std::optional(global_units_) : std::nullopt;
  }
  const std::string& why_not() const { return why_not_; }
  /// Entries of the requests for shared memory, those of all DMMs together.
  std::int64_t stages() const { return stages_; }
  /// Groups of the requests for global memory that are not coalesced, each of up to 32 lanes; excluding published
  /// words.
  std::uint64_t strided_groups() const { return strided_groups_; }

 private:
  static constexpr std::int16_t meeting = -1;
  static constexpr std::int64_t none = -1;
  struct Item {
    std::int64_t words;  // in words_; or none
    std::int16_t warp;
    std::uint8_t entries, requests;
    bool shared;
  };
  /// A request for words that blocks publish. It may shrink, as repeated polls are removed.
  struct Words {
    std::vector<std::pair<std::int64_t, std::int64_t>> cells;  // and the thread of each
    std::vector<std::uint64_t> at;
    bool written;
  };
  struct Key {
    std::int64_t block;
    int thread;
    std::uint64_t at;
    auto operator<=>(const Key&) const = default;
  };
  struct Look {
    std::int64_t version = none, words = none;  // what it saw; the request charged for it
  };

  static bool is_charged(Op op) {
    return is_flag(op) || is_atomic(op) || op == Op::load || op == Op::store || op == Op::get || op == Op::put ||
           op == Op::copy_from || op == Op::copy_to;
  }
  static memory::Wiring wiring(bool shared) { return shared ? memory::Wiring::banks : memory::Wiring::groups; }

  std::vector<Item>& items_of(std::int64_t block) {
    const auto at = static_cast<std::size_t>(block);
    if (at >= blocks_.size()) blocks_.resize(at + 1);
    return blocks_[at];
  }

  /// The cells of the current request, each counted separately.
  std::int64_t in_one_bank() const {
    std::array<std::int64_t, 32> in_bank{};
    for (const std::int64_t cell : cells_) ++in_bank[static_cast<std::size_t>(cell % shape_.width)];
    return *std::max_element(in_bank.begin(), in_bank.end());
  }

  void add_words(std::int64_t block, std::int16_t warp, int first_thread, const Request& request, int first,
                 const Sites::Entry& site) {
    const auto number = static_cast<std::int64_t>(words_.size());
    Words words{{}, {}, is_write(site.op)};
    for (int lane = first; lane < first + static_cast<int>(shape_.width); ++lane) {
      if ((request.mask >> lane & 1) == 0) continue;
      const std::uint64_t at = request.at[static_cast<std::size_t>(lane)];
      const Key key{block, first_thread + lane, at};
      if (words.written) {
        auto& unpaid = unpaid_[key];
        event_of_version_[static_cast<std::size_t>(unpaid.front())] = number;
        unpaid.pop_front();
      } else {
        looks_[key].words = number;  // replaces what was charged for it before
      }
      words.cells.emplace_back(static_cast<std::int64_t>(at / site.bytes), first_thread + lane);
      words.at.push_back(at);
    }
    words_.push_back(std::move(words));
    items_of(block).push_back({number, warp, 0, 0, false});
  }

  /// The charged cells of a request for words, and the events that it awaits.
  void settle(std::int64_t block, std::int64_t number) {
    const Words& words = words_[static_cast<std::size_t>(number)];
    cells_.clear(), awaited_.clear();
    for (std::size_t i = 0; i < words.cells.size(); ++i) {
      const auto& [cell, thread] = words.cells[i];
      if (!words.written) {
        const Look& look = looks_[{block, static_cast<int>(thread), words.at[i]}];
        if (look.words != number) continue;
        if (look.version != none) awaited_.push_back(event_of_version_[static_cast<std::size_t>(look.version)]);
      }
      cells_.push_back(cell);
    }
    std::sort(awaited_.begin(), awaited_.end());
    awaited_.erase(std::unique(awaited_.begin(), awaited_.end()), awaited_.end());
  }

  /// The blocks in the order in which they start.
  std::vector<std::int64_t> order(std::int64_t count) const {
    std::vector<std::int64_t> blocks(static_cast<std::size_t>(count));
    for (std::size_t b = 0; b < blocks.size(); ++b) blocks[b] = static_cast<std::int64_t>(b);
    if (event_of_version_.empty()) return blocks;  // no block waits
    const auto turn = [this, count](std::int64_t block) {
      const auto ticket = tickets_.find(block);
      return ticket == tickets_.end() ? count : ticket->second;
    };
    std::stable_sort(blocks.begin(), blocks.end(),
                     [&turn](std::int64_t a, std::int64_t b) { return turn(a) < turn(b); });
    return blocks;
  }

  void run(std::int64_t count, std::int64_t warps) {
    try {
      const std::int64_t units = time(count, warps, true), global = time(count, warps, false);
      units_ += units, global_units_ += global;
    } catch (const memory::Fault&) {
      why_not_ = "a block waits for one that starts after it";
    }
  }

  std::int64_t time(std::int64_t count, std::int64_t warps, bool with_shared) {
    const std::int64_t dmms = std::min(shape_.blocks, count), held = shape_.threads / (warps * shape_.width);
    const std::int64_t places = dmms * std::min(held, (count + dmms - 1) / dmms);
    std::vector<memory::Pipeline> memories(static_cast<std::size_t>(dmms), {memory::Wiring::banks, 1});
    memories.push_back({memory::Wiring::groups, shape_.latency});
    memory::Schedule schedule(memories, places * warps * shape_.width, shape_.width, places);
    const std::vector<std::int64_t> blocks = order(count);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const std::int64_t place = static_cast<std::int64_t>(b) % places;
      if (static_cast<std::int64_t>(b) >= places) schedule.block_barrier(place);
      for (const Item& item : items_of(blocks[b])) {
        const std::int64_t warp = place * warps + item.warp;
        const auto memory = static_cast<std::size_t>(item.shared ? place % dmms : dmms);
        if (item.warp == meeting) {
          schedule.block_barrier(place);
        } else if (item.words != none) {
          settle(blocks[b], item.words);
          if (cells_.empty()) continue;
          const auto requests = static_cast<std::int64_t>(cells_.size());
          schedule.step(warp, memory, entries_.entries(memory::Wiring::groups, cells_), requests, item.words, awaited_);
        } else if (with_shared || !item.shared) {
          schedule.step(warp, memory, item.entries, item.requests);
        }
      }
    }
    schedule.barrier();
    return schedule.time().units;
  }

  memory::HierarchyShape shape_;
  memory::Schedule entries_;  // counts the entries of a request
  std::vector<std::int64_t> cells_, awaited_;
  // Of this launch:
  std::vector<std::vector<Item>> blocks_;
  std::vector<Words> words_;                        // a request's number is also that of its completion event
  std::map<std::int64_t, std::int64_t> tickets_;    // of each block
  std::map<std::uint64_t, std::int64_t> versions_;  // the last of each word
  std::vector<std::int64_t> event_of_version_;      // none until it is charged
  std::map<Key, std::deque<std::int64_t>> unpaid_;  // versions that have not been charged
  std::map<Key, Look> looks_;
  // Of all launches:
  std::int64_t units_ = 0, global_units_ = 0, stages_ = 0;
  std::uint64_t strided_groups_ = 0;
  std::string why_not_;
};

}  // namespace areal::simt
