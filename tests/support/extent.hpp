#pragma once
// How many cases a test runs: AREAL_TEST_FULL=1 asks for every one, AREAL_TEST_SHORT=1, which sanitizers set, for a
// few.

#include <cstdlib>

namespace areal::test {

enum class Extent { few, usual, all };

inline Extent extent() {
  const auto set = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0' && *value != '0';
  };
  if (set("AREAL_TEST_FULL")) return Extent::all;
  return set("AREAL_TEST_SHORT") ? Extent::few : Extent::usual;
}

inline bool is_full() { return extent() == Extent::all; }

}  // namespace areal::test
