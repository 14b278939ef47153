// areal-mpi hist: the integral histogram of an image over all ranks, and histograms of regions.

#include <CLI/CLI.hpp>
#include <areal/mpi.hpp>
#include <numeric>
#include <optional>
#include "io/numbers.hpp"
#include "shared_table.hpp"
#include "strip_options.hpp"

namespace areal::command {
namespace {

struct HistRequest {
  StripOptions input;
  std::string bins = "256", range, border = "none", output;
};

void run(const HistRequest& request, Job& job, const MpiSettings& settings) {
  HistogramOptions options;
  Execution execution;
  job.require_same(std::string("hist") + (request.output.empty() ? "" : " -o") +
                   (request.input.names_regions() ? " --region" : ""));
  job.together([&] {
    media::require_other_files(media::files_of_table(request.output), {request.input.path});
    execution = settings.execution(job);
    const auto border = border_named(request.border);
    if (!border) refuse("--border ", request.border, ": may be zero, none or exclusive");
    options.border = *border;
    if (request.output.empty() && !request.input.names_regions()) refuse("hist: needs -o, --region or --regions");
  });
  const StripInput input = read_strip(job, request.input);
  std::optional<Binning> binning;
  job.together([&] {
    const std::int64_t bins = whole_number("--bins", request.bins, 1, 65535);
    if (request.range.empty()) {
      binning = Binning::of_type(input.strip.type, bins);
    } else {
      const auto [lo, hi] = range("--range", request.range);
      binning = Binning::uniform(bins, lo, hi);
    }
    // The counter must hold the counts of the whole image.
    const auto pixels = static_cast<std::uint64_t>(input.image.width) * static_cast<std::uint64_t>(input.image.height);
    options.counter = pixels >> 32 ? Type::u64 : Type::u32;
  });
  const mpi::Options how{.execution = execution};
  const mpi::Tensor tensor = mpi::integral_histogram(job.comm(), input.strip, *binning, options, how);
  const auto bins = static_cast<std::size_t>(binning->bins());
  std::vector<std::uint64_t> counts(input.regions.size() * bins);
  if (request.input.names_regions())  // before a file is written: regions may be refused
    mpi::region_histograms(job.comm(), tensor, input.rectangles(), Span<std::uint64_t>(counts));
  if (!request.output.empty()) {
    const ConstView own = tensor.strip.tensor();
    const bool zero = options.border == Border::zero;
    media::TableFile description;
    description.kind = "histogram", description.border = options.border;
    description.types = std::string(name_of(input.strip.type)) + "-" + std::string(name_of(options.counter));
    description.algorithm = "areal-mpi", description.source = media::fs::path(request.input.path).filename().string();
    description.image_width = input.image.width, description.image_height = input.image.height;
    description.bin_edges = binning->bin_edges();
    Shape whole = own.shape;
    whole.height = input.image.height + (zero ? 1 : 0);
    SharedTable file(job, request.output, whole, own.type, description);
    const std::int64_t skipped = zero && job.rank() > 0 ? 1 : 0;  // see sat
    ConstView rows = own;
    if (rows.data != nullptr) rows.data = rows.row(skipped);
    rows.shape.height -= skipped;
    file.write(tensor.rows.first + skipped, rows);
    file.finish();
  }
  if (!request.input.names_regions() || !job.speaks()) return;
  std::uint64_t values = 0;
  for (const Region& r : input.rectangles())
    values += static_cast<std::uint64_t>(r.width) * static_cast<std::uint64_t>(r.height);
  const std::uint64_t counted = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (counted == 0 && values > 0)
    say(fmt::format("none of the {} values is in one of the bins: choose them with --range", values));
  else if (counted < values)
    say(fmt::format("note: {} of {} values are in none of the bins", values - counted, values));
  RowWriter rows(settings.json);
  for (std::size_t i = 0; i < input.regions.size(); ++i) {
    put_region(rows, input.regions[i], i);
    rows.put_list("counts", "bin", std::span<const std::uint64_t>(counts).subspan(i * bins, bins));
    rows.end();
  }
}

}  // namespace

void add_hist(CLI::App& app, Job& job, MpiSettings& settings) {
  CLI::App* verb = app.add_subcommand("hist", "The integral histogram of an image, each rank its rows");
  auto request = std::make_shared<HistRequest>();
  request->input.add_to(*verb);
  verb->add_option("--bins", request->bins, "Bins of equal width (default 256)")->type_name("N");
  verb->add_option("--range", request->range, "From and to which value (default: all of the type)")->type_name("LO,HI");
  verb->add_option("--border", request->border, "none (default), zero or exclusive")->type_name("NAME");
  verb->add_option("-o,--output", request->output, "The tensor as one .npy with its sidecar, complete or absent")
      ->type_name("T.npy");
  verb->footer("Example:\n  mpirun -n 4 areal-mpi hist image.npy --bins 16 --region 0,0,100,100");
  verb->callback([request, &job, &settings] { run(*request, job, settings); });
}

}  // namespace areal::command
