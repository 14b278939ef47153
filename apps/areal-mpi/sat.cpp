// areal-mpi sat and query: the table of an image over all ranks, into a file, or for answers alone.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <areal/mpi.hpp>
#include <array>
#include <optional>
#include <string_view>
#include "io/numbers.hpp"
#include "shared_table.hpp"
#include "strip_options.hpp"

namespace areal::command {
namespace {

struct Request {
  StripOptions input;
  std::string types, border = "zero", output, statistics = "sum";
  bool squares = false;
};

constexpr std::array<std::string_view, 4> statistics{"sum", "mean", "variance", "std"};

std::vector<std::string_view> statistics_of(const std::string& list) {
  std::vector<std::string_view> chosen;
  for (const std::string_view name : split(list, ',')) {
    const auto at = std::find(statistics.begin(), statistics.end(), name);
    if (at == statistics.end()) refuse("--stat ", list, ": may have sum, mean, variance and std, separated by commas");
    if (std::find(chosen.begin(), chosen.end(), *at) == chosen.end()) chosen.push_back(*at);
  }
  return chosen;
}

bool needs_squares(const std::vector<std::string_view>& chosen) {
  return std::any_of(chosen.begin(), chosen.end(), [](auto name) { return name == "variance" || name == "std"; });
}

/// Of every region; the sums in 64 bits of their sign, or as double.
struct Answers {
  std::vector<std::uint64_t> natural;
  std::vector<std::int64_t> whole;
  std::vector<double> real;
};

Answers answers(const Job& job, const mpi::Table& table, const std::vector<Region>& regions, std::string_view name) {
  Answers all;
  const auto to = [&]<class T>(std::vector<T>& values) {
    values.resize(regions.size());
    return Span<T>(values);
  };
  const Type type = table.strip.types().table;
  if (name == "mean")
    mpi::region_means(job.comm(), table, regions, to(all.real));
  else if (name == "variance")
    mpi::region_variances(job.comm(), table, regions, to(all.real));
  else if (name == "std")
    mpi::region_standard_deviations(job.comm(), table, regions, to(all.real));
  else if (is_float(type))
    mpi::region_sums(job.comm(), table, regions, to(all.real));
  else if (is_signed_integer(type))
    mpi::region_sums(job.comm(), table, regions, to(all.whole));
  else
    mpi::region_sums(job.comm(), table, regions, to(all.natural));
  return all;
}

void answer(const Job& job, const mpi::Table& table, const StripInput& input,
            const std::vector<std::string_view>& chosen, bool json) {
  std::vector<Answers> columns;
  for (const std::string_view name : chosen) columns.push_back(answers(job, table, input.rectangles(), name));
  if (!job.speaks()) return;
  RowWriter rows(json);
  for (std::size_t i = 0; i < input.regions.size(); ++i) {
    put_region(rows, input.regions[i], i);
    for (std::size_t s = 0; s < chosen.size(); ++s)
      if (const Answers& of = columns[s]; !of.natural.empty())
        rows.put(chosen[s], of.natural[i]);
      else if (!of.whole.empty())
        rows.put(chosen[s], of.whole[i]);
      else
        rows.put(chosen[s], of.real[i]);
    rows.end();
  }
}

void write(const Job& job, const std::string& path, const char* kind, const ConstView& table, const mpi::Rows& rows,
           const StripInput& input, const SatTable& strip, const std::string& source, const std::string& run,
           const std::vector<std::string>& companions) {
  const bool zero = strip.border() == Border::zero;
  media::TableFile description;
  description.run = run, description.companions = companions;
  description.kind = kind, description.border = strip.border(), description.types = name_of(strip.types());
  description.algorithm = "areal-mpi", description.source = media::fs::path(source).filename().string();
  description.image_width = input.image.width, description.image_height = input.image.height;
  Shape whole = table.shape;
  whole.height = input.image.height + (zero ? 1 : 0);
  SharedTable file(job, path, whole, table.type, description);
  // With border `zero` a strip's first row is the last of the rank before: the first rank alone writes it.
  ConstView own = table;
  const std::int64_t skipped = zero && job.rank() > 0 ? 1 : 0;
  if (own.data != nullptr) own.data = own.row(skipped);
  own.shape.height -= skipped;
  file.write(rows.first + skipped, own);
  file.finish();
}

void run(const Request& request, Job& job, const MpiSettings& settings, bool queries) {
  SatOptions options;
  Execution execution;
  std::vector<std::string_view> chosen;
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
    chosen = statistics_of(request.statistics);
    options.squares = request.squares || needs_squares(chosen) ? Squares::automatic : Squares::no;
    if (queries && !request.input.names_regions()) refuse("query: needs --region or --regions");
    if (!queries && request.output.empty() && !request.input.names_regions())
      refuse("sat: needs -o, --region or --regions");
  });
  const StripInput input = read_strip(job, request.input);
  const mpi::Options how{.execution = execution};
  const mpi::Table table = mpi::sat(job.comm(), input.strip, options, how);
  if (!request.output.empty()) {
    const std::string run = media::new_run();  // the first rank's is written
    const std::vector<std::string> companions(request.squares ? 1 : 0, "squares");
    write(job, request.output, "sum", table.strip.sum(), table.rows, input, table.strip, request.input.path, run,
          companions);
    if (request.squares)
      write(job, media::beside(request.output, "squares").string(), "squares", table.strip.squares(), table.rows, input,
            table.strip, request.input.path, run, {});
  }
  if (!request.input.names_regions()) return;
  answer(job, table, input, chosen, settings.json);
}

void add(CLI::App& app, Job& job, MpiSettings& settings, bool queries) {
  CLI::App* verb = queries ? app.add_subcommand("query", "Sums of regions of an image, from its table over all ranks")
                           : app.add_subcommand("sat", "The summed-area table of an image, each rank its rows");
  auto request = std::make_shared<Request>();
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
