#pragma once
// A pool of objects that are lent as shared_ptr and reused when the last one is dropped, on any thread.

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace areal::media {

// Allocates only while more objects are held than ever before: the control block of a shared_ptr lies next to its
// object. T is default-constructible and has `void reset() noexcept`, called when its last shared_ptr is dropped. Held
// objects may outlive the pool.
template <class T>
class HeldPool {
 public:
  std::shared_ptr<T> take() {
    std::unique_ptr<Slot> slot;
    {
      const std::lock_guard lock(store_->mutex);
      if (store_->free.empty()) {
        slot = std::make_unique<Slot>();
        store_->free.reserve(++store_->made);  // so that returning a slot cannot fail
      } else {
        slot = std::move(store_->free.back());
        store_->free.pop_back();
      }
    }
    Slot* const lent = slot.release();
    return {&lent->object, Reset{}, InSlot<T>{store_, lent}};
  }

 private:
  struct Slot {
    T object;
    alignas(std::max_align_t) std::byte control[96];
  };
  struct Store {
    std::mutex mutex;
    std::vector<std::unique_ptr<Slot>> free;
    std::size_t made = 0;
  };
  struct Reset {
    void operator()(T* object) const noexcept { object->reset(); }
  };
  // Places the control block into the slot. It is freed last, after weak_ptrs, and returns the slot.
  template <class U>
  struct InSlot {
    using value_type = U;
    std::shared_ptr<Store> store;
    Slot* slot;
    InSlot(std::shared_ptr<Store> store_, Slot* slot_) : store(std::move(store_)), slot(slot_) {}
    template <class V>
    InSlot(const InSlot<V>& other) : store(other.store), slot(other.slot) {}
    U* allocate(std::size_t) {
      static_assert(sizeof(U) <= sizeof(Slot::control) && alignof(U) <= alignof(std::max_align_t));
      return reinterpret_cast<U*>(slot->control);
    }
    void deallocate(U*, std::size_t) noexcept {
      const std::lock_guard lock(store->mutex);
      store->free.emplace_back(slot);
    }
    template <class V>
    bool operator==(const InSlot<V>& other) const {
      return slot == other.slot;
    }
  };

  std::shared_ptr<Store> store_ = std::make_shared<Store>();
};

}  // namespace areal::media
