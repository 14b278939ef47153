// areal::mpi's door: answers questions as areal_doors does, on all ranks of MPI at once. Rank 0 reads lines of JSON and
// prints answers; each rank has a strip of the image. All ranks must say the same, and their strips must fit.

#include <algorithm>
#include <areal/mpi.hpp>
#include <chrono>
#include <iostream>
#include <random>
#include <thread>

#include "../answering.hpp"
#include "../histograms.hpp"
#include "../run.hpp"
#include "../tables.hpp"

namespace doors {
namespace {

int rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
int ranks() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// This rank's rows: even ones, or cuts at random, so that some ranks have none.
areal::mpi::Rows rows_of(const Question& q, std::int64_t height) {
  const std::int64_t split = q.number("split");
  if (split == 0) return areal::mpi::even_rows(MPI_COMM_WORLD, height);
  std::mt19937_64 random(static_cast<std::uint64_t>(split));
  std::vector<std::int64_t> cuts{0, height};
  while (cuts.size() <= static_cast<std::size_t>(ranks()))
    cuts.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(height + 1)));
  std::ranges::sort(cuts);
  const auto at = static_cast<std::size_t>(rank());
  return {cuts[at], cuts[at + 1] - cuts[at], height};
}

Elements strip_of(const Elements& whole, const areal::mpi::Rows& rows) {
  areal::Shape shape = whole.shape;
  shape.height = rows.count;
  Elements strip = elements_of(shape, whole.type);
  const auto bytes = static_cast<std::size_t>(shape.width * shape.channels) * areal::size_of(whole.type);
  for (std::int64_t n = 0; n < shape.batch; ++n)
    for (std::int64_t y = 0; y < rows.count; ++y)
      std::copy_n(whole.bytes.begin() + static_cast<std::ptrdiff_t>(whole.offset(n, rows.first + y, 0, 0)), bytes,
                  strip.bytes.begin() + static_cast<std::ptrdiff_t>(strip.offset(n, y, 0, 0)));
  return strip;
}

/// Small messages for every second split.
areal::mpi::Options options_of(const Question& q) {
  areal::mpi::Options options;
  options.execution = execution_of(q);
  if (q.number("split") % 2 == 1) options.message_bytes = 200;
  if (q.number("split") % 3 == 1) options.carry_bytes = std::size_t{1} << 16;
  return options;
}

/// This rank's part of a table, which rank 0 reads again.
void write_part(const Question& q, Json& answer, const char* name, const areal::ConstView& view) {
  if (view.data == nullptr) return;
  const std::string path = q.text("out") + "." + name + "." + std::to_string(rank()) + ".npy";
  write_npy(path, gather(view));
  answer["parts"][name] = path;
}

template <class T, class Ask>
Json asked(const Question& q, std::int64_t planes, std::int64_t channels, const Ask& ask) {
  const std::vector<areal::Region> regions = regions_of(q);
  std::vector<T> values(regions.size() * static_cast<std::size_t>(planes));
  ask(areal::Span<const areal::Region>(regions), areal::Span<T>(values));
  Json all = Json::array();
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    if (plane % channels == 0) all.push_back(Json::array());
    Json one = Json::array();
    for (std::size_t i = static_cast<std::size_t>(plane); i < values.size(); i += static_cast<std::size_t>(planes))
      one.push_back(text_of(values[i]));
    all.back().push_back(one);
  }
  return all;
}

Json answer_stat(const Question& q, const areal::mpi::Table& table, const std::string& stat) {
  const areal::ConstView sum = table.strip.sum();
  const auto of = [&]<class T>(auto function) {
    return asked<T>(q, sum.shape.batch * sum.shape.channels, sum.shape.channels,
                    [&](auto regions, auto out) { function(regions, out); });
  };
  const areal::mpi::Options how = options_of(q);
  const auto sums = [&](auto regions, auto out) { areal::mpi::region_sums(MPI_COMM_WORLD, table, regions, out, how); };
  if (stat == "sum") {
    if (areal::is_float(sum.type) || q.word("as") == "double") return of.template operator()<double>(sums);
    return areal::is_signed_integer(sum.type) ? of.template operator()<std::int64_t>(sums)
                                              : of.template operator()<std::uint64_t>(sums);
  }
  if (stat == "mean")
    return of.template operator()<double>(
        [&](auto regions, auto out) { areal::mpi::region_means(MPI_COMM_WORLD, table, regions, out, how); });
  if (stat == "variance")
    return of.template operator()<double>(
        [&](auto regions, auto out) { areal::mpi::region_variances(MPI_COMM_WORLD, table, regions, out, how); });
  if (stat == "std")
    return of.template operator()<double>([&](auto regions, auto out) {
      areal::mpi::region_standard_deviations(MPI_COMM_WORLD, table, regions, out, how);
    });
  throw BadQuestion("stats: " + stat + " is none of sum, mean, variance, std");
}

Json table(const Question& q) {
  const Elements whole = image_elements(q);
  const areal::mpi::Rows rows = rows_of(q, whole.shape.height);
  std::optional<Elements> mask = mask_elements(q);
  if (mask) mask = strip_of(*mask, rows);
  Inputs inputs(q, strip_of(whole, rows), mask);
  areal::mpi::Table table;
  for (int again = 0; again < 2; ++again)  // the second time into memory that is there
    areal::mpi::sat(MPI_COMM_WORLD, table, inputs.image_view(), sat_options(q), options_of(q), inputs.mask_view());
  inputs.expect_unchanged();
  if (table.rows.first != rows.first || table.rows.count != rows.count || table.rows.of != rows.of)
    throw Failed("a rank's rows are not those of its strip");
  Json answer = q.answer();
  answer["types"] = areal::name_of(table.strip.types());
  if (table.strip.squares().data) answer["squares_type"] = areal::name_of(table.strip.squares().type);
  if (q.family() == "table") {
    write_part(q, answer, "sum", table.strip.sum());
    write_part(q, answer, "squares", table.strip.squares());
    write_part(q, answer, "count", table.strip.count());
    return answer;
  }
  for (const Json& stat : q["stats"])
    if (stat != "count") answer["answers"][stat.get<std::string>()] = answer_stat(q, table, stat.get<std::string>());
  return answer;
}

Json histogram(const Question& q) {
  const Elements whole = image_elements(q);
  const areal::mpi::Rows rows = rows_of(q, whole.shape.height);
  Room image(strip_of(whole, rows), lie_of_inputs(q), {});
  std::optional<Room> weights;
  if (const auto all = weights_elements(q, whole.shape.batch))
    weights.emplace(strip_of(*all, rows), Lie(), place_of(q));
  const areal::Binning binning = binning_of(q);
  const areal::mpi::Tensor tensor =
      areal::mpi::integral_histogram(MPI_COMM_WORLD, std::as_const(image).view(), binning, histogram_options(q),
                                     options_of(q), weights ? std::as_const(*weights).view() : areal::ConstView());
  image.expect_unchanged("image");
  Json answer = q.answer();
  const std::vector<areal::Region> regions = regions_of(q);
  const auto counts = [&]<class T>(T) {
    std::vector<T> values(regions.size() * static_cast<std::size_t>(binning.bins()));
    areal::mpi::region_histograms(MPI_COMM_WORLD, tensor, regions, areal::Span<T>(values), options_of(q));
    return Json::array({histograms_json(values, binning.bins())});
  };
  answer["counts"] = areal::is_float(tensor.strip.counter()) ? counts(0.0) : counts(std::uint64_t{0});
  return answer;
}

const std::vector<Door> doors_of_ranks = {{"mpi", {"table", "regions"}, table},
                                          {"mpi-histogram", {"histogram"}, histogram}};

Json list() {
  Json answer;
  for (const Door& door : doors_of_ranks) answer["doors"].push_back({{"name", door.name}, {"families", door.families}});
  return answer;
}

/// The rows of all ranks' parts. The row that two parts share, the last of one and the first of the next, is the same
/// in both.
Elements joined(const std::vector<Elements>& parts, bool shares_rows) {
  areal::Shape shape = parts[0].shape;
  shape.height = shares_rows ? 1 : 0;
  for (const Elements& part : parts) shape.height += part.shape.height - (shares_rows ? 1 : 0);
  Elements whole = elements_of(shape, parts[0].type);
  whole.dtype = parts[0].dtype;
  std::int64_t first = 0;
  for (std::size_t r = 0; r < parts.size(); ++r) {
    const Elements& part = parts[r];
    if (part.type != parts[0].type) throw Failed("ranks whose tables differ in type");
    const std::int64_t height = part.shape.height;
    const auto bytes = static_cast<std::ptrdiff_t>(shape.width * shape.channels) *
                       static_cast<std::ptrdiff_t>(areal::size_of(part.type));
    for (std::int64_t n = 0; n < shape.batch; ++n)
      for (std::int64_t y = 0; y < height; ++y) {
        const auto from = part.bytes.begin() + static_cast<std::ptrdiff_t>(part.offset(n, y, 0, 0));
        const auto to = whole.bytes.begin() + static_cast<std::ptrdiff_t>(whole.offset(n, first + y, 0, 0));
        if (shares_rows && r > 0 && y == 0 && !std::equal(from, from + bytes, to))
          throw Failed("the row that two ranks share differs");
        std::copy_n(from, bytes, to);
      }
    first += height - (shares_rows ? 1 : 0);
  }
  return whole;
}

/// One answer of those of all ranks.
Json agreed(const Json& question, std::vector<Json> answers) {
  Json first = answers[0];
  Json all_parts = Json::object();
  for (Json& answer : answers) {
    // A rank without rows may have no memory for a table, and so no type.
    if (answer.contains("squares_type")) first["squares_type"] = answer["squares_type"];
    if (answer.contains("parts"))
      for (const auto& [name, path] : answer["parts"].items()) all_parts[name].push_back(path);
    Json plain = answer, mine = first;
    for (const char* const of_some : {"parts", "squares_type"}) plain.erase(of_some), mine.erase(of_some);
    if (plain != mine)
      return {{"id", first.value("id", Json())},
              {"failed", "ranks that differ: " + line_of(mine) + " and " + line_of(plain)}};
  }
  if (all_parts.empty()) return first;
  const Question q(question);
  for (const auto& [name, paths] : all_parts.items()) {
    std::vector<Elements> parts;
    for (const Json& path : paths) parts.push_back(read_npy(path.get<std::string>()));
    const std::string out = q.text("out") + "." + name + ".npy";
    write_npy(out, joined(parts, border_of(q) == areal::Border::zero));
    first["tables"][name] = out;
  }
  first.erase("parts");
  return first;
}

/// Faults that are planted, each of which rank 0 must find.
Json planted() {
  const Json question{{"id", 1}, {"door", "mpi"}, {"family", "regions"}};
  const Json one{{"id", 1}, {"answers", {{"sum", Json::array({"1"})}}}},
      other{{"id", 1}, {"answers", {{"sum", Json::array({"2"})}}}},
      refusal{{"id", 1}, {"refused", "no"}, {"kind", "InvalidArgument"}};
  Json missed = Json::array();
  if (!agreed(question, {one, one, other}).contains("failed")) missed.push_back("a rank with another answer");
  if (!agreed(question, {one, refusal}).contains("failed")) missed.push_back("a rank that refuses alone");
  if (agreed(question, {one, one}).contains("failed")) missed.push_back("what is sound");
  Elements upper = elements_of({3, 2}, areal::Type::u16), lower = upper;
  lower.bytes[1] = std::byte{1};
  try {
    (void)joined({upper, lower}, true);
    missed.push_back("ranks whose common row differs");
  } catch (const Failed&) {
  }
  return {{"planted", 3}, {"missed", missed}};
}

constexpr int tag = 26;

/// A line for every rank. Those that wait sleep, so that other processes have their cores.
std::string shared_line(std::string line) {
  if (rank() == 0) {
    for (int to = 1; to < ranks(); ++to)
      MPI_Send(line.data(), static_cast<int>(line.size()), MPI_CHAR, to, tag, MPI_COMM_WORLD);
    return line;
  }
  MPI_Status status;
  for (int there = 0; there == 0;) {
    MPI_Iprobe(0, tag, MPI_COMM_WORLD, &there, &status);
    if (there == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  int size = 0;
  MPI_Get_count(&status, MPI_CHAR, &size);
  line.resize(static_cast<std::size_t>(size));
  MPI_Recv(line.data(), size, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return line;
}

/// The answers of all ranks, on rank 0.
std::vector<Json> collected(const Json& answer) {
  const std::string line = line_of(answer);
  if (rank() > 0) {
    MPI_Send(line.data(), static_cast<int>(line.size()), MPI_CHAR, 0, tag, MPI_COMM_WORLD);
    return {};
  }
  std::vector<Json> all{Json::parse(line)};
  for (int from = 1; from < ranks(); ++from) {
    MPI_Status status;
    MPI_Probe(from, tag, MPI_COMM_WORLD, &status);
    int size = 0;
    MPI_Get_count(&status, MPI_CHAR, &size);
    std::string other(static_cast<std::size_t>(size), ' ');
    MPI_Recv(other.data(), size, MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    all.push_back(Json::parse(other));
  }
  return all;
}

Json ask(const Json& line) {
  if (line.is_object() && line.contains("self_test")) return planted();
  return line.is_object() && line.contains("list") ? list() : ask_one_of(doors_of_ranks, line);
}

void answer_all() {
  for (std::string line;;) {
    if (rank() == 0 && !std::getline(std::cin, line)) line.clear();
    line = shared_line(line);
    if (line.empty()) return;
    const std::vector<Json> answers = collected(answered(line, ask));
    if (rank() == 0)
      std::cout << line_of(answered(line, [&](const Json& question) { return agreed(question, answers); }))
                << std::endl;
  }
}

}  // namespace
}  // namespace doors

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  doors::answer_all();
  MPI_Finalize();
}
