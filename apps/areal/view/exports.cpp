#include "view/exports.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <algorithm>
#include <areal/error.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include "io/regions.hpp"
#include "io/rows.hpp"
#include "io/track_file.hpp"
#include "media/media.hpp"

namespace areal::command::page {
namespace {

/// The name of a region, or its number on the page.
media::NamedRegion named(const view::DrawnRegion& region) {
  return {region.box, region.name.empty() ? std::to_string(region.id) : region.name};
}

template <class F>
std::string rows_of(const view::Scene& picture, const std::vector<view::DrawnRegion>& regions, F&& put) {
  std::string text;
  RowWriter rows(false, [&](std::string_view line) { text += line; });
  for (const view::DrawnRegion& region : regions)
    for (std::size_t c = 0; c < picture.channels(); ++c) {
      const view::Answer answer = picture.answer(c, region.box);
      if (answer.standing == view::Answer::Standing::pending)
        throw Unavailable("region " + std::to_string(region.id) + ": the survey has not passed it yet");
      if (picture.channels() > 1) rows.put("channel", std::string_view(picture.names()[c]));
      put_region(rows, named(region), 0);
      put(rows, answer);
      rows.end();
    }
  return text;
}

/// A new folder of this user alone, removed with its files.
class PrivateFolder {
 public:
  PrivateFolder() : path_((std::filesystem::temp_directory_path() / "areal-view-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) throw IoError(path_ + ": cannot be created");
  }
  ~PrivateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  std::filesystem::path path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

std::string regions_csv(const std::vector<view::DrawnRegion>& regions) {
  if (regions.empty()) return "x,y,width,height,name\n";
  std::string text;
  RowWriter rows(false, [&](std::string_view line) { text += line; });
  for (const view::DrawnRegion& region : regions) {
    rows.put("x", region.box.x);
    rows.put("y", region.box.y);
    rows.put("width", region.box.width);
    rows.put("height", region.box.height);
    rows.put("name", std::string_view(named(region).name));
    rows.end();
  }
  return text;
}

std::string statistics_csv(const view::Scene& picture, const std::vector<view::DrawnRegion>& regions) {
  return rows_of(picture, regions, [](RowWriter& rows, const view::Answer& answer) {
    const view::Moments& m = answer.moments;
    rows.put("pixels", m.pixels);
    rows.put("sum", std::string_view(m.nans == 0 ? m.sum : "nan"));
    rows.put("mean", m.mean);
    rows.put("std", m.deviation);
    std::visit([&](auto value) { rows.put("min", value); }, m.least);
    std::visit([&](auto value) { rows.put("max", value); }, m.most);
    for (std::size_t i = 0; i < view::percents.size(); ++i)
      rows.put(fmt::format("p{}", view::percents[i]), answer.percentiles[i]);
  });
}

std::string histograms_csv(const view::Scene& picture, const std::vector<view::DrawnRegion>& regions) {
  return rows_of(picture, regions, [](RowWriter& rows, const view::Answer& answer) {
    rows.put_list("histogram", "bin", std::span<const std::uint64_t>(answer.histogram));
  });
}

std::string tracks_csv(const view::Film& film) {
  std::string text = header_of(TrackFormat::csv);
  for (const view::TrackRow& row : film.rows())
    text += line_of(TrackFormat::csv, {row.frame, row.id, row.box}, row.seconds);
  return text;
}

std::string picture_png(const view::Scene& picture, const std::vector<view::DrawnRegion>& regions) {
  const auto [drawing, level] = picture.drawing(picture.colour().value_or(0), picture.drawn());
  std::vector<media::NamedRegion> all;
  for (const view::DrawnRegion& region : regions) {
    all.push_back(named(region));
    Region& box = all.back().region;
    const std::int64_t right = (box.x + box.width) >> level, bottom = (box.y + box.height) >> level;
    box.x >>= level, box.y >>= level;
    box.width = std::max<std::int64_t>(1, right - box.x), box.height = std::max<std::int64_t>(1, bottom - box.y);
  }
  const PrivateFolder folder;
  const std::filesystem::path file = folder.path() / "picture.png";
  media::write_picture(file, media::draw_regions(drawing.view(), all).view());
  std::ifstream written(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(written), {}};
}

}  // namespace areal::command::page
