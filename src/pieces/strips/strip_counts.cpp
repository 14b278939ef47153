// Histograms of regions of an image that passes: the counts of each column are kept (cpu/histogram/streamed.hpp), and
// no tensor is made.

#include <algorithm>
#include <areal/error.hpp>
#include <areal/strips.hpp>
#include <memory>
#include "api/core/largest.hpp"
#include "api/core/pixel_rule.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "cpu/histogram/streamed.hpp"
#include "pieces/strips/driver.hpp"

namespace areal {
namespace {

constexpr std::uint64_t usual_pixel_bytes = std::uint64_t{16} << 20;

/// Rows that StreamedCounts takes: a step makes no table.
class CountsWork final : public pieces::Work {
 public:
  CountsWork(cpu::StreamedCounts& counts, const Shape& image, Type type) : counts_(counts) {
    execution_.backend = Backend::cpu;
    form_.inputs.push_back({type, image.channels, image.layout});
  }
  std::size_t workspace_bytes(std::int64_t, std::int64_t) const override { return 0; }
  std::unique_ptr<pieces::Step> plan(std::int64_t, std::int64_t, Stream) const override {
    return std::make_unique<CountsStep>(counts_);
  }

 private:
  class CountsStep final : public pieces::Step {
   public:
    explicit CountsStep(cpu::StreamedCounts& counts) : counts_(counts) {}
    void execute(const pieces::Views& views) override { counts_.add(views.inputs[0]); }

   private:
    cpu::StreamedCounts& counts_;
  };

  cpu::StreamedCounts& counts_;
};

struct Counting {
  const ImageReader& read;
  Shape image;
  Type type;
  const std::vector<Region>& regions;
  std::int64_t rows;  ///< of a strip
  int threads;

  std::uint64_t pixel_bytes(std::int64_t height) const {
    return pieces::slots * bytes_of({image.width, height, image.channels, 1, image.layout}, type);
  }
};

// Reads the image once.
void count(const Counting& of, const Binning& bins, std::span<std::uint64_t> out,
           const std::function<void(std::int64_t)>& done) {
  const cpu::PixelBins rule = pixel_bins(bins, of.type, of.image.channels);
  cpu::StreamedCounts counts(rule, of.image, of.regions, out, of.threads);
  const CountsWork work(counts, of.image, of.type);
  if (of.image.height > 0) pieces::run_strips(work, of.image, of.rows, {work.form(), of.read, {}, ""}, {.done = done});
  counts.finish();
}

}  // namespace

std::vector<std::uint64_t> strip_counts(const ImageReader& read, const Shape& image, Type type, const Binning& binning,
                                        Span<const Region> regions, const PieceOptions& options) {
  check_shape("image", image, type);
  require(static_cast<bool>(read), "read: there is none");
  require(image.batch == 1, "image of batch ", image.batch, ": counts by strips are of one image");
  const Execution on = pieces::strips_on(options);
  require(on.backend == Backend::automatic || on.backend == Backend::cpu, "backend ", name_of(on.backend),
          ": counts without a tensor are the CPU's; elsewhere take StripHistogram");
  require(on.threads >= 0, "threads ", on.threads, ": it may be 0 (all) or more");
  require(options.height >= 0, "height ", options.height, ": a strip has 0 (as many as memory takes) or more rows");
  require(options.pushed_width == 0 && options.pushed_height == 0,
          "pushed tiles: counts by strips are read, nothing is pushed");
  require(regions.memory().is_host(), "regions: they lie on CUDA device ", regions.memory().device,
          ", they must be in host memory");
  pixel_bins(binning, type, image.channels);  // what does not belong together throws here
  std::vector<Region> checked(regions.begin(), regions.end());
  for (std::size_t i = 0; i < checked.size(); ++i)
    checked[i] = checked_region(checked[i], static_cast<std::int64_t>(i), image.width, image.height, options.outside);
  const auto n = static_cast<std::int64_t>(checked.size());
  const std::int64_t bins = binning.bins();
  std::int64_t answers = 0;
  require(!__builtin_mul_overflow(n, bins, &answers), "regions: ", n, " histograms of ", bins,
          " bins do not fit 63 bits");
  Counting counting{read, image, type, checked, 1, on.threads};
  const auto bytes = [&](std::int64_t of, std::int64_t rows) {
    return cpu::StreamedCounts::bytes(image, of, n) + counting.pixel_bytes(rows);
  };
  const std::int64_t least = std::max<std::int64_t>(1, std::min(options.height, image.height));
  const std::int64_t unit = binning.kind() == Binning::Kind::joint ? bins / binning.parts()[0].bins() : 1;
  std::int64_t group = bins;
  if (options.memory > 0)
    group = unit * largest(bins / unit, [&](std::int64_t g) { return bytes(g * unit, least) <= options.memory; });
  if (group == 0)
    throw OutOfMemory(
        sentence("the column counts of ", unit, " bins over an image ", image.width, " wide, with ", least,
                 " rows of pixels, take ", bytes(unit, least), " bytes, more than the ", options.memory, " of memory"),
        bytes(unit, least));
  const std::uint64_t room = options.memory > 0 ? options.memory - cpu::StreamedCounts::bytes(image, group, n)
                                                : std::max(usual_pixel_bytes, counting.pixel_bytes(1));
  counting.rows = options.height > 0 ? least : largest(std::max<std::int64_t>(1, image.height), [&](std::int64_t rows) {
    return counting.pixel_bytes(rows) <= room;
  });
  const std::int64_t groups = (bins + group - 1) / group;
  std::vector<Binning> rules;
  for (std::int64_t g = 0; g < groups; ++g)
    rules.push_back(binning.slice(g * group, std::min(group, bins - g * group)));
  std::vector<std::uint64_t> out(static_cast<std::size_t>(answers)), part;
  const auto report = pieces::reporter(options.progress, image.height * groups);
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t first = g * group, size = rules[static_cast<std::size_t>(g)].bins();
    part.resize(groups > 1 ? static_cast<std::size_t>(n * size) : 0);
    count(counting, rules[static_cast<std::size_t>(g)], groups > 1 ? std::span(part) : std::span(out),
          [&](std::int64_t rows) {
            if (report) report(g * image.height + rows);
          });
    for (std::int64_t i = 0; i < n && groups > 1; ++i)
      std::copy_n(part.begin() + i * size, size, out.begin() + i * bins + first);
  }
  return out;
}

}  // namespace areal
