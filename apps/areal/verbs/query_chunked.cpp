#include "query_chunked.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <areal/chunked_table.hpp>
#include <cmath>
#include <optional>
#include "io/answers.hpp"
#include "io/help.hpp"
#include "io/memory_limit.hpp"
#include "io/numbers.hpp"
#include "io/progress.hpp"
#include "io/synthetic.hpp"

namespace areal::command {
namespace {

std::vector<std::uint64_t> sums_by_formula(const SyntheticImage& image, const std::vector<Region>& regions) {
  std::vector<std::uint64_t> sums;
  for (const Region& r : regions) {
    const Shape& shape = image.shape();
    if (r.x < 0 || r.y < 0 || r.width < 0 || r.height < 0 || r.x > shape.width || r.y > shape.height ||
        r.width > shape.width - r.x || r.height > shape.height - r.y)
      refuse(fmt::format("region {},{},{},{} reaches outside the image of {}x{}", r.x, r.y, r.width, r.height,
                         shape.width, shape.height));
    sums.push_back(image.sum(r));
  }
  return sums;
}

std::vector<std::uint64_t> sums_of_table(const ChunkedTable& table, const ChunkedQueryRequest& chunked,
                                         const std::vector<Region>& regions, const Settings& settings) {
  WorkBar bar("shards", settings.quiet);
  const std::uint64_t memory = memory_for_work(chunked.memory);
  // The regions themselves, and their sums, are in memory already.
  const std::uint64_t taken = regions.size() * (2 * sizeof(Region) + sizeof(std::string) + sizeof(std::uint64_t));
  if (memory > 0 && memory <= taken)
    throw OutOfMemory(fmt::format("--memory {}: the regions alone take {}M", chunked.memory, (taken >> 20) + 1), taken);
  return table.sums(regions, {.threads = settings.threads,
                              .memory = memory == 0 ? 0 : memory - taken,
                              .checked = !chunked.unchecked,
                              .progress = [&](std::int64_t done, std::int64_t total) {
                                bar.update(done, total);
                                return true;
                              }});
}

}  // namespace

void ChunkedQueryRequest::add_to(CLI::App& verb) {
  begin_group(verb, group::where);
  verb.add_option("--memory", memory, "Of a chunked table or a picture: take that much memory, for example 1G")
      ->type_name("BYTES");
  verb.add_flag("--unchecked", unchecked,
                "Of a chunked table: read single entries and not whole tiles against their checksums");
}

void query_chunked(const ChunkedQueryRequest& chunked, const std::string& without, const std::string& path,
                   RegionOptions& regions, const std::vector<Stat>& stats, const Settings& settings) {
  if (!without.empty()) refuse(without, ": a chunked table has the sums of one channel alone");
  for (const Stat stat : stats)
    if (stat != Stat::sum && stat != Stat::mean) refuse("--stat: a chunked table answers sums and means");
  std::optional<ChunkedTable> table;
  std::optional<SyntheticImage> image;
  if (SyntheticImage::is_name(path))
    image.emplace(path);
  else
    table.emplace(path);
  const Shape shape = table ? table->shape() : image->shape();
  std::vector<media::NamedRegion> room;
  const auto& named = regions.for_image(shape, room);
  const std::vector<Region> rectangles = plain(named);
  const std::vector<std::uint64_t> sums =
      image ? sums_by_formula(*image, rectangles) : sums_of_table(*table, chunked, rectangles, settings);

  RowWriter rows(settings.json);
  for (std::size_t i = 0; i < rectangles.size(); ++i) {
    put_region(rows, named[i], i);
    for (const Stat stat : stats) {
      if (stat == Stat::sum) {
        rows.put("sum", sums[i]);
        continue;
      }
      const Region& r = rectangles[i];
      const double pixels = static_cast<double>(r.width) * static_cast<double>(r.height);
      rows.put("mean", pixels == 0 ? std::nan("") : static_cast<double>(sums[i]) / pixels);
    }
    rows.end();
  }
}

}  // namespace areal::command
