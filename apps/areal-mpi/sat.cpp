// areal-mpi sat and query: the table of an image over all ranks, into a file, or for answers alone.

#include <CLI/CLI.hpp>
#include <areal/mpi.hpp>
#include <optional>
#include "io/numbers.hpp"
#include "shared_table.hpp"
#include "strip_options.hpp"

namespace areal::command {
namespace {

struct Request {
  StripOptions input;
  std::string types, border = "zero", output;
  bool squares = false;
};

template <class Sum>
void answer(const Job& job, const mpi::Table& table, const StripInput& input, bool json) {
  std::vector<Sum> sums(input.regions.size());
  mpi::region_sums(job.comm(), table, input.rectangles(), Span<Sum>(sums));
  if (!job.speaks()) return;
  RowWriter rows(json);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    put_region(rows, input.regions[i], i);
    rows.put("sum", sums[i]);
    rows.end();
  }
}

void write(const Job& job, const std::string& path, const char* kind, const ConstView& table, const mpi::Rows& rows,
           const StripInput& input, const SatTable& strip, const std::string& source) {
  const bool zero = strip.border() == Border::zero;
  media::TableFile description;
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
  job.together([&] {
    execution = settings.execution(job);
    const auto border = border_named(request.border);
    if (!border) refuse("--border ", request.border, ": may be zero, none or exclusive");
    options.border = *border;
    if (!request.types.empty()) options.types = type_pair(request.types);
    options.squares = request.squares ? Squares::automatic : Squares::no;
    if (queries && !request.input.names_regions()) refuse("query: needs --region or --regions");
    if (!queries && request.output.empty() && !request.input.names_regions())
      refuse("sat: needs -o, --region or --regions");
  });
  const StripInput input = read_strip(job, request.input);
  const mpi::Options how{.execution = execution};
  const mpi::Table table = mpi::sat(job.comm(), input.strip, options, how);
  if (!request.output.empty()) {
    write(job, request.output, "sum", table.strip.sum(), table.rows, input, table.strip, request.input.path);
    if (request.squares)
      write(job, media::fs::path(request.output).replace_extension(".squares.npy").string(), "squares",
            table.strip.squares(), table.rows, input, table.strip, request.input.path);
  }
  if (!request.input.names_regions()) return;
  const Type type = table.strip.types().table;
  if (is_float(type))
    answer<double>(job, table, input, settings.json);
  else if (is_signed_integer(type))
    answer<std::int64_t>(job, table, input, settings.json);
  else
    answer<std::uint64_t>(job, table, input, settings.json);
}

void add(CLI::App& app, Job& job, MpiSettings& settings, bool queries) {
  CLI::App* verb = queries ? app.add_subcommand("query", "Sums of regions of an image, from its table over all ranks")
                           : app.add_subcommand("sat", "The summed-area table of an image, each rank its rows");
  auto request = std::make_shared<Request>();
  request->input.add_to(*verb);
  verb->add_option("--types", request->types, "Types of pixels and sums, for example 8u64u")->type_name("NAME");
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
