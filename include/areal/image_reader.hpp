#pragma once
/// \file image_reader.hpp How an image that fits no memory is read: block by block.

#include <areal/view.hpp>
#include <cstdint>
#include <functional>

namespace areal {

/// Writes the pixels from column x and row y on into `block`, host memory whose shape and type say how many and which.
/// Called by one thread at a time. Blocks may come in any order, and more than once where the caller says so.
using ImageReader = std::function<void(std::int64_t x, std::int64_t y, const View& block)>;

}  // namespace areal
