#pragma once
// Memory for views at any alignment and pitch, with a canary in every byte that belongs to no element.

#include <areal/view.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>
#include "conformance/elements.hpp"

namespace areal::conformance {

/// The placement of a view: bytes before the first element (beyond the allocator's alignment) and after each row, plane
/// and image.
struct Placement {
  const char* name;
  std::int64_t offset, row_gap, plane_gap, batch_gap;
};
inline constexpr Placement placements[] = {
    {"contiguous", 0, 0, 0, 0},
    {"pitched", 0, 64, 0, 0},
    {"misaligned", 1, 0, 0, 0},
    {"oddPitch", 0, 1, 3, 5},
    {"misalignedOddPitch", 3, 7, 5, 11},
    {"notOfElement", 16, 4, 12, 20},  // a multiple of 4: no multiple of an 8-byte element
};

/// Outputs have guard bands. Inputs end with their last element, so that the address sanitizer sees any byte read
/// beyond; their gaps hold 0xFF (NaN for floats), so that a gap read as pixels shows in the table.
enum class Guard { output, input };

class Buffer {
 public:
  Buffer() = default;
  Buffer(Type type, const Shape& shape, const Placement& place, Guard guard) : guard_(guard) {
    const bool planar = shape.layout == Layout::planar;
    const std::int64_t planes = planar ? shape.channels : 1;
    const std::int64_t row_bytes =
        shape.width * (planar ? 1 : shape.channels) * static_cast<std::int64_t>(size_of(type));
    const std::int64_t row_pitch = row_bytes + place.row_gap;
    const std::int64_t plane_pitch = shape.height * row_pitch + (planar ? place.plane_gap : 0);
    const std::int64_t batch_pitch = planes * plane_pitch + place.batch_gap;
    const std::int64_t band = guard == Guard::output ? 128 : 0;
    const std::int64_t gaps =
        guard == Guard::output ? 0 : place.batch_gap + (planar ? place.plane_gap : 0) + place.row_gap;
    front_ = band + place.offset;
    const std::int64_t all = shape.batch * batch_pitch - (shape.empty() ? 0 : gaps);
    bytes_.resize(static_cast<std::size_t>(front_ + all + band));
    owned_.resize(bytes_.size());
    view_ = View(bytes_.data() + front_, type, shape, row_pitch, planar ? plane_pitch : 0, batch_pitch);
    if (row_bytes > 0)
      for (std::int64_t n = 0; n < shape.batch; ++n)
        for (std::int64_t c = 0; c < planes; ++c)
          for (std::int64_t y = 0; y < shape.height; ++y)
            std::memset(owned_.data() + front_ + n * batch_pitch + c * plane_pitch + y * row_pitch, 1,
                        static_cast<std::size_t>(row_bytes));
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      if (!owned_[i]) bytes_[i] = gap_byte(i);
  }
  /// An input that holds these values.
  Buffer(const Values& values, const Placement& place) : Buffer(values.type, values.shape, place, Guard::input) {
    write(values, view_);
    before_ = bytes_;
  }
  Buffer(Buffer&&) = default;
  Buffer& operator=(Buffer&&) = default;

  const View& view() const { return view_; }
  /// All of it, gaps and guard bands included.
  std::vector<std::uint8_t>& bytes() { return bytes_; }
  /// Every byte of every element becomes `byte`.
  void poison(std::uint8_t byte) {
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      if (owned_[i]) bytes_[i] = byte;
  }
  /// For inputs: true if any byte, in an element or not, has changed.
  bool changed() const { return bytes_ != before_; }
  /// True if two buffers of the same shape and placement hold the same bits.
  bool same_bits(const Buffer& other) const { return bytes_ == other.bytes_; }
  /// Empty, or the byte outside the elements that was written.
  std::string broken_guard() const {
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      if (!owned_[i] && bytes_[i] != gap_byte(i))
        return "byte " + std::to_string(static_cast<std::int64_t>(i) - front_) +
               " from the first element was written, which belongs to none (row pitch " +
               std::to_string(view_.row_pitch) + ")";
    return {};
  }

 private:
  std::uint8_t gap_byte(std::size_t i) const {
    return guard_ == Guard::output ? static_cast<std::uint8_t>(0xC5 ^ (i * 29)) : 0xFF;
  }

  std::vector<std::uint8_t> bytes_, owned_, before_;
  std::int64_t front_ = 0;
  Guard guard_ = Guard::output;
  View view_;
};

}  // namespace areal::conformance
