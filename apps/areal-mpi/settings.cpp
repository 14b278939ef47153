#include <CLI/CLI.hpp>
#include <areal/info.hpp>
#include "io/numbers.hpp"
#include "media/media.hpp"
#include "verbs.hpp"

namespace areal::command {

void MpiSettings::add_to(CLI::App& app) {
  app.add_flag("--json", json, "JSON on standard output: one object per line");
  app.add_flag_callback("--no-sync", media::leave_out_sync, "Do not wait until the output is on the disk");
  app.add_option("--threads", threads_text, "CPU threads of each rank; 0 means all of its machine (default 1)")
      ->type_name("N");
  app.add_option("--backend", backend_text,
                 "Where each rank computes: cpu (default), cuda, a device for each rank of a machine, or simt")
      ->type_name("NAME");
}

Execution MpiSettings::execution(const Job& job) const {
  const int local = job.local_rank();  // collective, so before any refusal
  Execution execution;
  execution.threads = static_cast<int>(whole_number("--threads", threads_text, 0, 4096));
  const auto backend = backend_named(backend_text);
  if (!backend || *backend == Backend::automatic) refuse("--backend ", backend_text, ": may be cpu, cuda or simt");
  execution.backend = *backend;
  for (const BackendInfo& row : backends())
    if (row.backend == *backend && !row.available) throw Unavailable("--backend " + backend_text + ": " + row.why_not);
  if (*backend == Backend::cuda) {
    const auto all = devices();
    execution.device = all[static_cast<std::size_t>(local) % all.size()].number;
  }
  return execution;
}

}  // namespace areal::command
