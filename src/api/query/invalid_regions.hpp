#pragma once
// Invalid regions: named by an exception, or reported in QueryOptions::first_invalid.

#include <areal/region.hpp>
#include <atomic>
#include <cstdint>
#include <limits>
#include "api/core/require.hpp"
#include "api/query/query_call.hpp"
#include "kernels/query/request.hpp"

namespace areal {

/// The answer for an invalid region.
template <class Out>
constexpr Out invalid_answer() {
  return std::numeric_limits<Out>::has_quiet_NaN ? std::numeric_limits<Out>::quiet_NaN() : Out{};
}

/// Throws unless `first_invalid` is one number or none.
inline void require_first_invalid(const QueryOptions& options) {
  require(options.first_invalid.size() <= 1, "first_invalid: ", options.first_invalid.size(),
          " elements, it may have one or none");
}

/// On the CPU: the smallest index of the invalid regions, which throw if `first_invalid` was not given.
class FirstInvalid {
 public:
  FirstInvalid(QueryCall& call, const QueryOptions& options) {
    require_first_invalid(options);
    out_ = call.out(options.first_invalid, "first_invalid");
    requested_ = !options.first_invalid.empty();
    store();  // for tables without planes, which check no region
  }
  bool requested() const noexcept { return requested_; }
  void found(std::int64_t index) noexcept {
    std::int64_t least = least_.load(std::memory_order_relaxed);
    while (index < least && !least_.compare_exchange_weak(least, index, std::memory_order_relaxed)) {
    }
  }
  /// After all regions have been checked.
  void store() const noexcept {
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    const std::int64_t least = least_.load(std::memory_order_relaxed);
    if (requested_) *out_ = least == none ? -1 : least;
  }

 private:
  std::int64_t* out_ = nullptr;
  bool requested_ = false;
  std::atomic<std::int64_t> least_ = std::numeric_limits<std::int64_t>::max();
};

/// For a device: the regions or boxes of a request. check(i) throws if the host can see that region i is invalid; it is
/// called if such a region must throw.
template <class R, class Check>
kernels::ListOf<R> listed(QueryCall& call, Span<const R> regions, const char* name, const QueryOptions& options,
                          const Check& check) {
  require_first_invalid(options);
  const auto count = static_cast<std::int64_t>(regions.size());
  const R* const there = call.in(regions, name);
  if (options.first_invalid.empty() && regions.memory().is_host())
    for (std::int64_t i = 0; i < count; ++i) check(i);
  std::int64_t* const first_invalid = call.out(options.first_invalid, "first_invalid");
  return {there, count, options.outside, options.first_invalid.empty() ? nullptr : first_invalid};
}

}  // namespace areal
