#pragma once
// The type of a table of squares.

#include <areal/error.hpp>
#include <areal/sat.hpp>
#include <optional>

namespace areal::policy {

/// The meaning of Squares::automatic: a sum of squares of 32-bit integers exceeds 64 bits after a few pixels, one of 8-
/// or 16-bit integers after 2^32 pixels. None if no squares are requested. Throws InvalidArgument for an invalid value.
inline std::optional<Type> squares_type(Squares squares, Type input) {
  switch (squares) {
    case Squares::no:
      return std::nullopt;
    case Squares::automatic:
      return is_float(input) || size_of(input) > 2 ? Type::f64 : Type::u64;
    case Squares::u32:
      return Type::u32;
    case Squares::u64:
      return Type::u64;
    case Squares::f32:
      return Type::f32;
    case Squares::f64:
      return Type::f64;
  }
  throw InvalidArgument("squares: they may be no, automatic, u32, u64, f64 or f32");
}

}  // namespace areal::policy
