#pragma once
// Images and weights of tests of integral histograms.

#include <random>
#include "histogram_oracle.hpp"

namespace oracle {

struct Inputs {
  Guarded image, weights;
};
/// Of a case's shape and types: pixels from its lo to its hi, weights, where it has a type for them, from 0 to 9.
template <class Case>
Inputs inputs_of(const Case& c, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Inputs in{Guarded(c.image, c.type, c.misalign, c.gap), {}};
  fill_random(in.image.view, random, c.lo, c.hi);
  if (c.weights) {
    in.weights = Guarded({c.image.width, c.image.height, 1, c.image.batch}, *c.weights, c.misalign, c.gap);
    fill_random(in.weights.view, random, 0, 9, false);
  }
  return in;
}

}  // namespace oracle
