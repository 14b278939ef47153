#pragma once
// The options of verbs that read an image and answer regions of it.

#include <areal/region.hpp>
#include <memory>
#include <string>
#include <vector>
#include "input.hpp"
#include "io/rows.hpp"
#include "job.hpp"
#include "media/media.hpp"
#include "verbs.hpp"

namespace areal::command {

struct StripOptions {
  std::string path, raw, strips, regions_file;
  std::vector<std::string> region_texts;

  void add_to(CLI::App& verb);
  bool names_regions() const noexcept { return !region_texts.empty() || !regions_file.empty(); }
};

/// What this rank has of the image, and what is asked about it.
struct StripInput {
  std::unique_ptr<StripSource> source;
  Shape image;
  ConstView strip;
  std::int64_t first = 0;
  std::vector<media::NamedRegion> regions;

  std::vector<Region> rectangles() const;
};

/// Collective. Throws on all ranks what goes wrong on one.
StripInput read_strip(const Job& job, const StripOptions& options);

/// region, x, y, width, height.
void put_region(RowWriter& rows, const media::NamedRegion& region, std::size_t index);

}  // namespace areal::command
