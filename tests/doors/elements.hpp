#pragma once
// Elements of an image, a mask, a table or a tensor as NumPy has them: C-order, (images, rows, columns, channels).

#include <areal/type.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace doors {

struct Elements {
  std::string dtype;  ///< as in the .npy file: "|b1", "<u2"
  areal::Type type = areal::Type::u8;
  areal::Shape shape;  ///< its layout says how the elements shall lie in memory, not how they lie here
  std::vector<std::byte> bytes;

  std::size_t offset(std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t channel) const noexcept;
};

/// Two dimensions are rows and columns, three images before these, four channels behind them.
Elements read_npy(const std::string& path);
/// `extents`: of the file's array; their product is that of the elements.
void write_npy(const std::string& path, const Elements& elements, const std::vector<std::int64_t>& extents);
/// As (images, rows, columns, channels).
void write_npy(const std::string& path, const Elements& elements);

/// Empty elements of that shape.
Elements elements_of(const areal::Shape& shape, areal::Type type);
/// The same elements, seen from the last pixel of each image to its first.
Elements turned(const Elements& elements);
/// Image n alone.
Elements image_of(const Elements& elements, std::int64_t n);

/// The address of one element of a view of host memory.
std::byte* at(const areal::View& view, std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t channel);
const std::byte* at(const areal::ConstView& view, std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t channel);
/// The same pixels, of a part of each image.
areal::View part(const areal::View& view, std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height);
areal::ConstView part(const areal::ConstView& view, std::int64_t x, std::int64_t y, std::int64_t width,
                      std::int64_t height);
/// One element after another, from host memory to host memory, of whatever layout and pitches.
void copy_elements(const areal::ConstView& from, const areal::View& to);
/// The elements of a view of host or device memory.
Elements gather(const areal::ConstView& view);

}  // namespace doors
