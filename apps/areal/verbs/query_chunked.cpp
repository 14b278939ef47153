#include "query_chunked.hpp"

#include <areal/chunked_table.hpp>
#include <cmath>
#include <optional>
#include "io/answers.hpp"
#include "io/numbers.hpp"
#include "io/progress.hpp"
#include "io/synthetic.hpp"

namespace areal::command {
namespace {

std::vector<std::uint64_t> sums_by_formula(const SyntheticImage& image, const std::vector<Region>& regions) {
  std::vector<std::uint64_t> sums;
  for (const Region& r : regions) {
    const auto index = static_cast<std::int64_t>(sums.size());
    sums.push_back(image.sum(checked_region(r, index, image.shape().width, image.shape().height)));
  }
  return sums;
}

std::vector<std::uint64_t> sums_of_table(const ChunkedTable& table, const std::vector<Region>& regions,
                                         const Limits& limits, bool checked, const Settings& settings) {
  WorkBar bar("shards", settings.quiet);
  // The regions themselves, and their sums, are in memory already.
  const std::uint64_t taken = regions.size() * (2 * sizeof(Region) + sizeof(std::string) + sizeof(std::uint64_t));
  return table.sums(regions, {.threads = settings.threads,
                              .memory = memory_left(limits, taken, "the regions"),
                              .checked = checked,
                              .progress = [&](std::int64_t done, std::int64_t total) {
                                bar.update(done, total);
                                return true;
                              }});
}

}  // namespace

void query_chunked(const std::string& path, const RegionOptions& regions, const std::vector<Stat>& stats,
                   const Limits& limits, bool checked, const Settings& settings) {
  std::optional<ChunkedTable> table;
  std::optional<SyntheticImage> image;
  if (SyntheticImage::is_name(path))
    image.emplace(path);
  else
    table.emplace(path);
  const Shape shape = table ? table->shape() : image->shape();
  std::vector<media::NamedRegion> buffer;
  const auto& named = regions.for_image(shape, buffer);
  const std::vector<Region> rectangles = plain(named);
  const std::vector<std::uint64_t> sums =
      image ? sums_by_formula(*image, rectangles) : sums_of_table(*table, rectangles, limits, checked, settings);

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
