#include "view/layer.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/region_histogram.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <variant>
#include "view/element.hpp"

namespace areal::view {
namespace {

constexpr std::uint64_t bytes_a_pixel = 32;  // pixels, a filter's output of 64f, its rows, the layer
constexpr std::int64_t most_side = 65535;    // of a tile

Execution on_cpu(int threads) { return {.backend = Backend::cpu, .threads = threads}; }

Region shifted(const Region& region, std::size_t level, const Extent& extent) {
  const auto from = [&](std::int64_t at, std::int64_t whole) { return std::min(at >> level, whole - 1); };
  const auto to = [&](std::int64_t end, std::int64_t whole) {
    return std::clamp<std::int64_t>(((end - 1) >> level) + 1, 1, whole);
  };
  const std::int64_t x = from(region.x, extent.width), y = from(region.y, extent.height);
  return {x, y, to(region.x + region.width, extent.width) - x, to(region.y + region.height, extent.height) - y};
}

/// A region with `columns` columns and `rows` rows around it, cut at the image.
Region widened(const Region& region, std::int64_t columns, std::int64_t rows, const Extent& extent) {
  const std::int64_t x = std::max<std::int64_t>(0, region.x - columns), y = std::max<std::int64_t>(0, region.y - rows);
  return {x, y, std::min(extent.width, region.x + region.width + columns) - x,
          std::min(extent.height, region.y + region.height + rows) - y};
}

/// The part in `of`'s values, as 32f, with its extremes.
void put_values(Layer& layer, const ConstView& of) {
  layer.values = Array(Shape{layer.box.width, layer.box.height}, Type::f32);
  layer.least = std::numeric_limits<double>::infinity(), layer.most = -layer.least;
  with_type(of.type, [&]<class T>(T*) {
    for (std::int64_t y = 0; y < layer.box.height; ++y) {
      auto* to = static_cast<float*>(layer.values.view().row(y));
      for (std::int64_t x = 0; x < layer.box.width; ++x) {
        const auto value = static_cast<double>(element<T>(of.row(y), x));
        to[x] = static_cast<float>(value);
        if (std::isfinite(value)) layer.least = std::min(layer.least, value), layer.most = std::max(layer.most, value);
      }
    }
  });
  if (layer.least > layer.most) layer.least = layer.most = std::numeric_limits<double>::quiet_NaN();
}

/// As 16u, of levels below the first, or 64f.
Array as_type(const ConstView& image, Type type) {
  Array out(image.shape, type);
  with_type(image.type, [&]<class From>(From*) {
    for (std::int64_t y = 0; y < image.shape.height; ++y) {
      char* to = static_cast<char*>(out.view().row(y));
      for (std::int64_t x = 0; x < image.shape.width; ++x) {
        const auto value = static_cast<double>(element<From>(image.row(y), x));
        if (type == Type::u16) {
          const auto narrow = static_cast<std::uint16_t>(std::lround(std::clamp(value, 0.0, 65535.0)));
          std::memcpy(to + static_cast<std::size_t>(x) * sizeof narrow, &narrow, sizeof narrow);
        } else {
          std::memcpy(to + static_cast<std::size_t>(x) * sizeof value, &value, sizeof value);
        }
      }
    }
  });
  return out;
}

/// The pixels of a region of a level; of types that `takes` refuses as 64f.
Array pixels_of(const Scene& scene, const LayerPart& part, std::size_t level, const Region& region,
                bool (*takes)(Type)) {
  Array pixels = scene.copy(part.channel, level, region);
  if (scene.type() == Type::u16 && pixels.type() != Type::u16) return as_type(std::as_const(pixels).view(), Type::u16);
  return takes(pixels.type()) ? std::move(pixels) : as_type(std::as_const(pixels).view(), Type::f64);
}

/// How far beyond a pixel its value may depend on others.
struct Reach {
  std::int64_t columns = 0, rows = 0;
  bool is_whole = false;
};

Reach reach_of(const Filter& filter, const Window& window, Type type) {
  if (const auto* gaussian = std::get_if<filter::Gaussian>(&filter)) {
    const auto far = [&](double sigma) {
      if (!(sigma > 0 && sigma <= 1000)) return std::int64_t{0};  // which the plan refuses
      const double passes = gaussian->passes > 0 ? gaussian->passes : 5;
      const double weights = std::min(std::max(0.0, gaussian->truncate), 4096.0) * sigma;
      return static_cast<std::int64_t>(std::ceil(std::max(weights, passes * (std::sqrt(3 / passes) * sigma + 2)))) + 1;
    };
    return {far(gaussian->sigma_x), far(gaussian->sigma_y), window.edge == Edge::wrap};
  }
  const std::int64_t times = std::holds_alternative<filter::Guided>(filter) ? 2 : 1;
  const auto* threshold = std::get_if<filter::Threshold>(&filter);
  constexpr std::int64_t most = std::int64_t{1} << 40;
  return {times * std::min(window.width, most), times * std::min(window.height, most),
          window.edge == Edge::wrap || (threshold != nullptr && threshold->method == filter::Local::wolf) ||
              (std::holds_alternative<filter::Equalize>(filter) && type != Type::u8)};
}

/// The first level at which `region_at` has few enough pixels.
template <class F>
std::size_t level_for(const Scene& scene, std::uint64_t bytes_each, std::uint64_t memory, F&& region_at) {
  const auto most = static_cast<std::int64_t>(
      std::min<std::uint64_t>(static_cast<std::uint64_t>(most_layer_pixels), memory / bytes_each));
  std::size_t level = 0;
  for (; level + 1 < scene.levels().size(); ++level) {
    const Region region = region_at(level);
    if (region.width <= most_side && region.height <= most_side && region.width <= most / region.height) break;
  }
  return level;
}

/// Of a threshold its decision; of one of the pixels their type; else what holds the statistic.
Type type_of(const Filter& filter, Type image) {
  if (std::holds_alternative<filter::Threshold>(filter)) return Type::u8;
  if (std::holds_alternative<filter::Guided>(filter)) return Type::f32;
  const bool is_pixel =
      std::holds_alternative<filter::Minimum>(filter) || std::holds_alternative<filter::Maximum>(filter) ||
      std::holds_alternative<filter::Percentile>(filter) || std::holds_alternative<filter::Equalize>(filter) ||
      std::holds_alternative<filter::Otsu>(filter) || std::holds_alternative<filter::Modal>(filter);
  return is_pixel ? image : Type::f64;
}

bool filters_take(Type type) { return type != Type::u64 && type != Type::s64; }
bool matches_take(Type type) { return type == Type::u8 || type == Type::u16 || type == Type::f32 || type == Type::f64; }
bool any_type(Type) { return true; }

/// A region that is searched, and the part with all windows of its size whose middle is visible.
struct Hunt {
  std::size_t level = 0;
  Region target, part;
};

Hunt hunt_for(const Scene& scene, const LayerPart& part, const Region& target, std::uint64_t bytes_each) {
  checked_region(target, 0, scene.width(), scene.height());
  if (target.width == 0 || target.height == 0) throw InvalidArgument("region: it may not be empty");
  Hunt hunt;
  const auto target_at = [&](std::size_t level) { return shifted(target, level, scene.levels()[level]); };
  const auto part_at = [&](std::size_t level) {
    const Region small = target_at(level);
    const Extent& extent = scene.levels()[level];
    return widened(shifted(part.view, level, extent), small.width, small.height, extent);
  };
  hunt.level = level_for(scene, bytes_each, part.memory, part_at);
  hunt.target = target_at(hunt.level), hunt.part = part_at(hunt.level);
  return hunt;
}

/// Scores of the windows that begin at each pixel of the part, as a layer.
Layer layer_of(const Hunt& hunt, const ConstView& scores, const Region& target, bool minima, int threads) {
  Layer layer;
  layer.level = hunt.level;
  layer.box = {hunt.part.x + hunt.target.width / 2, hunt.part.y + hunt.target.height / 2, scores.shape.width,
               scores.shape.height};
  put_values(layer, scores);
  PeakOptions options;
  options.top = most_places, options.minima = minima;
  options.distance = std::max<std::int64_t>(1, std::min(hunt.target.width, hunt.target.height) / 2);
  for (const Peak& peak : peaks(scores, options, on_cpu(threads)))
    layer.places.push_back(
        {{(hunt.part.x + peak.x) << hunt.level, (hunt.part.y + peak.y) << hunt.level, target.width, target.height},
         peak.score});
  return layer;
}

}  // namespace

Layer filtered(const Scene& scene, const LayerPart& part, const Filter& filter, const FilterOptions& options) {
  checked_region(part.view, 0, scene.width(), scene.height());
  const Reach reach = reach_of(filter, options.window, scene.type());
  const auto part_at = [&](std::size_t level) {
    const Extent& extent = scene.levels()[level];
    return reach.is_whole ? Region{0, 0, extent.width, extent.height}
                          : widened(shifted(part.view, level, extent), reach.columns, reach.rows, extent);
  };
  Layer layer;
  layer.level = level_for(scene, bytes_a_pixel, part.memory, part_at);
  const Region wide = part_at(layer.level);
  const Array pixels = pixels_of(scene, part, layer.level, wide, filters_take);
  const FilterPlan plan({wide.width, wide.height}, pixels.type(), type_of(filter, pixels.type()), filter, options,
                        on_cpu(part.threads));
  const Shape shape = plan.out_shape();
  if (shape.empty()) throw InvalidArgument("size: with edge valid it may not exceed the picture");
  Array out(shape, plan.out());
  Workspace workspace(plan);
  plan.execute({.image = pixels.view(), .out = out.view()}, workspace);
  // Edge `valid`: the first output is of the window that begins at the first pixel.
  const std::int64_t left = wide.x + (wide.width - shape.width + 1) / 2;
  const std::int64_t top = wide.y + (wide.height - shape.height + 1) / 2;
  const Region seen = shifted(part.view, layer.level, scene.levels()[layer.level]);
  const std::int64_t x = std::clamp(seen.x, left, left + shape.width - 1);
  const std::int64_t y = std::clamp(seen.y, top, top + shape.height - 1);
  layer.box = {x, y, std::clamp(seen.x + seen.width, x + 1, left + shape.width) - x,
               std::clamp(seen.y + seen.height, y + 1, top + shape.height) - y};
  put_values(layer, part_of(std::as_const(out).view(), {x - left, y - top, layer.box.width, layer.box.height}));
  return layer;
}

Layer matched(const Scene& scene, const LayerPart& part, const Region& target, MatchMethod method) {
  const Hunt hunt = hunt_for(scene, part, target, 2 * bytes_a_pixel);
  const Array pixels = pixels_of(scene, part, hunt.level, hunt.part, matches_take);
  const Array templ = pixels_of(scene, part, hunt.level, hunt.target, matches_take);
  MatchOptions options;
  options.method = method;
  const MatchPlan plan(pixels.shape(), templ.shape(), pixels.type(), Type::f64, options, on_cpu(part.threads));
  Array scores(plan.out_shape(), Type::f64);
  Workspace workspace(plan);
  plan.execute({pixels.view(), templ.view(), scores.view()}, workspace);
  return layer_of(hunt, std::as_const(scores).view(), target,
                  method == MatchMethod::sqdiff || method == MatchMethod::sqdiff_normed, part.threads);
}

Layer searched(const Scene& scene, const LayerPart& part, const Region& target, Distance measure) {
  const Hunt hunt = hunt_for(scene, part, target, bytes_a_pixel);
  const Array pixels = pixels_of(scene, part, hunt.level, hunt.part, any_type);
  const Array sample = pixels_of(scene, part, hunt.level, hunt.target, any_type);
  const Binning binning = Binning::uniform(search_bins, scene.range().first, scene.range().second);
  const Execution execution = on_cpu(part.threads);
  const Region whole{0, 0, hunt.target.width, hunt.target.height};
  const std::vector<std::uint64_t> counts =
      region_histograms(sample.view(), binning, Span<const Region>(&whole, 1), {.execution = execution});
  const std::vector<double> wanted(counts.begin(), counts.end());
  Array distances(Shape{hunt.part.width - hunt.target.width + 1, hunt.part.height - hunt.target.height + 1}, Type::f64);
  distance_map(pixels.view(), binning, hunt.target.width, hunt.target.height, wanted, measure, distances.view(),
               execution);
  return layer_of(hunt, std::as_const(distances).view(), target, true, part.threads);
}

std::string layer_tile(const Layer& layer) {
  const Shape& shape = layer.values.shape();
  std::string tile = new_tile({.type = 2, .width = shape.width, .height = shape.height}, sizeof(float));
  std::memcpy(tile.data() + tile_header_bytes, layer.values.data(), layer.values.bytes());
  return tile;
}

}  // namespace areal::view
