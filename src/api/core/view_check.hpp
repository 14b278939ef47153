#pragma once
// Checks of a view before a kernel uses it.

#include <areal/view.hpp>
#include <string_view>

namespace areal {

/// Throws InvalidArgument, naming the view, unless it has that shape and type, a pointer if it has elements, and
/// pitches whose rows, planes and images do not overlap. The layout is checked only for two or more channels.
void check_view(std::string_view name, const ConstView& view, const Shape& shape, Type type);

/// Requires non-negative extents and bytes that fit 63 bits.
void check_shape(std::string_view name, const Shape& shape, Type type);

/// True if the two may share a byte: their address ranges overlap, and they are not disjoint column ranges of rows of
/// the same pitch.
bool may_overlap(const ConstView& a, const ConstView& b);

}  // namespace areal
