#pragma once
// Converts a decoder's frame to a sequence's frame.

#include <areal/sequence.hpp>
#include <utility>
#include "media/media.hpp"

namespace areal::command {

/// Sets everything but the stream.
inline void hand_over(media::LumaFrame&& from, Frame& to) {
  to.number = from.number;
  to.seconds = from.seconds;
  to.pixels = from.pixels;
  to.levels = from.range != nullptr ? from.range->data() : nullptr;
  to.keep = std::move(from.keep);
}

}  // namespace areal::command
