// Properties of tables from any algorithm: regions add up, wrapped tables answer exactly, the table of the transpose is
// the transpose of the table, integer tables are linear, borders and batches agree.
#include <gtest/gtest.h>
#include <random>
#include "conformance/sat_case.hpp"
#include "conformance/shapes.hpp"

namespace areal::conformance {
namespace {

std::vector<TypePair> integer_pairs() {
  std::vector<TypePair> result;
  for (const TypePair types : type_pairs())
    if (!is_float(types.table)) result.push_back(types);
  return result;
}

Values table_of(const Values& image, TypePair types, const PlanOptions& options) {
  const Buffer in(image, placements[4]);
  const SatPlan plan = plan_of(image.shape, types, options);
  Buffer out(types.table, plan.table_shape(), placements[3], Guard::output);
  out.poison(0x42);
  GuardedWorkspace workspace(plan.workspace_bytes(), 0xFF);
  plan.execute({in.view(), out.view()}, workspace.prepare(plan));
  return values_of(out.view());
}

std::uint64_t modulus_mask(Type type) {
  return size_of(type) == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * size_of(type)) - 1;
}

/// Columns [x0, x1), rows [y0, y1) from the four corners of a table with border `zero`, modulo 2^k.
std::uint64_t region(const Values& t, std::int64_t x0, std::int64_t y0, std::int64_t x1, std::int64_t y1) {
  return (t.integer[t.at(x1, y1)] - t.integer[t.at(x0, y1)] - t.integer[t.at(x1, y0)] + t.integer[t.at(x0, y0)]) &
         modulus_mask(t.type);
}

TEST(Properties, RegionsAddUpAndAreExactThoughTheTableWrapped) {
  constexpr std::int64_t width = 700, height = 150;
  for (const std::string& id : cpu_sat_ids())
    for (const TypePair types : integer_pairs()) {
      const Values image = random_image(types.input, Shape{width, height}, Fill::wild, base_seed());
      const Values table = table_of(image, types, {.algorithm = id});
      std::mt19937_64 random(base_seed());
      const auto between = [&](std::int64_t lo, std::int64_t hi) {
        return lo + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(hi - lo + 1));
      };
      for (int i = 0; i < 200; ++i) {
        const std::int64_t x0 = between(0, width), x2 = between(x0, width), x1 = between(x0, x2);
        const std::int64_t y0 = between(0, height), y2 = between(y0, height), y1 = between(y0, y2);
        const std::uint64_t whole = region(table, x0, y0, x2, y2);
        const std::uint64_t parts = region(table, x0, y0, x1, y1) + region(table, x1, y0, x2, y1) +
                                    region(table, x0, y1, x1, y2) + region(table, x1, y1, x2, y2);
        EXPECT_EQ(whole, parts & modulus_mask(types.table)) << id << " " << name_of(types);
        // A region of at most 8 x 8 pixels, summed directly.
        const std::int64_t xs = std::min(x2, x0 + 8), ys = std::min(y2, y0 + 8);
        std::uint64_t direct = 0;
        for (std::int64_t y = y0; y < ys; ++y)
          for (std::int64_t x = x0; x < xs; ++x) direct += image.integer[image.at(x, y)];
        EXPECT_EQ(region(table, x0, y0, xs, ys), direct & modulus_mask(types.table)) << id << " " << name_of(types);
      }
    }
}

TEST(Properties, AWrappedTableAnswersExactly) {
  // White pixels of 32 bits: the table passes 2^32 at the second pixel, and at 2^31 each for the signed one.
  constexpr std::int64_t side = 90;
  for (const std::string& id : cpu_sat_ids())
    for (const char* name : {"32u32u", "32s32s", "16u32u", "16s32s", "8u32u"}) {
      const TypePair types = type_pair(name);
      Values image(types.input,
                   Shape{types.input == Type::u8 ? 9000 : side * 10, types.input == Type::u8 ? 2000 : side * 10});
      if (types.input == Type::u8 && id != "tiles" && id != "serial") continue;  // 18 million pixels, twice are enough
      const std::uint64_t white = visit(types.input, [](auto type) -> std::uint64_t {
        using T = typename decltype(type)::type;
        if constexpr (std::is_integral_v<T>) return static_cast<std::uint64_t>(std::numeric_limits<T>::max());
        return 0;
      });
      for (std::uint64_t& value : image.integer) value = white;
      const Values table = table_of(image, types, {.algorithm = id});
      const std::uint64_t mask = modulus_mask(types.table);
      const auto pixels = static_cast<std::uint64_t>(image.size());
      const std::uint64_t largest = is_signed_integer(types.table) ? mask / 2 : mask;
      ASSERT_GT(pixels, largest / white) << "the table must wrap, or the test shows nothing: " << name;
      EXPECT_EQ(table.integer.back() & mask, (white * pixels) & mask) << id << " " << name;
      EXPECT_NE(table.integer.back() & mask, white * pixels) << id << " " << name;
      const auto safe = static_cast<std::int64_t>(std::min<std::uint64_t>(largest / white, side));
      for (std::int64_t x = image.shape.width - safe - 40; x <= image.shape.width - safe; x += 7)
        EXPECT_EQ(region(table, x, image.shape.height - 1, x + safe, image.shape.height),
                  white * static_cast<std::uint64_t>(safe))
            << id << " " << name;
    }
}

Values transposed(const Values& values) {
  Values result(values.type, Shape{values.shape.height, values.shape.width});
  for (std::int64_t y = 0; y < values.shape.height; ++y)
    for (std::int64_t x = 0; x < values.shape.width; ++x)
      if (is_float(values.type))
        result.real[result.at(y, x)] = values.real[values.at(x, y)];
      else
        result.integer[result.at(y, x)] = values.integer[values.at(x, y)];
  return result;
}

TEST(Properties, TheTableOfTheTransposeIsTheTransposeOfTheTable) {
  for (const std::string& id : cpu_sat_ids())
    for (const TypePair types : type_pairs())
      for (const Border border : {Border::zero, Border::none, Border::exclusive})
        for (const auto& [width, height] : {std::pair{1, 130}, {67, 130}, {300, 41}}) {
          const Fill fill = is_float(types.table) ? Fill::exact : Fill::wild;  // floats: in another order
          const Values image = random_image(types.input, Shape{width, height}, fill, base_seed());
          const PlanOptions options{.border = border, .algorithm = id};
          const Values table = transposed(table_of(image, types, options));
          const Values other = table_of(transposed(image), types, options);
          EXPECT_TRUE(table.integer == other.integer && table.real == other.real)
              << id << " " << name_of(types) << " " << name_of(border) << " " << width << "x" << height;
        }
}

TEST(Properties, IntegerTablesAreLinear) {
  const Shape shape{600, 70};
  for (const std::string& id : cpu_sat_ids())
    for (const TypePair types : integer_pairs()) {
      Values a = random_image(types.input, shape, Fill::wild, base_seed());
      Values b = random_image(types.input, shape, Fill::wild, base_seed() + 1);
      Values sum(types.input, shape);
      const bool is_signed = is_signed_integer(types.input);
      for (std::size_t i = 0; i < sum.size(); ++i) {
        // Halves, so that 1 * a + 1 * b fits the pixel; 2 a fits, too.
        for (Values* v : {&a, &b})
          v->integer[i] =
              is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(v->integer[i]) / 2) : v->integer[i] / 2;
        sum.integer[i] = a.integer[i] + b.integer[i];
      }
      Values twice = a;
      for (std::uint64_t& value : twice.integer) value *= 2;
      const PlanOptions options{.algorithm = id};
      const Values ta = table_of(a, types, options), tb = table_of(b, types, options);
      const Values tsum = table_of(sum, types, options), ttwice = table_of(twice, types, options);
      const std::uint64_t mask = modulus_mask(types.table);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < ta.size(); ++i) {
        wrong += ((ta.integer[i] + tb.integer[i] - tsum.integer[i]) & mask) != 0;
        wrong += ((2 * ta.integer[i] - ttwice.integer[i]) & mask) != 0;
      }
      EXPECT_EQ(wrong, 0u) << id << " " << name_of(types);
    }
}

TEST(Properties, BordersAndBatchesHoldTheSameBits) {
  // Floats, too: the border is only an offset, and a batch only more images.
  const Shape shape{530, 67};
  for (const std::string& id : cpu_sat_ids())
    for (const TypePair types : type_pairs()) {
      const Values image = random_image(types.input, shape, Fill::wild, base_seed());
      const Values zero = table_of(image, types, {.border = Border::zero, .algorithm = id});
      const Values none = table_of(image, types, {.border = Border::none, .algorithm = id});
      const Values exclusive = table_of(image, types, {.border = Border::exclusive, .algorithm = id});
      const bool real = is_float(types.table);
      const auto same = [&](const Values& a, std::size_t i, const Values& b, std::size_t j) {
        return real ? a.real[i] == b.real[j] : a.integer[i] == b.integer[j];
      };
      // If sums can round, a table of another shape may round in another order.
      const bool exact = !real || !is_float(types.input);
      for (std::int64_t y = 0; exact && y < shape.height; ++y)
        for (std::int64_t x = 0; x < shape.width; ++x) {
          ASSERT_TRUE(same(zero, zero.at(x + 1, y + 1), none, none.at(x, y))) << id << " " << name_of(types);
          ASSERT_TRUE(same(zero, zero.at(x, y), exclusive, exclusive.at(x, y))) << id << " " << name_of(types);
        }
    }
  for (const std::string& id : option_sat_ids())
    for (const TypePair types : type_pairs()) {
      Shape batch = shape;
      batch.batch = 3;
      const Values images = random_image(types.input, batch, Fill::wild, base_seed());
      const Values tables = table_of(images, types, {.algorithm = id});
      for (std::int64_t n = 0; n < 3; ++n) {
        Values one(types.input, shape);
        for (std::size_t i = 0; i < one.size(); ++i)
          if (is_float(types.input))
            one.real[i] = images.real[static_cast<std::size_t>(n) * one.size() + i];
          else
            one.integer[i] = images.integer[static_cast<std::size_t>(n) * one.size() + i];
        const Values table = table_of(one, types, {.algorithm = id});
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < table.size(); ++i)
          wrong += is_float(types.table)
                       ? table.real[i] != tables.real[static_cast<std::size_t>(n) * table.size() + i]
                       : table.integer[i] != tables.integer[static_cast<std::size_t>(n) * table.size() + i];
        EXPECT_EQ(wrong, 0u) << id << " " << name_of(types);
      }
    }
}

}  // namespace
}  // namespace areal::conformance
