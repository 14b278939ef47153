// Runs kernels on the simulated machine and prints what they touched, as JSON for draw.py: a default kernel, or the
// algorithms of a paper on inputs so small that each element is seen.
//
// The order is one of those that the machine allows, that of seed 1; who may wait for whom holds in any.

#include <cstdio>
#include <functional>
#include <map>
#include "cases.hpp"

int main(int count, char** words) {
  using namespace areal::simt;
  std::map<std::string, std::function<void()>> cases{{"bands", trace_bands},
                                                     {"reduce-then-scan", trace_reduce_then_scan},
                                                     {"relay", trace_relay},
                                                     {"kasagi", trace_kasagi},
                                                     {"chen", trace_chen},
                                                     {"nakano", trace_nakano},
                                                     {"nakano-table", trace_nakano_table},
                                                     {"lee-choe", trace_lee_choe},
                                                     {"poostchi", trace_poostchi}};
  for (const char* id : {"lookback", "lookback-diagonal", "all-partials", "thin"}) cases[id] = [id] { trace_sat(id); };
  const auto found = count == 2 ? cases.find(words[1]) : cases.end();
  if (found == cases.end()) {
    std::string names;
    for (const auto& [name, trace] : cases) names += (names.empty() ? "" : "|") + name;
    std::fprintf(stderr, "usage: areal_trace %s\n", names.c_str());
    return 2;
  }
  found->second();
}
