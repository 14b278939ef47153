// areal algorithms: the catalogue.

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <areal/catalog.hpp>
#include <areal/type_pair.hpp>
#include <charconv>
#include <nlohmann/json.hpp>
#include "io/columns.hpp"
#include "io/out.hpp"
#include "verbs.hpp"

namespace areal::command {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> backends_of(const Algorithm& row) {
  std::vector<std::string> names;
  if (row.cpu) names.emplace_back("cpu");
  if (row.cuda) names.emplace_back("cuda");
  if (row.simt) names.emplace_back("simt");
  return names;
}

// Summed-area tables and scans: the type pairs. Histograms: image type and counter, as their sidecars name them.
// Filters: the types of their images.
std::vector<std::string> lanes_of(const Algorithm& row) {
  std::vector<std::string> names;
  if (row.family == "sat" || row.family == "scan") {
    for (const TypePair& types : type_pairs_of(row)) names.push_back(name_of(types));
    return names;
  }
  if (row.family == "filter") {
    names = {"8u", "8s", "16u", "16s", "32u", "32s"};
    if (row.id == "column-counts" || row.id == "window-counts") return {"8u", "8s"};
    if (row.id == "network") names.insert(names.end(), {"16f", "32f"});
    if (row.id == "blocks" || row.id == "classes") names.insert(names.end(), {"64u", "64s", "16f", "32f", "64f"});
    return names;
  }
  for (const char* image : {"8u", "8s", "16u", "16s", "32u", "32s", "16f", "32f", "64f"})
    for (const char* counter : {"16u", "32u", "64u"})
      if (row.simt || std::string_view(counter) != "16u") names.push_back(fmt::format("{}-{}", image, counter));
  return names;
}

// The command's names of the options that this algorithm takes.
std::vector<std::string> options_of(const Algorithm& row) {
  std::vector<std::string> names;
  if (row.takes.r) names.emplace_back("r");
  if (row.takes.scan) names.emplace_back("scan");
  if (row.takes.tile) names.insert(names.end(), {"tile", "tile-threads"});
  if (row.takes.threads) names.emplace_back("threads");
  if (row.takes.group) names.emplace_back("k");
  return names;
}

// A number where it is one, else the formula.
Json cost(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::string(text);
  if (value == static_cast<double>(static_cast<std::int64_t>(value))) return static_cast<std::int64_t>(value);
  return value;
}

void run(const Settings& settings) {
  if (settings.json) {
    Json list = Json::array();
    for (const Algorithm& row : algorithms())
      list.push_back({{"family", row.family},
                      {"id", row.id},
                      {"source", row.source},
                      {"backends", backends_of(row)},
                      {"lanes", lanes_of(row)},
                      {"reads_per_element", cost(row.reads_per_element)},
                      {"writes_per_element", cost(row.writes_per_element)},
                      {"barrier_steps", cost(row.barrier_steps)},
                      {"deterministic", row.deterministic},
                      {"takes", options_of(row)}});
    write_out(list.dump(2) + "\n");
    return;
  }
  std::vector<std::vector<std::string>> rows{
      {"family", "id", "backends", "source", "deterministic", "reads", "writes", "barriers"}};
  for (const Algorithm& row : algorithms())
    rows.push_back({std::string(row.family), std::string(row.id), fmt::format("{}", fmt::join(backends_of(row), " ")),
                    std::string(row.source), row.deterministic ? "yes" : "no", std::string(row.reads_per_element),
                    std::string(row.writes_per_element), std::string(row.barrier_steps)});
  write_out(aligned(rows, rows[0].size()));
}

}  // namespace

void add_algorithms(CLI::App& app, Settings& settings) {
  CLI::App* verb = app.add_subcommand("algorithms", "Every algorithm: its source, where it runs, what it costs");
  verb->footer(
      "Reads and writes are per element: of the table, of the tensor for histograms, of the line for scans, of the\n"
      "output for filters. They and barriers are numbers or formulas of\n"
      "  h, w, b  height and width of the image, bins\n"
      "  n        elements of the line\n"
      "  T        side of a tile: 32 for tables, but 16 lines for thin; --tile for histograms; rows of a band of\n"
      "           count-then-write, 16 to 128\n"
      "  r, k     of hybrid-1r1w: the share of tiles in its triangles, and the number of tiles along their sides\n"
      "  k        of sequential-parallel: elements of a group\n"
      "  d        depth of the recursion of 2r1w; for hybrid-1r1w the sum over both triangles\n"
      "  C        elements of a line that a block holds: 2048; for lee-choe and lee-choe-multiple 8192, or 4096 of\n"
      "           8 bytes\n"
      "  log2(x) is rounded up, and 0 for x up to 1; above(x, y) is 1 where x > y, else 0; mod(x, y) is the remainder\n"
      "  of x / y.\n"
      "On a GPU, accesses to shared memory do not count, and barriers are launches less one. On the CPU, the formulas\n"
      "hold for one thread and --border none; all accesses count, cached or not, except to a tile's own scratch "
      "memory,\n"
      "and barriers are passes less one.\n"
      "\nExample:\n  areal algorithms --json");
  verb->callback([&settings] {
    settings.resolve();
    run(settings);
  });
}

}  // namespace areal::command
