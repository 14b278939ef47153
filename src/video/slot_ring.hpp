#pragma once
// The slots of a sequence: all buffers of a frame, allocated once, and their state. Four parties share them: the source
// fills a free slot and publishes it; a worker begins the frame of a ticket and finishes it; the sink takes frames in
// the order of their tickets; all waiting happens here.

#include <areal/sequence.hpp>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>
#include "api/core/owned_view.hpp"

namespace areal::video {

struct Slot {
  enum class State : std::uint8_t {
    free,
    filling,  ///< the source's
    waiting,  ///< for a worker
    running,  ///< a worker's
    done,     ///< waits for the sink
    sinking   ///< the sink's
  };
  State state = State::free;
  std::int64_t ticket = -1;
  Frame frame;
  OwnedView buffer, tensor;  // in host memory
  std::vector<Region> regions;
  std::vector<std::uint64_t> counts;
  int worker = -1;
  std::exception_ptr error;
};

class SlotRing {
 public:
  SlotRing(std::vector<Slot> slots, WhenFull when_full);

  /// A free slot for the source; waits for one, or, if frames are dropped, reuses that of the oldest waiting frame.
  /// Null when the ring has been stopped.
  Slot* take_free();
  /// Gives the slot the next ticket.
  std::int64_t publish(Slot& slot);
  /// Returns a slot that the source did not fill.
  void give_back(Slot& slot);
  /// The source has ended.
  void close();

  /// The frame of that ticket, or null if it was dropped. A frame may be begun again for another attempt.
  Slot* begin(std::int64_t ticket);
  void finish(std::int64_t ticket, int worker, std::exception_ptr error);

  /// The next frame for the sink, once it is done; null at the end, or when the ring has been stopped.
  Slot* take_done();
  void release(Slot& slot);

  /// Ends all waits.
  void stop();

  /// Returns the slots, all free, after the last use of the ring.
  std::vector<Slot> take_slots();

  std::int64_t produced() const;
  std::int64_t dropped() const;

 private:
  Slot* find(Slot::State state);
  Slot* oldest();
  Slot* droppable();
  /// Returns the owner of the frame's pixels, for the caller to release after unlocking the ring: that may take long.
  [[nodiscard]] std::shared_ptr<const void> free(Slot& slot);

  mutable std::mutex mutex_;
  std::condition_variable freed_, finished_;
  std::vector<Slot> slots_;
  WhenFull when_full_;
  std::int64_t next_ticket_ = 0, dropped_ = 0;
  bool closed_ = false, stopped_ = false;
};

}  // namespace areal::video
