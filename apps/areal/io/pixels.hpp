#pragma once
// Pixels of any type: reading them as doubles, choosing channels, widening to another type.

#include <areal/array.hpp>
#include <areal/view.hpp>
#include <span>

namespace areal::command {

/// Row y of a channel of image n as doubles (exact up to 2^53).
void load_row(const ConstView& from, std::int64_t y, std::int64_t channel, std::int64_t n, std::span<double> to);
/// Doubles into a row: rounded half to even and kept within the type for integers.
void store_row(const View& to, std::int64_t y, std::int64_t channel, std::int64_t n, std::span<const double> from);

/// One channel of interleaved ones, as an image of its own. Every image of the batch.
Array one_channel(const ConstView& image, std::int64_t channel);
/// The first `channels` of interleaved ones.
Array first_channels(const ConstView& image, std::int64_t channels);
/// True where every value of `from` is one of `to`, exactly.
bool holds(Type to, Type from) noexcept;
/// The same pixels in another type.
Array converted(const ConstView& image, Type type);
/// 8 bits to look at: integers by their high bits, floats from their smallest to their largest finite value.
Array to_8u(const ConstView& image);

}  // namespace areal::command
