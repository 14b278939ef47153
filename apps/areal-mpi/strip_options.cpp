#include "strip_options.hpp"
#include <CLI/CLI.hpp>
#include "io/named_regions.hpp"
#include "io/numbers.hpp"

namespace areal::command {

void StripOptions::add_to(CLI::App& verb) {
  verb.add_option("INPUT", path,
                  "An .npy of two dimensions, of which each rank maps its rows; a file of pixels (--raw); or "
                  "synthetic:WxH:SEED, made by each rank")
      ->required();
  verb.add_option("--raw", raw, "INPUT is pixels without a header")->type_name("WxHxTYPE");
  verb.add_option("--strips", strips, "The rows of each rank, separated by commas (default: as even as can be)")
      ->type_name("LIST");
  verb.add_option("--region", region_texts, "A region x,y,width,height; may be given many times")
      ->type_name("X,Y,W,H")
      ->allow_extra_args(false);
  verb.add_option("--regions", regions_file, "Regions from a CSV file: x,y,width,height and a name")->type_name("FILE");
}

std::vector<Region> StripInput::rectangles() const {
  std::vector<Region> out;
  for (const media::NamedRegion& region : regions) out.push_back(region.region);
  return out;
}

StripInput read_strip(const Job& job, const StripOptions& options) {
  StripInput input;
  job.together([&] {
    input.source = open_strips(options.path, options.raw);
    input.image = input.source->shape();
    input.regions = named_regions(options.region_texts, options.regions_file);
    std::int64_t count = 0;
    if (options.strips.empty()) {
      const mpi::Rows rows = mpi::even_rows(job.comm(), input.image.height);
      input.first = rows.first, count = rows.count;
    } else {
      const auto parts = split(options.strips, ',');
      if (static_cast<int>(parts.size()) != job.size())
        refuse("--strips ", options.strips, ": has ", std::to_string(parts.size()), " numbers of rows for ",
               std::to_string(job.size()), " ranks");
      std::int64_t sum = 0;
      for (int i = 0; i < job.size(); ++i) {
        const std::int64_t rows = whole_number("--strips", parts[static_cast<std::size_t>(i)], 0, input.image.height);
        if (i == job.rank()) input.first = sum, count = rows;
        sum += rows;
      }
      if (sum != input.image.height)
        refuse("--strips ", options.strips, ": has ", std::to_string(sum), " rows in all, the image ",
               std::to_string(input.image.height));
    }
    input.strip = input.source->rows(input.first, count);
  });
  return input;
}

void put_region(RowWriter& rows, const media::NamedRegion& region, std::size_t index) {
  rows.put("region", region.name.empty() ? std::to_string(index) : region.name);
  rows.put("x", region.region.x);
  rows.put("y", region.region.y);
  rows.put("width", region.region.width);
  rows.put("height", region.region.height);
}

}  // namespace areal::command
