// The numbers of the command line, by themselves.

#include <gtest/gtest.h>
#include <cmath>
#include "io/numbers.hpp"

namespace areal::command {
namespace {

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Numbers, WholeNumbersAreExactlyTheText) {
  EXPECT_EQ(whole_number("--n", "-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(refusal([] { whole_number("--n", "9223372036854775808"); }),
            "--n 9223372036854775808: does not fit 64 bits");
  for (const char* text : {"", " 1", "1 ", "1.0", "0x10", "+1", "--1", "1e3"})
    EXPECT_EQ(refusal([&] { whole_number("--n", text); }), std::string("--n ") + text + ": not a whole number");
  EXPECT_EQ(refusal([] { whole_number("--bins", "0", 1, 65535); }), "--bins 0: may not be less than 1");
  EXPECT_EQ(refusal([] { whole_number("--bins", "65536", 1, 65535); }), "--bins 65536: may not be more than 65535");
}

TEST(Numbers, DecimalsListsAndRanges) {
  EXPECT_EQ(number("--t", "-1.5e2"), -150);
  EXPECT_TRUE(std::isnan(number("--t", "nan")));
  EXPECT_EQ(refusal([] { number("--t", "1e999"); }), "--t 1e999: beyond the range of 64-bit floats");
  EXPECT_EQ(number_list("--edges", "0,1.5,3"), (std::vector<double>{0, 1.5, 3}));
  EXPECT_EQ(refusal([] { number_list("--edges", "0,,3"); }), "--edges : not a number");
  EXPECT_EQ(range("--range", "-1,2"), (std::pair<double, double>{-1, 2}));
  EXPECT_EQ(refusal([] { range("--range", "1"); }), "--range 1: may be LO,HI, two numbers");
}

TEST(Numbers, SizesAndRawFormats) {
  EXPECT_EQ(size("--size", "3x5"), (Size{3, 5}));
  EXPECT_EQ(refusal([] { size("--size", "0x5"); }), "--size 0: may not be less than 1");
  EXPECT_EQ(refusal([] { size("--size", "5"); }), "--size 5: may be WxH, for example 15x15");
  EXPECT_EQ(window_cells("--size", "5", 1), (Size{5, 5}));
  EXPECT_EQ(window_cells("--size", "3x5", 1), (Size{3, 5}));
  for (const char* text : {"", "x", "3x", "3x5x7"})
    EXPECT_NE(refusal([&] { window_cells("--size", text, 1); }).find("may be N or WxH"), std::string::npos) << text;
  const RawFormat format = raw_format("--raw", "1920x1080x16u");
  EXPECT_EQ(format.size, (Size{1920, 1080}));
  EXPECT_EQ(format.type, Type::u16);
  EXPECT_NE(refusal([] { raw_format("--raw", "4x4x9q"); }).find("9q is not a type"), std::string::npos);
}

}  // namespace
}  // namespace areal::command
