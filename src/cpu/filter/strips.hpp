#pragma once
// The work of a filter's execute: strips of rows of every plane, each by one thread.

#include <algorithm>
#include <areal/filter.hpp>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include "cpu/cancellation.hpp"
#include "cpu/filter/request.hpp"
#include "cpu/filter/walk_rows.hpp"
#include "cpu/threads.hpp"

namespace areal::cpu {

inline constexpr std::size_t cache_line = 64;
inline std::size_t whole_lines(std::size_t bytes) { return (bytes + cache_line - 1) / cache_line * cache_line; }
/// An array's place in a thread's part of the workspace, which ends at `end` so far. One line more than necessary, so
/// that rows do not all map to the same cache sets.
inline std::size_t place(std::size_t& end, std::int64_t elements, std::size_t size) {
  const std::size_t at = end;
  end += whole_lines(static_cast<std::size_t>(std::max<std::int64_t>(0, elements)) * size) + cache_line;
  return at;
}

struct Strips {
  std::int64_t planes;               ///< interleaved channels that are processed as one row are one plane
  std::int64_t first, outputs;       ///< row of a plane, and rows from it on
  std::int64_t rows = 0, count = 0;  ///< of a strip; strips of a plane

  /// A strip begins with the rows of its first window, at most the image's, so that it should not have many fewer.
  Strips(std::int64_t planes_, std::int64_t begin_, std::int64_t end_, std::int64_t first_rows, std::int64_t threads)
      : planes(planes_), first(begin_), outputs(end_ - begin_) {
    const std::int64_t share = (planes * outputs + 2 * threads - 1) / (2 * threads);
    rows = threads == 1 ? outputs : std::clamp<std::int64_t>(std::max(share, first_rows / 2), 1, outputs);
    count = (outputs + rows - 1) / rows;
  }
  std::int64_t all() const { return planes * count; }
  std::int64_t begin(std::int64_t strip) const { return first + strip * rows; }
  std::int64_t end(std::int64_t strip) const { return first + std::min(outputs, (strip + 1) * rows); }

  /// visit(plane, strip) for all, at most `threads` at a time. Throws Cancelled as the caller's Cancellation requires.
  template <class Visit>
  void for_each(int threads, const Visit& visit) const {
    Cancellation* const cancellation = Cancellation::current();
    std::atomic<std::int64_t> next{0};
    const auto body = [&] {
      while (true) {
        const std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
        if (i >= all() || (cancellation != nullptr && !cancellation->go_on())) return;
        visit(i / count, i % count);
      }
    };
    if (slots(threads) == 1 || all() == 1)
      on_slot_0(std::ref(body));  // a function of a reference allocates nothing
    else
      on_threads(threads, all(), std::ref(body));
    if (cancellation != nullptr) cancellation->check();
  }
};

/// What wolf needs to know of a plane.
struct Survey {
  double most_variance = 0, least_pixel = std::numeric_limits<double>::infinity();
  void add(const Survey& other) {
    most_variance = std::max(most_variance, other.most_variance);
    least_pixel = std::min(least_pixel, other.least_pixel);
  }
};

/// Surveys by every thread, then one of each plane. look(plane, strip, survey) adds to a thread's; write(plane, strip,
/// finish) writes the outputs. `memory` holds a Survey for each thread and plane.
template <class Look, class Write>
void survey_and_write(const Strips& strips, int threads, void* memory, const Finish& of, const Look& look,
                      const Write& write) {
  auto* const surveys = static_cast<Survey*>(memory);
  const std::int64_t all = slots(threads) * strips.planes;
  std::uninitialized_fill_n(surveys, all, Survey{});
  strips.for_each(threads, [&](std::int64_t plane, std::int64_t strip) {
    look(plane, strip, surveys[slot() * strips.planes + plane]);
  });
  for (std::int64_t i = strips.planes; i < all; ++i) surveys[i % strips.planes].add(surveys[i]);
  strips.for_each(threads, [&](std::int64_t plane, std::int64_t strip) {
    Finish finish = of;
    finish.local.most_deviation = std::sqrt(surveys[plane].most_variance);
    finish.local.least_pixel = surveys[plane].least_pixel;
    write(plane, strip, finish);
  });
}

/// Plane p of a view: a channel of an image, or all interleaved channels of one.
template <class Void>
BasicView<Void> plane_of(BasicView<Void> view, std::int64_t p, bool together) {
  const std::int64_t channels = together ? 1 : view.shape.channels, channel = p % channels, n = p / channels;
  const bool planar = view.shape.layout == Layout::planar;
  using Byte = std::conditional_t<std::is_const_v<Void>, const char, char>;
  auto* const first = static_cast<Byte*>(view.row(0, planar ? channel : 0, n));
  view.data = planar ? first : first + channel * static_cast<std::int64_t>(size_of(view.type));
  return view;
}

}  // namespace areal::cpu
