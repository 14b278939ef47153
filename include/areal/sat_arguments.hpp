#pragma once
/// \file sat_arguments.hpp What one execute of a SatPlan reads and writes.

#include <areal/carry.hpp>
#include <areal/view.hpp>

namespace areal {

/// The image, its mask, and the tables. Views that were not asked for stay empty. Each view says in which memory it
/// lies; SatPlan::execute says which memory it takes.
///
/// Where the image is a piece of a larger one, carries make of its tables the same entries that the larger image's
/// tables have there. Of W x H pixels `above` is 1 x (W + 1) and `left` H x 1, whatever the border, with the table's
/// channels, batch and layout: the sums of all the larger image's pixels down to and right to there, that is, the row
/// above the piece and the column left of it in a table of border `none`. With border `zero` and `exclusive` they are
/// the table's first row and column, in place of zeros; the last of each is not used with `exclusive`, whose table
/// ends before it.
///
/// Of a reversed table `above` is the row below the piece, its corner being the last value, and `left` the column right
/// of it, both of the larger image's reversed table.
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
