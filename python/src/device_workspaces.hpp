#pragma once
// Workspaces on CUDA of one plan, for as many threads and streams as use it at once.

#include <algorithm>
#include <areal/device.hpp>
#include <areal/plan.hpp>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>
#include "device_arrays.hpp"

namespace areal::python {

/// The memory is the framework's, and a workspace belongs to a stream. While a stream is captured into a graph each
/// execute gets memory of its own, which is the graph's: it is given back to the framework, whose graphs keep what was
/// allocated during their capture.
class Workspaces {
 public:
  struct Ready {
    NewArray memory;
    Workspace workspace;
  };

  /// One for an execute that begins now. With the GIL.
  Ready get(const Plan& plan, const Allocator& allocator, Stream stream) {
    const bool captured = is_capturing(stream);
    if (!captured) {
      const std::lock_guard lock(mutex_);
      for (std::size_t i = free_.size(); i-- > 0;)
        if (free_[i].workspace.stream() == stream) {
          Ready found = std::move(free_[i]);
          free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
          return found;
        }
    }
    const auto bytes = static_cast<std::int64_t>(plan.workspace_bytes());
    NewArray memory = bytes > 0 ? allocator.make(Type::u8, {bytes}) : NewArray();
    const Span<std::byte> there(static_cast<std::byte*>(memory.data()), static_cast<std::size_t>(bytes), plan.memory());
    return {std::move(memory), captured ? Workspace::in_graph(plan, there, stream) : Workspace(plan, there, stream)};
  }
  /// After an execute that did not fail. With the GIL, as what is dropped is the framework's.
  void put(Ready ready) {
    if (is_capturing(ready.workspace.stream())) return;
    const std::lock_guard lock(mutex_);
    if (free_.size() >= most) free_.erase(free_.begin());
    free_.push_back(std::move(ready));
  }

 private:
  static constexpr std::size_t most = 16;
  std::mutex mutex_;
  std::vector<Ready> free_;
};

/// The last 64 plans that were asked for, by key.
template <class Key, class Value>
class RecentlyUsed {
 public:
  template <class Make>
  std::shared_ptr<Value> get(const Key& key, const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      for (std::size_t i = 0; i < known_.size(); ++i)
        if (known_[i].first == key) {
          if (i > 0)
            std::rotate(known_.begin(), known_.begin() + static_cast<std::ptrdiff_t>(i),
                        known_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
          return known_.front().second;
        }
    }
    std::shared_ptr<Value> made = make();
    const std::lock_guard lock(mutex_);
    known_.insert(known_.begin(), {key, made});
    if (known_.size() > 64) known_.pop_back();
    return made;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<Key, std::shared_ptr<Value>>> known_;
};

}  // namespace areal::python
