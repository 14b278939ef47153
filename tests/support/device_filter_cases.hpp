#pragma once
// Filters of floats, and guided filters, on a device: cases for the simulated machine and for a GPU, whose outputs must
// be the CPU's, bit by bit but for the payload of NaN.

#include <algorithm>
#include <areal/filter.hpp>
#include <areal/window.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>
#include "formulas/gaussian.hpp"

namespace device_filters {

using areal::Edge;
using areal::Filter;
using areal::Layout;
using areal::Shape;
using areal::Type;
namespace filter = areal::filter;

enum class Pixels : std::uint8_t {
  plain,     ///< between -1 and 1
  wild,      ///< of every exponent, zeros of both signs among them
  outliers,  ///< a few infinities and large numbers
  with_nan,  ///< one of ten
  middles,   ///< large whole numbers, and small ones and a half: means of 9 are often in the middle of two floats
  few,       ///< of integers, seven values
  flat       ///< a guide of about 1000, whose variances cancel: the order of additions shows in the outputs
};

struct Case {
  Shape image;
  Type in = Type::f32, out = Type::f32;
  Filter filter = filter::Mean{};
  areal::FilterOptions options = {};
  Pixels pixels = Pixels::plain;
  std::int64_t gap = 0, offset = 0, out_gap = 0, out_offset = 0;
  Layout out_layout = Layout::interleaved;
  unsigned seed = 1;
};

inline std::string words(const Case& c) {
  const auto is = [](std::int64_t n) { return std::to_string(n) + " "; };
  const areal::Window& w = c.options.window;
  return is(c.image.width) + is(c.image.height) + is(c.image.channels) + is(c.image.batch) + "window " + is(w.width) +
         is(w.height) + is(w.anchor_x) + is(w.anchor_y) + "edge " + is(static_cast<int>(w.edge)) + "filter " +
         is(static_cast<std::int64_t>(c.filter.index())) + std::string(name_of(c.in)) + " " +
         std::string(name_of(c.out)) + (c.options.mask ? " mask" : "") +
         (c.options.nan == areal::Missing::omit ? " omit" : "") + " min_count " + is(c.options.min_count) + "pixels " +
         is(static_cast<int>(c.pixels)) + "gaps " + is(c.gap) + is(c.out_gap) + "offsets " + is(c.offset) +
         is(c.out_offset) + "seed " + is(c.seed);
}

/// A Gaussian's follows from sigma.
inline areal::Window window_of(const Case& c) {
  areal::Window window = c.options.window;
  if (const auto* const one = std::get_if<filter::Gaussian>(&c.filter)) {
    const std::string& id = c.options.algorithm;
    const areal::formulas::GaussianAxis columns(*one, one->sigma_x, id), rows(*one, one->sigma_y, id);
    window.width = columns.size(), window.height = rows.size();
    window.anchor_x = columns.reach, window.anchor_y = rows.reach;
  }
  return window;
}

/// A view in host memory, `offset` bytes from an aligned address, with `gap` bytes between rows and planes.
struct Memory {
  std::vector<char> bytes;
  areal::View view;

  Memory(const Shape& shape, Type type, std::int64_t gap, std::int64_t offset, char mark) {
    const bool planar = shape.layout == Layout::planar;
    const auto size = static_cast<std::int64_t>(size_of(type));
    const std::int64_t row = shape.width * (planar ? 1 : shape.channels) * size + gap, plane = row * shape.height + gap;
    view = areal::View(nullptr, type, shape, row, planar ? plane : 0, plane * (planar ? shape.channels : 1));
    bytes.assign(static_cast<std::size_t>(view.batch_pitch * shape.batch + offset) + 192, mark);
    const auto first = (reinterpret_cast<std::uintptr_t>(bytes.data()) + 127) / 64 * 64;
    view.data = reinterpret_cast<void*>(first + static_cast<std::uintptr_t>(offset));
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  std::size_t place() const { return static_cast<std::size_t>(static_cast<char*>(view.data) - bytes.data()); }
  char* at(std::int64_t x, std::int64_t y, std::int64_t channel, std::int64_t n) const {
    return static_cast<char*>(view.row(y, channel, n)) + x * view.column_pitch();
  }
  template <class F>
  void for_each(const F& f) const {
    const Shape& s = view.shape;
    for (std::int64_t n = 0; n < s.batch; ++n)
      for (std::int64_t c = 0; c < s.channels; ++c)
        for (std::int64_t y = 0; y < s.height; ++y)
          for (std::int64_t x = 0; x < s.width; ++x) f(at(x, y, c, n));
  }
};

inline void put(Type type, double value, char* to) {
  const auto as = [&](auto pixel) { std::memcpy(to, &pixel, sizeof pixel); };
  if (type == Type::u8) return as(static_cast<std::uint8_t>(value));
  if (type == Type::s8) return as(static_cast<std::int8_t>(value));
  if (type == Type::u16) return as(static_cast<std::uint16_t>(value));
  if (type == Type::s16) return as(static_cast<std::int16_t>(value));
  if (type == Type::u32) return as(static_cast<std::uint32_t>(value));
  if (type == Type::s32) return as(static_cast<std::int32_t>(value));
  if (type == Type::f64) return as(value);
  if (type == Type::f32) return as(static_cast<float>(value));
  as(areal::to_half(static_cast<float>(value)));
}
inline double get(Type type, const char* from) {
  const auto as = [&](auto pixel) {
    std::memcpy(&pixel, from, sizeof pixel);
    return static_cast<double>(pixel);
  };
  return type == Type::f64 ? as(double{}) : as(float{});
}

/// The memory of a case; what the CPU wrote is in `expected`.
struct Scene {
  Memory image, mask, guide, expected, out;

  explicit Scene(const Case& c)
      : image(c.image, c.in, c.gap, c.offset, 0),
        mask({c.image.width, c.image.height, 1, c.image.batch}, Type::u8, c.gap, c.offset % 4, 0),
        guide({c.image.width, c.image.height, std::max<std::int64_t>(1, c.options.guide), c.image.batch},
              c.options.guide_type.value_or(c.in), c.gap, c.offset, 0),
        expected(out_shape(c), c.out, c.out_gap, c.out_offset, 0x5a),
        out(out_shape(c), c.out, c.out_gap, c.out_offset, 0x5a) {
    std::mt19937_64 random(c.seed);
    const auto any = [&](double least, double most) { return std::uniform_real_distribution<>(least, most)(random); };
    const auto fill = [&](Memory& memory) {
      const Type type = memory.view.type;
      const double most = type == Type::f16 ? 60000 : type == Type::f32 ? 1e38 : 1e300;
      const int exponents = type == Type::f16 ? 24 : type == Type::f32 ? 149 : 1074;
      memory.for_each([&](char* to) {
        if (!is_float(type)) return put(type, whole(c.pixels, random(), most_of(type)), to);
        double value = any(-1, 1);
        if (c.pixels == Pixels::wild)
          value = random() % 5 == 0 ? (random() % 2 == 0 ? -0.0 : 0.0)
                                    : std::ldexp(value, static_cast<int>(random() % (exponents + 14)) - exponents);
        if (c.pixels == Pixels::outliers && random() % 40 == 0)
          value = random() % 3 == 0 ? (value > 0 ? 1 : -1) * std::numeric_limits<double>::infinity() : value * most;
        if (c.pixels == Pixels::with_nan && random() % 10 == 0) value = std::numeric_limits<double>::quiet_NaN();
        if (c.pixels == Pixels::middles)
          value = random() % 8 == 0 ? 0.5 + static_cast<double>(random() % (1 << 20))
                                    : static_cast<double>((1 << 24) - random() % (1 << 22));
        if (c.pixels == Pixels::flat && &memory == &guide) value = 1000 + value / 100;
        put(type, value, to);
      });
    };
    fill(image);
    if (c.options.guide > 0) fill(guide);
    mask.for_each([&](char* to) { *to = static_cast<char>(random() % 4 == 0 ? 0 : random() | 1); });
    apply(c.filter, arguments(c, expected.view), c.options, {.backend = areal::Backend::cpu});
  }
  areal::FilterArguments arguments(const Case& c, const areal::View& to) const {
    areal::FilterArguments all{image.view, to};
    if (c.options.mask) all.mask = mask.view;
    if (c.options.guide > 0) all.guide = guide.view;
    return all;
  }
  static std::uint64_t most_of(Type type) {
    const int bits =
        8 * static_cast<int>(size_of(type)) - (type == Type::u8 || type == Type::u16 || type == Type::u32 ? 0 : 1);
    return (std::uint64_t{1} << bits) - 1;
  }
  /// An integer pixel: any, the largest, or one of both ends.
  static double whole(Pixels pixels, std::uint64_t random, std::uint64_t most) {
    if (pixels == Pixels::outliers) return static_cast<double>(most);
    if (pixels == Pixels::wild) return static_cast<double>(random % 2 * most);
    if (pixels == Pixels::few) return static_cast<double>(random % 7 + most / 3);
    return static_cast<double>(random % (most + 1));
  }
  static Shape out_shape(const Case& c) {
    Shape shape = areal::window_shape(c.image.width, c.image.height, window_of(c));
    shape.channels = c.image.channels, shape.batch = c.image.batch, shape.layout = c.out_layout;
    return shape;
  }
  /// The first output that is not the CPU's; empty if there is none.
  std::string fault(const Case& c) {
    std::string found;
    const Shape& s = out.view.shape;
    for (std::int64_t n = 0; n < s.batch; ++n)
      for (std::int64_t channel = 0; channel < s.channels; ++channel)
        for (std::int64_t y = 0; y < s.height; ++y)
          for (std::int64_t x = 0; x < s.width; ++x) {
            char *const is = out.at(x, y, channel, n), *const must = expected.at(x, y, channel, n);
            const std::size_t size = size_of(c.out);
            const bool none = is_float(c.out) && std::isnan(get(c.out, is)) && std::isnan(get(c.out, must));
            if (found.empty() && !none && std::memcmp(is, must, size) != 0) {
              found = "(" + std::to_string(x) + ", " + std::to_string(y) + ") of channel " + std::to_string(channel);
              if (is_float(c.out))
                found += " is " + std::to_string(get(c.out, is)) + ", not " + std::to_string(get(c.out, must));
            }
            std::memset(is, 0x5a, size);
          }
    const auto marks = std::ranges::count(out.bytes, char{0x5a});
    if (found.empty() && marks != std::ssize(out.bytes)) found = "memory around the output was written";
    return found.empty() ? found : words(c) + ": " + found;
  }
};

inline constexpr Edge edges[] = {Edge::valid,   Edge::shrink,    Edge::zero, Edge::replicate,
                                 Edge::reflect, Edge::symmetric, Edge::wrap, Edge::constant};

/// Every type and statistic with random sizes, edges, layouts, pitches, masks and pixels; images of up to `width` by
/// `height` pixels.
inline std::vector<Case> random_cases(int turns, std::int64_t width, std::int64_t height, unsigned seed) {
  using filter::Local;
  const std::vector<Filter> filters{filter::Sum{},
                                    filter::Mean{},
                                    filter::Count{},
                                    filter::Variance{1},
                                    filter::StandardDeviation{},
                                    filter::StandardDeviation{3},
                                    filter::Threshold{Local::mean, {}, {}, 0.01},
                                    filter::Threshold{Local::bradley},
                                    filter::Threshold{Local::niblack, {}, {}, 0, 1, true},
                                    filter::Threshold{Local::sauvola, {}, 0.5},
                                    filter::Threshold{Local::nick}};
  constexpr Type outs[] = {Type::f32, Type::f64, Type::u8, Type::s8, Type::u16, Type::s16, Type::s32};
  std::mt19937 random(seed);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  std::vector<Case> cases;
  for (int turn = 0; turn < turns; ++turn)
    for (const Type in : {Type::f32, Type::f16, Type::f64})
      for (const Filter& one : filters) {
        Case c;
        c.filter = one, c.in = in, c.out = outs[any(0, 1) * any(0, 6)];
        c.image = {any(1, width), any(1, height), any(0, 3) == 0 ? any(2, 4) : 1, any(0, 4) == 0 ? 2 : 1,
                   any(0, 1) ? Layout::planar : Layout::interleaved};
        c.out_layout = any(0, 1) ? Layout::planar : Layout::interleaved;
        areal::Window& w = c.options.window;
        w.width = any(1, any(0, 1) ? 9 : 60), w.height = any(1, any(0, 1) ? 9 : 60);
        w.edge = edges[any(0, 7)];
        w.value = any(0, 9) == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(any(-100, 100)) / 7;
        if (w.edge == Edge::valid)
          c.image.width += w.width - 1, c.image.height += w.height - 1;
        else if (any(0, 1))
          w.anchor_x = any(0, w.width - 1), w.anchor_y = any(0, w.height - 1);
        c.pixels = static_cast<Pixels>(any(0, 3));
        c.options.mask = any(0, 2) == 0;
        if (any(0, 2) == 0) c.options.nan = areal::Missing::omit;
        if (any(0, 2) == 0) c.options.min_count = any(0, w.width * w.height);
        if (any(0, 3) == 0) c.options.fill = static_cast<double>(any(-5, 5));
        if (any(0, 2) == 0) {
          c.gap = any(0, 40), c.out_gap = any(0, 40), c.offset = any(0, 15), c.out_offset = any(0, 15);
        } else {  // rows of whole vectors
          const auto rest = [](const Shape& s, Type type) {
            const std::int64_t row =
                s.width * (s.layout == Layout::planar ? 1 : s.channels) * static_cast<std::int64_t>(size_of(type));
            return (16 - row % 16) % 16;
          };
          c.gap = rest(c.image, in), c.out_gap = any(0, 1) ? rest(Scene::out_shape(c), c.out) : 4 * any(0, 3);
        }
        c.seed = static_cast<unsigned>(random());
        cases.push_back(c);
      }
  return cases;
}

/// Means of floats in windows of up to 72 x 66 pixels of every edge, anchor, address and layout, outputs as rows of
/// floats.
inline std::vector<Case> mean_cases(int turns, std::int64_t width, std::int64_t height, unsigned seed) {
  std::mt19937 random(seed);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  std::vector<Case> cases;
  for (int turn = 0; turn < turns; ++turn) {
    Case c;
    c.image = {any(1, width), any(1, height), any(0, 3) == 0 ? any(2, 3) : 1, any(0, 3) == 0 ? 2 : 1,
               any(0, 1) == 1 ? Layout::planar : Layout::interleaved};
    c.out_layout = Layout::planar;
    areal::Window& w = c.options.window;
    w.width = any(1, any(0, 1) == 0 ? 16 : 66), w.height = any(1, any(0, 1) == 0 ? 16 : 73);
    w.edge = edges[turn % 8], w.value = static_cast<double>(any(-100, 100)) / 7;
    if (w.edge == Edge::valid)
      c.image.width += w.width - 1, c.image.height += w.height - 1;
    else if (any(0, 1) == 1)
      w.anchor_x = any(0, w.width - 1), w.anchor_y = any(0, w.height - 1);
    const std::int64_t row = 4 * c.image.width * (c.image.layout == Layout::planar ? 1 : c.image.channels);
    if (any(0, 1) == 0)
      c.gap = (16 - row % 16) % 16, c.offset = 16 * any(0, 2);  // rows of whole vectors
    else
      c.gap = any(0, 40), c.offset = any(0, 15);
    c.out_gap = 4 * any(0, 9), c.out_offset = 4 * any(0, 7);
    c.pixels = static_cast<Pixels>(any(0, 4)), c.seed = static_cast<unsigned>(random());
    cases.push_back(c);
  }
  return cases;
}

/// Percentiles, Equalize, Otsu, Entropy, Modal and Bilateral of bytes with random windows, edges, masks, layouts,
/// pitches and pixels.
inline std::vector<Case> random_level_cases(int turns, std::int64_t width, std::int64_t height, unsigned seed) {
  std::mt19937 random(seed);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  std::vector<Case> cases;
  for (int turn = 0; turn < turns; ++turn)
    for (const Filter& one :
         {Filter(filter::Percentile{static_cast<double>(any(0, 100))}), Filter(filter::Equalize{}),
          Filter(filter::Otsu{.zeros_alone = any(0, 1) == 1}), Filter(filter::Entropy{}), Filter(filter::Modal{}),
          Filter(filter::Bilateral{std::pow(10.0, static_cast<double>(any(-10, 40)) / 10)})}) {
      const bool entropy = std::holds_alternative<filter::Entropy>(one);
      const bool real = entropy || std::holds_alternative<filter::Bilateral>(one);
      Case c;
      c.filter = one, c.in = Type::u8;
      c.out = !real || (!entropy && any(0, 2) == 0) ? Type::u8 : any(0, 1) == 0 ? Type::f32 : Type::f64;
      c.image = {any(1, any(0, 1) == 0 ? 40 : width), any(1, height), any(0, 3) == 0 ? any(2, 4) : 1,
                 any(0, 4) == 0 ? 2 : 1, any(0, 1) == 1 ? Layout::planar : Layout::interleaved};
      c.out_layout = any(0, 1) == 1 ? Layout::planar : Layout::interleaved;
      areal::Window& w = c.options.window;
      w.width = any(1, any(0, 2) > 0 ? 9 : 40), w.height = any(1, any(0, 2) > 0 ? 9 : 40);
      w.edge = edges[turn % 8], w.value = static_cast<double>(any(0, 255));
      if (any(0, 1) == 1) w.anchor_x = any(0, w.width - 1), w.anchor_y = any(0, w.height - 1);
      if (w.edge == Edge::valid) c.image.width += w.width - 1, c.image.height += w.height - 1;
      c.pixels = any(0, 2) == 0 ? Pixels::plain : any(0, 4) == 0 ? static_cast<Pixels>(any(1, 2)) : Pixels::few;
      c.options.mask = any(0, 2) == 0;
      if (any(0, 2) == 0) c.options.min_count = any(0, w.width * w.height);
      if (any(0, 2) == 0) c.options.fill = static_cast<double>(any(-5, 300));
      if (any(0, 2) > 0) c.gap = any(0, 20), c.out_gap = any(0, 20), c.offset = any(0, 15), c.out_offset = any(0, 15);
      c.seed = static_cast<unsigned>(random());
      cases.push_back(c);
    }
  return cases;
}

/// Gaussians of every type by both algorithms with random sigmas, edges, layouts, pitches and pixels.
inline std::vector<Case> random_gaussian_cases(int turns, std::int64_t width, std::int64_t height, unsigned seed) {
  constexpr Type types[] = {Type::u8,  Type::s8,  Type::u16, Type::s16, Type::u32,
                            Type::s32, Type::f16, Type::f32, Type::f64};
  constexpr Type outs[] = {Type::u8, Type::s8, Type::u16, Type::s16, Type::s32, Type::f32, Type::f64};
  std::mt19937 random(seed);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  const auto sigma = [&](bool boxes) {
    const double exponent =
        static_cast<double>(any(boxes ? 0 : -10, boxes ? 10 : 9)) / 5;  // one box of 512 pixels at most
    return any(0, 9) == 0 ? 0 : std::pow(10.0, exponent);
  };
  std::vector<Case> cases;
  for (int turn = 0; turn < turns; ++turn)
    for (const Type in : types) {
      Case c;
      const bool boxes = any(0, 1) == 1;
      c.options.algorithm = boxes ? "extended-boxes" : "convolution";
      c.filter = filter::Gaussian{sigma(boxes), sigma(boxes), any(0, 3) == 0 ? 2.5 : 4.0,
                                  boxes ? static_cast<int>(any(0, 6)) : 0};
      c.in = in, c.out = any(0, 1) == 0 && in != Type::f16 && in != Type::u32 ? in : outs[any(0, 6)];
      c.image = {any(1, any(0, 1) == 0 ? 60 : width), any(1, height), any(0, 3) == 0 ? any(2, 4) : 1,
                 any(0, 4) == 0 ? 2 : 1, any(0, 1) == 1 ? Layout::planar : Layout::interleaved};
      c.out_layout = any(0, 1) == 1 ? Layout::planar : Layout::interleaved;
      c.options.window.edge = edges[any(0, 7)];
      c.options.window.value =
          static_cast<double>(is_float(in) ? any(-100, 100) : any(0, 100)) / (is_float(in) ? 7 : 1);
      if (c.options.window.edge == Edge::valid) {
        const areal::Window w = window_of(c);
        c.image.width += w.width - 1, c.image.height += w.height - 1;
      }
      c.pixels = static_cast<Pixels>(any(0, 4));
      if (any(0, 2) > 0) c.gap = any(0, 20), c.out_gap = any(0, 20), c.offset = any(0, 15), c.out_offset = any(0, 15);
      c.seed = static_cast<unsigned>(random());
      cases.push_back(c);
    }
  return cases;
}

/// Guided filters of every type with random guides, sizes, edges, layouts, pitches and pixels.
inline std::vector<Case> random_guided_cases(int turns, std::int64_t width, std::int64_t height, unsigned seed) {
  constexpr Type types[] = {Type::u8, Type::u16, Type::f32};
  std::mt19937 random(seed);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  std::vector<Case> cases;
  for (int turn = 0; turn < turns; ++turn) {
    Case c;
    const bool bytes = turn % 2 == 0;
    c.in = bytes ? Type::u8 : types[any(0, 2)], c.out = any(0, 1) ? c.in : Type::f32;
    c.options.guide = any(0, 1);
    if (c.options.guide > 0) c.options.guide_type = bytes ? Type::u8 : types[any(0, 2)];
    c.filter = filter::Guided{std::pow(10.0, static_cast<double>(any(-6, 4))), 1};
    c.image = {any(1, any(0, 1) ? 60 : width), any(1, height), any(0, 3) == 0 ? any(2, 3) : 1, any(0, 4) == 0 ? 2 : 1,
               any(0, 1) ? Layout::planar : Layout::interleaved};
    c.out_layout = any(0, 1) ? Layout::planar : Layout::interleaved;
    areal::Window& w = c.options.window;
    w.width = any(1, any(0, 1) ? 9 : 70), w.height = any(1, any(0, 1) ? 9 : 45);
    w.edge = edges[any(1, bytes ? any(2, 7) : 7)];
    w.value = static_cast<double>(any(0, 200));
    if (any(0, 1)) w.anchor_x = any(0, w.width - 1), w.anchor_y = any(0, w.height - 1);
    c.pixels = any(0, 2) == 0 ? Pixels::flat : static_cast<Pixels>(any(0, 3));
    if (any(0, 2) == 0) {
      c.gap = any(0, 40), c.out_gap = any(0, 40), c.offset = any(0, 15), c.out_offset = any(0, 15);
    } else {  // rows of whole vectors
      c.image.width = (c.image.width + 15) / 16 * 16;
    }
    c.seed = static_cast<unsigned>(random());
    cases.push_back(c);
  }
  return cases;
}

}  // namespace device_filters
