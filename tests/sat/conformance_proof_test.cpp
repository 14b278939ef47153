// The suite's proof that it can fail: each subject is broken in one way, and the suite finds every one.
#include <gtest/gtest.h>
#include <cstring>
#include "conformance/sat_case.hpp"

namespace areal::conformance {
namespace {

SatCase small_case(const char* types = "8u32u") {
  SatCase c;
  c.image.width = 67;
  c.image.height = 31;
  c.types = type_pair(types);
  c.in = placements[1];
  c.out = placements[4];
  return c;
}

/// The library, followed by one error in its output.
template <class Wrong>
Subject spoiled(Wrong wrong) {
  Subject subject;
  const auto execute = subject.execute;
  subject.execute = [=](const SatPlan& plan, const SatArguments& a, GuardedWorkspace& workspace) {
    execute(plan, a, workspace);
    wrong(plan, a, workspace.data());
  };
  return subject;
}
char* byte_at(const View& view, std::int64_t x, std::int64_t y) {
  return static_cast<char*>(view.row(y)) + x * view.column_pitch();
}
bool names(const std::string& fault, const char* words) { return fault.find(words) != std::string::npos; }

TEST(Proof, TheLibraryPasses) {
  for (const char* types : {"8u32u", "32f32f", "16f32f"}) EXPECT_EQ(fault_of(small_case(types)), "") << types;
}

TEST(Proof, OneFlippedBitIsCaught) {
  for (const std::int64_t x : {0, 1, 40, 67})
    for (const std::int64_t y : {0, 1, 20, 31}) {
      const Subject flips = spoiled([=](auto&, const SatArguments& a, void*) { *byte_at(a.sum, x, y) ^= 1; });
      const std::string place = "sum: element (x " + std::to_string(x) + ", y " + std::to_string(y) + ",";
      EXPECT_TRUE(names(fault_of(small_case(), flips), place.c_str())) << place;
    }
}

TEST(Proof, AFloatOffByOneInTheLastPlaceIsCaught) {
  // Small integers sum exactly in any order, so the smallest wrong step shows.
  SatCase c = small_case("32f32f");
  c.fill = Fill::exact;
  const Subject nudges = spoiled([](auto&, const SatArguments& a, void*) {
    float value;
    std::memcpy(&value, byte_at(a.sum, 60, 30), sizeof value);
    value = std::nextafter(value, 1e9f);
    std::memcpy(byte_at(a.sum, 60, 30), &value, sizeof value);
  });
  EXPECT_TRUE(names(fault_of(c, nudges), "sum: element (x 60, y 30"));
}

TEST(Proof, ANaNOrInfinityInAFloatTableIsCaught) {
  for (const float wrong : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const Subject spoils =
        spoiled([=](auto&, const SatArguments& a, void*) { std::memcpy(byte_at(a.sum, 5, 7), &wrong, sizeof wrong); });
    EXPECT_TRUE(names(fault_of(small_case("32f32f"), spoils), "sum: element (x 5, y 7"));
  }
}

TEST(Proof, AWriteOutsideIsCaught) {
  const auto writes_at = [](auto where) {
    return spoiled([=](auto&, const SatArguments& a, void*) { *where(a.sum) ^= 0x10; });
  };
  EXPECT_TRUE(names(fault_of(small_case(), writes_at([](const View& v) { return byte_at(v, -1, 0) + 3; })), "none"));
  EXPECT_TRUE(names(fault_of(small_case(), writes_at([](const View& v) { return byte_at(v, 68, 4); })), "none"));
  EXPECT_TRUE(names(fault_of(small_case(), writes_at([](const View& v) { return byte_at(v, 68, 31); })), "none"));
}

TEST(Proof, AnElementLeftUnwrittenIsCaught) {
  Subject forgets;
  const auto execute = forgets.execute;
  forgets.execute = [=](const SatPlan& plan, const SatArguments& a, GuardedWorkspace& workspace) {
    std::uint32_t before;
    std::memcpy(&before, byte_at(a.sum, 0, 0), sizeof before);
    execute(plan, a, workspace);
    std::memcpy(byte_at(a.sum, 0, 0), &before, sizeof before);
  };
  EXPECT_TRUE(names(fault_of(small_case(), forgets), "sum: element (x 0, y 0"));
}

TEST(Proof, AWorkspaceReadBeforeItIsWrittenIsCaught) {
  // Adds an uninitialised byte; also one that is right whenever the workspace held 0xA5.
  for (const int assumed : {0, 0xA5}) {
    Subject reads = spoiled([=](const SatPlan& plan, const SatArguments& a, void* workspace) {
      const auto* left = static_cast<const unsigned char*>(workspace) + plan.workspace_bytes();
      *byte_at(a.sum, 3, 3) = static_cast<char>(*byte_at(a.sum, 3, 3) + *left - assumed);
    });
    reads.workspace_bytes = [](const SatPlan& plan) { return plan.workspace_bytes() + 1; };
    EXPECT_TRUE(names(fault_of(small_case(), reads), assumed ? "0xFF: other bits" : "sum: element (x 3, y 3"))
        << assumed;
  }
}

TEST(Proof, AWriteOutsideTheWorkspaceIsCaught) {
  const Subject writes = spoiled(
      [](const SatPlan& plan, auto&, void* workspace) { static_cast<char*>(workspace)[plan.workspace_bytes()] = 1; });
  EXPECT_TRUE(names(fault_of(small_case(), writes), "workspace"));
}

TEST(Proof, AResultOfThePreviousExecuteIsCaught) {
  // State in the workspace that breaks the next execute; the first one is right.
  Subject remembers = spoiled([](const SatPlan& plan, const SatArguments& a, void* workspace) {
    char& state = static_cast<char*>(workspace)[plan.workspace_bytes()];
    *byte_at(a.sum, 67, 31) = static_cast<char>(*byte_at(a.sum, 67, 31) + state);
    state = 1;
  });
  remembers.workspace_bytes = [](const SatPlan& plan) { return plan.workspace_bytes() + 1; };
  remembers.prepare = [](const SatPlan& plan, GuardedWorkspace& workspace) {
    workspace.prepare(plan);
    static_cast<char*>(workspace.data())[plan.workspace_bytes()] = 0;
  };
  EXPECT_TRUE(names(fault_of(small_case(), remembers), "second execute"));
}

TEST(Proof, AChangedImageIsCaught) {
  const Subject changes = spoiled(
      [](auto&, const SatArguments& a, void*) { *static_cast<char*>(const_cast<void*>(a.image.row(30))) ^= 1; });
  EXPECT_TRUE(names(fault_of(small_case(), changes), "image was changed"));
}

TEST(Proof, AReadPastARowIsCaught) {
  // Takes the gap after the first row for pixel (67, 0): the entries below and right of it would hold it.
  const Subject reads = spoiled([](auto&, const SatArguments& a, void*) {
    const auto gap = *(static_cast<const char*>(a.image.row(0)) + 67);
    *byte_at(a.sum, 67, 1) = static_cast<char>(*byte_at(a.sum, 67, 1) + gap);
  });
  EXPECT_TRUE(names(fault_of(small_case(), reads), "sum: element (x 67, y 1"));
}

TEST(Proof, ARefusalIsCaught) {
  SatCase c = small_case();
  c.options.algorithm = "no-such-algorithm";
  EXPECT_TRUE(names(fault_of(c), "threw"));
}

TEST(Proof, TheOptionTablesAreCompared) {
  SatCase c = small_case("8u32s");
  c.options.squares = Type::u64;
  c.options.tilted = c.options.mask = true;
  ASSERT_EQ(fault_of(c), "");
  const auto spoils = [](View SatArguments::*table) {
    return spoiled([=](auto&, const SatArguments& a, void*) { *byte_at(a.*table, 9, 9) ^= 1; });
  };
  EXPECT_TRUE(names(fault_of(c, spoils(&SatArguments::squares)), "squares: element (x 9, y 9"));
  EXPECT_TRUE(names(fault_of(c, spoils(&SatArguments::tilted)), "tilted: element (x 9, y 9"));
  EXPECT_TRUE(names(fault_of(c, spoils(&SatArguments::count)), "count: element (x 9, y 9"));
}

}  // namespace
}  // namespace areal::conformance
