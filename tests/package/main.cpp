// The smallest user of areal: a table, a region, a comparison of versions.
#include <areal/areal.hpp>
#include <cstdint>
#include <cstring>
#include <vector>

static_assert(AREAL_VERSION >= 100, "0.1.0 or newer");

int main() {
  const std::vector<std::uint8_t> pixels(64 * 48, 3);
  const areal::SatTable table = areal::sat(areal::ConstView(pixels.data(), 64, 48));
  const double sum = areal::region_sum(table.view().sum, {10, 20, 5, 4});
  return sum == 60 && std::strcmp(areal::version(), AREAL_VERSION_STRING) == 0 ? 0 : 1;
}
