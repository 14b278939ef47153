#pragma once
// What a Cascade holds.

#include <areal/cascade.hpp>
#include <string_view>
#include "cpu/cascade/model.hpp"

namespace areal {

struct Cascade::State {
  cpu::CascadeModel model;
};

/// Throws InvalidArgument with what is wrong, Unavailable without pugixml.
cpu::CascadeModel read_cascade(std::string_view text);

}  // namespace areal
