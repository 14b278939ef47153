#include "video/slot_ring.hpp"

#include <algorithm>
#include <utility>

namespace areal::video {

SlotRing::SlotRing(std::vector<Slot> slots, WhenFull when_full) : slots_(std::move(slots)), when_full_(when_full) {}

Slot* SlotRing::find(Slot::State state) {
  const auto at = std::find_if(slots_.begin(), slots_.end(), [&](const Slot& slot) { return slot.state == state; });
  return at == slots_.end() ? nullptr : &*at;
}

// The oldest frame in flight.
Slot* SlotRing::oldest() {
  Slot* oldest = nullptr;
  for (Slot& slot : slots_)
    if (slot.ticket >= 0 && (oldest == nullptr || slot.ticket < oldest->ticket)) oldest = &slot;
  return oldest;
}

Slot* SlotRing::droppable() {
  Slot* oldest = nullptr;
  for (Slot& slot : slots_)
    if ((slot.state == Slot::State::waiting || slot.state == Slot::State::done) &&
        (oldest == nullptr || slot.ticket < oldest->ticket))
      oldest = &slot;
  return oldest;
}

std::shared_ptr<const void> SlotRing::free(Slot& slot) {
  slot.state = Slot::State::free;
  slot.ticket = -1;
  slot.error = nullptr;
  return std::move(slot.frame.keep);
}

Slot* SlotRing::take_free() {
  std::shared_ptr<const void> dropped;  // released after the lock
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    Slot* slot = find(Slot::State::free);
    if (slot == nullptr && when_full_ == WhenFull::drop_oldest) {
      slot = droppable();
      if (slot != nullptr) {
        dropped = free(*slot);
        ++dropped_;
        finished_.notify_all();  // the sink may wait for this one
      }
    }
    if (slot != nullptr) {
      slot->state = Slot::State::filling;
      return slot;
    }
    freed_.wait(lock);
  }
  return nullptr;
}

std::int64_t SlotRing::publish(Slot& slot) {
  const std::lock_guard lock(mutex_);
  slot.state = Slot::State::waiting;
  slot.worker = -1;
  return slot.ticket = next_ticket_++;
}

void SlotRing::give_back(Slot& slot) {
  std::shared_ptr<const void> kept;
  const std::lock_guard lock(mutex_);
  kept = free(slot);
}

void SlotRing::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  finished_.notify_all();
}

Slot* SlotRing::begin(std::int64_t ticket) {
  const std::lock_guard lock(mutex_);
  for (Slot& slot : slots_)
    if (slot.ticket == ticket && (slot.state == Slot::State::waiting || slot.state == Slot::State::running)) {
      slot.state = Slot::State::running;
      return &slot;
    }
  return nullptr;
}

void SlotRing::finish(std::int64_t ticket, int worker, std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  for (Slot& slot : slots_)
    if (slot.ticket == ticket && slot.state != Slot::State::done) {
      slot.state = Slot::State::done;
      slot.worker = worker;
      slot.error = std::move(error);
      finished_.notify_all();
      if (when_full_ == WhenFull::drop_oldest) freed_.notify_all();  // it may be dropped
      return;
    }
}

Slot* SlotRing::take_done() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    Slot* const next = oldest();
    if (next == nullptr && closed_) return nullptr;
    if (next != nullptr && next->state == Slot::State::done) {
      next->state = Slot::State::sinking;
      return next;
    }
    finished_.wait(lock);
  }
  return nullptr;
}

void SlotRing::release(Slot& slot) {
  std::shared_ptr<const void> kept;
  const std::lock_guard lock(mutex_);
  kept = free(slot);
  freed_.notify_all();
}

void SlotRing::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  freed_.notify_all();
  finished_.notify_all();
}

std::vector<Slot> SlotRing::take_slots() {
  for (Slot& slot : slots_) (void)free(slot);
  return std::move(slots_);
}

std::int64_t SlotRing::produced() const {
  const std::lock_guard lock(mutex_);
  return next_ticket_;
}
std::int64_t SlotRing::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

}  // namespace areal::video
