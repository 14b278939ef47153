#pragma once
// What a view must be before a kernel touches it.

#include <areal/view.hpp>
#include <string_view>

namespace areal {

/// Throws InvalidArgument, naming the view, unless it has that shape and type, a pointer where there is something to
/// point at, and pitches whose rows, planes and images do not overlap. The layout counts only from two channels on.
void check_view(std::string_view name, const ConstView& view, const Shape& shape, Type type);

/// Extents not negative, bytes of the type within 63 bits.
void check_shape(std::string_view name, const Shape& shape, Type type);

/// True where the two may share a byte: their address ranges meet, and they are not two column ranges of rows of
/// the same pitch.
bool may_overlap(const ConstView& a, const ConstView& b);

}  // namespace areal
