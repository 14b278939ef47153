#pragma once
// A filter on the CPU: everything known before the data is there, checked.

#include <areal/filter.hpp>
#include <areal/type.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <string>
#include "formulas/window_axis.hpp"

namespace areal::cpu {

struct FilterRequest {
  Filter filter;
  Shape image;
  Type in = Type::u8, out = Type::u8;
  formulas::WindowAxis columns, rows;
  /// The pixel that output (x, y) belongs to is (x + centre_x, y + centre_y).
  std::int64_t centre_x = 0, centre_y = 0;
  double value = 0;  ///< beyond the edge, with edge `constant`
  Rounding rounding = Rounding::nearest;
  bool omit_nan = false, mask = false;
  std::int64_t min_count = 1;
  double fill = 0;
  std::int64_t guide = 0;  ///< channels; 0: the image guides itself
  Type guide_type = Type::u8;
  std::string algorithm = {};
  int threads = 0;
};

}  // namespace areal::cpu
