// Runs a default kernel on the simulated machine and prints what it touched, as JSON for draw.py.
//
//   areal_trace held|held-diagonal|held-direct|ribbon|anchored
//
// The order is one of those that the machine allows, that of seed 1; who may wait for whom holds in any.

#include <cstdio>
#include "recorder.hpp"

int main(int count, char** words) {
  const std::string id = count == 2 ? words[1] : "";
  if (id == "held" || id == "held-diagonal" || id == "held-direct" || id == "ribbon") {
    areal::simt::trace_sat(id);
  } else if (id == "anchored") {
    areal::simt::trace_anchored();
  } else {
    std::fputs("usage: areal_trace held|held-diagonal|held-direct|ribbon|anchored\n", stderr);
    return 2;
  }
}
