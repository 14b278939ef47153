#pragma once
// What the matrix asks of engines that filter images in parts.

#include <areal/filter.hpp>
#include <string>
#include <vector>
#include "piece_matrix/pixels_with_holes.hpp"

namespace areal::piece_matrix {

struct FiltersQuestion {
  Shape image;
  Cut cut{};
  Type type = Type::u8, output = Type::f64;
  Filter filter = filter::Mean{};
  FilterOptions options{.window = {.width = 4, .height = 5}};
  conformance::Fill fill = conformance::Fill::wild;
  bool progress = false;
  int threads = 2;
  std::vector<std::string> named;
  std::uint64_t seed = 1;

  std::string words() const {
    std::string words = std::string(name_of(type)) + ", " + cut.name;
    for (const std::string& name : named) words += ", " + name;
    return words + ", seed " + std::to_string(seed);
  }
  /// Of the type of its pixels.
  bool keeps_type() const {
    return std::holds_alternative<filter::Minimum>(filter) || std::holds_alternative<filter::Maximum>(filter) ||
           std::holds_alternative<filter::Percentile>(filter) || std::holds_alternative<filter::Equalize>(filter) ||
           std::holds_alternative<filter::Otsu>(filter) || std::holds_alternative<filter::Modal>(filter);
  }
  Type out() const { return keeps_type() ? type : output; }
  Type guide_type() const { return options.guide_type.value_or(type); }
};
/// As TableOption.
struct FiltersOption {
  const char *group, *name;
  void (*set)(FiltersQuestion&);
};
inline void set_size(FiltersQuestion& q, std::int64_t width, std::int64_t height) {
  q.options.window.width = width, q.options.window.height = height;
}
template <Edge edge>
void set_edge(FiltersQuestion& q) {
  q.options.window.edge = edge;
}
/// Its values where a picture of black and white is wanted, and the thresholds themselves.
template <filter::Local method, Type output>
void set_threshold(FiltersQuestion& q) {
  q.filter = filter::Threshold{.method = method, .r = 30, .offset = 1}, q.output = output;
}
inline void set_gaussian(FiltersQuestion& q, const filter::Gaussian& gaussian) {
  q.filter = gaussian;
  q.options.window.width = q.options.window.height = 1;
  q.options.window.anchor_x = q.options.window.anchor_y = -1;
}
template <std::int64_t channels, Type type>
void set_guide(FiltersQuestion& q) {
  q.filter = filter::Guided{.eps = 30}, q.output = Type::f32;
  q.options.guide = channels, q.options.guide_type = type;
}
inline constexpr FiltersOption filters_options[] = {
    {"values", "wild", [](FiltersQuestion&) {}},
    {"values", "most", [](FiltersQuestion& q) { q.fill = conformance::Fill::most; }},
    {"values", "small", [](FiltersQuestion& q) { q.fill = conformance::Fill::exact; }},
    {"values", "NaN and infinities", [](FiltersQuestion& q) { q.fill = conformance::Fill::holes; }},
    {"edge", "valid", set_edge<Edge::valid>},
    {"edge", "zero", set_edge<Edge::zero>},
    {"edge", "replicate", set_edge<Edge::replicate>},
    {"edge", "reflect", set_edge<Edge::reflect>},
    {"edge", "symmetric", set_edge<Edge::symmetric>},
    {"edge", "wrap", set_edge<Edge::wrap>},
    {"edge", "constant", [](FiltersQuestion& q) { set_edge<Edge::constant>(q), q.options.window.value = 9; }},
    {"size", "1x1", [](FiltersQuestion& q) { set_size(q, 1, 1); }},
    {"size", "2x2", [](FiltersQuestion& q) { set_size(q, 2, 2); }},
    {"size", "9x1", [](FiltersQuestion& q) { set_size(q, 9, 1); }},
    {"size", "3x7", [](FiltersQuestion& q) { set_size(q, 3, 7); }},
    {"size", "7x12", [](FiltersQuestion& q) { set_size(q, 7, 12); }},
    {"size", "as high as the image", [](FiltersQuestion& q) { set_size(q, 2, q.cut.image_height + 1); }},
    {"size", "3x40", [](FiltersQuestion& q) { set_size(q, 3, 40); }},
    {"size", "90x3", [](FiltersQuestion& q) { set_size(q, 90, 3); }},
    {"size", "2x700", [](FiltersQuestion& q) { set_size(q, 2, 700); }},
    {"anchor", "first", [](FiltersQuestion& q) { q.options.window.anchor_x = q.options.window.anchor_y = 0; }},
    {"anchor", "last",
     [](FiltersQuestion& q) {
       q.options.window.anchor_x = q.options.window.width - 1, q.options.window.anchor_y = q.options.window.height - 1;
     }},
    {"filter", "sum", [](FiltersQuestion& q) { q.filter = filter::Sum{}; }},
    {"filter", "count", [](FiltersQuestion& q) { q.filter = filter::Count{}; }},
    {"filter", "variance", [](FiltersQuestion& q) { q.filter = filter::Variance{1}; }},
    {"filter", "deviation", [](FiltersQuestion& q) { q.filter = filter::StandardDeviation{}; }},
    {"filter", "minimum", [](FiltersQuestion& q) { q.filter = filter::Minimum{}; }},
    {"filter", "maximum", [](FiltersQuestion& q) { q.filter = filter::Maximum{}; }},
    {"filter", "bradley", set_threshold<filter::Local::bradley, Type::u8>},
    {"filter", "niblack", set_threshold<filter::Local::niblack, Type::f32>},
    {"filter", "sauvola", set_threshold<filter::Local::sauvola, Type::u8>},
    {"filter", "nick", set_threshold<filter::Local::nick, Type::f64>},
    {"filter", "median", [](FiltersQuestion& q) { q.filter = filter::Percentile{}; }},
    {"filter", "percentile", [](FiltersQuestion& q) { q.filter = filter::Percentile{20}; }},
    {"filter", "equalize", [](FiltersQuestion& q) { q.filter = filter::Equalize{}; }},
    {"filter", "otsu", [](FiltersQuestion& q) { q.filter = filter::Otsu{}; }},
    {"filter", "entropy", [](FiltersQuestion& q) { q.filter = filter::Entropy{}; }},
    {"filter", "modal", [](FiltersQuestion& q) { q.filter = filter::Modal{}; }},
    {"filter", "bilateral", [](FiltersQuestion& q) { q.filter = filter::Bilateral{30}; }},
    {"filter", "guided", [](FiltersQuestion& q) { q.filter = filter::Guided{.eps = 30}, q.output = Type::f32; }},
    {"filter", "gaussian",
     [](FiltersQuestion& q) {
       set_gaussian(q, {1.5, 0.8});
     }},
    {"filter", "gaussian of boxes",
     [](FiltersQuestion& q) {
       set_gaussian(q, {2, 3, 4, 2});
     }},
    {"guide", "of 1 channel", set_guide<1, Type::f32>},
    {"guide", "of 3 channels", set_guide<3, Type::u8>},
    {"filter wolf", "", set_threshold<filter::Local::wolf, Type::u8>},
    {"output", "8u", [](FiltersQuestion& q) { q.output = Type::u8; }},
    {"output", "16s", [](FiltersQuestion& q) { q.output = Type::s16; }},
    {"output", "32f", [](FiltersQuestion& q) { q.output = Type::f32; }},
    {"output", "the image's", [](FiltersQuestion& q) { q.output = q.type; }},
    {"rounding", "as OpenCV", [](FiltersQuestion& q) { q.options.window.rounding = Rounding::opencv; }},
    {"channels", "3 interleaved", [](FiltersQuestion& q) { q.image.channels = 3; }},
    {"channels", "2 planar", [](FiltersQuestion& q) { q.image.channels = 2, q.image.layout = Layout::planar; }},
    {"mask", "of 8u", [](FiltersQuestion& q) { q.options.mask = true; }},
    {"nan", "omit", [](FiltersQuestion& q) { q.options.nan = Missing::omit, q.fill = conformance::Fill::holes; }},
    {"min_count", "12", [](FiltersQuestion& q) { q.options.min_count = 12, q.options.fill = 77; }},
    {"threads", "1", [](FiltersQuestion& q) { q.threads = 1; }},
    {"batch", "2 images", [](FiltersQuestion& q) { q.image.batch = 2; }},
    {"progress", "counted", [](FiltersQuestion& q) { q.progress = true; }},
};
inline FiltersQuestion filters_question(Type type, const Cut& cut, const std::vector<const FiltersOption*>& options) {
  FiltersQuestion q;
  q.cut = cut, q.type = type;
  q.image = {cut.image_width, cut.image_height};
  for (const FiltersOption* const option : options) {
    option->set(q);
    q.named.push_back(*option->name == '\0' ? option->group : std::string(option->group) + " " + option->name);
  }
  return q;
}

/// With a mask or a guide.
struct FiltersInputs : PixelsWithHoles {
  explicit FiltersInputs(const FiltersQuestion& q) : PixelsWithHoles(q.type, q.image, q.fill, q.seed) {
    Shape guide = q.image;
    guide.channels = q.options.guide;
    if (q.options.guide > 0) add(conformance::random_image(q.guide_type(), guide, q.fill, q.seed + 1));
    if (q.options.mask) add_mask(q.image, q.seed);
  }
};

}  // namespace areal::piece_matrix
