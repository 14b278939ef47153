#include "info_chunked.hpp"

#include <areal/chunked_table.hpp>
#include <nlohmann/json.hpp>
#include "io/json_line.hpp"
#include "io/out.hpp"
#include "io/progress.hpp"

namespace areal::command {

void describe_chunked(const std::string& path, bool verify, const Settings& settings) {
  const ChunkedTable table(path);
  const Shape shape = table.shape();
  std::vector<std::string> findings;
  if (verify) {
    WorkBar bar("shards", settings.quiet);
    findings = table.verify({.threads = settings.threads, .progress = bar.progress()});
  }
  if (settings.json) {
    nlohmann::ordered_json json{{"table", path},
                                {"width", shape.width},
                                {"height", shape.height},
                                {"dtype", table.dtype()},
                                {"tile", table.tile()}};
    if (verify) json["damage"] = findings;
    write_json(json);
  } else {
    write_out(fmt::format("{}: chunked table of {}x{} pixels of {}, in tiles of {}\n", printable(path), shape.width,
                          shape.height, table.dtype(), table.tile()));
    for (const std::string& finding : findings) write_out(printable(finding) + "\n");
    if (verify && findings.empty()) write_out("every checksum is right\n");
  }
  if (findings.empty()) return;
  flush_out();
  throw IoError(
      fmt::format("{}: {} of its parts {} damaged", path, findings.size(), findings.size() == 1 ? "is" : "are"));
}

}  // namespace areal::command
