// areal-mpi bench: the scaling of a table's phases with the ranks, against the bandwidth of the machine's memory.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <areal/device.hpp>
#include <areal/info.hpp>
#include <areal/mpi.hpp>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "media/media.hpp"
#include "verbs.hpp"

namespace areal::command {
namespace {

using Json = nlohmann::ordered_json;

struct BenchRequest {
  std::string image = "8192x8192", types = "8u32u", repeat = "9", file, ranks;
};

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "CPU";
}

/// Microseconds.
Json summary(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return {{"min", 1e6 * seconds.front()}, {"median", 1e6 * seconds[seconds.size() / 2]}, {"max", 1e6 * seconds.back()}};
}
double median(std::vector<double> seconds) { return summary(std::move(seconds))["median"].get<double>(); }

/// The first `size` ranks; MPI_COMM_NULL on the others.
MPI_Comm first_ranks(const Job& job, int size) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(job.comm(), job.rank() < size ? 0 : MPI_UNDEFINED, job.rank(), &comm);
  return comm;
}

/// The numbers of ranks to measure: powers of two, and all.
std::vector<int> counts_of(const Job& job, const std::string& list) {
  std::vector<int> counts;
  if (list.empty()) {
    for (int n = 1; n < job.size(); n *= 2) counts.push_back(n);
    counts.push_back(job.size());
  } else {
    for (const auto part : split(list, ','))
      counts.push_back(static_cast<int>(whole_number("--ranks", part, 1, job.size())));
  }
  return counts;
}

/// The slowest rank's seconds of `work`; all ranks start together.
double slowest(MPI_Comm comm, const std::function<void()>& work) {
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  work();
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
}

/// With fewer pixels of fill(), no sum reaches 2^24, where floats begin to round: 2^23 pixels are expected to be 1.
constexpr std::int64_t exact_in_floats = std::int64_t{1} << 29;

/// Integers have random bytes; one in 64 values of 32f is 1, the others 0; other floats are 0.
void fill(Array& noise, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::size_t count = noise.bytes() / size_of(noise.type());
  if (noise.type() == Type::f32)
    for (std::size_t i = 0; i < count; ++i) noise.as<float>()[i] = random() >> 58 == 0 ? 1.0F : 0.0F;
  else if (is_float(noise.type()))
    std::memset(noise.data(), 0, noise.bytes());
  else
    for (std::size_t i = 0; i < noise.bytes(); ++i)
      static_cast<std::uint8_t*>(noise.data())[i] = static_cast<std::uint8_t>(random() >> 56);
}

/// The sums of a rank's columns for pixels of 8u and 32f; empty for other types.
std::vector<std::uint64_t> sums_of_columns(const Array& pixels) {
  const Shape& s = pixels.shape();
  std::vector<std::uint64_t> sums;
  if (pixels.type() != Type::u8 && pixels.type() != Type::f32) return sums;
  sums.resize(static_cast<std::size_t>(s.width));
  for (std::size_t i = 0, all = static_cast<std::size_t>(s.width * s.height); i < all; ++i)
    sums[i % sums.size()] +=
        pixels.type() == Type::u8 ? pixels.as<std::uint8_t>()[i] : static_cast<std::uint64_t>(pixels.as<float>()[i]);
  return sums;
}

/// Is that a row of the table below columns with these sums?
template <class T>
bool is_row_of(const Array& row, const std::vector<std::uint64_t>& columns) {
  std::uint64_t sum = 0;
  bool right = row.as<T>()[0] == T(0);
  for (std::size_t x = 0; x < columns.size(); ++x)
    right = right && row.as<T>()[x + 1] == static_cast<T>(sum += columns[x]);
  return right;
}

/// Throws if the last row of this rank's table is wrong, and if the check misses a wrong row.
void require_right(const mpi::Table& table, const std::vector<std::uint64_t>& columns) {
  ConstView last = table.strip.sum();
  last.data = last.row(last.shape.height - 1), last.shape.height = 1;
  Array row(last.shape, last.type);
  copy_view(last, row.view());
  const auto right = [&] {
    return last.type == Type::u32   ? is_row_of<std::uint32_t>(row, columns)
           : last.type == Type::u64 ? is_row_of<std::uint64_t>(row, columns)
           : last.type == Type::s32 ? is_row_of<std::int32_t>(row, columns)
           : last.type == Type::f32 ? is_row_of<float>(row, columns)
                                    : is_row_of<double>(row, columns);
  };
  if (!right()) throw Error("bench: the last row of this rank's table is wrong");
  static_cast<std::uint8_t*>(row.data())[row.bytes() - 1] ^= 1;
  if (right()) throw Error("bench: the check accepted a row that had been changed on purpose");
}

/// Times one number of ranks: in turns the table, the same strips without communication, and copies of as many bytes as
/// the table's pass reads and writes.
Json measure(MPI_Comm comm, const BenchRequest& request, std::int64_t width, std::int64_t height, const char* scaling,
             int repeat, const Execution& execution) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  const mpi::Rows rows = mpi::even_rows(comm, height);
  const SatOptions options{.types = type_pair(request.types)};
  DeviceArray strip({width, rows.count}, options.types->input, execution);
  std::vector<std::uint64_t> columns;
  {
    Array noise(strip.shape(), strip.type());
    fill(noise, 20261122 + static_cast<std::uint64_t>(rows.first));
    const bool rounds =
        options.types->table == Type::f32 && (noise.type() != Type::f32 || width * height >= exact_in_floats);
    if (!rounds) columns = sums_of_columns(noise);
    copy_view(std::as_const(noise).view(), strip.view());
  }
  // Column sums of this rank and those before it.
  MPI_Scan(MPI_IN_PLACE, columns.data(), static_cast<int>(columns.size()), MPI_UINT64_T, MPI_SUM, comm);
  mpi::Costs costs;
  const mpi::Options how{.execution = execution, .costs = &costs};
  mpi::Table table;
  const SatPlan alone(strip.shape(), strip.type(), options, execution);
  Workspace workspace(alone);
  SatTable own = alone.allocate();
  const std::size_t moved = (strip.bytes() + static_cast<std::size_t>(alone.table_bytes())) / 2;
  DeviceArray from({static_cast<std::int64_t>(moved), 1}, Type::u8, execution);
  DeviceArray to(from.shape(), Type::u8, execution);
  clear_view(from.view()), clear_view(to.view());

  std::vector<double> total, plain, copy, sums, exchange, tables;
  std::array<std::uint64_t, 2> sent{};
  for (int i = -1; i < repeat; ++i) {
    costs = {};
    const double all = slowest(comm, [&] { mpi::sat(comm, table, std::as_const(strip).view(), options, how); });
    std::array<double, 3> phases{costs.sums_seconds, costs.exchange_seconds, costs.table_seconds};
    MPI_Allreduce(MPI_IN_PLACE, phases.data(), 3, MPI_DOUBLE, MPI_MAX, comm);
    sent = {costs.messages, costs.bytes};
    MPI_Allreduce(MPI_IN_PLACE, sent.data(), 2, MPI_UINT64_T, MPI_SUM, comm);
    const double without = slowest(comm, [&] {
      alone.execute(std::as_const(strip).view(), own, workspace);
      workspace.wait();
    });
    const double copied = slowest(comm, [&] { copy_view(std::as_const(from).view(), to.view()); });
    if (i < 0) {
      if (!columns.empty()) mpi::together(comm, [&] { require_right(table, columns); });
      continue;
    }
    total.push_back(all), plain.push_back(without), copy.push_back(copied);
    sums.push_back(phases[0]), exchange.push_back(phases[1]), tables.push_back(phases[2]);
  }
  return {{"what", "mpi-sat"},
          {"algorithm", "areal-mpi"},
          {"backend", name_of(execution.backend)},
          {"scaling", scaling},
          {"ranks", ranks},
          {"threads", execution.threads},
          {"lane", request.types},
          {"width", width},
          {"height", height},
          {"time_us", summary(total)},
          {"sums_us", median(sums)},
          {"exchange_us", median(exchange)},
          {"table_us", median(tables)},
          {"plain_us", median(plain)},
          {"floor", "copy"},
          {"floor_us", median(copy)},
          {"checked", !columns.empty()},
          {"bytes", static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height) *
                        (size_of(options.types->input) + size_of(options.types->table))},
          {"messages", sent[0]},
          {"sent_bytes", sent[1]}};
}

/// Half of the round trip of a message between the first two ranks.
Json ping(MPI_Comm comm, std::size_t bytes, int repeat) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::vector<char> buffer(bytes);
  std::vector<double> times;
  constexpr int trips = 20;
  for (int i = -1; i < repeat; ++i) {
    const double seconds = slowest(comm, [&] {
      for (int k = 0; k < trips; ++k) {
        if (rank == 0) {
          MPI_Send(buffer.data(), static_cast<int>(bytes), MPI_BYTE, 1, 0, comm);
          MPI_Recv(buffer.data(), static_cast<int>(bytes), MPI_BYTE, 1, 0, comm, MPI_STATUS_IGNORE);
        } else {
          MPI_Recv(buffer.data(), static_cast<int>(bytes), MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
          MPI_Send(buffer.data(), static_cast<int>(bytes), MPI_BYTE, 0, 0, comm);
        }
      }
    });
    if (i >= 0) times.push_back(seconds / trips / 2);
  }
  return {{"what", "mpi-message"}, {"algorithm", "MPI_Send"},  {"backend", "cpu"}, {"ranks", 2},
          {"bytes", bytes},        {"time_us", summary(times)}};
}

/// MPI_Exscan over these ranks, of 32-bit sums of that many bytes.
Json exscan(MPI_Comm comm, std::size_t bytes, int repeat) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  std::vector<std::uint32_t> from(bytes / 4, 1), to(bytes / 4);
  std::vector<double> times;
  for (int i = -1; i < repeat; ++i) {
    const double seconds = slowest(
        comm, [&] { MPI_Exscan(from.data(), to.data(), static_cast<int>(from.size()), MPI_UINT32_T, MPI_SUM, comm); });
    if (i >= 0) times.push_back(seconds);
  }
  return {{"what", "mpi-exscan"}, {"algorithm", "MPI_Exscan"}, {"backend", "cpu"}, {"ranks", ranks},
          {"bytes", bytes},       {"time_us", summary(times)}};
}

void run(const BenchRequest& request, Job& job, const MpiSettings& settings) {
  Execution execution;
  Size image;
  int repeat = 1;
  std::vector<int> counts;
  job.require_same("bench --image " + request.image + " --types " + request.types + " --repeat " + request.repeat +
                   " --ranks " + request.ranks);
  job.together([&] {
    execution = settings.execution(job);
    image = size("--image", request.image);
    type_pair(request.types);
    repeat = static_cast<int>(whole_number("--repeat", request.repeat, 1, 10000));
    counts = counts_of(job, request.ranks);
  });
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> library{};
  int length = 0;
  MPI_Get_library_version(library.data(), &length);
  const char* const commit = std::getenv("AREAL_COMMIT");
  Json records = Json::array();
  const auto keep = [&](Json record) {
    const bool on_cuda = record["backend"] == name_of(Backend::cuda);
    record["device"] = on_cuda ? devices().at(0).name : processor();
    record["mpi"] = std::string(library.data()).substr(0, std::string_view(library.data()).find(','));
    record["commit"] = commit != nullptr ? commit : "";
    write_out(record.dump() + "\n");
    flush_out();
    records.push_back(std::move(record));
  };
  const auto on = [&](int ranks, const std::function<Json(MPI_Comm)>& part) {
    MPI_Comm comm = first_ranks(job, ranks);
    Json record;
    job.together([&] {
      if (comm != MPI_COMM_NULL) record = part(comm);
    });
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    if (job.speaks()) keep(std::move(record));
  };
  for (const int ranks : counts) {
    on(ranks, [&](MPI_Comm comm) {
      return measure(comm, request, image.width, image.height * ranks, "weak", repeat, execution);
    });
    on(ranks,
       [&](MPI_Comm comm) { return measure(comm, request, image.width, image.height, "strong", repeat, execution); });
    for (const std::size_t bytes : {std::size_t{1} << 10, std::size_t{1} << 20})
      on(ranks, [&](MPI_Comm comm) { return exscan(comm, bytes, repeat); });
  }
  if (job.size() > 1)
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{1} << 20})
      on(2, [&](MPI_Comm comm) { return ping(comm, bytes, repeat); });
  job.together([&] {
    if (!job.speaks() || request.file.empty()) return;
    media::OutputFile file(request.file);
    const std::string text = records.dump(1) + "\n";
    file.write(text.data(), text.size());
    file.commit();
  });
}

}  // namespace

void add_bench(CLI::App& app, Job& job, MpiSettings& settings) {
  CLI::App* verb = app.add_subcommand("bench", "Weak and strong scaling of the table, its phases, and the messages");
  auto request = std::make_shared<BenchRequest>();
  verb->add_option("--image", request->image,
                   "The image of one rank in weak scaling, of all in strong (default 8192x8192)")
      ->type_name("WxH");
  verb->add_option("--types", request->types, "Types of pixels and sums (default 8u32u)")->type_name("NAME");
  verb->add_option("--ranks", request->ranks, "Numbers of ranks, separated by commas (default: powers of two, and all)")
      ->type_name("LIST");
  verb->add_option("--repeat", request->repeat, "Repetitions (default 9)")->type_name("N");
  verb->add_option("--record", request->file, "The records as one JSON file")->type_name("FILE");
  verb->footer("Example:\n  mpirun -n 4 --bind-to core areal-mpi bench --image 8192x4096 --record scaling.json");
  verb->callback([request, &job, &settings] { run(*request, job, settings); });
}

}  // namespace areal::command
