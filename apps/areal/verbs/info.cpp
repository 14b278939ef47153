// areal info: the abilities of this build and this machine.

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <areal/info.hpp>
#include <areal/version.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include "info_chunked.hpp"
#include "info_picture.hpp"
#include "io/help.hpp"
#include "io/json_line.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "media/media.hpp"
#include "verbs.hpp"

namespace areal::command {
namespace {

namespace fs = std::filesystem;

void run(const Settings& settings) {
  const int threads = settings.threads > 0 ? settings.threads : default_threads();
  const media::PlugIns plug_ins = media::plug_ins();
  if (settings.json) {
    nlohmann::ordered_json info{{"version", version()},
                                {"backends", nlohmann::json::array()},
                                {"devices", nlohmann::json::array()},
                                {"simd", simd_targets()},
                                {"threads", threads},
                                {"free_memory", free_memory()},
                                {"plug_ins", {{"folder", plug_ins.folder.string()}, {"files", plug_ins.files}}}};
    for (const BackendInfo& row : backends())
      info["backends"].push_back(
          {{"name", name_of(row.backend)}, {"available", row.available}, {"why_not", row.why_not}});
    for (const DeviceInfo& device : devices())
      info["devices"].push_back({{"number", device.number},
                                 {"name", device.name},
                                 {"architecture", device.architecture},
                                 {"multiprocessors", device.multiprocessors},
                                 {"memory", device.memory},
                                 {"free_memory", device.free_memory}});
    write_json(info);
    return;
  }
  write_out(fmt::format("version   {}\n", version()));
  for (const BackendInfo& row : backends())
    write_out(fmt::format("backend   {:<5} {}\n", name_of(row.backend), row.available ? "available" : row.why_not));
  const auto found = devices();
  if (found.empty()) write_out("devices   none\n");
  for (const DeviceInfo& device : found)
    write_out(fmt::format("device {}  {}, {}, {} multiprocessors, {:.1f} of {:.1f} GiB free\n", device.number,
                          device.name, device.architecture, device.multiprocessors,
                          static_cast<double>(device.free_memory) / (1 << 30),
                          static_cast<double>(device.memory) / (1 << 30)));
  write_out(fmt::format("SIMD      {}\n", fmt::join(simd_targets(), " ")));
  write_out(fmt::format("threads   {}\n", threads));
  write_out(fmt::format("memory    {:.1f} GiB free\n", static_cast<double>(free_memory()) / (1 << 30)));
  write_out(fmt::format("plug-ins  {}: {}\n", plug_ins.folder.string(),
                        plug_ins.files.empty() ? "none" : fmt::to_string(fmt::join(plug_ins.files, " "))));
}

// The same choice as in areal query.
bool is_picture(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return fs::exists(path, error);
  return media::is_large_format(path) && !fs::exists(fs::path(path) / "local", error);
}

}  // namespace

void add_info(CLI::App& app, Settings& settings) {
  CLI::App* verb = app.add_subcommand(
      "info", "Version, backends, devices, SIMD targets, threads, plug-ins; or a chunked table, or a picture's levels");
  struct Request {
    std::string table;
    bool verify = false;
  };
  auto request = std::make_shared<Request>();
  begin_group(*verb, group::input);
  verb->add_option("TABLE", request->table,
                   "Describe this chunked table instead, T.zarr, or the levels of this picture");
  begin_group(*verb, group::what);
  verb->add_flag("--verify", request->verify,
                 "Read the whole table and print the parts that differ from their checksums");
  verb->footer(
      "Example:\n  areal info --json\n  areal sat data/home.jpg -o home.zarr && areal info home.zarr --verify");
  verb->callback([request, &settings] {
    settings.resolve();
    if (request->verify && request->table.empty()) refuse("--verify: needs a chunked table");
    if (request->table.empty())
      run(settings);
    else if (is_picture(request->table))
      describe_picture(request->table, request->verify, settings);
    else
      describe_chunked(request->table, request->verify, settings);
  });
}

}  // namespace areal::command
