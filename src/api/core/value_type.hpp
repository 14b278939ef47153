#pragma once
// The types of pixels whose values a double holds.

#include <areal/type.hpp>

namespace areal {

/// Throws InvalidArgument for 64u and 64s.
void require_value_type(Type type);

}  // namespace areal
