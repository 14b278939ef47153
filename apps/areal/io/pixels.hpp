#pragma once
// Pixels of any type: reading them as doubles, choosing channels, widening to another type.

#include <areal/array.hpp>
#include <areal/view.hpp>
#include <span>

namespace areal::command {

/// Row y of a channel of image n as doubles (exact up to 2^53).
void load_row(const ConstView& from, std::int64_t y, std::int64_t channel, std::int64_t n, std::span<double> to);
/// Doubles into a row: integers are rounded half to even and clamped to the range of the type.
void store_row(const View& to, std::int64_t y, std::int64_t channel, std::int64_t n, std::span<const double> from);

/// A copy of one interleaved channel, for every image of the batch.
Array one_channel(const ConstView& image, std::int64_t channel);
/// True where `to` can represent every value of `from` exactly.
bool holds(Type to, Type from) noexcept;
/// The same pixels in another type.
Array converted(const ConstView& image, Type type);
/// 8 bits for display: the high bits of integers; floats scaled from their smallest to their largest finite value.
Array to_8u(const ConstView& image);

}  // namespace areal::command
