#pragma once
/// \file image_reader.hpp ImageReader: reads an image larger than memory block by block.

#include <areal/view.hpp>
#include <cstdint>
#include <functional>

namespace areal {

/// Writes the pixels from column x and row y on into `block`, host memory whose shape and type give their number and
/// type. Called by one thread at a time. Blocks may be requested in any order, and repeatedly if the caller says so.
using ImageReader = std::function<void(std::int64_t x, std::int64_t y, const View& block)>;

}  // namespace areal
