// Floats: the same bits for every thread count and run, NaN and infinity by the definition, small errors.
#include <gtest/gtest.h>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>
#include "conformance/sat_case.hpp"
#include "conformance/shapes.hpp"

namespace areal::conformance {
namespace {

std::vector<TypePair> float_tables() {
  std::vector<TypePair> result;
  for (const TypePair types : type_pairs())
    if (is_float(types.table)) result.push_back(types);
  return result;
}

/// The tables of a case, from one execute.
SatMemory executed(const SatCase& c, const Values& image, const Values* mask = nullptr) {
  const SatPlan plan = plan_of(c.image, c.types, c.options);
  SatMemory memory(c, plan, image, mask);
  memory.poison(0x11);
  GuardedWorkspace workspace(plan.workspace_bytes(), 0xA5);
  workspace.prepare(plan);
  plan.execute(memory.arguments(), workspace.ready());
  return memory;
}

// Set under sanitizers, which need fewer thread counts: the product varies them, too.
std::vector<int> thread_counts(std::vector<int> all) {
  if (std::getenv("AREAL_TEST_SHORT") != nullptr) all.resize(2);
  return all;
}

TEST(Floats, SameBitsForEveryThreadCountAndRun) {
  for (const std::string& id : cpu_sat_ids())
    for (const TypePair types : float_tables())
      for (const auto& [width, height] : {std::pair{1030, 140}, {3, 2000}, {2000, 3}}) {
        SatCase c;
        c.image = {width, height};
        c.types = types;
        c.options.algorithm = id;
        const Values image = random_image(types.input, c.image, Fill::wild, base_seed());
        c.options.threads = 1;
        const SatMemory first = executed(c, image);
        for (const int threads : thread_counts({3, 0, 1, 2, 7})) {
          c.options.threads = threads;
          EXPECT_TRUE(executed(c, image).sum.same_bits(first.sum)) << describe(c);
        }
      }
}

TEST(Floats, SameBitsWithOptions) {
  for (const std::string& id : option_sat_ids())
    for (const char* name : {"32f32f", "32f64f", "16f32f", "8u32f"})
      for (const bool volume : {false, true}) {
        SatCase c;
        c.types = type_pair(name);
        c.image = {530, 70, 3, 2};
        c.options.algorithm = id;
        c.options.squares = Type::f64;
        c.options.mask = true;
        c.options.volume = volume;
        c.options.tilted = !volume;
        const Values image = random_image(c.types.input, c.image, Fill::wild, base_seed());
        const Values mask = random_mask(Shape{530, 70, 1, 2}, base_seed());
        c.options.threads = 1;
        const SatMemory first = executed(c, image, &mask);
        for (const int threads : thread_counts({3, 2, 7, 2})) {
          c.options.threads = threads;
          const SatMemory again = executed(c, image, &mask);
          EXPECT_TRUE(again.sum.same_bits(first.sum)) << describe(c);
          EXPECT_TRUE(again.squares.same_bits(first.squares)) << describe(c);
          EXPECT_TRUE(again.tilted.same_bits(first.tilted)) << describe(c);
          EXPECT_TRUE(again.count.same_bits(first.count)) << describe(c);
        }
      }
}

struct Mark {
  std::int64_t x, y;
  long double value;
};

/// Kasagi's 4R1W is T[y-1][x] + T[y][x-1] - T[y-1][x-1] + v: below and to the right of an infinity it subtracts one
/// from another. So, as in the paper, an entry that must be infinite may be NaN there. Nothing else may differ.
bool subtracts(const SatCase& c) { return c.options.algorithm == "4r1w-cpu"; }

/// The table of small integers with a few special values, compared with the oracle: every entry that none of them
/// reaches is exact.
std::string fault_with(const SatCase& c, const std::vector<Mark>& marks) {
  try {
    Values image = random_image(c.types.input, c.image, Fill::exact, base_seed());
    for (const Mark& mark : marks) image.real[image.at(mark.x, mark.y)] = mark.value;
    const SatMemory memory = executed(c, image);
    ExpectedTables expected = expected_tables(c, image, nullptr);
    if (subtracts(c)) {
      const Values got = values_of(memory.sum.view());
      for (std::size_t i = 0; i < got.size(); ++i)
        if (std::isinf(expected.sum.real[i]) && std::isnan(got.real[i])) expected.sum.real[i] = got.real[i];
    }
    return fault_in(memory, expected);
  } catch (const Error& error) {
    return std::string("threw: ") + error.what();
  }
}

TEST(Floats, NanAndInfinitySpreadRightAndDown) {
  constexpr long double nan = std::numeric_limits<long double>::quiet_NaN();
  constexpr long double inf = std::numeric_limits<long double>::infinity();
  const std::vector<std::pair<const char*, std::vector<Mark>>> patterns = {
      {"one NaN", {{5, 3, nan}}},
      {"NaN in the first pixel", {{0, 0, nan}}},
      {"NaN in the last pixel", {{129, 66, nan}}},
      {"one infinity", {{5, 3, inf}}},
      {"negative infinity", {{64, 33, -inf}}},
      {"two infinities of one sign", {{5, 3, inf}, {9, 1, inf}}},
      {"both infinities", {{5, 30, inf}, {70, 3, -inf}}},
      {"infinity and NaN", {{100, 2, inf}, {2, 60, nan}}},
      {"infinity in the last column and row", {{129, 0, inf}, {0, 66, -inf}}}};
  for (const std::string& id : cpu_sat_ids())
    for (const TypePair types : float_tables()) {
      if (!is_float(types.input)) continue;
      for (const Border border : {Border::zero, Border::none, Border::exclusive})
        for (const auto& [name, marks] : patterns) {
          SatCase c;
          c.image = {130, 67};
          c.types = types;
          c.options.algorithm = id;
          c.options.border = border;
          EXPECT_EQ(fault_with(c, marks), "") << name << ": " << describe(c);
        }
    }
}

TEST(Floats, NanAndInfinitySpreadInSquaresVolumesAndAcrossTiles) {
  constexpr long double nan = std::numeric_limits<long double>::quiet_NaN();
  constexpr long double inf = std::numeric_limits<long double>::infinity();
  for (const std::string& id : option_sat_ids())
    for (const char* name : {"16f32f", "32f32f", "32f64f", "64f64f"}) {
      SatCase c;
      c.image = {1100, 150};
      c.types = type_pair(name);
      c.options.algorithm = id;
      c.options.squares = Type::f64;
      c.options.threads = 3;
      EXPECT_EQ(fault_with(c, {{700, 20, nan}, {3, 100, inf}}), "") << describe(c);
      // -inf squared is +inf: the sum is NaN where both meet, the table of squares is not.
      EXPECT_EQ(fault_with(c, {{600, 90, -inf}, {30, 10, inf}}), "") << describe(c);
      c.image = {70, 40, 1, 4};
      c.options.volume = true;
      EXPECT_EQ(fault_with(c, {{60, 2, nan}, {3, 30, inf}}), "") << describe(c);
      c.options.volume = false;  // a batch: the other images hold neither
      EXPECT_EQ(fault_with(c, {{60, 2, nan}, {3, 30, inf}}), "") << describe(c);
    }
}

TEST(Floats, ErrorsGrowWithTheSidesNotTheArea) {
  // The bound of separable summation: an entry is a chain of at most x additions along its row and y along its column,
  // so its error is at most (x + y) u A. 4r1w-cpu subtracts, and only has the oracle's bound.
  for (const std::string& id : cpu_sat_ids()) {
    if (id == "4r1w-cpu") continue;
    for (const char* name : {"32f32f", "16f32f", "8u32f", "64f64f"}) {
      SatCase c;
      c.image = {1500, 300};
      c.types = type_pair(name);
      c.options.algorithm = id;
      c.options.border = Border::none;
      const Values image = random_image(c.types.input, c.image, Fill::wild, base_seed());
      Expected expected = expected_tables(c, image, nullptr).sum;
      // The oracle's bound is 2.5 (n + 1) eps A.
      std::size_t i = 0;
      for (std::int64_t y = 1; y <= 300; ++y)
        for (std::int64_t x = 1; x <= 1500; ++x, ++i)
          expected.bound[i] *= static_cast<long double>(x + y) / (5 * static_cast<long double>(x * y + 1));
      EXPECT_EQ(difference(expected, values_of(executed(c, image).sum.view())), "") << describe(c);
    }
  }
}

}  // namespace
}  // namespace areal::conformance
