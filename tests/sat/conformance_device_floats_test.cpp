// Floats on the devices, cuda and simt: NaN and infinity by the definition, and errors that grow with the sides of an
// image. Tests of cuda are skipped without a GPU.
#include <gtest/gtest.h>
#include <limits>
#include "conformance/backends.hpp"
#include "conformance/sat_case.hpp"
#include "conformance/shapes.hpp"

namespace areal::conformance {
namespace {

class DeviceFloats : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (missing(GetParam())) GTEST_SKIP() << name_of(GetParam()) << " is not here";
  }

  SatCase case_of(const std::string& id, const char* types, Shape image) const {
    SatCase c;
    c.image = image;
    c.types = type_pair(types);
    c.options.backend = GetParam();
    c.options.algorithm = id;
    return c;
  }
};

/// The tables of a case, from one execute.
SatMemory executed(const SatCase& c, const Values& image) {
  const SatPlan plan = plan_of(c.image, c.types, c.options);
  SatMemory memory(c, plan, image, nullptr);
  memory.poison(0x11);
  GuardedWorkspace workspace(plan.workspace_bytes(), 0xA5);
  workspace.prepare(plan);
  if (c.options.backend == Backend::cuda)
    execute_on_device(plan, memory, workspace);
  else
    plan.execute(memory.arguments(), workspace.ready());
  return memory;
}

struct Mark {
  std::int64_t x, y;
  long double value;
};

/// The table of small integers with a few special values: every entry that none of them reaches is exact.
std::string fault_with(const SatCase& c, const std::vector<Mark>& marks) {
  Values image = random_image(c.types.input, c.image, Fill::exact, base_seed());
  for (const Mark& mark : marks) image.real[image.at(mark.x, mark.y)] = mark.value;
  return fault_in(executed(c, image), expected_tables(c, image, nullptr));
}

constexpr long double nan = std::numeric_limits<long double>::quiet_NaN();
constexpr long double inf = std::numeric_limits<long double>::infinity();

// Over tiles of 64 to 256 columns and 64 or 128 rows: within one, and from one to the next.
TEST_P(DeviceFloats, NanAndInfinitySpreadRightAndDown) {
  const std::vector<std::pair<const char*, std::vector<Mark>>> patterns = {
      {"one NaN", {{5, 3, nan}}},
      {"NaN in the last pixel", {{269, 139, nan}}},
      {"one infinity", {{130, 70, inf}}},
      {"both infinities", {{5, 130, inf}, {200, 3, -inf}}},
      {"infinity and NaN", {{200, 2, inf}, {2, 130, nan}}},
      {"infinity in the last column and row", {{269, 0, inf}, {0, 139, -inf}}}};
  for (const char* types : {"32f32f", "16f32f", "64f64f"})
    for (const std::string& id : device_sat_ids_that_take(case_of("auto", types, {270, 140})))
      for (const auto& [name, marks] : patterns)
        EXPECT_EQ(fault_with(case_of(id, types, {270, 140}), marks), "") << name << ": " << id << " " << types;
}

TEST_P(DeviceFloats, NanAndInfinitySpreadInSquaresAndVolumes) {
  SatCase c = case_of("lookback", "32f64f", {270, 140});
  c.options.squares = Type::f64;
  EXPECT_EQ(fault_with(c, {{200, 20, nan}, {3, 100, inf}}), "");
  // -inf squared is +inf: the sum is NaN where both meet, the table of squares is not.
  EXPECT_EQ(fault_with(c, {{200, 90, -inf}, {30, 10, inf}}), "");
  c.image = {70, 40, 1, 4};
  c.options.volume = true;
  EXPECT_EQ(fault_with(c, {{60, 2, nan}, {3, 30, inf}}), "");
  c.options.volume = false;  // a batch: the other images hold neither
  EXPECT_EQ(fault_with(c, {{60, 2, nan}, {3, 30, inf}}), "");
}

// As on the CPU: an entry's error is at most (x + y) u A, where A is the sum of the magnitudes.
TEST_P(DeviceFloats, ErrorsGrowWithTheSidesNotTheArea) {
  for (const char* types : {"32f32f", "8u32f", "64f64f"}) {
    const std::int64_t width = 912, height = 290;
    SatCase c = case_of("auto", types, {width, height});
    c.options.border = Border::none;
    for (const std::string& id : device_sat_ids_that_take(c)) {
      // Minutes on the simulated machine, where suites of their own have smaller images.
      if (GetParam() == Backend::simt && (id == "bands" || id == "relay")) continue;
      c.options.algorithm = id;
      const Values image = random_image(c.types.input, c.image, Fill::wild, base_seed());
      Expected expected = expected_tables(c, image, nullptr).sum;
      // The oracle's bound is 2.5 (n + 1) eps A.
      std::size_t i = 0;
      for (std::int64_t y = 1; y <= height; ++y)
        for (std::int64_t x = 1; x <= width; ++x, ++i)
          expected.bound[i] *= static_cast<long double>(x + y) / (5 * static_cast<long double>(x * y + 1));
      EXPECT_EQ(difference(expected, values_of(executed(c, image).sum.view())), "")
          << id << " " << types << ", seed " << base_seed();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sat, DeviceFloats, testing::Values(Backend::cuda, Backend::simt),
                         [](const auto& parameter) { return std::string(name_of(parameter.param)); });

}  // namespace
}  // namespace areal::conformance
