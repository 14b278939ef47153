#include "hist_search.hpp"

#include <CLI/CLI.hpp>
#include "hist_binning.hpp"
#include "io/help.hpp"
#include "io/numbers.hpp"
#include "io/regions.hpp"
#include "media/media.hpp"

namespace areal::command {
namespace {

// A template of four numbers is a region; anything else is a file.
bool is_region(const std::string& text) {
  return split(text, ',').size() == 4 && text.find_first_not_of("0123456789+-, ") == std::string::npos;
}

}  // namespace

void SearchOptions::add_to(CLI::App& verb) {
  begin_group(verb, group::what);
  verb.add_option("--template", template_text,
                  "Compare with this region of the (first) image, or with the histogram in a file")
      ->type_name("X,Y,W,H|FILE");
  verb.add_option("--distance", distance, distance_names() + " (default hellinger)")->type_name("NAME");
  verb.add_option("--window", window, "Size of the windows of --map (default: the template's)")->type_name("WxH");
  begin_group(verb, group::output);
  verb.add_option("--map", map, "Write the distance of every window: an .npy, or a picture; brighter is closer")
      ->type_name("FILE");
}

void SearchOptions::resolve() {
  if (!given() && (!distance.empty() || maps() || !window.empty()))
    refuse(!distance.empty() ? "--distance" : maps() ? "--map" : "--window", ": needs --template");
  if (!window.empty() && !maps()) refuse("--window ", window, ": needs --map");
  if (!distance.empty()) parse_distance(distance);
  if (!window.empty()) size("--window", window);
  if (maps() && window.empty() && !is_region(template_text))
    refuse("--map ", map, ": needs --window where the template is a file");
}

void SearchOptions::find_target(const Binning& binning, Reducers& reducers, const CountRegions& count) const {
  if (!given()) return;
  reducers.measure = parse_distance(distance.empty() ? std::string(name_of(Distance::hellinger)) : distance);
  const auto bins = static_cast<std::size_t>(binning.bins());
  if (is_region(template_text)) {
    const auto counts = count({media::parse_region(template_text).region});
    reducers.target.assign(counts.begin(), counts.end());
    return;
  }
  reducers.target = read_numbers(template_text);
  if (reducers.target.size() != bins)
    refuse("--template ", template_text, ": holds ", std::to_string(reducers.target.size()), " numbers; there are ",
           std::to_string(bins), " bins");
}

void SearchOptions::find_target(const ConstView& image, const Binning& binning, Reducers& reducers,
                                const Settings& settings) const {
  find_target(binning, reducers, [&](const std::vector<Region>& regions) {
    return region_histograms(image, binning, regions, {.execution = settings.on_host()});
  });
}

void SearchOptions::write_map(const Shape& image, const MakeMap& make, RowWriter& rows, bool with_row,
                              const Settings& settings) const {
  Size cells;
  if (window.empty()) {
    const Region region = media::parse_region(template_text).region;
    cells = {region.width, region.height};
  } else {
    cells = size("--window", window);
  }
  const std::int64_t width = image.width, height = image.height;
  if (cells.width < 1 || cells.height < 1 || cells.width > width || cells.height > height)
    refuse("--window ", fmt::format("{}x{}", cells.width, cells.height), ": may be 1x1 to the image's size, ",
           fmt::format("{}x{}", width, height));
  Array distances(Shape{width - cells.width + 1, height - cells.height + 1}, Type::f32);
  make(cells.width, cells.height, distances.view());
  if (map.ends_with(".npy"))
    media::write_npy(map, distances.view());
  else
    media::write_picture(map, media::heat_map(distances.view()).view());
  settings.detail("wrote {}", map);
  if (!with_row) return;
  const float* values = distances.as<float>();
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < distances.shape().width * distances.shape().height; ++i)
    if (values[i] < values[best]) best = i;
  const std::int64_t across = distances.shape().width;
  put_region(rows, {Region{best % across, best / across, cells.width, cells.height}, "nearest"}, 0);
  rows.put("distance", static_cast<double>(values[best]));
  rows.end();
}

}  // namespace areal::command
