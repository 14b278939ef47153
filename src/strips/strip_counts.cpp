// Histograms of regions of an image that passes: the counts of each column are kept (cpu/histogram/streamed.hpp), and
// no tensor is made.

#include <algorithm>
#include <areal/array.hpp>
#include <areal/error.hpp>
#include <areal/strips.hpp>
#include <array>
#include "api/core/pixel_rule.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "cluster/tile_grid.hpp"
#include "cpu/histogram/streamed.hpp"
#include "strips/pipeline.hpp"
#include "strips/push_state.hpp"

namespace areal {
namespace {

constexpr std::uint64_t default_pixel_bytes = std::uint64_t{16} << 20;

struct Counting {
  const ImageReader& read;
  Shape image;
  Type type;
  const std::vector<Region>& regions;
  std::int64_t rows;  ///< of a strip
  int threads;

  std::uint64_t pixel_bytes(std::int64_t height) const {
    return strips::slots * bytes_of({image.width, height, image.channels, 1, image.layout}, type);
  }
};

// Reads the image once.
void count(const Counting& of, const Binning& bins, std::span<std::uint64_t> out,
           const std::function<void(std::int64_t)>& told) {
  const cpu::PixelBins rule = pixel_bins(bins, of.type, of.image.channels);
  cpu::StreamedCounts counts(rule, of.image, of.regions, out, of.threads);
  const auto shape = [&](std::int64_t k) {
    return Shape{of.image.width, std::min(of.rows, of.image.height - k * of.rows), of.image.channels, 1,
                 of.image.layout};
  };
  std::array<Array, strips::slots> buffers{Array(shape(0), of.type), Array(shape(0), of.type)};
  const auto pixels = [&](std::int64_t k) {
    return View(buffers[static_cast<std::size_t>(k % strips::slots)].data(), of.type, shape(k));
  };
  strips::Stages stages;
  stages.read = [&](std::int64_t k) {
    if (!pixels(k).shape.empty()) of.read(0, k * of.rows, pixels(k));
  };
  stages.compute = [&](std::int64_t k) { counts.add(pixels(k)); };
  stages.give = [](std::int64_t) { return true; };
  stages.given = [&](std::int64_t k) { told(k * of.rows + shape(k).height); };
  strips::run_stages((of.image.height + of.rows - 1) / of.rows, stages);
  counts.finish();
}

}  // namespace

std::vector<std::uint64_t> strip_counts(const ImageReader& read, const Shape& image, Type type, const Binning& binning,
                                        Span<const Region> regions, Outside outside, const StripOptions& options) {
  check_shape("image", image, type);
  require(static_cast<bool>(read), "read: there is none");
  require(image.batch == 1, "image of batch ", image.batch, ": counts by strips are of one image");
  require(options.execution.backend == Backend::automatic || options.execution.backend == Backend::cpu, "backend ",
          name_of(options.execution.backend), ": counts without a tensor are the CPU's; elsewhere take StripHistogram");
  require(options.execution.threads >= 0, "threads ", options.execution.threads, ": it may be 0 (all) or more");
  require(options.height >= 0, "height ", options.height, ": a strip has 0 (as many as memory takes) or more rows");
  require(options.tile_width == 0 && options.tile_height == 0, "tiles: counts by strips are read, nothing is pushed");
  require(regions.memory().is_host(), "regions: they lie on CUDA device ", regions.memory().device,
          ", they must be in host memory");
  pixel_bins(binning, type, image.channels);  // what does not belong together throws here
  std::vector<Region> checked(regions.begin(), regions.end());
  for (std::size_t i = 0; i < checked.size(); ++i)
    checked[i] = checked_region(checked[i], static_cast<std::int64_t>(i), image.width, image.height, outside);
  const auto n = static_cast<std::int64_t>(checked.size());
  const std::int64_t bins = binning.bins();
  std::int64_t answers = 0;
  require(!__builtin_mul_overflow(n, bins, &answers), "regions: ", n, " histograms of ", bins,
          " bins do not fit 63 bits");
  Counting counting{read, image, type, checked, 1, options.execution.threads};
  const auto bytes = [&](std::int64_t of, std::int64_t rows) {
    return cpu::StreamedCounts::bytes(image, of, n) + counting.pixel_bytes(rows);
  };
  const std::int64_t least = std::max<std::int64_t>(1, std::min(options.height, image.height));
  const std::int64_t unit = binning.kind() == Binning::Kind::joint ? bins / binning.parts()[0].bins() : 1;
  std::int64_t group = bins;
  if (options.memory > 0)
    group =
        unit * cluster::largest(bins / unit, [&](std::int64_t g) { return bytes(g * unit, least) <= options.memory; });
  if (group == 0)
    throw OutOfMemory(
        sentence("the column counts of ", unit, " bins over an image ", image.width, " wide, with ", least,
                 " rows of pixels, take ", bytes(unit, least), " bytes, more than the ", options.memory, " of memory"),
        bytes(unit, least));
  const std::uint64_t room = options.memory > 0 ? options.memory - cpu::StreamedCounts::bytes(image, group, n)
                                                : std::max(default_pixel_bytes, counting.pixel_bytes(1));
  counting.rows =
      options.height > 0 ? least : cluster::largest(std::max<std::int64_t>(1, image.height), [&](std::int64_t rows) {
        return counting.pixel_bytes(rows) <= room;
      });
  const std::int64_t groups = (bins + group - 1) / group;
  std::vector<Binning> rules;
  for (std::int64_t g = 0; g < groups; ++g)
    rules.push_back(binning.slice(g * group, std::min(group, bins - g * group)));
  std::vector<std::uint64_t> out(static_cast<std::size_t>(answers)), part;
  const auto told = strips::told(options.progress, image.height * groups);
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t first = g * group, size = rules[static_cast<std::size_t>(g)].bins();
    part.resize(groups > 1 ? static_cast<std::size_t>(n * size) : 0);
    count(counting, rules[static_cast<std::size_t>(g)], groups > 1 ? std::span(part) : std::span(out),
          [&](std::int64_t rows) {
            if (told) told(g * image.height + rows);
          });
    for (std::int64_t i = 0; i < n && groups > 1; ++i)
      std::copy_n(part.begin() + i * size, size, out.begin() + i * bins + first);
  }
  return out;
}

}  // namespace areal
