#pragma once
// A cache of plans.

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace areal::python {

/// The 64 most recently used plans, by key.
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
