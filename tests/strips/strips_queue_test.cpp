// What strips queue on CUDA's streams, on devices that do it as late and in as odd an order as streams and events
// allow.
#include <areal/error.hpp>
#include <areal/sat.hpp>
#include <areal/strips.hpp>
#include <cstring>
#include <random>
#include <string>
#include <vector>
#include "conformance/shapes.hpp"
#include "queued_gpus.hpp"

#include <gtest/gtest.h>

namespace areal {
namespace {

using queued_gpus::gpus;

class StripsQueue : public testing::Test {
 protected:
  void SetUp() override { reset(); }
  void TearDown() override {
    reset();
    EXPECT_EQ(gpus().queued(), 0);
    EXPECT_EQ(gpus().allocations(), 0U);
    EXPECT_EQ(gpus().queues(), 0U);
    EXPECT_EQ(gpus().points, 0);
  }
  static void reset() {
    gpus().waits_for_events = true, gpus().calls_left = gpus().allocations_left = -1;
    gpus().random.seed(1), gpus().eager = 4;
  }
};

/// An image, and its table pixel by pixel.
struct Case {
  std::int64_t width, height, strip_height;
  Border border;
  std::vector<std::uint8_t> pixels;

  explicit Case(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    width = 1 + static_cast<std::int64_t>(random() % 30), height = 1 + static_cast<std::int64_t>(random() % 40);
    strip_height = 1 + static_cast<std::int64_t>(random() % 9);
    border = std::vector{Border::zero, Border::none, Border::exclusive}[random() % 3];
    gpus().random.seed(seed), gpus().eager = static_cast<int>(random() % 4);
    resize(width, height, strip_height);
  }
  void resize(std::int64_t w, std::int64_t h, std::int64_t of_strip) {
    width = w, height = h, strip_height = of_strip;
    pixels.resize(static_cast<std::size_t>(width * height));
    std::mt19937_64 random(static_cast<std::uint64_t>(w * h));
    for (auto& p : pixels) p = static_cast<std::uint8_t>(random());
  }
  StripSat strips() const {
    return StripSat({width, height}, Type::u8, {.border = border, .types = type_pair("8u32u")},
                    {.workers = {{.backend = Backend::cuda, .device = 1}}, .height = strip_height});
  }
  ConstView rows(std::int64_t y, std::int64_t count) const {
    return ConstView(pixels.data() + y * width, Type::u8, Shape{width, count});
  }
  ImageReader reader() const {
    return [this](std::int64_t x, std::int64_t y, const View& block) {
      for (std::int64_t i = 0; i < block.shape.height; ++i)
        std::memcpy(block.row(i), pixels.data() + (y + i) * width + x, static_cast<std::size_t>(block.shape.width));
      return block;
    };
  }
  std::uint32_t sum(std::int64_t columns, std::int64_t rows) const {
    std::uint32_t sum = 0;
    for (std::int64_t y = 0; y < rows; ++y)
      for (std::int64_t x = 0; x < columns; ++x) sum += pixels[static_cast<std::size_t>(y * width + x)];
    return sum;
  }
  /// Rows of a table that are wrong or missing.
  std::int64_t faults(const Shape& shape, const std::vector<std::uint32_t>& table) const {
    if (table.size() != static_cast<std::size_t>(shape.width * shape.height)) return shape.height;
    const std::int64_t more = border == Border::none ? 1 : 0;
    std::int64_t wrong = 0;
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t x = 0; x < shape.width; ++x)
        if (table[static_cast<std::size_t>(y * shape.width + x)] != sum(x + more, y + more)) {
          ++wrong;
          break;
        }
    return wrong;
  }
};

/// What a sink was given, row by row.
struct Given {
  std::vector<std::uint32_t> entries;
  PieceSink sink() {
    return [this](const Piece& strip) {
      for (std::int64_t y = 0; y < strip.values.shape.height; ++y) {
        const auto* const row = static_cast<const std::uint32_t*>(strip.values.row(y));
        entries.insert(entries.end(), row, row + strip.values.shape.width);
      }
      return true;
    };
  }
};

std::int64_t faults_of_read(const Case& c) {
  StripSat strips = c.strips();
  Given given;
  strips.run(c.reader(), given.sink());
  return c.faults(strips.table_shape(), given.entries);
}

std::int64_t faults_of_pushed(const Case& c, std::int64_t block) {
  StripSat strips = c.strips();
  Given given;
  strips.begin(given.sink());
  for (std::int64_t y = 0; y < c.height; y += block) strips.push(0, y, c.rows(y, std::min(block, c.height - y)));
  strips.finish();
  return c.faults(strips.table_shape(), given.entries);
}

TEST_F(StripsQueue, ImagesThatAreReadOrPushed) {
  for (std::uint64_t i = 0; i < 60; ++i) {
    const Case c(conformance::base_seed() + i);
    ASSERT_EQ(faults_of_read(c), 0) << i;
    ASSERT_EQ(faults_of_pushed(c, 1 + static_cast<std::int64_t>(i % 7)), 0) << i;
  }
}

TEST_F(StripsQueue, StreamsThatDoNotWaitAreFound) {
  int wrong = 0;
  for (std::uint64_t i = 0; i < 30; ++i) {
    Case c(conformance::base_seed() + 500 + i);
    c.resize(20, 30, 2);
    gpus().waits_for_events = false;
    wrong += faults_of_read(c) > 0 ? 1 : 0;
    gpus().waits_for_events = true;
    EXPECT_EQ(faults_of_read(c), 0) << i;
  }
  EXPECT_GT(wrong, 4);
}

// Each call in turn answers with an error: nothing stays queued or allocated.
TEST_F(StripsQueue, AnErrorOfAnyCallLeavesNothingAtWork) {
  Case c(conformance::base_seed() + 900);
  c.resize(9, 20, 6);
  int failed = 0;
  for (std::int64_t call = 0;; ++call) {
    gpus().calls_left = call;
    try {
      faults_of_read(c);
      break;  // it has fewer calls
    } catch (const DeviceError& error) {
      EXPECT_STREQ(error.what(), "planted");
      ++failed;
    }
    gpus().calls_left = -1;
    EXPECT_EQ(gpus().queued(), 0) << call;
    EXPECT_EQ(gpus().allocations(), 0U) << call;
  }
  EXPECT_GT(failed, 15);
  gpus().calls_left = -1;
  EXPECT_EQ(faults_of_read(c), 0);
}

}  // namespace
}  // namespace areal
