// Options together: every pair of values of (lane, border, shape, squares, mask and NaN, tilted or volume, channels,
// layouts, batch, placement, threads). Where an option cannot be for the lane, the nearest that can takes its place.
#include <gtest/gtest.h>
#include "conformance/pairwise.hpp"
#include "conformance/sat_case.hpp"
#include "conformance/shapes.hpp"

namespace areal::conformance {
namespace {

constexpr Border borders[] = {Border::zero, Border::none, Border::exclusive};
constexpr std::pair<std::int64_t, std::int64_t> sizes[] = {{0, 0},   {0, 3},    {1, 1},    {37, 11},
                                                           {64, 64}, {129, 65}, {520, 40}, {3, 300}};
constexpr int thread_counts[] = {0, 1, 2, 7};
enum Extra : std::size_t { nothing, with_tilted, with_volume };

// In the order in which case_of reads them.
std::vector<std::size_t> levels() {
  return {lanes().size(), 3, std::size(sizes), 4, 4, 3, 4, 2, 2, 3, std::size(placements), std::size(thread_counts)};
}

SatCase case_of(const Choice& choice) {
  SatCase c;
  SatOptions& o = c.options;
  c.lane = lanes()[choice[0]];
  const bool real = is_float(c.lane.input);
  o.border = borders[choice[1]];
  c.image = {sizes[choice[2]].first, sizes[choice[2]].second};
  constexpr std::optional<Type> squares[] = {std::nullopt, Type::u32, Type::u64, Type::f64};
  o.squares = squares[choice[3]];
  if (o.squares && real) o.squares = Type::f64;
  if (o.squares == Type::u32 && size_of(c.lane.input) > 1) o.squares = Type::u64;
  o.mask = choice[4] % 2 == 1;
  o.ignore_nan = real && choice[4] >= 2;
  c.fill = o.ignore_nan ? Fill::holes : Fill::wild;
  o.tilted = choice[5] == with_tilted;
  o.volume = choice[5] == with_volume;
  c.image.channels = static_cast<std::int64_t>(choice[6] + 1);
  c.image.layout = choice[7] ? Layout::planar : Layout::interleaved;
  o.tables = choice[8] ? Layout::interleaved : Layout::planar;
  c.image.batch = static_cast<std::int64_t>(choice[9] + 1);
  c.in = placements[choice[10]];
  c.out = placements[(choice[10] + choice[0]) % std::size(placements)];
  o.threads = thread_counts[choice[11]];
  c.seed = base_seed();
  for (const std::size_t value : choice) c.seed = c.seed * 31 + value;
  std::vector<std::string> ids = option_sat_ids();
  ids.emplace_back("auto");
  o.algorithm = ids[c.seed / 7 % ids.size()];
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
