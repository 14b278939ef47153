#pragma once
// What launches take on the asynchronous HMM (memory/hierarchy.hpp): hears what the simulated machine charges, and lets
// the memory machines' clock run it, launch by launch.
//
// A request of a warp, as it is charged (requests.hpp), is the requests of 32 / w of the HMM's warps; a cell is what an
// access moves. Block k stands on DMM k mod d, as many at a time as the DMM's p threads hold, the others after those
// before them. The threads of a block wait where it met; all wait where a launch ends. Between requests nothing takes
// time, and a warp has one request under way, as the model says: a GPU has several.
//
// The HMM has no word for blocks that wait for one another, for atomics, barriers of some of a block's warps, and
// copies that no warp asks for: launches with any of these have no time.

#include <memory>
#include <optional>
#include <string>
#include "requests.hpp"
#include "simt/memory/hierarchy.hpp"

namespace areal::simt {

class HierarchyClock final : public Witness {
 public:
  /// The width divides 32. Throws memory::Fault for a shape that is none.
  explicit HierarchyClock(const memory::HierarchyShape& shape)
      : shape_(shape), entries_({{memory::Wiring::banks, 1}}, shape.width, shape.width) {
    if (shape.width > 32 || 32 % shape.width != 0) throw memory::Fault("the width of the clock divides 32");
  }

  void asked(std::int64_t block, int warp, const Request& request, const Sites::Entry& site) override {
    if (!is_plain(site.op)) return;
    const bool shared = is_shared(site.op);
    const int w = static_cast<int>(shape_.width);
    for (int first = 0; first < 32; first += w) {
      cells_.clear();
      for (int lane = first; lane < first + w; ++lane)
        if ((request.mask >> lane & 1) != 0)
          cells_.push_back(static_cast<std::int64_t>(request.at[static_cast<std::size_t>(lane)] / site.bytes));
      if (cells_.empty()) continue;
      const std::int64_t taken = entries_.entries(shared ? memory::Wiring::banks : memory::Wiring::groups, cells_);
      items_of(block).push_back({static_cast<std::int16_t>((warp * 32 + first) / w), static_cast<std::uint8_t>(taken),
                                 static_cast<std::uint8_t>(cells_.size()), shared});
    }
  }

  void met(std::int64_t block) override { items_of(block).push_back({meeting, 0, 0, false}); }

  void ended(const LaunchCounts& launch) override {
    const std::vector<std::vector<Item>> blocks = std::exchange(blocks_, {});
    if (!why_not_.empty() || launch.blocks == 0) return;
    const Counts& c = launch.counts;
    const std::int64_t threads = (launch.threads + 31) / 32 * 32;
    if (c.published + c.polls > 0)
      why_not_ = "blocks wait for one another, which the HMM does not know";
    else if (c.atomics.elements + c.shared_atomics.elements > 0)
      why_not_ = "the HMM has no atomics";
    else if (c.named_barriers + c.mbarrier_phases > 0)
      why_not_ = "parts of a block meet, which the HMM does not know";
    else if (c.bulk_loaded_bytes + c.bulk_stored_bytes > 0)
      why_not_ = "the HMM has no bulk copies";
    else if (threads > shape_.threads)
      why_not_ = "a block has " + std::to_string(threads) + " threads, a DMM " + std::to_string(shape_.threads);
    if (why_not_.empty()) run(blocks, launch.blocks, threads / shape_.width);
  }

  /// Of all launches; nothing where why_not() says why not.
  std::optional<std::int64_t> units() const { return why_not_.empty() ? std::optional(units_) : std::nullopt; }
  const std::string& why_not() const { return why_not_; }

 private:
  static constexpr std::int16_t meeting = -1;
  struct Item {
    std::int16_t warp;
    std::uint8_t entries, requests;
    bool shared;
  };

  static bool is_plain(Op op) {
    return op == Op::load || op == Op::store || op == Op::get || op == Op::put || op == Op::copy_from ||
           op == Op::copy_to;
  }
  std::vector<Item>& items_of(std::int64_t block) {
    const auto at = static_cast<std::size_t>(block);
    if (at >= blocks_.size()) blocks_.resize(at + 1);
    return blocks_[at];
  }

  void run(const std::vector<std::vector<Item>>& blocks, std::int64_t count, std::int64_t warps) {
    const std::int64_t dmms = std::min(shape_.blocks, count), held = shape_.threads / (warps * shape_.width);
    const std::int64_t places = dmms * std::min(held, (count + dmms - 1) / dmms);
    std::vector<memory::Pipeline> memories(static_cast<std::size_t>(dmms), {memory::Wiring::banks, 1});
    memories.push_back({memory::Wiring::groups, shape_.latency});
    memory::Schedule schedule(memories, places * warps * shape_.width, shape_.width, places);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const std::int64_t place = static_cast<std::int64_t>(b) % places;
      if (static_cast<std::int64_t>(b) >= places) schedule.meet(place);
      for (const Item& item : blocks[b]) {
        if (item.warp == meeting)
          schedule.meet(place);
        else
          schedule.step(place * warps + item.warp, static_cast<std::size_t>(item.shared ? place % dmms : dmms),
                        item.entries, item.requests);
      }
    }
    schedule.barrier();
    units_ += schedule.time().units;
  }

  memory::HierarchyShape shape_;
  memory::Schedule entries_;  // says how many a request takes
  std::vector<std::int64_t> cells_;
  std::vector<std::vector<Item>> blocks_;  // of this launch
  std::int64_t units_ = 0;
  std::string why_not_;
};

}  // namespace areal::simt
