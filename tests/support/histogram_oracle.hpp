#pragma once
// The reference of the histogram tests: memory with guards, pixels read one by one, rules written from the definition.
// Shares no code with the library.

#include <gtest/gtest.h>
#include <areal/binning.hpp>
#include <areal/border.hpp>
#include <areal/view.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace oracle {

using areal::Binning;
using areal::Border;
using areal::ConstView;
using areal::Layout;
using areal::Shape;
using areal::Type;
using areal::View;

/// Memory of a shape at an odd address, with gaps between rows, planes and images, and guards around: all poison.
class Guarded {
 public:
  Guarded() = default;
  Guarded(Guarded&&) = default;  // a copy would point into the original
  Guarded& operator=(Guarded&&) = default;
  Guarded(const Shape& shape, Type type, int misalign, int gap) {
    const auto size = static_cast<std::int64_t>(areal::size_of(type));
    const bool planar = shape.layout == Layout::planar;
    const std::int64_t row = shape.width * (planar ? 1 : shape.channels) * size + gap;
    const std::int64_t plane = planar ? shape.height * row + gap : size;
    const std::int64_t image = (planar ? shape.channels * plane : shape.height * row) + gap;
    bytes_.assign(static_cast<std::size_t>(2 * guard + misalign + image * shape.batch), poison);
    // From the next 64-byte boundary, so that `misalign` determines the alignment.
    const auto base = reinterpret_cast<std::uintptr_t>(bytes_.data());
    const std::size_t start = (64 - base % 64) % 64 + 64 + static_cast<std::size_t>(misalign);
    // Pitches of 0 mean contiguous; those of empty shapes do not matter.
    view = View(bytes_.data() + start, type, shape, row, plane, image);
  }
  std::vector<unsigned char>& bytes() { return bytes_; }
  /// The first byte outside the elements that is no longer poison, or -1.
  std::int64_t touched() const {
    std::vector<unsigned char> rest = bytes_;
    const Shape& s = view.shape;
    const bool planar = s.layout == Layout::planar;
    const auto row = static_cast<std::size_t>(s.width * (planar ? 1 : s.channels)) * areal::size_of(view.type);
    for (std::int64_t n = 0; n < s.batch; ++n)
      for (std::int64_t c = 0; c < (planar ? s.channels : 1); ++c)
        for (std::int64_t y = 0; y < s.height && row > 0; ++y) {
          const auto first = static_cast<const unsigned char*>(view.row(y, planar ? c : 0, n)) - bytes_.data();
          std::memset(rest.data() + first, poison, row);
        }
    // All the same byte: one comparison with itself, shifted by one.
    if (rest.empty() || (rest[0] == poison && std::memcmp(rest.data(), rest.data() + 1, rest.size() - 1) == 0))
      return -1;
    for (std::size_t i = 0; i < rest.size(); ++i)
      if (rest[i] != poison) return static_cast<std::int64_t>(i);
    return -1;
  }
  /// Bit by bit, elements and gaps.
  bool same(const Guarded& other) const {
    const Shape& s = view.shape;
    for (std::int64_t n = 0; n < s.batch; ++n)
      for (std::int64_t c = 0; c < s.channels; ++c)
        for (std::int64_t y = 0; y < s.height && s.width > 0; ++y)
          if (std::memcmp(view.row(y, c, n), other.view.row(y, c, n),
                          static_cast<std::size_t>(s.width) * areal::size_of(view.type)) != 0)
            return false;
    return touched() == -1 && other.touched() == -1;
  }

  View view;

 private:
  static constexpr unsigned char poison = 0xa5;
  static constexpr int guard = 256;
  std::vector<unsigned char> bytes_;
};

template <class T>
T element(const void* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

inline double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == 31) return mantissa ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  return sign * (exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24));
}

inline double value_at(const ConstView& v, std::int64_t x, std::int64_t y, std::int64_t channel = 0,
                       std::int64_t n = 0) {
  const char* p = static_cast<const char*>(v.row(y, channel, n)) + x * v.column_pitch();
  switch (v.type) {
    case Type::u8:
      return element<std::uint8_t>(p);
    case Type::s8:
      return element<std::int8_t>(p);
    case Type::u16:
      return element<std::uint16_t>(p);
    case Type::s16:
      return element<std::int16_t>(p);
    case Type::u32:
      return element<std::uint32_t>(p);
    case Type::s32:
      return element<std::int32_t>(p);
    case Type::u64:
      return static_cast<double>(element<std::uint64_t>(p));
    case Type::s64:
      return static_cast<double>(element<std::int64_t>(p));
    case Type::f16:
      return half_value(element<std::uint16_t>(p));
    case Type::f32:
      return static_cast<double>(element<float>(p));
    case Type::f64:
      return element<double>(p);
  }
  return 0;
}

/// Random pixels: integers in [lo, hi]; for floats halves, and occasionally NaN and infinities.
inline void fill_random(const View& v, std::mt19937_64& random, int lo, int hi, bool specials = true) {
  const bool planar = v.shape.layout == Layout::planar;
  for (std::int64_t n = 0; n < v.shape.batch; ++n)
    for (std::int64_t c = 0; c < v.shape.channels; ++c)
      for (std::int64_t y = 0; y < v.shape.height; ++y)
        for (std::int64_t x = 0; x < v.shape.width; ++x) {
          char* p = static_cast<char*>(v.row(y, planar ? c : 0, n)) + x * v.column_pitch() +
                    (planar ? 0 : c * static_cast<std::int64_t>(areal::size_of(v.type)));
          const auto whole = lo + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(hi - lo + 1));
          const auto put = [&](auto value) { std::memcpy(p, &value, sizeof value); };
          double real = static_cast<double>(whole) + static_cast<double>(random() % 2) * 0.5;
          if (specials && random() % 16 == 0)
            real = random() % 2 ? std::nan("") : std::numeric_limits<double>::infinity() * (random() % 2 ? 1 : -1);
          switch (v.type) {
            case Type::f16:
              put(specials ? static_cast<std::uint16_t>(random()) : areal::to_half(static_cast<float>(real)).bits);
              break;
            case Type::f32:
              put(static_cast<float>(real));
              break;
            case Type::f64:
              put(real);
              break;
            default:
              std::memcpy(p, &whole, areal::size_of(v.type));  // little-endian: the low bytes, as a cast keeps
          }
        }
}

/// A binning, and the same rule as implemented by the test: from the values of a pixel's channels to a bin or -1.
struct Rule {
  std::string name;
  Binning binning;
  std::function<std::int64_t(const double*)> bin;
};

inline std::int64_t search(const std::vector<double>& edges, double x, bool clamp) {
  const auto bins = static_cast<std::int64_t>(edges.size()) - 1;
  if (std::isnan(x)) return -1;
  if (clamp && x < edges.front()) return 0;
  if (clamp && x > edges.back()) return bins - 1;
  for (std::int64_t b = 0; b < bins; ++b)
    if (x >= edges[static_cast<std::size_t>(b)] && x < edges[static_cast<std::size_t>(b) + 1]) return b;
  return x == edges.back() ? bins - 1 : -1;
}

inline Rule uniform(std::int64_t bins, double lo, double hi, bool clamp = false) {
  std::vector<double> edges;
  for (std::int64_t i = 0; i <= bins; ++i)
    edges.push_back(lo + (hi - lo) / static_cast<double>(bins) * static_cast<double>(i));
  edges.back() = hi;
  const Binning binning = Binning::uniform(bins, lo, hi);
  return {"uniform " + std::to_string(bins) + (clamp ? " clamped" : ""), clamp ? binning.clamped() : binning,
          [=](const double* v) { return search(edges, v[0], clamp); }};
}
inline Rule edges(const std::vector<double>& edges, bool clamp = false) {
  const Binning binning = Binning::edges(edges);
  return {"edges", clamp ? binning.clamped() : binning, [=](const double* v) { return search(edges, v[0], clamp); }};
}
inline Rule lookup(const std::vector<std::int32_t>& table) {
  return {"lookup", Binning::lookup(table), [=](const double* v) -> std::int64_t {
            return v[0] >= 0 && v[0] < static_cast<double>(table.size()) ? table[static_cast<std::size_t>(v[0])] : -1;
          }};
}
inline Rule labels(std::int64_t bins, std::int64_t ignored) {
  return {"labels " + std::to_string(bins), Binning::labels(bins, ignored), [=](const double* v) -> std::int64_t {
            const bool counts = v[0] >= 0 && v[0] < static_cast<double>(bins) && v[0] != static_cast<double>(ignored);
            return counts ? static_cast<std::int64_t>(v[0]) : -1;
          }};
}
inline Rule joint(const std::vector<Rule>& parts) {
  std::vector<Binning> binnings;
  for (const Rule& part : parts) binnings.push_back(part.binning);
  return {"joint of " + std::to_string(parts.size()), Binning::joint(binnings), [=](const double* v) -> std::int64_t {
            std::int64_t bin = 0;
            for (std::size_t i = 0; i < parts.size(); ++i) {
              const std::int64_t next = parts[i].bin(v + i);
              if (next < 0) return -1;
              bin = bin * parts[i].binning.bins() + next;
            }
            return bin;
          }};
}

inline std::int64_t bin_at(const Rule& rule, const ConstView& image, std::int64_t x, std::int64_t y, std::int64_t n) {
  double values[3] = {};
  for (std::int64_t c = 0; c < image.shape.channels; ++c) values[c] = value_at(image, x, y, c, n);
  return rule.bin(values);
}

/// The tensor, planar and dense, as doubles: each element a column sum of row sums.
inline std::vector<double> tensor(const Rule& rule, const ConstView& image, const ConstView* weights, Border border) {
  const std::int64_t w = image.shape.width, h = image.shape.height, bins = rule.binning.bins();
  const std::int64_t tw = w + (border == Border::zero), th = h + (border == Border::zero);
  const std::int64_t shift = border == Border::none ? 0 : 1;
  std::vector<double> out(static_cast<std::size_t>(image.shape.batch * bins * th * tw));
  for (std::int64_t n = 0; n < image.shape.batch; ++n)
    for (std::int64_t y = 0; y < h; ++y)
      for (std::int64_t x = 0; x < w; ++x) {
        const std::int64_t bin = bin_at(rule, image, x, y, n);
        // A pixel's own place, then summed along rows and columns below.
        if (bin >= 0 && x + shift < tw && y + shift < th)
          out[static_cast<std::size_t>(((n * bins + bin) * th + y + shift) * tw + x + shift)] =
              weights ? value_at(*weights, x, y, 0, n) : 1.0;
      }
  for (std::int64_t plane = 0; plane < image.shape.batch * bins; ++plane) {
    double* p = out.data() + plane * th * tw;
    for (std::int64_t i = 0; i < th * tw; ++i) p[i] += i % tw ? p[i - 1] : 0;
    for (std::int64_t i = tw; i < th * tw; ++i) p[i] += p[i - tw];
  }
  return out;
}

template <class T>
std::string difference_as(const ConstView& got, const std::vector<double>& expected, double tolerance) {
  const Shape& s = got.shape;
  const double* wanted = expected.data();
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t bin = 0; bin < s.channels; ++bin)
      for (std::int64_t y = 0; y < s.height; ++y) {
        const char* const row = static_cast<const char*>(got.row(y, bin, n));
        for (std::int64_t x = 0; x < s.width; ++x, ++wanted) {
          T element;
          std::memcpy(&element, row + x * static_cast<std::int64_t>(sizeof element), sizeof element);
          const auto value = static_cast<double>(element);
          if (!(std::abs(value - *wanted) <= tolerance))
            return "image " + std::to_string(n) + " bin " + std::to_string(bin) + " (" + std::to_string(x) + ", " +
                   std::to_string(y) + "): " + std::to_string(value) + ", expected " + std::to_string(*wanted);
        }
      }
  return {};
}

/// The text of the first element in which a tensor (32u, 64u, 32f, 64f) is not the expected one; empty if they agree.
inline std::string difference(const ConstView& got, const std::vector<double>& expected, double tolerance = 0) {
  switch (got.type) {
    case Type::u32:
      return difference_as<std::uint32_t>(got, expected, tolerance);
    case Type::u64:
      return difference_as<std::uint64_t>(got, expected, tolerance);
    case Type::f32:
      return difference_as<float>(got, expected, tolerance);
    case Type::f64:
      return difference_as<double>(got, expected, tolerance);
    default:
      return "a tensor of no counter's type";
  }
}

}  // namespace oracle
