#include "region_answers.hpp"

#include <areal/error.hpp>
#include <areal/strips.hpp>
#include <variant>
#include "io/exact_sums.hpp"
#include "io/numbers.hpp"
#include "io/progress.hpp"

namespace areal::command {
namespace {

using Column = std::variant<std::vector<std::uint64_t>, std::vector<std::int64_t>, std::vector<double>>;

/// Of each region: as it was read, as StripSums keeps it, and its answers.
std::uint64_t region_bytes(std::int64_t channels) {
  return 2 * sizeof(media::NamedRegion) + sizeof(Region) + 40 + 6 * 8 * static_cast<std::uint64_t>(channels);
}

Column column_of(Stat stat, const StripSums& sums, Type type) {
  if (stat == Stat::mean) return sums.means();
  if (stat == Stat::variance) return sums.variances();
  if (stat == Stat::deviation) return sums.standard_deviations();
  if (is_float(type)) return sums.sums<double>();
  if (is_signed_integer(type)) return sums.sums<std::int64_t>();
  return sums.sums<std::uint64_t>();
}

void write_rows(RowWriter& rows, const std::function<void(RowWriter&, std::int64_t)>& prefix, const StripSums& sums,
                std::int64_t channels, Type type, const std::vector<media::NamedRegion>& regions,
                const std::vector<Stat>& stats) {
  std::vector<Column> columns;
  for (const Stat stat : stats) columns.push_back(column_of(stat, sums, type));
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::size_t i = 0; i < regions.size(); ++i) {
      prefix(rows, c);
      put_region(rows, regions[i], i);
      const std::size_t at = i * static_cast<std::size_t>(channels) + static_cast<std::size_t>(c);
      for (std::size_t s = 0; s < stats.size(); ++s)
        std::visit([&](const auto& column) { rows.put(name_of(stats[s]), column[at]); }, columns[s]);
      rows.end();
    }
}

}  // namespace

void answer_by_strips(const InputOptions& input, const InputImage& image, const Limits& limits,
                      const RegionOptions& named, const std::vector<Stat>& stats, const Settings& settings) {
  for (const Stat stat : stats)
    if (stat == Stat::count || stat == Stat::tilted) refuse("--stat: strips answer sum, mean, variance and std");
  const Shape shape = image.shape();
  std::vector<media::NamedRegion> buffer;
  const auto& regions = named.for_image(shape, buffer);
  PieceOptions strips{.workers = {settings.worker()}};
  strips.memory =
      memory_left(limits, image.memory() + regions.size() * region_bytes(shape.channels), "the image and the regions");
  WorkBar bar("rows", settings.quiet);
  strips.progress = bar.progress();
  StripSums sums(shape, image.type(), plain(regions), {.squares = needs_squares(stats)}, strips);
  settings.detail("{}: {}x{} {}, in strips of {} rows", input.path, shape.width, shape.height, name_of(image.type()),
                  sums.strip_height());
  const Type type = image.type();
  SumTypes exact{{type, is_float(type) ? Type::f64 : is_signed_integer(type) ? Type::s64 : Type::u64}};
  if (needs_squares(stats)) exact.squares = size_of(type) <= 2 ? Type::u64 : Type::f64;
  exact.pixels = range_of(type);
  // Find the range of the pixels only if that of their type may overflow.
  const bool scans = !exact.fits(shape.width * shape.height);
  if (scans) exact.pixels = {};
  const ImageReader read = image.reader();
  sums.run(!scans ? read : [&](std::int64_t x, std::int64_t y, const View& block) {
    const ConstView pixels = read(x, y, block);
    exact.pixels = union_of(exact.pixels, range_of(pixels));
    return pixels;
  });
  bar.wipe();
  require_exact(exact, plain(regions), stats, shape);

  RowWriter rows(settings.json);
  const auto prefix = [&](RowWriter& row, std::int64_t c) {
    if (input.all_channels) row.put("channel", c);
  };
  write_rows(rows, prefix, sums, shape.channels, type, regions, stats);
}

void answer_from_pixels(RowWriter& rows, const std::function<void(RowWriter&, std::int64_t)>& prefix,
                        const ConstView& image, const std::vector<media::NamedRegion>& regions,
                        const std::vector<Stat>& stats) {
  StripSums sums(image.shape, image.type, plain(regions), {.squares = needs_squares(stats)}, {.workers = {Worker()}});
  sums.begin();
  sums.push(0, 0, image);
  sums.finish();
  write_rows(rows, prefix, sums, image.shape.channels, image.type, regions, stats);
}

}  // namespace areal::command
