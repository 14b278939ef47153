// Regions outlined on a picture, numbered, each with its mean and a little bar chart of its histogram.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include "media/file_error.hpp"
#include "media/media.hpp"

namespace areal::media {
namespace {

using Rgb = std::array<std::uint8_t, 3>;
// Okabe and Ito's palette, which colour-blind people can distinguish, without black and grey.
constexpr Rgb palette[] = {{230, 159, 0}, {86, 180, 233}, {0, 158, 115},  {240, 228, 66},
                           {0, 114, 178}, {213, 94, 0},   {204, 121, 167}};
constexpr Rgb black{0, 0, 0};

// 3 x 5 pixels of "0123456789.- ", a row of three bits at a time, the top row in the highest bits.
constexpr std::string_view characters = "0123456789.- ";
constexpr std::uint16_t character_rows[] = {0b111101101101111,
                                            0b010110010010111,
                                            0b111001111100111,
                                            0b111001111001111,
                                            0b101101111001001,
                                            0b111100111001111,
                                            0b111100111101111,
                                            0b111001001001001,
                                            0b111101111101111,
                                            0b111101111001111,
                                            0b000000000000010,
                                            0b000000111000000,
                                            0};

class Canvas {
 public:
  explicit Canvas(Array& rgb)
      : pixels_(rgb.as<std::uint8_t>()), width_(rgb.shape().width), height_(rgb.shape().height) {}

  // Columns [x0, x1), rows [y0, y1), clipped to the canvas. `dim` keeps a third of the previous colour.
  void fill(std::int64_t x0, std::int64_t y0, std::int64_t x1, std::int64_t y1, const Rgb& colour, bool dim = false) {
    x0 = std::clamp<std::int64_t>(x0, 0, width_), x1 = std::clamp<std::int64_t>(x1, 0, width_);
    y0 = std::clamp<std::int64_t>(y0, 0, height_), y1 = std::clamp<std::int64_t>(y1, 0, height_);
    for (std::int64_t y = y0; y < y1; ++y)
      for (std::int64_t x = x0; x < x1; ++x)
        for (std::int64_t c = 0; c < 3; ++c) {
          std::uint8_t& p = pixels_[(y * width_ + x) * 3 + c];
          p = dim ? static_cast<std::uint8_t>((p + 2 * colour[c]) / 3) : colour[c];
        }
  }
  // A frame `thick` pixels wide along the inside of the rectangle.
  void frame(std::int64_t x0, std::int64_t y0, std::int64_t x1, std::int64_t y1, std::int64_t thick,
             const Rgb& colour) {
    fill(x0, y0, x1, std::min(y1, y0 + thick), colour);
    fill(x0, std::max(y0, y1 - thick), x1, y1, colour);
    fill(x0, y0, std::min(x1, x0 + thick), y1, colour);
    fill(std::max(x0, x1 - thick), y0, x1, y1, colour);
  }
  void text(std::int64_t x, std::int64_t y, std::string_view text, std::int64_t scale, const Rgb& colour) {
    fill(x, y, x + (static_cast<std::int64_t>(text.size()) * 4 + 1) * scale, y + 7 * scale, black);
    for (std::size_t i = 0; i < text.size(); ++i)
      for (int bit = 0; bit < 15; ++bit)
        if (character_rows[characters.find(text[i])] >> (14 - bit) & 1) {
          const std::int64_t px = x + (static_cast<std::int64_t>(i) * 4 + 1 + bit % 3) * scale;
          const std::int64_t py = y + (1 + bit / 3) * scale;
          fill(px, py, px + scale, py + scale, colour);
        }
  }
  std::int64_t width() const { return width_; }
  std::int64_t height() const { return height_; }

 private:
  std::uint8_t* pixels_;
  std::int64_t width_, height_;
};

Array as_rgb(const ConstView& picture) {
  const Shape& s = picture.shape;
  if (picture.type != Type::u8 || (s.channels != 1 && s.channels != 3) || s.batch != 1)
    throw InvalidArgument("picture to draw on is " + std::string(name_of(picture.type)) + " with " +
                          std::to_string(s.channels) + " channels: it must be one 8u picture of 1 or 3 channels");
  Array out(Shape{s.width, s.height, 3}, Type::u8);
  std::uint8_t* to = out.as<std::uint8_t>();
  const std::int64_t step = picture.column_pitch();
  for (std::int64_t y = 0; y < s.height; ++y)
    for (std::int64_t c = 0; c < 3; ++c) {
      const auto* from = static_cast<const std::uint8_t*>(picture.row(y, s.channels == 1 ? 0 : c));
      for (std::int64_t x = 0; x < s.width; ++x) to[(y * s.width + x) * 3 + c] = from[x * step];
    }
  return out;
}

// Bars of equal width, the tallest as high as the chart; in the region's lower left corner if it fits, else below or
// above the region.
void draw_chart(Canvas& canvas, const Region& r, const std::vector<double>& histogram, const Rgb& colour) {
  const auto bins = static_cast<std::int64_t>(histogram.size());
  double most = 0;
  for (const double h : histogram)
    if (std::isfinite(h)) most = std::max(most, h);
  if (bins == 0 || canvas.width() < 8 || canvas.height() < 8) return;
  const std::int64_t width = std::clamp<std::int64_t>(bins * 4, 32, std::max<std::int64_t>(32, canvas.width() / 4));
  const std::int64_t height = std::clamp<std::int64_t>(canvas.height() / 10, 8, 64);
  const bool inside = r.width >= width + 8 && r.height >= 2 * height;
  std::int64_t x0 = inside ? r.x + 4 : r.x;
  std::int64_t y0 = inside ? r.y + r.height - height - 4 : r.y + r.height + 2;
  if (!inside && y0 + height > canvas.height()) y0 = r.y - height - 2;
  x0 = std::clamp<std::int64_t>(x0, 0, std::max<std::int64_t>(0, canvas.width() - width));
  y0 = std::clamp<std::int64_t>(y0, 0, std::max<std::int64_t>(0, canvas.height() - height));
  canvas.fill(x0, y0, x0 + width, y0 + height, black, true);
  if (most <= 0) return;
  // With more bins than columns, a column shows the tallest of its bins.
  for (std::int64_t x = 0; x < width; ++x) {
    const std::int64_t first = x * bins / width, last = std::max(first + 1, (x + 1) * bins / width);
    double tallest = 0;
    for (std::int64_t b = first; b < last; ++b) tallest = std::max(tallest, histogram[static_cast<std::size_t>(b)]);
    if (!(tallest > 0)) continue;
    const double share = std::min(1.0, tallest / most);
    const auto bar = std::max<std::int64_t>(1, std::llround(share * static_cast<double>(height)));
    canvas.fill(x0 + x, y0 + height - bar, x0 + x + 1, y0 + height, colour);
  }
}

// The number of the region, and its mean if there is one.
std::string label(std::size_t number, const std::vector<double>& means) {
  std::string text = std::to_string(number);
  if (number >= means.size() || !(std::abs(means[number]) < 1e6)) return text;
  char mean[16];
  std::snprintf(mean, sizeof mean, "  %.1f", means[number]);
  return text + mean;
}

// The part of the region inside the canvas, possibly empty. Safe for ends beyond 64 bits.
Region clipped(const Region& r, std::int64_t width, std::int64_t height) {
  const auto end = [](std::int64_t at, std::int64_t length) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(at, length, &sum) ? INT64_MAX : sum;
  };
  const std::int64_t x0 = std::clamp<std::int64_t>(r.x, 0, width), y0 = std::clamp<std::int64_t>(r.y, 0, height);
  const std::int64_t x1 = std::clamp(end(r.x, r.width), x0, width), y1 = std::clamp(end(r.y, r.height), y0, height);
  return {x0, y0, x1 - x0, y1 - y0};
}

}  // namespace

Array draw_regions(const ConstView& picture, const std::vector<NamedRegion>& regions,
                   const std::vector<std::vector<double>>& histograms, const std::vector<double>& means) {
  if (!histograms.empty() && histograms.size() != regions.size())
    throw InvalidArgument("histograms to draw are " + std::to_string(histograms.size()) + ", but the regions are " +
                          std::to_string(regions.size()));
  Array out = as_rgb(picture);
  Canvas canvas(out);
  const std::int64_t scale = std::clamp<std::int64_t>(std::min(canvas.width(), canvas.height()) / 300, 1, 8);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const Region r = clipped(regions[i].region, canvas.width(), canvas.height());
    if (r.width == 0 || r.height == 0) continue;
    const Rgb& colour = palette[i % std::size(palette)];
    // A dark line inside the bright one is visible on any background.
    canvas.frame(r.x, r.y, r.x + r.width, r.y + r.height, scale, colour);
    if (r.width > 6 * scale && r.height > 6 * scale)
      canvas.frame(r.x + scale, r.y + scale, r.x + r.width - scale, r.y + r.height - scale, scale, black);
    if (r.width > 10 * scale && r.height > 10 * scale)
      canvas.text(r.x + 2 * scale, r.y + 2 * scale, label(i, means), 2 * scale, colour);
    if (!histograms.empty()) draw_chart(canvas, r, histograms[i], colour);
  }
  return out;
}

}  // namespace areal::media
