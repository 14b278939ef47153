#pragma once
// Blocks of a large picture, of random place, size and layout, compared with a formula for each sample.

#include <gtest/gtest.h>
#include <algorithm>
#include <areal/array.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include "media/media.hpp"
#include "scratch.hpp"

namespace areal::test {

// A test with a folder of its own, in which nothing may be printed.
class SilentTest : public ::testing::Test {
 protected:
  void SetUp() override { testing::internal::CaptureStderr(); }
  void TearDown() override { EXPECT_EQ(testing::internal::GetCapturedStderr(), ""); }
  Scratch scratch;
};

// The sample of channel c at (x, y), as the type's value.
using SampleAt = std::function<double(std::int64_t x, std::int64_t y, std::int64_t c)>;

inline double sample_of(Type type, const void* at) {
  const auto get = [&](auto value) {
    std::memcpy(&value, at, sizeof(value));
    return value;
  };
  switch (type) {
    case Type::u8:
      return get(std::uint8_t{});
    case Type::s8:
      return get(std::int8_t{});
    case Type::u16:
      return get(std::uint16_t{});
    case Type::s16:
      return get(std::int16_t{});
    case Type::u32:
      return get(std::uint32_t{});
    case Type::s32:
      return get(std::int32_t{});
    case Type::u64:
      return static_cast<double>(get(std::uint64_t{}));
    case Type::s64:
      return static_cast<double>(get(std::int64_t{}));
    case Type::f16:
      return to_float(get(Half{}));
    case Type::f32:
      return static_cast<double>(get(0.f));
    case Type::f64:
      return get(0.);
  }
  return 0;
}

// Empty, or where the block first differs from the formula; the bytes around it must be as they were.
inline std::string block_fault(media::LargePicture& picture, const SampleAt& expected, std::int64_t x, std::int64_t y,
                               std::int64_t width, std::int64_t height, Layout layout = Layout::interleaved,
                               std::int64_t pad = 0) {
  const std::int64_t channels = picture.shape().channels, size = static_cast<std::int64_t>(size_of(picture.type()));
  const std::int64_t row = width * size * (layout == Layout::planar ? 1 : channels) + pad;
  const std::int64_t plane = row * height + pad;
  std::string memory(static_cast<std::size_t>(plane * channels + 2), '\x5a');
  const View block(memory.data() + 1, picture.type(), Shape{width, height, channels, 1, layout}, row,
                   layout == Layout::planar ? plane : 0);
  picture.read(x, y, block);
  const std::string where = "block of " + std::to_string(width) + "x" + std::to_string(height) + " at " +
                            std::to_string(x) + "," + std::to_string(y);
  for (std::int64_t i = 0; i < height; ++i)
    for (std::int64_t j = 0; j < width; ++j)
      for (std::int64_t c = 0; c < channels; ++c) {
        char* at = layout == Layout::planar ? static_cast<char*>(block.row(i, c)) + j * size
                                            : static_cast<char*>(block.row(i)) + (j * channels + c) * size;
        const double is = sample_of(picture.type(), at), was = expected(x + j, y + i, c);
        if (!(is == was))
          return where + ": " + std::to_string(is) + " instead of " + std::to_string(was) + " at " +
                 std::to_string(x + j) + "," + std::to_string(y + i) + ", channel " + std::to_string(c);
        std::memset(at, 0x5a, static_cast<std::size_t>(size));
      }
  if (memory.find_first_not_of('\x5a') != std::string::npos) return where + ": bytes outside it were written";
  return {};
}

// Empty, or the first fault of the whole picture, of its corners and of `count` random blocks.
inline std::string blocks_fault(media::LargePicture& picture, const SampleAt& expected, unsigned seed, int count = 60) {
  const Shape shape = picture.shape();
  std::string fault = block_fault(picture, expected, 0, 0, shape.width, shape.height);
  std::mt19937 random(seed);
  const auto upto = [&](std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(0, most)(random); };
  for (int i = 0; i < count && fault.empty(); ++i) {
    // Half of them small.
    const std::int64_t w = 1 + upto(i % 2 ? shape.width - 1 : std::min<std::int64_t>(shape.width - 1, 20));
    const std::int64_t h = 1 + upto(i % 3 ? shape.height - 1 : std::min<std::int64_t>(shape.height - 1, 3));
    fault = block_fault(picture, expected, upto(shape.width - w), upto(shape.height - h), w, h,
                        i % 4 == 1 ? Layout::planar : Layout::interleaved, i % 5 == 2 ? 3 : 0);
  }
  return fault.empty() ? fault : fault + " (seed " + std::to_string(seed) + ")";
}

// A picture of integers below 251, so that it fits every type.
inline double value_at(std::int64_t x, std::int64_t y, std::int64_t c) {
  return static_cast<double>((x * 7 + y * 131 + c * 59 + x * y) % 251);
}
inline double luma_at(std::int64_t x, std::int64_t y, std::int64_t = 0) {
  return std::floor((299 * value_at(x, y, 0) + 587 * value_at(x, y, 1) + 114 * value_at(x, y, 2)) / 1000 + 0.5);
}

inline Array picture_of(const Shape& shape, Type type) {
  Array out(shape, type);
  const View view = out.view();
  const auto size = static_cast<std::int64_t>(size_of(type));
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      for (std::int64_t c = 0; c < shape.channels; ++c) {
        char* at = static_cast<char*>(view.row(y)) + (x * shape.channels + c) * size;
        const double value = value_at(x, y, c);
        if (type == Type::f32) {
          const auto as = static_cast<float>(value);
          std::memcpy(at, &as, sizeof(as));
        } else if (type == Type::f64) {
          std::memcpy(at, &value, sizeof(value));
        } else if (type == Type::f16) {
          const Half as = to_half(static_cast<float>(value));
          std::memcpy(at, &as, sizeof(as));
        } else {
          const auto as = static_cast<std::uint64_t>(value);
          std::memcpy(at, &as, static_cast<std::size_t>(size));
        }
      }
  return out;
}

}  // namespace areal::test
