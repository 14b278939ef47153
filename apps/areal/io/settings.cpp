#include "settings.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <vector>
#include "help.hpp"
#include "media/media.hpp"
#include "numbers.hpp"
#include "out.hpp"

namespace areal::command {

void Settings::add_to(CLI::App& app) {
  begin_group(app, group::output);
  app.add_flag("-q,--quiet", quiet, "No notes and no progress bar");
  app.add_flag("-v,--verbose", verbose, "Print what was chosen and why to standard error");
  app.add_flag("--json", json, "JSON on standard output: one object per line");
  app.add_flag_callback("--no-sync", media::leave_out_sync, "Do not wait until the output is on the disk");
  begin_group(app, group::where);
  app.add_option("--threads", threads_text_, "CPU threads; 0 means all")->type_name("N");
  app.add_option("--backend", backend_text_, "Where to compute: auto (default), cpu, cuda or simt")->type_name("NAME");
  app.add_option("--device", device_text_, "Number of the device, for cuda and simt")->type_name("N");
}

void Settings::resolve() {
  constexpr std::int64_t most_threads = 4096;
  if (!threads_text_.empty()) threads = static_cast<int>(whole_number("--threads", threads_text_, 0, most_threads));
  const auto named = backend_named(backend_text_);
  if (!named) refuse("--backend ", backend_text_, ": may be auto, cpu, cuda or simt");
  backend = *named;
  for (const BackendInfo& row : backends())
    if (row.backend == backend && !row.available)
      throw Unavailable(fmt::format("--backend {}: {}", name_of(backend), row.why_not));
  if (device_text_.empty()) return;
  device = static_cast<int>(whole_number("--device", device_text_, 0, 1 << 20));
  if (backend == Backend::cpu) refuse("--device ", device_text_, ": the cpu backend has no devices");
  std::vector<int> numbers{0};  // simt has one device
  if (backend != Backend::simt) {
    numbers.clear();
    for (const DeviceInfo& row : devices()) numbers.push_back(row.number);
  }
  if (std::find(numbers.begin(), numbers.end(), device) == numbers.end())
    throw Unavailable(fmt::format("--device {}: no such device; areal info lists them", device));
}

void Settings::say(const std::string& line) { write_message(line); }

}  // namespace areal::command
