#pragma once
// The addition, as an operator of a scan.

#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

struct Plus {
  template <class T>
  AREAL_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};

}  // namespace areal::kernels
