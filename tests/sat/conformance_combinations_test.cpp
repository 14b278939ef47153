// Options together on the CPU: every pair of values of the factors of `combination`, and of threads.
#include <gtest/gtest.h>
#include "conformance/combination.hpp"

namespace areal::conformance {
namespace {

constexpr Size sizes[] = {{0, 0}, {0, 3}, {1, 1}, {37, 11}, {64, 64}, {129, 65}, {520, 40}, {3, 300}};
constexpr int thread_counts[] = {0, 1, 2, 7};

std::vector<std::size_t> levels() {
  std::vector<std::size_t> all = combination_levels(sizes);
  all.push_back(std::size(thread_counts));
  return all;
}

SatCase case_of(const Choice& choice) {
  SatCase c = combination(choice, sizes);
  c.options.threads = thread_counts[choice.back()];
  std::vector<std::string> ids = option_sat_ids();
  ids.emplace_back("auto");
  c.options.algorithm = ids[c.seed / 7 % ids.size()];
  return c;
}

class SatCombination : public testing::TestWithParam<Choice> {};
TEST_P(SatCombination, KeepsTheContract) {
  const SatCase c = case_of(GetParam());
  EXPECT_EQ(fault_of(c), "") << describe(c);
}
INSTANTIATE_TEST_SUITE_P(Sat, SatCombination, testing::ValuesIn(covering_array(levels())));

}  // namespace
}  // namespace areal::conformance
