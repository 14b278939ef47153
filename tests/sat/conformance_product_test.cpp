// Every pair of (row of the catalogue, type pair, border, shape class, placement, threads) of the summed-area family;
// the whole product of the first four if AREAL_TEST_FULL=1; a third of the pairs if AREAL_TEST_SHORT=1.
#include <gtest/gtest.h>
#include <set>
#include "conformance/pairwise.hpp"
#include "conformance/sat_case.hpp"
#include "conformance/shapes.hpp"
#include "extent.hpp"

namespace areal::conformance {
namespace {

constexpr Border borders[] = {Border::zero, Border::none, Border::exclusive};
constexpr int thread_counts[] = {0, 1, 3};

struct Product {
  std::vector<std::string> ids = cpu_sat_ids();
  std::vector<ShapeClass> shapes = shape_classes();
  std::vector<std::size_t> levels{ids.size(),    type_pairs().size(),   std::size(borders),
                                  shapes.size(), std::size(placements), std::size(thread_counts)};
};
const Product& product() {
  static const Product instance;
  return instance;
}
std::vector<Choice> choices() {
  const std::vector<std::size_t>& levels = product().levels;
  if (test::extent() == test::Extent::few) return one_in(3, covering_array(levels));
  if (test::extent() == test::Extent::usual) return covering_array(levels);
  std::vector<Choice> all = full_product({levels[0], levels[1], levels[2], levels[3]});
  // The placements and thread counts take turns; 6 * 3 and the other levels have common factors, hence the division.
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].push_back((i + i / levels[3]) % levels[4]);
    all[i].push_back((i / levels[4] + i / levels[3]) % levels[5]);
  }
  return all;
}

SatCase case_of(const Choice& choice) {
  const Product& p = product();
  SatCase c;
  c.options.algorithm = p.ids[choice[0]];
  c.types = type_pairs()[choice[1]];
  c.options.border = borders[choice[2]];
  c.image.width = p.shapes[choice[3]].width;
  c.image.height = p.shapes[choice[3]].height;
  c.in = placements[choice[4]];
  c.out = placements[(choice[4] + choice[3]) % std::size(placements)];
  c.options.threads = thread_counts[choice[5]];
  c.seed = base_seed() + choice[0] + 64 * (choice[1] + 64 * choice[3]);
  return c;
}

std::string name_of_choice(const testing::TestParamInfo<Choice>& info) {
  const SatCase c = case_of(info.param);
  std::string name = c.options.algorithm + "_" + name_of(c.types) + "_" + std::string(name_of(c.options.border)) + "_" +
                     product().shapes[info.param[3]].name + "_" + c.in.name + "_t" + std::to_string(c.options.threads);
  for (char& letter : name)
    if (letter == '-') letter = '_';
  return name;
}

class SatProduct : public testing::TestWithParam<Choice> {};
TEST_P(SatProduct, KeepsTheContract) {
  const SatCase c = case_of(GetParam());
  EXPECT_EQ(fault_of(c), "") << describe(c);
}
INSTANTIATE_TEST_SUITE_P(Sat, SatProduct, testing::ValuesIn(choices()), name_of_choice);

TEST(CoveringArray, HasEveryPair) {
  const std::vector<std::size_t>& levels = product().levels;
  const std::vector<Choice> tests = covering_array(levels);
  // Counted again, without the generator's own records.
  for (std::size_t a = 0; a < levels.size(); ++a)
    for (std::size_t b = a + 1; b < levels.size(); ++b) {
      std::set<std::pair<std::size_t, std::size_t>> met;
      for (const Choice& test : tests) met.emplace(test.at(a), test.at(b));
      EXPECT_EQ(met.size(), levels[a] * levels[b]) << "factors " << a << " and " << b;
    }
  for (const Choice& test : tests)
    for (std::size_t f = 0; f < levels.size(); ++f) EXPECT_LT(test.at(f), levels[f]);
  // Far fewer than the product, otherwise it would be useless: within twice the largest pair of factors.
  EXPECT_LE(tests.size(), 2 * product().shapes.size() * type_pairs().size());
}

TEST(CoveringArray, NoticesAMissingPair) {
  Pairs pairs({2, 3, 2});
  for (const Choice& test : full_product({2, 3, 2}))
    if (test[0] == 0 || test[1] != 2) pairs.add(test);
  EXPECT_EQ(pairs.missing(), 1u);
  EXPECT_FALSE(pairs.seen(0, 1, 1, 2));
  EXPECT_FALSE(pairs.seen(1, 2, 0, 1));
}

TEST(Catalogue, HasTheRowsOfTheFamily) {
  for (const char* id : {"serial", "2r2w-cpu", "4r1w-cpu", "tiles"}) {
    const Algorithm* row = find_algorithm("sat", id);
    ASSERT_NE(row, nullptr) << id;
    EXPECT_TRUE(row->cpu) << id;
  }
  EXPECT_EQ(find_algorithm("sat", "auto"), nullptr);
}

}  // namespace
}  // namespace areal::conformance
