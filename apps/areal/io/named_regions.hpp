#pragma once
// The regions that --region and --regions name.

#include <string>
#include <vector>
#include "media/media.hpp"
#include "numbers.hpp"

namespace areal::command {

/// Those of the texts, x,y,width,height each, then those of the file, unless its name is empty. Throws InvalidArgument,
/// also if a file is named and there is no region, and IoError.
inline std::vector<media::NamedRegion> named_regions(const std::vector<std::string>& texts, const std::string& file) {
  std::vector<media::NamedRegion> regions;
  for (const std::string& text : texts) regions.push_back(media::parse_region(text));
  if (file.empty()) return regions;
  for (media::NamedRegion& region : media::read_regions_csv(file)) regions.push_back(std::move(region));
  if (regions.empty()) refuse("--regions ", file, ": holds no region");
  return regions;
}

}  // namespace areal::command
