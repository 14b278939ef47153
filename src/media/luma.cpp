// Luma of an array of any element type.
#include "media/luma.hpp"
#include <areal/error.hpp>
#include <cstring>
#include <string>
#include "media/media.hpp"

namespace areal::media {
namespace {

template <class T>
void luma_of(const ConstView& image, const View& out) {
  const Shape& shape = image.shape;
  for (std::int64_t n = 0; n < shape.batch; ++n)
    for (std::int64_t y = 0; y < shape.height; ++y) {
      const char* channel[3];
      for (std::int64_t c = 0; c < 3; ++c) channel[c] = static_cast<const char*>(image.row(y, c, n));
      auto* const to = static_cast<char*>(out.row(y, 0, n));
      for (std::int64_t x = 0; x < shape.width; ++x) {
        T colour[3];
        for (int c = 0; c < 3; ++c) std::memcpy(&colour[c], channel[c] + x * image.column_pitch(), sizeof(T));
        const T value = luma(colour[0], colour[1], colour[2]);
        std::memcpy(to + x * out.column_pitch(), &value, sizeof(T));
      }
    }
}

}  // namespace

Array luma(const ConstView& image) {
  if (image.shape.channels < 3)
    throw InvalidArgument("luma: the image has " + std::to_string(image.shape.channels) + " channels, it needs 3");
  Array result(Shape{image.shape.width, image.shape.height, 1, image.shape.batch}, image.type);
  if (image.shape.empty()) return result;
  switch (image.type) {
    case Type::u8:
      luma_of<std::uint8_t>(image, result.view());
      break;
    case Type::s8:
      luma_of<std::int8_t>(image, result.view());
      break;
    case Type::u16:
      luma_of<std::uint16_t>(image, result.view());
      break;
    case Type::s16:
      luma_of<std::int16_t>(image, result.view());
      break;
    case Type::u32:
      luma_of<std::uint32_t>(image, result.view());
      break;
    case Type::s32:
      luma_of<std::int32_t>(image, result.view());
      break;
    case Type::u64:
      luma_of<std::uint64_t>(image, result.view());
      break;
    case Type::s64:
      luma_of<std::int64_t>(image, result.view());
      break;
    case Type::f16:
      luma_of<Half>(image, result.view());
      break;
    case Type::f32:
      luma_of<float>(image, result.view());
      break;
    case Type::f64:
      luma_of<double>(image, result.view());
      break;
  }
  return result;
}

}  // namespace areal::media
