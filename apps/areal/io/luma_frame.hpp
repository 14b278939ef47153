#pragma once
// A decoder's frame as a sequence takes it.

#include <areal/sequence.hpp>
#include <utility>
#include "media/media.hpp"

namespace areal::command {

/// Pixels, levels, number and time; the stream is the caller's to say.
inline void hand_over(media::LumaFrame&& from, Frame& to) {
  to.number = from.number;
  to.seconds = from.seconds;
  to.pixels = from.pixels;
  to.levels = from.range != nullptr ? from.range->data() : nullptr;
  to.keep = std::move(from.keep);
}

}  // namespace areal::command
