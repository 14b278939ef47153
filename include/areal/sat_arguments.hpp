#pragma once
/// \file sat_arguments.hpp What one execute of a SatPlan reads and writes.

#include <areal/carry.hpp>
#include <areal/view.hpp>

namespace areal {

/// The image, its mask, and the tables. Views of tables that were not requested stay empty. Each view names its memory;
/// SatPlan::execute says which it accepts.
///
/// For a piece of a larger image, carries give its tables the larger image's entries. Of W x H pixels `above` is 1 x (W
/// + 1) and `left` H x 1, for every border, with the table's channels, batch and layout: in a table of the larger image
/// with border `none`, the row above the piece, corner first, and the column left of it. With borders `zero` and
/// `exclusive` they replace the zeros in the table's first row and column; with `exclusive` the last value of each is
/// not used.
///
/// For a reversed table `above` is the row below the piece, corner last, and `left` the column right of it, both of the
/// larger image's reversed table.
struct SatArguments {
  ConstView image;
  View sum;
  ConstView mask = {};
  View squares = {};
  View tilted = {};
  View count = {};
  Carry carry = {};          ///< of the sum
  Carry squares_carry = {};  ///< of the table of squares
  Carry count_carry = {};    ///< of the table of counts
};

}  // namespace areal
