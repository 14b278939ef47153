// In place: if input and table have elements of one size and the border is `none`; otherwise an error.
#include <gtest/gtest.h>
#include "conformance/in_place.hpp"

namespace areal::conformance {
namespace {

TEST(InPlace, EveryRow) {
  for (const std::string& id : cpu_sat_ids())
    for (const char* name : in_place_pairs)
      for (const Placement& place : placements)
        for (const auto& [width, height] :
             {std::pair{0, 0}, {0, 3}, {1, 1}, {1, 300}, {300, 1}, {65, 63}, {530, 130}}) {
          const InPlace p{Shape{width, height}, type_pair(name), {.algorithm = id, .threads = 3}, place};
          EXPECT_EQ(fault_in_place(p), "") << id << " " << name << " " << place.name << " " << width << "x" << height;
        }
}

TEST(InPlace, BatchChannelsVolumeSquaresAndMask) {
  for (const std::string& id : option_sat_ids())
    for (const char* name : in_place_pairs)
      for (const std::int64_t channels : {1, 3})
        for (const Layout layout : {Layout::interleaved, Layout::planar})
          for (const bool volume : {false, true})
            for (const bool more : {false, true}) {
              InPlace p{Shape{530, 35, channels, 2, layout}, type_pair(name), {.algorithm = id}, placements[3]};
              p.options.volume = volume;
              p.options.mask = more;
              if (more) p.options.squares = Type::f64;
              EXPECT_EQ(fault_in_place(p), "") << id << " " << name << " channels " << channels << " planar "
                                               << (layout == Layout::planar) << " volume " << volume << more;
            }
}

/// The error of a refused execute, or "".
std::string refusal(const SatPlan& plan, const SatArguments& arguments) {
  Workspace workspace(plan);
  try {
    plan.execute(arguments, workspace);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return {};
}

TEST(InPlace, RefusedOtherwise) {
  for (const std::string& id : cpu_sat_ids()) {
    std::vector<std::uint32_t> memory(4096, 1);
    std::uint32_t* const data = memory.data();
    const ConstView image(data, 8, 8);
    const auto plan = [&](Border border, TypePair with = {Type::u32, Type::u32}) {
      return plan_of(Shape{8, 8}, with, {.border = border, .algorithm = id});
    };
    EXPECT_EQ(refusal(plan(Border::none), {image, View(data, 8, 8)}), "") << id;
    EXPECT_NE(refusal(plan(Border::zero), {image, View(data, 9, 9)}), "") << id;
    EXPECT_NE(refusal(plan(Border::exclusive), {image, View(data, 8, 8)}), "") << id;
    EXPECT_NE(refusal(plan(Border::none), {image, View(data, 8, 8, 64)}), "") << id << ": another pitch";
    EXPECT_NE(refusal(plan(Border::none), {image, View(data + 8, 8, 8)}), "") << id << ": one row below";
    EXPECT_NE(refusal(plan(Border::none), {ConstView(data + 1, 8, 8), View(data, 8, 8)}), "") << id << ": one beside";
    auto* const bytes = reinterpret_cast<std::uint8_t*>(data);
    EXPECT_NE(refusal(plan(Border::none, {Type::u8, Type::u32}), {ConstView(bytes, 8, 8), View(data, 8, 8)}), "") << id;
    EXPECT_NE(refusal(plan(Border::none, {Type::u8, Type::u32}), {ConstView(bytes + 255, 8, 8), View(data, 8, 8)}), "")
        << id << ": the last byte of the table";
    EXPECT_EQ(refusal(plan(Border::none, {Type::u8, Type::u32}), {ConstView(bytes + 256, 8, 8), View(data, 8, 8)}), "")
        << id << ": next to each other";
  }
}

TEST(InPlace, OutputsMayNotShareMemory) {
  std::vector<std::uint32_t> memory(4096, 1);
  std::uint32_t* const data = memory.data();
  const ConstView image(data, 8, 8);
  const View sum(data + 1000, 9, 9), other(data + 1080, 9, 9), apart(data + 2000, 9, 9);
  PlanOptions options{.squares = Type::u32};
  const TypePair types{Type::u8, Type::u32};
  const ConstView bytes(reinterpret_cast<std::uint8_t*>(data), 8, 8);
  EXPECT_NE(refusal(plan_of(Shape{8, 8}, types, options), {.image = bytes, .sum = sum, .squares = other}), "");
  EXPECT_EQ(refusal(plan_of(Shape{8, 8}, types, options), {.image = bytes, .sum = sum, .squares = apart}), "");
  options = {.mask = true};
  const ConstView mask(reinterpret_cast<std::uint8_t*>(data + 2000), 8, 8);
  EXPECT_NE(refusal(plan_of(Shape{8, 8}, types, options), {.image = bytes, .sum = sum, .mask = mask, .count = apart}),
            "");
}

TEST(InPlace, SideBySideInOneBufferIsNotInPlace) {
  // The image is the left part of a canvas and the table the right one: no byte is shared.
  for (const std::string& id : cpu_sat_ids()) {
    std::vector<std::uint32_t> canvas(40 * 9);
    for (std::size_t i = 0; i < canvas.size(); ++i) canvas[i] = static_cast<std::uint32_t>(i % 7);
    const View image(canvas.data(), 8, 8, 40 * 4), sum(canvas.data() + 8, 9, 9, 40 * 4);
    const Values before = values_of(image);
    const SatPlan plan = plan_of(Shape{8, 8}, {Type::u32, Type::u32}, {.algorithm = id});
    EXPECT_EQ(refusal(plan, {image, sum}), "") << id;
    EXPECT_EQ(difference(sums_of(terms_of(before), Type::u32, Border::zero), values_of(sum)), "") << id;
  }
}

}  // namespace
}  // namespace areal::conformance
