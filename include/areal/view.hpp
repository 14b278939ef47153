#pragma once
/// \file view.hpp Views: where an image or a table lies in memory. Views own nothing.

#include <areal/execution.hpp>
#include <areal/type.hpp>
#include <cstdint>
#include <type_traits>

namespace areal {

/// How the channels of one image lie in memory.
enum class Layout : std::uint8_t {
  interleaved,  ///< r g b r g b ...
  planar        ///< one plane a channel
};

/// Extent of an image, a table or a tensor. Elements, not bytes. `batch` counts images, or slices of a volume.
struct Shape {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t channels = 1;
  std::int64_t batch = 1;
  Layout layout = Layout::interleaved;

  /// True if there is nothing to read or write.
  bool empty() const noexcept { return width == 0 || height == 0 || channels == 0 || batch == 0; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// Memory of a Shape. Pitches are bytes: between rows, between planes of a planar layout, between images of a batch. A
/// pitch of 0 means contiguous. Any alignment is supported; functions refuse pitches that overlap.
template <class Void>
struct BasicView {
  Void* data = nullptr;
  Type type = Type::u8;
  Shape shape;
  std::int64_t row_pitch = 0;
  std::int64_t plane_pitch = 0;
  std::int64_t batch_pitch = 0;
  MemoryPlace memory = {};  ///< host memory unless said otherwise

  BasicView() = default;
  BasicView(Void* data_, Type type_, const Shape& shape_, std::int64_t row_pitch_ = 0, std::int64_t plane_pitch_ = 0,
            std::int64_t batch_pitch_ = 0)
      : data(data_),
        type(type_),
        shape(shape_),
        row_pitch(row_pitch_),
        plane_pitch(plane_pitch_),
        batch_pitch(batch_pitch_) {
    const bool planar = shape.layout == Layout::planar;
    const auto size = static_cast<std::int64_t>(size_of(type));
    // Must not be undefined for extents that overflow, which the library's functions refuse later.
    auto times = [](std::int64_t a, std::int64_t b) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    };
    if (row_pitch == 0) row_pitch = times(times(shape.width, planar ? 1 : shape.channels), size);
    if (plane_pitch == 0) plane_pitch = planar ? times(shape.height, row_pitch) : size;
    if (batch_pitch == 0)
      batch_pitch = times(planar ? shape.channels : 1, planar ? plane_pitch : times(shape.height, row_pitch));
  }
  /// A typed, contiguous or row-pitched, single-channel image.
  template <class T>
  requires(!std::is_void_v<T> && std::is_convertible_v<T*, Void*>)
      BasicView(T* data_, std::int64_t width, std::int64_t height, std::int64_t row_pitch_ = 0)
      : BasicView(data_, type_of<std::remove_const_t<T>>, Shape{width, height}, row_pitch_) {}
  /// A mutable view converts to a const one.
  template <class Other>
  requires(std::is_const_v<Void> && !std::is_const_v<Other>)
      BasicView(const BasicView<Other>& other)  // NOLINT: implicit on purpose
      : data(other.data),
        type(other.type),
        shape(other.shape),
        row_pitch(other.row_pitch),
        plane_pitch(other.plane_pitch),
        batch_pitch(other.batch_pitch),
        memory(other.memory) {}

  /// The same view, in memory of that place: `ConstView(pixels, 1920, 1080).in({MemoryPlace::cuda, 0})`.
  BasicView in(MemoryPlace place) const noexcept {
    BasicView view = *this;
    view.memory = place;
    return view;
  }

  /// Address of row y of a channel (planar) or of all channels (interleaved: channel offsets the first element) of
  /// image n. Unchecked; null if data is (an empty view may have no memory).
  Void* row(std::int64_t y, std::int64_t channel = 0, std::int64_t n = 0) const noexcept {
    using Byte = std::conditional_t<std::is_const_v<Void>, const char, char>;
    return data ? static_cast<Byte*>(data) + n * batch_pitch + channel * plane_pitch + y * row_pitch : nullptr;
  }
  /// Bytes between neighbours in a row of one channel.
  std::int64_t column_pitch() const noexcept {
    return static_cast<std::int64_t>(size_of(type)) * (shape.layout == Layout::planar ? 1 : shape.channels);
  }
};

using View = BasicView<void>;
using ConstView = BasicView<const void>;

/// One channel of one image of a view, as a single-channel view of the same memory. O(1). Throws InvalidArgument for a
/// channel or an image out of range, and for one of several interleaved channels, whose rows are not contiguous.
ConstView plane(const ConstView& view, std::int64_t channel, std::int64_t n = 0);
View plane(const View& view, std::int64_t channel, std::int64_t n = 0);

}  // namespace areal
