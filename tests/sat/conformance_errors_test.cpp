// Errors of plans and executes: the type of the exception, and the words that its sentence must contain.
#include <gtest/gtest.h>
#include <areal/info.hpp>
#include <limits>
#include <numeric>
#include "conformance/sat_case.hpp"
#include "cpu/sat/tiles.hpp"
#include "cpu/sat/tilted_row.hpp"

namespace areal::conformance {
namespace {

const TypePair types_8u32u{Type::u8, Type::u32};
constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

/// f throws exactly E, in one sentence of one line that holds all the words.
template <class E, class F>
void expect_error(std::initializer_list<std::string> words, F&& f) {
  const std::string what = [&]() -> std::string {
    try {
      f();
    } catch (const E& error) {
      EXPECT_EQ(typeid(error), typeid(E));
      return error.what();
    } catch (const std::exception& error) {
      ADD_FAILURE() << "threw another type: " << error.what();
      return {};
    }
    ADD_FAILURE() << "threw nothing";
    return {};
  }();
  if (what.empty()) return;
  for (const std::string& word : words)
    EXPECT_NE(what.find(word), std::string::npos) << "no '" << word << "' in: " << what;
  EXPECT_EQ(what.find('\n'), std::string::npos) << what;
}
void refuses_plan(std::initializer_list<std::string> words, const Shape& shape, TypePair types,
                  const PlanOptions& options = {}) {
  SCOPED_TRACE(testing::Message() << shape.width << "x" << shape.height << " " << options.algorithm);
  expect_error<InvalidArgument>(words, [&] { plan_of(shape, types, options); });
}

/// Every type pair has its row kernels, and tiles refuse to be planned for types that have none.
TEST(PlanErrors, TypesWithoutARowKernel) {
  for (const TypePair types : type_pairs()) {
    SCOPED_TRACE(name_of(types));
    EXPECT_NE(cpu::scan_rows(types.input, types.table, false), nullptr);
    EXPECT_NE(cpu::tilted_row(types.input, types.table), nullptr);
    EXPECT_NO_THROW(cpu::Tiles({.image = {5, 4}, .types = types}));
  }
  const TypePair none{Type::f32, Type::u32};
  ASSERT_EQ(cpu::scan_rows(none.input, none.table, false), nullptr);
  expect_error<InvalidArgument>({"32u", "32f"}, [&] { cpu::Tiles({.image = {5, 4}, .types = none}); });
  expect_error<InvalidArgument>({"32f", "squares", "16u"}, [&] {
    cpu::Tiles({.image = {5, 4}, .types = {Type::u16, Type::u64}, .squares = Type::f32});
  });
  refuses_plan({"32f32u"}, Shape{5, 4}, none);
}

TEST(PlanErrors, Shapes) {
  for (const std::string& id : cpu_sat_ids()) {
    const PlanOptions options{.algorithm = id};
    refuses_plan({"-1", "image"}, Shape{-1, 5}, types_8u32u, options);
    refuses_plan({"-7", "image"}, Shape{5, -7}, types_8u32u, options);
    refuses_plan({"-2", "image"}, Shape{5, 5, -2}, types_8u32u, options);
    refuses_plan({"-3", "image"}, Shape{5, 5, 1, -3}, types_8u32u, options);
    // The image, its table, and the last row and column of the table's border beyond 63 bits.
    refuses_plan({std::to_string(huge)}, Shape{huge, huge}, types_8u32u, options);
    refuses_plan({"4294967296"}, Shape{std::int64_t{1} << 32, std::int64_t{1} << 32}, types_8u32u, options);
    refuses_plan({"63 bits"}, Shape{std::int64_t{1} << 31, std::int64_t{1} << 31}, types_8u32u, options);
    refuses_plan({"63 bits"}, Shape{huge, 1}, types_8u32u, options);
    refuses_plan({}, Shape{huge, 0}, types_8u32u, options);
    refuses_plan({}, Shape{0, huge}, types_8u32u, options);
  }
  for (const Border border : {Border::zero, Border::none, Border::exclusive}) {
    refuses_plan({"63 bits"}, Shape{huge, 1}, types_8u32u, {.border = border});
    refuses_plan({}, Shape{1, 1, 1, huge}, types_8u32u, {.border = border, .volume = true});
  }
  refuses_plan({"5", "4"}, Shape{5, 5, 5}, types_8u32u);  // channels
}

TEST(PlanErrors, ExtraTablesBeyond63Bits) {
  // The image and its sum fit, the wider tables do not.
  const std::int64_t side = std::int64_t{1} << 30;
  EXPECT_NO_THROW(plan_of(Shape{side, side}, types_8u32u));
  refuses_plan({"63 bits"}, Shape{side, side}, types_8u32u, {.border = Border::none, .squares = Type::u64});
}

TEST(PlanErrors, Lanes) {
  refuses_plan({"64u", "8u"}, Shape{5, 5}, TypePair{Type::u64, Type::u8});
  refuses_plan({"16u32s"}, Shape{5, 5}, TypePair{Type::u16, Type::s32});
  refuses_plan({"32f32u"}, Shape{5, 5}, TypePair{Type::f32, Type::u32});
  refuses_plan({"64u64s"}, Shape{5, 5}, TypePair{Type::u64, Type::s64});
}

TEST(PlanErrors, AnUnknownAlgorithmListsThoseThatExist) {
  for (const char* id : {"2r1w", "Serial", "", "fused", "nonsense"})
    expect_error<InvalidArgument>({id, "auto", "serial", "2r2w-cpu", "4r1w-cpu", "tiles"}, [&] {
      plan_of(Shape{5, 5}, types_8u32u, {.algorithm = id});
    });
}

TEST(PlanErrors, ABackendThatIsNotHere) {
  for (const BackendInfo& row : backends()) {
    if (row.backend == Backend::cpu) continue;
    const std::string name(name_of(row.backend));
    // If the backend is available, its device 4096 is not.
    const PlanOptions options{.backend = row.backend, .device = row.available ? 4096 : 0};
    expect_error<Unavailable>({name}, [&] { plan_of(Shape{5, 5}, types_8u32u, options); });
    expect_error<Unavailable>({name}, [&] {
      const std::uint8_t pixel = 0;
      sat(ConstView(&pixel, 1, 1), {}, {.backend = options.backend, .device = options.device});
    });
  }
  EXPECT_NO_THROW(plan_of(Shape{5, 5}, types_8u32u, {.backend = Backend::cpu}));
}

TEST(PlanErrors, Options) {
  expect_error<InvalidArgument>({"squares", "automatic", "u32", "u64", "f64", "f32"}, [] {
    SatPlan(Shape{5, 5}, Type::u8, {.squares = static_cast<Squares>(99)}, {.backend = Backend::cpu});
  });
  for (const Type type : {Type::u32, Type::u64})
    refuses_plan({"squares", "32f"}, Shape{5, 5}, TypePair{Type::f32, Type::f64}, {.squares = type});
  for (const char* types : {"16u32u", "32s64s", "64u64u", "64f64f"})
    refuses_plan({"squares", "32f"}, Shape{5, 5}, type_pair(types), {.squares = Type::f32});
  refuses_plan({"ignore_nan", "8u"}, Shape{5, 5}, types_8u32u, {.ignore_nan = true});
  refuses_plan({"-1"}, Shape{5, 5}, types_8u32u, {.threads = -1});
}

/// A valid execute of a 6x4 plan, which each test spoils in one place.
struct Good {
  PlanOptions options;
  TypePair types{Type::u8, Type::u32};
  Shape shape{6, 4};
  std::vector<std::uint8_t> image = std::vector<std::uint8_t>(600, 1), mask = std::vector<std::uint8_t>(600, 1);
  std::vector<std::uint32_t> sum = std::vector<std::uint32_t>(600), count = std::vector<std::uint32_t>(600);
  std::vector<std::uint32_t> tilted = std::vector<std::uint32_t>(600);
  std::vector<std::uint64_t> squares = std::vector<std::uint64_t>(600);

  SatArguments arguments() {
    SatArguments a{ConstView(image.data(), 6, 4), View(sum.data(), 7, 5)};
    if (options.mask) a.mask = ConstView(mask.data(), 6, 4);
    if (options.mask) a.count = View(count.data(), 7, 5);
    if (options.squares) a.squares = View(squares.data(), 7, 5);
    if (options.tilted) a.tilted = View(tilted.data(), 7, 5);
    return a;
  }
  void execute(const SatArguments& a) const {
    const SatPlan plan = plan_of(shape, types, options);
    Workspace workspace(plan);
    plan.execute(a, workspace);
  }
};

/// Every row that takes the options refuses this, with InvalidArgument and these words.
template <class Spoil>
void refuses_execute(std::initializer_list<std::string> words, const PlanOptions& options, Spoil spoil) {
  const bool plain = !options.mask && !options.squares && !options.tilted;
  for (const std::string& id : plain ? cpu_sat_ids() : option_sat_ids()) {
    SCOPED_TRACE(id);
    Good good;
    good.options = options;
    good.options.algorithm = id;
    SatArguments arguments = good.arguments();
    EXPECT_NO_THROW(good.execute(arguments));
    spoil(arguments);
    expect_error<InvalidArgument>(words, [&] { good.execute(arguments); });
  }
}

TEST(ExecuteErrors, Shapes) {
  refuses_execute({"image", "5x4", "6x4"}, {}, [](SatArguments& a) { a.image.shape.width = 5; });
  refuses_execute({"image", "6x5", "6x4"}, {}, [](SatArguments& a) { a.image.shape.height = 5; });
  refuses_execute({"image", "batch"}, {}, [](SatArguments& a) { a.image.shape.batch = 2; });
  refuses_execute({"image", "channels"}, {}, [](SatArguments& a) { a.image.shape.channels = 2; });
  refuses_execute({"sum", "6x4", "7x5"}, {}, [](SatArguments& a) { a.sum.shape = {6, 4}; });
  refuses_execute({"sum", "-7x5"}, {}, [](SatArguments& a) { a.sum.shape.width = -7; });
  const PlanOptions all{.squares = Type::u64, .tilted = true, .mask = true};
  refuses_execute({"mask", "7x4"}, all, [](SatArguments& a) { a.mask.shape.width = 7; });
  refuses_execute({"count", "6x4"}, all, [](SatArguments& a) { a.count.shape = {6, 4}; });
  refuses_execute({"squares", "6x4"}, all, [](SatArguments& a) { a.squares.shape = {6, 4}; });
  refuses_execute({"tilted", "6x4"}, all, [](SatArguments& a) { a.tilted.shape = {6, 4}; });
}

TEST(ExecuteErrors, Types) {
  refuses_execute({"image", "8s", "8u"}, {}, [](SatArguments& a) { a.image.type = Type::s8; });
  refuses_execute({"sum", "32s", "32u"}, {}, [](SatArguments& a) { a.sum.type = Type::s32; });
  const PlanOptions all{.squares = Type::u64, .tilted = true, .mask = true};
  refuses_execute({"mask", "8s", "8u"}, all, [](SatArguments& a) { a.mask.type = Type::s8; });
  refuses_execute({"count", "32s", "32u"}, all, [](SatArguments& a) { a.count.type = Type::s32; });
  refuses_execute({"squares", "64f", "64u"}, all, [](SatArguments& a) { a.squares.type = Type::f64; });
  refuses_execute({"tilted", "32f", "32u"}, all, [](SatArguments& a) { a.tilted.type = Type::f32; });
}

TEST(ExecuteErrors, NullData) {
  refuses_execute({"image", "null"}, {}, [](SatArguments& a) { a.image.data = nullptr; });
  refuses_execute({"sum", "null"}, {}, [](SatArguments& a) { a.sum.data = nullptr; });
  const PlanOptions all{.squares = Type::u64, .tilted = true, .mask = true};
  refuses_execute({"mask"}, all, [](SatArguments& a) { a.mask = {}; });
  refuses_execute({"count"}, all, [](SatArguments& a) { a.count = {}; });
  refuses_execute({"squares"}, all, [](SatArguments& a) { a.squares = {}; });
  refuses_execute({"tilted"}, all, [](SatArguments& a) { a.tilted = {}; });
  refuses_execute({"mask", "null"}, all, [](SatArguments& a) { a.mask.data = nullptr; });
}

TEST(ExecuteErrors, WhatWasNotAskedFor) {
  static std::uint64_t room[64];
  refuses_execute({"mask"}, {}, [](SatArguments& a) { a.mask = ConstView(room, Type::u8, Shape{6, 4}); });
  refuses_execute({"count"}, {}, [](SatArguments& a) { a.count = View(room, Type::u32, Shape{7, 5}); });
  refuses_execute({"squares"}, {}, [](SatArguments& a) { a.squares = View(room, Type::u64, Shape{7, 5}); });
  refuses_execute({"tilted"}, {}, [](SatArguments& a) { a.tilted = View(room, Type::u32, Shape{7, 5}); });
}

TEST(ExecuteErrors, Pitches) {
  refuses_execute({"image", "pitch", "-6"}, {}, [](SatArguments& a) { a.image.row_pitch = -6; });
  refuses_execute({"image", "pitch", "5"}, {}, [](SatArguments& a) { a.image.row_pitch = 5; });
  refuses_execute({"image", "pitch"}, {}, [](SatArguments& a) { a.image.row_pitch = 0; });
  refuses_execute({"sum", "pitch", "27"}, {}, [](SatArguments& a) { a.sum.row_pitch = 27; });
  refuses_execute({"sum", "pitch", "-28"}, {}, [](SatArguments& a) { a.sum.row_pitch = -28; });
  refuses_execute({"sum", "pitch"}, {}, [](SatArguments& a) { a.sum.row_pitch = huge; });
  refuses_execute({"image", "pitch"}, {}, [](SatArguments& a) { a.image.row_pitch = huge / 2; });
  const PlanOptions all{.squares = Type::u64, .tilted = true, .mask = true};
  refuses_execute({"mask", "pitch"}, all, [](SatArguments& a) { a.mask.row_pitch = -1; });
  refuses_execute({"count", "pitch"}, all, [](SatArguments& a) { a.count.row_pitch = 27; });
  refuses_execute({"squares", "pitch"}, all, [](SatArguments& a) { a.squares.row_pitch = 55; });
  refuses_execute({"tilted", "pitch"}, all, [](SatArguments& a) { a.tilted.row_pitch = 27; });
}

TEST(ExecuteErrors, PlanesAndBatches) {
  std::vector<std::uint8_t> image(1000);
  std::vector<std::uint32_t> sum(2000);
  const Shape shape{6, 4, 3, 2, Layout::planar};
  const SatPlan plan = plan_of(shape, types_8u32u, {.border = Border::none});
  Workspace workspace(plan);
  const ConstView in(image.data(), Type::u8, shape);
  const View out(sum.data(), Type::u32, shape);
  EXPECT_NO_THROW(plan.execute({in, out}, workspace));
  const auto refuses = [&](std::initializer_list<std::string> words, auto spoil) {
    SatArguments arguments{in, out};
    spoil(arguments);
    expect_error<InvalidArgument>(words, [&] { plan.execute(arguments, workspace); });
  };
  refuses({"image", "pitch"}, [](SatArguments& a) { a.image.plane_pitch = 23; });
  refuses({"image", "pitch"}, [](SatArguments& a) { a.image.plane_pitch = -24; });
  refuses({"image", "pitch"}, [](SatArguments& a) { a.image.batch_pitch = 71; });
  refuses({"sum", "pitch"}, [](SatArguments& a) { a.sum.batch_pitch = 0; });
  refuses({"sum", "pitch"}, [](SatArguments& a) { a.sum.plane_pitch = 95; });
  refuses({"image", "interleaved"}, [](SatArguments& a) { a.image.shape.layout = Layout::interleaved; });
}

TEST(ExecuteErrors, AMissingWorkspace) {
  for (const std::string& id : cpu_sat_ids()) {
    Good good;
    const SatPlan plan = plan_of(Shape{6, 4}, good.types, {.algorithm = id});
    if (plan.workspace_bytes() == 0) {
      Workspace none(plan, {}, Stream::host());
      EXPECT_NO_THROW(plan.execute(good.arguments(), none)) << id;
    } else {
      const std::size_t bytes = plan.workspace_bytes();
      std::vector<std::byte> memory(bytes);
      const auto refuses = [&](std::initializer_list<std::string> words, Span<std::byte> span) {
        expect_error<InvalidArgument>(words, [&] { Workspace(plan, span, Stream::host()); });
      };
      refuses({"workspace", "0 bytes", std::to_string(bytes)}, {});
      refuses({"workspace", "null"}, {nullptr, bytes});
      refuses({"workspace", std::to_string(bytes - 1), std::to_string(bytes)}, {memory.data(), bytes - 1});
      EXPECT_NO_THROW(Workspace(plan, {memory.data(), bytes}, Stream::host())) << id;
    }
  }
}

TEST(ExecuteErrors, CancelledByProgress) {
  for (const std::string& id : cpu_sat_ids())
    for (const int threads : {1, 3}) {
      SCOPED_TRACE(id);
      const Shape shape{1100, 300};
      std::vector<std::uint8_t> image(1100 * 300, 1);
      std::vector<std::uint32_t> sum(1101 * 301);
      int calls = 0;
      bool sensible = true, go_on = false;
      PlanOptions options{.algorithm = id, .threads = threads};
      options.progress = [&](std::int64_t done, std::int64_t total) {
        ++calls;
        sensible = sensible && done >= 0 && done <= total && total > 0;
        return go_on;
      };
      const SatPlan plan = plan_of(shape, types_8u32u, options);
      Workspace workspace(plan);
      const SatArguments arguments{ConstView(image.data(), 1100, 300), View(sum.data(), 1101, 301)};
      EXPECT_THROW(plan.execute(arguments, workspace), Cancelled);
      EXPECT_GE(calls, 1);
      // The workspace and the plan are usable for the next execute.
      calls = 0;
      go_on = true;
      EXPECT_NO_THROW(plan.execute(arguments, workspace));
      EXPECT_GE(calls, 1);
      EXPECT_TRUE(sensible);
      EXPECT_EQ(sum.back(), 1100u * 300u);
    }
}

TEST(ExecuteErrors, CancelledWhileTheTiltedTableIsMade) {
  const std::int64_t width = 1100, height = 300;
  std::vector<std::uint8_t> image(static_cast<std::size_t>(width * height), 1);
  std::vector<std::uint32_t> sum(static_cast<std::size_t>((width + 1) * (height + 1))), tilted(sum.size());
  std::vector<std::int64_t> reported;
  std::int64_t total_before = 0, stop_after = 1;
  bool same_total = true;
  PlanOptions options{.threads = 3};
  options.tilted = true;
  options.progress = [&](std::int64_t done, std::int64_t total) {
    reported.push_back(done);
    same_total = same_total && (total_before == 0 || total == total_before);
    total_before = total;
    return static_cast<std::int64_t>(reported.size()) != stop_after;
  };
  const SatPlan plan = plan_of({width, height}, types_8u32u, options);
  Workspace workspace(plan);
  SatArguments arguments{ConstView(image.data(), width, height), View(sum.data(), width + 1, height + 1)};
  arguments.tilted = View(tilted.data(), width + 1, height + 1);
  EXPECT_THROW(plan.execute(arguments, workspace), Cancelled);
  EXPECT_EQ(reported, std::vector<std::int64_t>{1});
  EXPECT_EQ(sum.back(), 0u);
  reported.clear(), stop_after = 0;
  EXPECT_NO_THROW(plan.execute(arguments, workspace));
  std::vector<std::int64_t> each(static_cast<std::size_t>(total_before));
  std::iota(each.begin(), each.end(), 1);
  EXPECT_EQ(reported, each);
  EXPECT_TRUE(same_total);
  EXPECT_EQ(sum.back(), static_cast<std::uint32_t>(width * height));
}

TEST(ExecuteErrors, EmptyImagesNeedNoMemory) {
  for (const std::string& id : cpu_sat_ids()) {
    for (const Shape& shape : {Shape{0, 5}, Shape{5, 0}, Shape{0, 0}})
      for (const Border border : {Border::none, Border::exclusive}) {
        const SatPlan plan = plan_of(shape, types_8u32u, {.border = border, .algorithm = id});
        Workspace workspace(plan);
        EXPECT_NO_THROW(plan.execute({ConstView(nullptr, Type::u8, shape), View(nullptr, Type::u32, shape)}, workspace))
            << id << " " << name_of(border);
      }
    // With the border `zero` there is still a column of zeros to write.
    const SatPlan zero = plan_of(Shape{0, 5}, types_8u32u, {.algorithm = id});
    Workspace workspace(zero);
    std::uint32_t sum[6] = {9, 9, 9, 9, 9, 9};
    zero.execute({ConstView(nullptr, Type::u8, Shape{0, 5}), View(sum, 1, 6)}, workspace);
    EXPECT_EQ(std::vector<std::uint32_t>(sum, sum + 6), std::vector<std::uint32_t>(6, 0)) << id;
  }
}

}  // namespace
}  // namespace areal::conformance
