// Which algorithm runs: what a plan names, what an execute launches, and what named algorithms refuse.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>
#include "api/core/choice.hpp"
#include "conformance/pieces.hpp"
#include "conformance/sat_case.hpp"
#include "kernels/sat/request.hpp"

namespace areal::conformance {
namespace {

constexpr Placement contiguous = placements[0], pitched = placements[1], misaligned = placements[2],
                    odd_pitch = placements[3];
const Execution on_simt{.backend = Backend::simt};

bool launched(const std::vector<std::string>& kernels, const char* name) {
  return std::any_of(kernels.begin(), kernels.end(),
                     [&](const std::string& kernel) { return kernel.find(name) != std::string::npos; });
}

/// Floats without a border: bands is their best, and lookback behind it.
SatCase floats() {
  SatCase c;
  c.image = {128, 32};
  c.types = {Type::f32, Type::f32};
  c.options = {.border = Border::none, .algorithm = "auto", .backend = Backend::simt};
  return c;
}

/// A plan and one workspace for all its executes.
class Planned {
 public:
  explicit Planned(SatCase c) : case_(std::move(c)), plan(made()), workspace(plan) {}

  /// The algorithm of an execute, which the launches confirm; the tables are right.
  std::string ran(const Placement& in, const Placement& out, bool carried = false) {
    SatCase c = case_;
    c.in = in, c.out = out, c.seed = ++seed_;
    const Values image = random_image(c.types.input, c.image, c.fill, c.seed);
    SatMemory memory(c, plan, image, nullptr);
    memory.poison(0x5C);
    SatArguments arguments = memory.arguments();
    const Buffer above(Values(c.types.table, {c.image.width + 1, 1}), contiguous),
        left(Values(c.types.table, {1, c.image.height}), contiguous);
    if (carried) arguments.carry = {above.view(), left.view()};  // zeros
    kernels_.clear();
    plan.execute(arguments, workspace);
    EXPECT_EQ(fault_in(memory, expected_tables(c, image, nullptr)), "") << describe(c);
    const std::string algorithm = workspace.algorithm();
    EXPECT_EQ(launched(kernels_, "Bands"), algorithm == "bands");
    EXPECT_EQ(launched(kernels_, "Relay"), algorithm == "relay");
    EXPECT_EQ(launched(kernels_, "Lookback"), algorithm != "bands" && algorithm != "relay");
    return algorithm;
  }

 private:
  SatPlan made() {
    PlanOptions options = case_.options;
    options.on_launch = [this](const LaunchCounts& launch) { kernels_.push_back(launch.kernel); };
    return plan_of(case_.image, case_.types, options);
  }
  SatCase case_;
  std::vector<std::string> kernels_;
  std::uint64_t seed_ = 0;

 public:
  SatPlan plan;
  Workspace workspace;
};

TEST(SimtChoice, AnExecuteRunsTheFirstThatFitsItsViews) {
  Planned of(floats());
  EXPECT_EQ(of.plan.algorithm(), "bands");
  EXPECT_EQ(of.workspace.algorithm(), "bands");  // before the first execute, the plan's
  EXPECT_EQ(of.ran(contiguous, contiguous), "bands");
  EXPECT_EQ(of.ran(pitched, pitched), "bands");
  EXPECT_EQ(of.ran(misaligned, contiguous), "lookback");
  EXPECT_EQ(of.ran(contiguous, contiguous), "bands");  // each on its own part of the workspace
  EXPECT_EQ(of.ran(contiguous, odd_pitch), "lookback");
  EXPECT_EQ(of.ran(contiguous, contiguous, true), "lookback");
  EXPECT_EQ(of.ran(contiguous, contiguous), "bands");
  EXPECT_EQ(of.plan.algorithm(), "bands");
}

TEST(SimtChoice, APlanNamesTheFirstThatTakesTheRequest) {
  const SatCase plain = floats();
  SatCase masked = plain, carried = plain, nan = plain, channels = plain, batch = plain, tiles = plain,
          bordered = plain;
  masked.options.mask = carried.options.carries = nan.options.ignore_nan = true;
  channels.image.channels = batch.image.batch = 2;
  bordered.options.border = tiles.options.border = Border::zero;
  tiles.image = {768, 768};
  const std::string takes = "; algorithm bands: it takes ";
  const std::tuple<SatCase, const char*, std::string> cases[] = {
      {plain, "bands", ""},
      {masked, "lookback", takes + "no mask and leaves no pixels out"},
      {nan, "lookback", takes + "no mask and leaves no pixels out"},
      {carried, "lookback", takes + "no carries"},
      {channels, "all-partials", ""},
      {batch, "all-partials", ""},
      {bordered, "all-partials", ""},
      {tiles, "lookback",
       "; algorithm all-partials: it takes images of as many tiles as the device holds at once, 32, this image has "
       "more"}};
  for (const auto& [c, algorithm, why] : cases) {
    const SatPlan plan = plan_of(c.image, c.types, c.options);
    EXPECT_EQ(plan.algorithm(), algorithm) << describe(c);
    EXPECT_EQ(plan.reason().substr(std::min(plan.reason().find(';'), plan.reason().size())), why) << describe(c);
    if (c.image.width < 768) {  // which takes long
      EXPECT_EQ(fault_of(c), "") << describe(c);
    }
  }
}

// Plans that will be given carries have no workspace for algorithms that take none.
TEST(SimtChoice, ACarriedPlanKeepsOneAlgorithm) {
  SatCase plain = floats(), carried = plain, named = plain;
  carried.options.carries = true, named.options.algorithm = "lookback";
  const auto bytes = [](const SatCase& c) { return plan_of(c.image, c.types, c.options).workspace_bytes(); };
  EXPECT_LT(bytes(carried), bytes(plain));
  EXPECT_EQ(bytes(carried), bytes(named));
  carried.image = {270, 150};
  for (carried.seed = 1; random_pieces(carried.image, carried.seed).size() < 4; ++carried.seed) {
  }
  EXPECT_EQ(fault_of_pieces(carried), "") << describe(carried);
  carried.options.tilted = true;
  EXPECT_EQ(fault_of(carried), "threw: carries: a tilted table takes none, so a plan with one does not");
  carried.options.tilted = false, carried.options.volume = true;
  EXPECT_EQ(fault_of(carried), "threw: carries: a volume takes none");
}

/// Each is right, or refused in these words.
TEST(SimtChoice, ANamedAlgorithmIsRightOrRefused) {
  const auto of = [](const char* id, const char* types, Shape image, Border border = Border::none) {
    SatCase c;
    c.image = image, c.types = type_pair(types);
    c.options = {.border = border, .algorithm = id, .backend = Backend::simt};
    return c;
  };
  const auto with = [](SatCase c, auto change) {
    change(c);
    return c;
  };
  const auto mask = [](SatCase& c) { c.options.mask = true; };
  const auto squares = [](SatCase& c) { c.options.squares = Type::f64; };
  const auto carries = [](SatCase& c) { c.options.carries = true; };
  const auto volume = [](SatCase& c) { c.options.volume = true; };
  const auto reverse = [](SatCase& c) { c.options.reverse = true; };
  const auto off = [](SatCase& c) { c.in = misaligned; };
  const auto pitch = [](SatCase& c) { c.out = odd_pitch; };
  const std::string aligned =
                        "it takes rows of pixels that begin at multiples of 16 bytes, and entries at multiples of 4",
                    vectors = "it takes rows of pixels and of entries that begin at multiples of 16 bytes",
                    no_mask = "it takes no mask and leaves no pixels out",
                    no_squares =
                        "it makes no table of squares; "
                        "lookback does";
  const std::pair<SatCase, std::string> cases[] = {
      {of("relay", "8u32u", {112, 40}), ""},
      {of("relay", "8u32f", {112, 40}, Border::zero), ""},
      {of("relay", "8u32u", {113, 40}, Border::exclusive), aligned},  // its rows of 113 bytes
      {of("relay", "8u32u", {101, 40}), "it takes widths that are multiples of 16, this image is 101 wide"},
      {of("relay", "8u32u", {0, 4}),
       "it takes images of 1 to 65536 pixels a side, and at most 2147475455 units of 256 "
       "columns; the batch is 1 of 0x4"},
      {of("relay", "16u32u", {112, 40}), "it takes pixels of 8u with sums of 32 bits; these types are 16u32u"},
      {of("relay", "8u32u", {112, 20, 2}), "it takes images of one channel"},
      {of("relay", "8u32u", {8448, 1}),
       "it takes a block for each 256 columns, and the device holds 32 at once; this "
       "image is 8448 wide"},
      {of("relay", "8u32u", {112, 20, 1, 2}), ""},
      {with(of("relay", "8u32u", {112, 20, 1, 3}, Border::zero), volume), ""},
      {with(of("relay", "8u32u", {112, 40}), reverse), ""},
      {with(of("relay", "8u32u", {112, 40}), mask), no_mask},
      {with(of("relay", "8u32u", {112, 40}), squares), no_squares},
      {with(of("relay", "8u32u", {112, 40}), carries), "it takes no carries"},
      {with(of("relay", "8u32u", {112, 40}), off), aligned},
      {with(of("relay", "8u32u", {112, 40}), pitch), aligned},
      {of("bands", "16u32u", {136, 5}), ""},
      {of("bands", "32f64f", {68, 3}), ""},
      {of("bands", "16u32u", {130, 5}), "it takes widths that are multiples of 4, this image is 130 wide"},
      {of("bands", "16u32u", {132, 5}), vectors},  // its rows of 264 bytes
      {of("bands", "32f32f", {132, 5}, Border::zero), "it takes no border (border none)"},
      {of("bands", "32f32f", {132, 5, 1, 2}), "it takes one image of one channel"},
      {with(of("bands", "32f32f", {132, 5}), volume), ""},
      {with(of("bands", "32f32f", {132, 5}), reverse), ""},
      {with(of("bands", "32f32f", {132, 5}), mask), no_mask},
      {with(of("bands", "32f32f", {132, 5}), carries), "it takes no carries"},
      {with(of("bands", "32f32f", {132, 5}), off), vectors},
      {with(of("bands", "32f32f", {132, 5}), pitch), vectors},
      {of("all-partials", "32f32f", {300, 150}, Border::zero), ""},
      {with(of("all-partials", "32f32f", {300, 150}), mask), ""},
      {with(of("all-partials", "32f32f", {300, 150}), carries), ""},
      {with(of("all-partials", "32f32f", {300, 150}), pitch), ""},
      {with(of("all-partials", "32f32f", {300, 150}), squares), no_squares},
      {of("all-partials", "32f32f", {40, 4096}), ""},
      {of("all-partials", "32f32f", {40, 4097}),
       "it takes images of as many tiles as the device holds at once, 32, this image has more"},
      {with(of("thin", "32f32f", {300, 5}), squares), no_squares},
      {with(of("lookback-diagonal", "32f32f", {300, 5}), squares), no_squares},
      {with(of("lookback", "32f32f", {300, 5}), squares), ""},
  };
  for (const auto& [c, why] : cases)
    EXPECT_EQ(fault_of(c), why.empty() ? "" : "threw: algorithm " + c.options.algorithm + ": " + why) << describe(c);
}

// As under a part of a device, of which the plan knew nothing.
TEST(SimtChoice, ALaunchThatTheDeviceRefusesGoesToTheNext) {
  for (const auto& [id, types, mask] : {std::tuple{"bands", "32f32f", false}, std::tuple{"relay", "8u32u", false},
                                        std::tuple{"all-partials", "32f32f", true}}) {
    SatCase c = floats();
    c.types = type_pair(types);
    c.options.mask = mask;
    kernels::SatRequest request{c.image, c.types, Border::none};
    request.mask = mask;
    const Values image = random_image(c.types.input, c.image, c.fill, c.seed);
    const Values valid = random_mask({c.image.width, c.image.height}, c.seed);
    for (const bool confined : {false, true}) {
      simt::Options machine;
      machine.confined = confined;
      const Choice<kernels::Sat> choice(on_simt, request, {id, "lookback", "thin"}, machine);
      std::vector<std::uint8_t> workspace(choice.workspace_bytes());
      choice.prepare(workspace.data(), Stream::host());
      SatMemory memory(c, plan_of(c.image, c.types, c.options), image, mask ? &valid : nullptr);
      memory.poison(0x5C);
      EXPECT_EQ(choice.algorithm(memory.arguments()), id);
      std::vector<std::string> kernels;
      const LaunchReport note = [&](const LaunchCounts& launch) { kernels.push_back(launch.kernel); };
      EXPECT_EQ(choice.execute(memory.arguments(), workspace.data(), Stream::host(), note), confined ? "lookback" : id);
      EXPECT_EQ(fault_in(memory, expected_tables(c, image, mask ? &valid : nullptr)), "") << id;
      EXPECT_EQ(launched(kernels, "Bands"), !confined && c.types.input == Type::f32 && !mask);
      EXPECT_EQ(launched(kernels, "Relay"), !confined && c.types.input == Type::u8);
    }
    simt::Options machine;
    machine.confined = true;
    const Choice<kernels::Sat> named(on_simt, request, {id}, machine);
    std::vector<std::uint8_t> workspace(named.workspace_bytes());
    SatMemory memory(c, plan_of(c.image, c.types, c.options), image, mask ? &valid : nullptr);
    try {
      named.execute(memory.arguments(), workspace.data(), Stream::host(), {});
      FAIL() << id << " threw nothing";
    } catch (const DeviceError& error) {
      EXPECT_EQ(std::string(error.what()).rfind(std::string("algorithm ") + id + ": the device does not run", 0), 0u)
          << error.what();
    }
  }
}

/// An integral histogram of bytes by one plan, and what ran.
class Tensors {
 public:
  explicit Tensors(HistogramOptions options, Shape image = {64, 12})
      : plan(image, Type::u8, Binning::uniform(32, 0, 256), options, on_simt),
        workspace(plan),
        image_(image, Type::u8) {
    for (std::int64_t i = 0; i < image.width * image.height; ++i)
      image_.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * i % 251);
  }
  /// `off`: bytes by which the tensor lies off a multiple of 16.
  std::string ran(int off, bool carried = false) {
    const Shape shape = plan.tensor_shape(), row{shape.width + 1, 1, shape.channels, 1, Layout::planar};
    Array memory({static_cast<std::int64_t>(bytes_of(shape, Type::u32)) + off, 1}, Type::u8), above(row, Type::u32);
    std::memset(memory.data(), 0x5C, memory.bytes());
    std::memset(above.data(), 0, above.bytes());
    HistogramArguments arguments{image_.view(), View(static_cast<char*>(memory.data()) + off, Type::u32, shape)};
    if (carried) arguments.carry.above = above.view();
    plan.execute(arguments, workspace);
    EXPECT_EQ(wrong_counts(arguments.tensor), 0);
    return workspace.algorithm();
  }

 private:
  int wrong_counts(const View& tensor) const {
    int wrong = 0;
    for (std::int64_t bin = 0; bin < 32; ++bin) {
      std::vector<std::uint32_t> columns(static_cast<std::size_t>(tensor.shape.width));
      for (std::int64_t y = 0; y < tensor.shape.height; ++y) {
        std::uint32_t sum = 0;
        for (std::int64_t x = 0; x < tensor.shape.width; ++x) {
          columns[static_cast<std::size_t>(x)] += image_.as<std::uint8_t>()[y * tensor.shape.width + x] / 8 == bin;
          sum += columns[static_cast<std::size_t>(x)];
          std::uint32_t count;
          std::memcpy(&count, static_cast<const char*>(tensor.row(y, bin)) + 4 * x, 4);
          wrong += count != sum;
        }
      }
    }
    return wrong;
  }

 public:
  HistogramPlan plan;
  Workspace workspace;

 private:
  Array image_;
};

TEST(SimtChoice, TensorsRunTheFirstThatFits) {
  Tensors of({});
  EXPECT_EQ(of.plan.algorithm(), "count-then-write");
  EXPECT_EQ(of.ran(0), "count-then-write");
  EXPECT_EQ(of.ran(4), "reduce-then-scan");
  EXPECT_EQ(of.ran(0, true), "reduce-then-scan");
  EXPECT_EQ(of.ran(0), "count-then-write");

  Tensors carried({.carries = true});
  EXPECT_EQ(carried.plan.algorithm(), "reduce-then-scan");
  EXPECT_NE(carried.plan.reason().find("algorithm count-then-write: it takes no carries"), std::string::npos);
  EXPECT_LT(carried.plan.workspace_bytes(), of.plan.workspace_bytes());
  EXPECT_EQ(carried.ran(0, true), "reduce-then-scan");
}

TEST(SimtChoice, ANamedTensorIsRightOrRefused) {
  const auto refusal = [](HistogramOptions options, int off, bool carried) -> std::string {
    options.algorithm = "count-then-write";
    try {
      Tensors of(options);
      return of.ran(off, carried) == options.algorithm ? "" : "another algorithm ran";
    } catch (const InvalidArgument& error) {
      return error.what();
    }
  };
  const std::string it = "algorithm count-then-write: it takes ";
  EXPECT_EQ(refusal({}, 0, false), "");
  EXPECT_EQ(refusal({}, 4, false), it + "tensors whose rows begin at multiples of 16 bytes");
  EXPECT_EQ(refusal({}, 0, true), it + "no carries");
  EXPECT_EQ(refusal({.carries = true}, 0, true), it + "no carries");
  EXPECT_EQ(refusal({.border = Border::zero}, 0, false), it + "no border (border none)");
  EXPECT_EQ(refusal({.counter = Type::u64}, 0, false), it + "counters of 16u and 32u, this one is 64u");
}

// api/core/choice.hpp alone picks an algorithm, and asks before it plans.
TEST(SimtChoice, NothingIsChosenByExceptions) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(AREAL_SOURCE_DIR "/src/api")) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(text.find("catch (const Unavailable"), std::string::npos) << entry.path();
    if (entry.path().filename() != "choice.hpp") {
      EXPECT_EQ(text.find("refusal_of"), std::string::npos) << entry.path();
    }
    ++files;
  }
  EXPECT_GT(files, 50);
}

}  // namespace
}  // namespace areal::conformance
