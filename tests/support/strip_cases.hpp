#pragma once
// Tables, tensors and sums by strips against the definition, for every backend. No code of the library but its public
// types.

#include <gtest/gtest.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/strips.hpp>
#include <cstring>
#include <optional>
#include <random>
#include "conformance/buffer.hpp"
#include "conformance/oracle.hpp"
#include "conformance/picture.hpp"
#include "conformance/shapes.hpp"
#include "random_regions.hpp"
#include "refusal.hpp"

namespace areal::strip_cases {

using conformance::Fill;
using conformance::Values;

/// Columns [x, x + width) and rows [y, y + height).
inline Values part_of(const Values& all, std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height) {
  Values part(all.type, {width, height, all.shape.channels, 1, all.shape.layout});
  for (std::int64_t c = 0; c < all.shape.channels; ++c)
    for (std::int64_t r = 0; r < height; ++r)
      for (std::int64_t i = 0; i < width; ++i) {
        const std::size_t to = part.at(i, r, c), from = all.at(x + i, y + r, c);
        if (is_float(all.type))
          part.real[to] = all.real[from];
        else
          part.integer[to] = all.integer[from];
      }
  return part;
}

inline ImageReader reader_of(const Values& image) {
  return [&image](std::int64_t x, std::int64_t y, const View& block) {
    conformance::write(part_of(image, x, y, block.shape.width, block.shape.height), block);
    return block;
  };
}

/// Puts the rows of one table together; each must come once, from the top down, of full width.
class Gathered {
 public:
  Gathered(Type type, const Shape& shape) : values_(type, shape) {}

  void put(const ConstView& rows, std::int64_t y) {
    const Shape &whole = values_.shape, &part = rows.shape;
    if (fault_.empty() && (y != next_ || part.width != whole.width || part.channels != whole.channels ||
                           y + part.height > whole.height || rows.type != values_.type))
      fault_ = std::to_string(part.height) + " rows of " + std::to_string(part.width) + " came for row " +
               std::to_string(y) + ", awaited was row " + std::to_string(next_);
    if (!fault_.empty()) return;
    next_ += part.height;
    const Values came = conformance::values_of(rows);
    for (std::int64_t c = 0; c < part.channels; ++c)
      for (std::int64_t r = 0; r < part.height; ++r)
        for (std::int64_t x = 0; x < part.width; ++x)
          if (is_float(values_.type))
            values_.real[values_.at(x, y + r, c)] = came.real[came.at(x, r, c)];
          else
            values_.integer[values_.at(x, y + r, c)] = came.integer[came.at(x, r, c)];
  }
  /// Empty, or what is wrong.
  std::string fault(const conformance::Expected& expected) const {
    if (!fault_.empty()) return fault_;
    if (next_ != values_.shape.height && !values_.shape.empty())
      return "rows from " + std::to_string(next_) + " on are missing";
    return conformance::difference(expected, values_);
  }
  Values& values() { return values_; }

 private:
  Values values_;
  std::int64_t next_ = 0;
  std::string fault_;
};

/// An image and what is asked of it.
struct SatCase {
  Values image;
  std::optional<Values> mask;
  SatOptions options;

  SatCase(const Shape& shape, const char* pair, Border border, Fill fill = Fill::wild,
          std::uint64_t seed = conformance::base_seed())
      : image(conformance::random_image(type_pair(pair).input, shape, fill, seed)) {
    options.border = border, options.types = type_pair(pair);
  }
  SatCase& with_squares() {
    options.squares = is_float(image.type) ? Squares::f64 : Squares::u64;
    return *this;
  }
  SatCase& with_mask() {
    options.mask = true;
    mask = conformance::random_mask({image.shape.width, image.shape.height}, 5);
    return *this;
  }
  StripSat strips(const PieceOptions& how) const { return {image.shape, image.type, options, how}; }
};

/// How the image comes.
enum class Way { read, strips, tiles };

/// All tables of a run.
struct Tables {
  Gathered sum;
  std::optional<Gathered> squares, count;

  explicit Tables(const StripSat& of, bool counts) : sum(of.types().table, of.table_shape()) {
    if (of.squares_type()) squares.emplace(*of.squares_type(), of.table_shape());
    if (counts) count.emplace(Type::u32, of.count_shape());
  }
  PieceSink sink() {
    return [this](const Piece& strip) {
      sum.put(strip.values, strip.y);
      if (squares) squares->put(strip.squares, strip.y);
      if (count) count->put(strip.count, strip.y);
      return true;
    };
  }
  std::string fault(const SatCase& of) const {
    const bool counts = count.has_value();
    std::optional<Values> valid;
    if (counts) valid = conformance::valid_pixels(of.image, of.mask ? &*of.mask : nullptr, of.options.ignore_nan);
    const Values* const v = valid ? &*valid : nullptr;
    const Border border = of.options.border;
    std::string wrong =
        sum.fault(conformance::sums_of(conformance::terms_of(of.image, false, v), of.options.types->table, border));
    if (!wrong.empty() || (!squares && !counts)) return wrong;
    if (squares)
      wrong = squares->fault(conformance::sums_of(conformance::terms_of(of.image, true, v),
                                                  is_float(of.image.type) ? Type::f64 : Type::u64, border));
    if (!wrong.empty()) return "squares: " + wrong;
    if (counts) wrong = count->fault(conformance::sums_of(conformance::ones_of(*valid), Type::u32, border));
    return wrong.empty() ? wrong : "counts: " + wrong;
  }
};

/// push(x, y, width, height) for strips of any heights, or for the tiles of each row in any order.
template <class Push>
void push_image(const Shape& shape, const PieceOptions& how, Way way, std::mt19937_64& random, Push&& push) {
  if (way == Way::strips) {
    for (std::int64_t y = 0; y < shape.height;) {
      const std::int64_t rows = std::min<std::int64_t>(shape.height - y, static_cast<std::int64_t>(random() % 40));
      push(0, y, shape.width, rows);
      y += rows;
    }
    return;
  }
  for (std::int64_t y = 0; y < shape.height; y += how.pushed_height) {
    std::vector<std::int64_t> columns;
    for (std::int64_t x = 0; x < shape.width; x += how.pushed_width) columns.push_back(x);
    std::shuffle(columns.begin(), columns.end(), random);
    for (const std::int64_t x : columns)
      push(x, y, std::min(how.pushed_width, shape.width - x), std::min(how.pushed_height, shape.height - y));
  }
}

inline Tables tables_of(const SatCase& of, const PieceOptions& how, Way way, std::uint64_t seed = 1) {
  StripSat strips = of.strips(how);
  Tables tables(strips, of.options.mask || of.options.ignore_nan);
  const Shape& shape = of.image.shape;
  if (way == Way::read) {
    strips.run(reader_of(of.image), tables.sink(), of.mask ? reader_of(*of.mask) : ImageReader());
    return tables;
  }
  std::mt19937_64 random(seed);
  strips.begin(tables.sink());
  push_image(shape, how, way, random, [&](std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height) {
    const auto place = conformance::placements[random() % std::size(conformance::placements)];
    const conformance::Buffer block(part_of(of.image, x, y, width, height), place);
    std::optional<conformance::Buffer> mask;
    if (of.mask) mask.emplace(part_of(*of.mask, x, y, width, height), place);
    EXPECT_TRUE(strips.push(x, y, block.view(), mask ? ConstView(mask->view()) : ConstView()));
  });
  strips.finish();
  return tables;
}
inline std::string sat_fault(const SatCase& of, const PieceOptions& how, Way way) {
  return tables_of(of, how, way).fault(of);
}

/// What every backend must do; `few` for those that take long.
inline void expect_sat_cases(const std::vector<Worker>& workers, bool few = false) {
  const Shape shape = few ? Shape{67, 75} : Shape{131, 149};
  for (const Border border : {Border::zero, Border::none, Border::exclusive})
    for (const char* pair : {"8u32u", "16s64s", "32f64f", "16f32f"})
      for (const Way way : {Way::read, Way::strips, Way::tiles}) {
        if (few && (way != Way::read) != (border == Border::none && pair[0] == '8')) continue;
        const PieceOptions how{.workers = workers, .height = 37, .pushed_width = 50, .pushed_height = 23};
        SCOPED_TRACE(std::string(pair) + ", border " + std::string(name_of(border)) + ", way " +
                     std::to_string(static_cast<int>(way)));
        EXPECT_EQ(sat_fault(SatCase(shape, pair, border).with_squares(), how, way), "");
      }
  SatCase masked({few ? 40 : 90, few ? 30 : 70, 3, 1, Layout::interleaved}, "8u32u", Border::zero);
  masked.with_squares().with_mask();
  for (const Layout tables : {Layout::planar, Layout::interleaved}) {
    masked.options.tables = tables;
    const PieceOptions how{.workers = workers, .height = 13, .pushed_width = 40, .pushed_height = 16};
    for (const Way way : {Way::read, Way::strips, Way::tiles}) {
      if (few && way == Way::strips) continue;
      EXPECT_EQ(sat_fault(masked, how, way), "");
    }
  }
  SatCase holes({60, 50, 2, 1, Layout::planar}, "32f64f", Border::none, Fill::holes);
  holes.options.ignore_nan = true;
  EXPECT_EQ(sat_fault(holes, {.workers = workers, .height = 7}, Way::read), "");
}

/// Counts of values v of 8u in bins of `width` values, as a tensor of border `zero` has them: bin b is channel b.
inline conformance::Expected tensor_of(const Values& image, std::int64_t bins, Border border) {
  Values ones(Type::u8, {image.shape.width, image.shape.height, bins, 1, Layout::planar});
  for (std::int64_t y = 0; y < image.shape.height; ++y)
    for (std::int64_t x = 0; x < image.shape.width; ++x) {
      const auto bin = static_cast<std::int64_t>(image.integer[image.at(x, y)]) * bins / 256;
      ones.integer[ones.at(x, y, bin)] = 1;
    }
  return conformance::sums_of(conformance::terms_of(ones), Type::u32, border);
}

/// Empty, or what is wrong with the tensor of an image of 8u.
inline std::string tensor_fault(const Shape& shape, std::int64_t bins, Border border, PieceOptions how,
                                std::int64_t group_bins = 0, Way way = Way::read) {
  const Values image = conformance::random_image(Type::u8, shape, Fill::wild, conformance::base_seed());
  how.bins = group_bins;
  StripHistogram strips(shape, Type::u8, Binning::uniform(bins, 0, 256), {.border = border}, how);
  const conformance::Expected whole = tensor_of(image, bins, border);
  std::vector<Gathered> groups;
  for (std::int64_t first = 0; first < bins; first += strips.group_bins()) {
    Shape of = whole.shape;
    of.channels = std::min(strips.group_bins(), bins - first);
    groups.emplace_back(Type::u32, of);
  }
  if (static_cast<std::int64_t>(groups.size()) != strips.groups()) return "groups() is wrong";
  const PieceSink sink = [&](const Piece& strip) {
    groups[static_cast<std::size_t>(strip.first_bin / strips.group_bins())].put(strip.values, strip.y);
    return true;
  };
  std::mt19937_64 random(1);
  std::int64_t passes = 0;
  if (way == Way::read)
    strips.run(reader_of(image), sink);
  else
    strips.begin(sink);
  for (bool more = way != Way::read; more; ++passes) {
    push_image(shape, how, way, random, [&](std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height) {
      const conformance::Buffer block(part_of(image, x, y, width, height), conformance::placements[0]);
      EXPECT_TRUE(strips.push(x, y, block.view()));
    });
    more = strips.finish();
  }
  if (way != Way::read && passes != strips.groups())
    return "the image was asked for " + std::to_string(passes) + " times";
  for (std::size_t g = 0; g < groups.size(); ++g) {
    conformance::Expected expected = whole;
    expected.shape = groups[g].values().shape;
    const auto bin = static_cast<std::size_t>(whole.shape.width * whole.shape.height);
    const auto first = static_cast<std::ptrdiff_t>(g * static_cast<std::size_t>(strips.group_bins()) * bin);
    expected.integer.assign(whole.integer.begin() + first,
                            whole.integer.begin() + first +
                                static_cast<std::ptrdiff_t>(bin * static_cast<std::size_t>(expected.shape.channels)));
    if (std::string wrong = groups[g].fault(expected); !wrong.empty())
      return "group " + std::to_string(g) + ": " + wrong;
  }
  return {};
}

/// Regions inside an image, empty ones and the whole among them.
inline std::vector<Region> random_regions(const Shape& image, int n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Region> regions{
      {0, 0, image.width, image.height}, {0, 0, 0, image.height}, {image.width, image.height, 0, 0}};
  for (int i = 0; i < n; ++i) regions.push_back(random_region(random, image.width, image.height));
  return regions;
}

/// A region's sum pixel by pixel: modulo 2^64, or in long double.
struct PlainSum {
  std::uint64_t integer = 0;
  long double real = 0, magnitude = 0;
};
inline PlainSum plain_sum(const Values& image, const Region& region, std::int64_t channel, bool squared) {
  PlainSum sum;
  for (std::int64_t y = region.y; y < region.y + region.height; ++y)
    for (std::int64_t x = region.x; x < region.x + region.width; ++x) {
      const std::size_t i = image.at(x, y, channel);
      const long double v = image.number(i);
      if (!is_float(image.type)) sum.integer += squared ? image.integer[i] * image.integer[i] : image.integer[i];
      sum.real += squared ? v * v : v;
      sum.magnitude += std::fabs(squared ? v * v : v);
    }
  return sum;
}

/// Empty, or the first answer that is wrong; `spoil` changes the sums before they are looked at.
inline std::string sums_fault(StripSums& sums, const Values& image, const std::vector<Region>& regions, bool squares,
                              const std::function<void(std::vector<double>&)>& spoil = {}) {
  const auto channels = static_cast<std::size_t>(image.shape.channels);
  for (const bool squared : {false, true}) {
    if (squared && !squares) break;
    const bool in_floats = is_float(image.type) || (squared && size_of(image.type) > 2);
    std::vector<long double> whole;
    for (std::int64_t c = 0; c < image.shape.channels; ++c)
      whole.push_back(plain_sum(image, {0, 0, image.shape.width, image.shape.height}, c, squared).magnitude);
    std::vector<double> real = squared ? sums.squares() : sums.sums();
    if (spoil) spoil(real);
    std::vector<std::uint64_t> integer;
    if (!in_floats) {
      if (!squared && is_signed_integer(image.type))
        for (const std::int64_t value : sums.sums<std::int64_t>()) integer.push_back(static_cast<std::uint64_t>(value));
      else
        integer = squared ? sums.squares<std::uint64_t>() : sums.sums<std::uint64_t>();
    }
    for (std::size_t i = 0; i < real.size(); ++i) {
      const PlainSum want = plain_sum(image, regions[i / channels], static_cast<std::int64_t>(i % channels), squared);
      const std::string where = std::string(squared ? "square" : "sum") + " " + std::to_string(i);
      if (!in_floats && integer[i] != want.integer)
        return where + " is " + std::to_string(integer[i]) + ", not " + std::to_string(want.integer);
      // Of floats: sums of the whole image are subtracted, and each of its n additions rounds by at most 2^-53.
      const long double n = static_cast<long double>(image.size() + 1);
      const long double bound = in_floats ? 8 * n * 0x1p-53L * whole[i % channels] : std::fabs(want.real) * 0x1p-52L;
      const bool fits = in_floats || std::fabs(want.real) < 0x1p63L;
      if (fits && !(std::fabs(real[i] - want.real) <= bound))
        return where + " is " + std::to_string(real[i]) + ", not " + std::to_string(want.real);
    }
  }
  return {};
}

inline std::string sums_fault(const Shape& shape, Type type, Fill fill, bool squares, const PieceOptions& how) {
  const Values image = conformance::random_image(type, shape, fill, conformance::base_seed());
  const std::vector<Region> regions = random_regions(shape, 60, conformance::base_seed());
  StripSums sums(shape, type, regions, {.squares = squares}, how);
  sums.run(reader_of(image));
  return sums_fault(sums, image, regions, squares);
}

}  // namespace areal::strip_cases
