#pragma once
// A cache keyed by a stream's table of levels: the streams of a sequence have few tables, and may share them.

#include <array>
#include <cstdint>
#include <cstring>
#include <list>
#include <optional>
#include <utility>

namespace areal::video {

template <class T>
class LevelsCache {
 public:
  /// The cached value for these levels (256, or null); make() creates it at the first use.
  template <class Make>
  T& get(const std::uint8_t* levels, const Make& make) {
    for (Known& known : all_)
      if (levels == nullptr ? !known.levels : known.levels && std::memcmp(known.levels->data(), levels, 256) == 0)
        return known.value;
    std::optional<std::array<std::uint8_t, 256>> copy;
    if (levels != nullptr) std::memcpy(copy.emplace().data(), levels, 256);
    return all_.emplace_back(Known{copy, make()}).value;
  }

 private:
  struct Known {
    std::optional<std::array<std::uint8_t, 256>> levels;
    T value;
  };
  std::list<Known> all_;
};

}  // namespace areal::video
