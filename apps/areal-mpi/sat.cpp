// areal-mpi sat and query: the table of an image over all ranks, written to a file or only used for answers.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <areal/mpi.hpp>
#include <cmath>
#include "io/exact_sums.hpp"
#include "io/numbers.hpp"
#include "io/pixels.hpp"
#include "shared_table.hpp"
#include "strip_options.hpp"

namespace areal::command {
namespace {

struct SatRequest {
  StripOptions input;
  std::string types, border = "zero", output, statistics = "sum";
  bool squares = false;
};

/// Statistics of every region; sums are 64-bit integers or double.
struct Answers {
  std::vector<std::uint64_t> natural;
  std::vector<std::int64_t> whole;
  std::vector<double> real;
};

Answers answers(const Job& job, const mpi::Table& table, const std::vector<Region>& regions, Stat stat) {
  Answers all;
  const auto to = [&]<class T>(std::vector<T>& values) {
    values.resize(regions.size());
    return Span<T>(values);
  };
  const Type type = table.strip.types().table;
  if (stat == Stat::mean)
    mpi::region_means(job.comm(), table, regions, to(all.real));
  else if (stat == Stat::variance)
    mpi::region_variances(job.comm(), table, regions, to(all.real));
  else if (stat == Stat::deviation)
    mpi::region_standard_deviations(job.comm(), table, regions, to(all.real));
  else if (is_float(type))
    mpi::region_sums(job.comm(), table, regions, to(all.real));
  else if (is_signed_integer(type))
    mpi::region_sums(job.comm(), table, regions, to(all.whole));
  else
    mpi::region_sums(job.comm(), table, regions, to(all.natural));
  return all;
}

bool is_finite(const ConstView& strip) {
  std::vector<double> row(static_cast<std::size_t>(strip.shape.width));
  for (std::int64_t y = 0; y < strip.shape.height; ++y) {
    load_row(strip, y, 0, 0, row);
    if (!std::all_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); })) return false;
  }
  return true;
}

/// Of all ranks' pixels.
PixelRange range_of_all(const Job& job, const ConstView& strip) {
  PixelRange range = range_of(strip);
  MPI_Allreduce(MPI_IN_PLACE, &range.least, 1, MPI_INT64_T, MPI_MIN, job.comm());
  MPI_Allreduce(MPI_IN_PLACE, &range.most, 1, MPI_UINT64_T, MPI_MAX, job.comm());
  return range;
}

/// Throws InvalidArgument on all ranks for a sum that may have wrapped, or into which NaN or infinity may have
/// spread.
void require_right(const Job& job, const StripInput& input, const SatTable& strip, const PixelRange& pixels,
                   const std::vector<Stat>& chosen, const std::string& path) {
  int odd = is_float(input.strip.type) && !is_finite(input.strip) ? 1 : 0;
  SumTypes sums{strip.types(), {}, pixels};
  if (needs_squares(chosen)) sums.squares = strip.squares().type;
  MPI_Allreduce(MPI_IN_PLACE, &odd, 1, MPI_INT, MPI_MAX, job.comm());
  job.together([&] {
    if (odd != 0) refuse(path, ": holds NaN or infinity, which spreads to the regions right and below in a table");
    require_exact(sums, input.rectangles(), chosen, input.image);
  });
}

void print(const Job& job, const StripInput& input, const std::vector<Stat>& chosen,
           const std::vector<Answers>& columns, bool json) {
  if (!job.speaks()) return;
  RowWriter rows(json);
  for (std::size_t i = 0; i < input.regions.size(); ++i) {
    put_region(rows, input.regions[i], i);
    for (std::size_t s = 0; s < chosen.size(); ++s)
      if (const Answers& of = columns[s]; !of.natural.empty())
        rows.put(name_of(chosen[s]), of.natural[i]);
      else if (!of.whole.empty())
        rows.put(name_of(chosen[s]), of.whole[i]);
      else
        rows.put(name_of(chosen[s]), of.real[i]);
    rows.end();
  }
}

void write(const Job& job, const std::string& path, const char* kind, const ConstView& table, const mpi::Rows& rows,
           const StripInput& input, const SatTable& strip, const PixelRange& pixels, const std::string& source,
           const std::string& run, const std::vector<std::string>& companions) {
  const bool zero = strip.border() == Border::zero;
  media::TableFile description;
  description.run = run, description.companions = companions;
  description.kind = kind, description.border = strip.border(), description.types = name_of(strip.types());
  description.algorithm = "areal-mpi", description.source = media::fs::path(source).filename().string();
  description.image_width = input.image.width, description.image_height = input.image.height;
  if (!is_float(input.strip.type)) description.pixels = pixels;
  Shape whole = table.shape;
  whole.height = input.image.height + (zero ? 1 : 0);
  SharedTable file(job, path, whole, table.type, description);
  // With border `zero` a strip's first row is the last of the previous rank: only the first rank writes it.
  ConstView own = table;
  const std::int64_t skipped = zero && job.rank() > 0 ? 1 : 0;
  if (own.data != nullptr) own.data = own.row(skipped);
  own.shape.height -= skipped;
  file.write(rows.first + skipped, own);
  file.finish();
}

void run(const SatRequest& request, Job& job, const MpiSettings& settings, bool queries) {
  SatOptions options;
  Execution execution;
  std::vector<Stat> chosen;
  job.require_same(std::string(queries ? "query" : "sat") + (request.output.empty() ? "" : " -o") +
                   (request.squares ? " --squares" : "") + (request.input.names_regions() ? " --region" : "") +
                   (request.statistics == "sum" ? "" : " --stat " + request.statistics));
  job.together([&] {
    media::require_other_files(media::files_of_table(request.output), {request.input.path});
    execution = settings.execution(job);
    const auto border = border_named(request.border);
    if (!border) refuse("--border ", request.border, ": may be zero, none or exclusive");
    options.border = *border;
    if (!request.types.empty()) options.types = type_pair(request.types);
    chosen = parse_stats({request.statistics}, Stat::deviation);
    options.squares = request.squares || needs_squares(chosen) ? Squares::automatic : Squares::no;
    if (queries && !request.input.names_regions()) refuse("query: needs --region or --regions");
    if (!queries && request.output.empty() && !request.input.names_regions())
      refuse("sat: needs -o, --region or --regions");
  });
  const StripInput input = read_strip(job, request.input);
  const mpi::Options how{.execution = execution};
  const mpi::Table table = mpi::sat(job.comm(), input.strip, options, how);
  const PixelRange pixels = range_of_all(job, input.strip);
  std::vector<Answers> columns;  // before a file is written: regions may be refused
  if (request.input.names_regions()) {
    require_right(job, input, table.strip, pixels, chosen, request.input.path);
    for (const Stat stat : chosen) columns.push_back(answers(job, table, input.rectangles(), stat));
  }
  if (!request.output.empty()) {
    const std::string run = media::new_run();  // only the first rank's is used
    const std::vector<std::string> companions(request.squares ? 1 : 0, "squares");
    write(job, request.output, "sum", table.strip.sum(), table.rows, input, table.strip, pixels, request.input.path,
          run, companions);
    if (request.squares)
      write(job, media::companion_path(request.output, "squares").string(), "squares", table.strip.squares(),
            table.rows, input, table.strip, pixels, request.input.path, run, {});
  }
  if (request.input.names_regions()) print(job, input, chosen, columns, settings.json);
}

void add(CLI::App& app, Job& job, MpiSettings& settings, bool queries) {
  CLI::App* verb = queries ? app.add_subcommand("query", "Sums of regions of an image, from its table over all ranks")
                           : app.add_subcommand("sat", "The summed-area table of an image, each rank its rows");
  auto request = std::make_shared<SatRequest>();
  request->input.add_to(*verb);
  verb->add_option("--types", request->types, "Types of pixels and sums, for example 8u64u")->type_name("NAME");
  verb->add_option("--stat", request->statistics,
                   "Of each region: sum (default), mean, variance, std; several with commas")
      ->type_name("LIST");
  if (!queries) {
    verb->add_option("-o,--output", request->output, "The table as one .npy with its sidecar, complete or absent")
        ->type_name("T.npy");
    verb->add_option("--border", request->border, "zero (default), none or exclusive")->type_name("NAME");
    verb->add_flag("--squares", request->squares, "Also the table of squares, beside T.npy as T.squares.npy");
  }
  verb->footer(queries ? "Example:\n  mpirun -n 4 areal-mpi query synthetic:100000x20000:7 --region 0,0,100000,20000"
                       : "Example:\n  mpirun -n 4 areal-mpi sat image.npy -o table.npy && areal query table.npy "
                         "--region 0,0,100,100");
  verb->callback([request, &job, &settings, queries] { run(*request, job, settings, queries); });
}

}  // namespace

void add_sat(CLI::App& app, Job& job, MpiSettings& settings) { add(app, job, settings, false); }
void add_query(CLI::App& app, Job& job, MpiSettings& settings) { add(app, job, settings, true); }

}  // namespace areal::command
