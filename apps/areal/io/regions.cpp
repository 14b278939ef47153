#include "regions.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <areal/sat.hpp>
#include "help.hpp"
#include "named_regions.hpp"
#include "numbers.hpp"
#include "pixels.hpp"
#include "synthetic.hpp"

namespace areal::command {

void RegionOptions::add_to(CLI::App& verb, bool with_draw) {
  begin_group(verb, group::what);
  verb.add_option("--region", texts, "A region; may be given several times")
      ->type_name("X,Y,W,H")
      ->allow_extra_args(false);
  verb.add_option("--regions", file, "A CSV file of regions: x,y,width,height and, optionally, a name")
      ->type_name("CSV");
  verb.add_option("--outside", outside_text,
                  "A region that reaches outside the image is refused (error, the default), or clip: answered for the "
                  "part inside, which its row shows")
      ->type_name("WHAT");
  begin_group(verb, group::output);
  if (with_draw)
    verb.add_option("--draw", draw, "Write the (first) picture with its regions drawn on it")->type_name("PNG");
}

void RegionOptions::resolve() {
  if (!outside_text.empty() && outside_text != "error" && outside_text != "clip")
    refuse("--outside ", outside_text, ": may be error or clip");
  outside_ = outside_text == "clip" ? Outside::clip : Outside::error;
  regions = named_regions(texts, file);
}

const std::vector<media::NamedRegion>& RegionOptions::for_image(const Shape& image,
                                                                std::vector<media::NamedRegion>& buffer) const {
  if (!named()) {
    buffer = {{Region{0, 0, image.width, image.height}, ""}};
    return buffer;
  }
  if (!clips()) return regions;
  buffer = regions;
  for (media::NamedRegion& named : buffer) named.region = clipped(named.region, image);
  return buffer;
}

Region clipped(const Region& region, const Shape& image) noexcept {
  const auto along = [](std::int64_t from, std::int64_t extent, std::int64_t size, std::int64_t& first) {
    std::int64_t end = 0;
    if (__builtin_add_overflow(from, extent, &end)) end = size;
    first = std::clamp<std::int64_t>(from, 0, size);
    return std::clamp<std::int64_t>(end, first, size) - first;
  };
  Region out;
  out.width = along(region.x, region.width, image.width, out.x);
  out.height = along(region.y, region.height, image.height, out.y);
  return out;
}

QueryOptions RegionOptions::query(const Settings& settings) const {
  return {.outside = outside_, .execution = settings.on_host()};
}

std::vector<Region> plain(const std::vector<media::NamedRegion>& regions) {
  std::vector<Region> result;
  result.reserve(regions.size());
  for (const media::NamedRegion& region : regions) result.push_back(region.region);
  return result;
}

std::string label(const media::NamedRegion& region, std::size_t index) {
  return region.name.empty() ? std::to_string(index) : region.name;
}

void put_frame(RowWriter& rows, const Item& item, bool is_sequence) {
  if (!is_sequence) return;
  rows.put("frame", item.number);
  if (item.seconds) rows.put("seconds", *item.seconds);
}

void put_region(RowWriter& rows, const media::NamedRegion& region, std::size_t index) {
  if (region.name.empty())
    rows.put("region", static_cast<std::int64_t>(index));
  else
    rows.put("region", std::string_view(region.name));
  rows.put("x", region.region.x);
  rows.put("y", region.region.y);
  rows.put("width", region.region.width);
  rows.put("height", region.region.height);
}

namespace {

// Rereads the first picture of the input in colour; empty if it cannot be reread or one channel was selected.
Array in_colour(InputOptions input, const Settings& settings) {
  if (input.path == "-" || SyntheticImage::is_name(input.path) || input.path.ends_with(".npy") || !input.raw.empty() ||
      !input.channel_text.empty())
    return {};
  input.all_channels = true;
  Item item;
  open_source(input, settings)->next(item);
  return std::move(item.pixels);
}

std::vector<double> means_of(const ConstView& picture, const std::vector<media::NamedRegion>& regions,
                             const Execution& execution) {
  if (picture.shape.channels != 1) return {};
  return region_means(sat(picture, {}, execution), plain(regions), {Outside::clip, execution});
}

}  // namespace

void draw_to(const std::string& path, const InputOptions& input, const Settings& settings, const ConstView& picture,
             const std::vector<media::NamedRegion>& regions, const std::vector<std::vector<double>>& histograms) {
  const Array colour = picture.shape.channels == 1 ? in_colour(input, settings) : Array();
  const Array bytes = to_8u(colour.shape().empty() ? picture : ConstView(colour.view()));
  const Array plane = bytes.shape().channels == 2 ? one_channel(bytes.view(), 0) : Array();
  const ConstView ground = plane.shape().empty() ? ConstView(bytes.view()) : ConstView(plane.view());
  const std::vector<double> means = means_of(picture, regions, settings.on_host());
  media::write_picture(path, media::draw_regions(ground, regions, histograms, means).view());
}

}  // namespace areal::command
