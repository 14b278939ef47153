// The image of `areal bench spread` against sums from its pixels, and the errors that its check finds.
#include <gtest/gtest.h>
#include <areal/type_pair.hpp>
#include "bench/harness/product_image.hpp"
#include "conformance/oracle.hpp"

namespace areal::bench {
namespace {

using conformance::Values;

Values pixels_of(const ProductImage& image, std::int64_t height) {
  Values pixels(image.type(), {image.width(), height});
  const Values kinds = conformance::values_of(image.kinds().view());
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < image.width(); ++x) {
      const std::size_t to = pixels.at(x, y), from = kinds.at(x, image.kind_of(y));
      if (is_float(image.type()))
        pixels.real[to] = kinds.real[from];
      else
        pixels.integer[to] = kinds.integer[from];
    }
  return pixels;
}

TEST(ProductImage, TablesAreProductsAndWrongEntriesAreFound) {
  constexpr std::int64_t width = 53, height = 41;
  for (const TypePair types : type_pairs()) {
    const ProductImage image(width, height, types.input, 7);
    const auto expected =
        conformance::sums_of(conformance::terms_of(pixels_of(image, height)), types.table, Border::none);
    Values table(types.table, {width, height});
    table.integer = expected.integer, table.real = expected.real;
    for (const long double bound : expected.bound) ASSERT_EQ(bound, 0) << name_of(types);  // no order rounds
    Array memory({width, height}, types.table);
    conformance::write(table, memory.view());
    const View view = memory.view();
    EXPECT_EQ(image.wrong_sums(view, 0), "") << name_of(types);
    const ConstView lower(view.row(10), types.table, {width, height - 10});
    EXPECT_EQ(image.wrong_sums(lower, 10), "") << name_of(types);
    EXPECT_NE(image.wrong_sums(lower, 9), "") << name_of(types);
    auto* const byte = static_cast<std::uint8_t*>(view.row(height - 1)) + width * size_of(types.table) - 1;
    *byte ^= 1;
    EXPECT_NE(image.wrong_sums(view, 0), "") << name_of(types);
  }
}

TEST(ProductImage, ManyThreadsLookAtLargeTables) {
  constexpr std::int64_t width = 2100, height = 1003;
  const ProductImage image(width, height, Type::u8, 7);
  const auto expected = conformance::sums_of(conformance::terms_of(pixels_of(image, height)), Type::u32, Border::none);
  Values table(Type::u32, {width, height});
  table.integer = expected.integer;
  Array memory({width, height}, Type::u32);
  conformance::write(table, memory.view());
  EXPECT_EQ(image.wrong_sums(memory.view(), 0), "");
  for (const std::int64_t y : {std::int64_t{0}, std::int64_t{501}, std::int64_t{502}, height - 1}) {
    auto* const entry = static_cast<std::uint32_t*>(memory.view().row(y)) + width - 1;
    ++*entry;
    EXPECT_NE(image.wrong_sums(memory.view(), 0), "") << y;
    --*entry;
  }
}

}  // namespace
}  // namespace areal::bench
