#pragma once
// Images, tables and sums by their definitions, for the tests of queries. No code of the library except its public
// types.

#include <algorithm>
#include <areal/region.hpp>
#include <areal/window.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

namespace oracle {

template <class P>
struct Image {
  std::int64_t width, height;
  std::vector<P> pixels;
  P at(std::int64_t x, std::int64_t y) const { return pixels[static_cast<std::size_t>(y * width + x)]; }
};

// Integer pixels lo .. hi.
template <class P>
Image<P> random_image(std::int64_t width, std::int64_t height, double lo, double hi, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Image<P> image{width, height, std::vector<P>(static_cast<std::size_t>(width * height))};
  for (P& pixel : image.pixels)
    pixel = static_cast<P>(std::floor(std::uniform_real_distribution<double>(lo, hi + 1)(random)));
  return image;
}

// The type of sums: modulo 2^64, or 64 bits of mantissa.
template <class T>
using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, long double>;

// f(pixel) summed over the part of [x, x+width) x [y, y+height) inside the image.
template <class T, class P, class F>
Wide<T> sum(const Image<P>& image, std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height, F f) {
  Wide<T> total = 0;
  for (std::int64_t r = std::max<std::int64_t>(0, y); r < std::min(y + height, image.height); ++r)
    for (std::int64_t c = std::max<std::int64_t>(0, x); c < std::min(x + width, image.width); ++c)
      total += static_cast<Wide<T>>(f(image.at(c, r)));
  return total;
}
inline constexpr auto identity = [](auto p) { return p; };

// The pixel that an edge shows at position i of an axis, found by one fold or step after another as OpenCV's
// borderInterpolate does; -1 where it shows none.
inline std::int64_t shown(std::int64_t i, std::int64_t extent, areal::Edge edge) {
  using areal::Edge;
  while (i < 0 || i >= extent) {
    const bool left = i < 0;
    if (edge == Edge::replicate)
      i = left ? 0 : extent - 1;
    else if (edge == Edge::reflect)
      i = extent == 1 ? 0 : left ? -i : 2 * (extent - 1) - i;
    else if (edge == Edge::symmetric)
      i = left ? -1 - i : 2 * extent - 1 - i;
    else if (edge == Edge::wrap)
      i += left ? extent : -extent;
    else
      return -1;
  }
  return i;
}

// Bytes between rows and planes, and before the first row.
struct Gaps {
  std::int64_t gap = 5, start = 3;
};
inline constexpr Gaps misaligned{}, aligned{16, 0};  // elements at multiples of their size

// Memory of any alignment and pitch, between bytes that must not change.
class Padded {
 public:
  Padded(areal::Type type, const areal::Shape& shape, Gaps gaps) : Padded(type, shape, gaps.gap, gaps.start) {}
  Padded(areal::Type type, const areal::Shape& shape, std::int64_t gap = 5, std::int64_t start = 3) {
    const auto size = static_cast<std::int64_t>(areal::size_of(type));
    const bool planar = shape.layout == areal::Layout::planar;
    const std::int64_t row = shape.width * size * (planar ? 1 : shape.channels), pitch = row + gap;
    const std::int64_t plane = pitch * shape.height + gap, planes = planar ? shape.channels : 1;
    bytes_.assign(static_cast<std::size_t>(64 + start + plane * planes * shape.batch + 64), guard);
    view_ = areal::View(bytes_.data() + 64 + start, type, shape, pitch, planar ? plane : size, plane * planes);
    row_bytes_ = row;
  }
  Padded(const Padded&) = delete;
  Padded(Padded&& other) = default;

  const areal::View& view() const { return view_; }
  std::vector<unsigned char>& bytes() { return bytes_; }
  template <class T>
  T get(std::int64_t x, std::int64_t y, std::int64_t channel = 0, std::int64_t n = 0) const {
    T value;
    std::memcpy(&value, static_cast<const char*>(view_.row(y, channel, n)) + x * view_.column_pitch(), sizeof value);
    return value;
  }
  template <class T>
  void set(T value, std::int64_t x, std::int64_t y, std::int64_t channel = 0, std::int64_t n = 0) {
    std::memcpy(static_cast<char*>(view_.row(y, channel, n)) + x * view_.column_pitch(), &value, sizeof value);
  }
  // True if only elements were written.
  bool guards_stand() const {
    std::vector<unsigned char> element(bytes_.size(), 0);
    const std::int64_t planes = view_.shape.layout == areal::Layout::planar ? view_.shape.channels : 1;
    for (std::int64_t n = 0; n < view_.shape.batch; ++n)
      for (std::int64_t c = 0; c < planes; ++c)
        for (std::int64_t y = 0; y < view_.shape.height; ++y)
          std::memset(element.data() + (static_cast<unsigned char*>(view_.row(y, c, n)) - bytes_.data()), 1,
                      static_cast<std::size_t>(row_bytes_));
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      if (!element[i] && bytes_[i] != guard) return false;
    return true;
  }

 private:
  static constexpr unsigned char guard = 0xa5;
  std::vector<unsigned char> bytes_;
  areal::View view_;
  std::int64_t row_bytes_ = 0;
};

inline areal::Shape table_shape(std::int64_t width, std::int64_t height, areal::Border border) {
  const std::int64_t more = border == areal::Border::zero ? 1 : 0;
  return {width + more, height + more};
}

// Writes the table of f(pixel) by its definition, one running sum a row; integers wrap as T does.
template <class T, class P, class F>
void fill_table(Padded& to, std::int64_t channel, const Image<P>& image, areal::Border border, F f,
                std::int64_t n = 0) {
  const areal::Shape& shape = to.view().shape;
  const std::int64_t inclusive = border == areal::Border::none ? 1 : 0;
  std::vector<Wide<T>> above(static_cast<std::size_t>(image.width + 1), 0);  // rows so far, columns < index
  std::int64_t rows = 0;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (; rows < y + inclusive; ++rows) {
      Wide<T> run = 0;
      for (std::int64_t x = 0; x < image.width; ++x) {
        run += static_cast<Wide<T>>(f(image.at(x, rows)));
        above[static_cast<std::size_t>(x + 1)] += run;
      }
    }
    for (std::int64_t x = 0; x < shape.width; ++x)
      to.set(static_cast<T>(above[static_cast<std::size_t>(x + inclusive)]), x, y, channel, n);
  }
}

template <class T>
class Table {
 public:
  template <class P, class F>
  Table(const Image<P>& image, areal::Border border, F f, Gaps gaps = misaligned)
      : memory_(areal::type_of<T>, table_shape(image.width, image.height, border), gaps), border_(border) {
    fill_table<T>(memory_, 0, image, border, f);
  }
  template <class P>
  Table(const Image<P>& image, areal::Border border) : Table(image, border, identity) {}
  areal::TableView view() const { return {memory_.view(), border_}; }
  Padded& memory() { return memory_; }

 private:
  Padded memory_;
  areal::Border border_;
};

// Tables of several channels of several images, one image of random pixels a plane, in the order of the answers.
template <class T, class P>
class Planes {
 public:
  template <class F>
  Planes(std::int64_t width, std::int64_t height, std::int64_t channels, std::int64_t batch, areal::Layout layout,
         areal::Border border, double lo, double hi, std::uint64_t seed, F f, Gaps gaps = misaligned)
      : memory_(areal::type_of<T>, shape_of(width, height, channels, batch, layout, border), gaps), border_(border) {
    for (std::int64_t p = 0; p < channels * batch; ++p) {
      images_.push_back(random_image<P>(width, height, lo, hi, seed + static_cast<std::uint64_t>(p)));
      fill_table<T>(memory_, p % channels, images_.back(), border, f, p / channels);
    }
  }
  areal::TableView view() const { return {memory_.view(), border_}; }
  Padded& memory() { return memory_; }
  const std::vector<Image<P>>& images() const { return images_; }

 private:
  static areal::Shape shape_of(std::int64_t width, std::int64_t height, std::int64_t channels, std::int64_t batch,
                               areal::Layout layout, areal::Border border) {
    const areal::Shape plane = table_shape(width, height, border);
    return {plane.width, plane.height, channels, batch, layout};
  }
  Padded memory_;
  areal::Border border_;
  std::vector<Image<P>> images_;
};

// Empty, full, touching each edge, single pixels, and random ones.
inline std::vector<areal::Region> regions_inside(std::int64_t width, std::int64_t height, std::uint64_t seed) {
  std::vector<areal::Region> all{{0, 0, 0, 0},
                                 {width, height, 0, 0},
                                 {0, 0, width, height},
                                 {0, 0, width, 0},
                                 {0, 0, 0, height},
                                 {0, 0, 1, height},
                                 {width - 1, 0, 1, height},
                                 {0, 0, width, 1},
                                 {0, height - 1, width, 1},
                                 {width - 1, height - 1, 1, 1},
                                 {0, 0, 1, 1}};
  std::mt19937_64 random(seed);
  const auto pick = [&](std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(0, most)(random); };
  for (int i = 0; i < 200; ++i) {
    const std::int64_t x = pick(width), y = pick(height);
    all.push_back({x, y, pick(width - x), pick(height - y)});
  }
  return all;
}

inline bool touches_last(const areal::Region& region, std::int64_t width, std::int64_t height) {
  return region.width > 0 && region.height > 0 &&
         (region.x + region.width == width || region.y + region.height == height);
}

}  // namespace oracle
