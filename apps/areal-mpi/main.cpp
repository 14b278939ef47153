// areal-mpi, under mpirun: runs one verb on all ranks. Exit codes as areal:
//   0  done
//   1  a failure: a file, memory, a missing backend, MPI
//   2  wrong use
// An error on one rank ends all ranks, with one sentence. When a rank dies, mpirun sends SIGTERM to the others, whose
// handler removes the unfinished output.

#include <unistd.h>
#include <CLI/CLI.hpp>
#include <areal/error.hpp>
#include <areal/version.hpp>
#include <csignal>
#include <new>
#include "io/out.hpp"
#include "io/usage_error.hpp"
#include "job.hpp"
#include "media/media.hpp"
#include "shared_table.hpp"
#include "verbs.hpp"

namespace {

using areal::command::Job;

extern "C" void end_by(int signal) {
  areal::media::remove_unfinished_outputs();
  areal::command::remove_shared_table();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  ::_exit(128 + signal);
}

void set_signals() {
  struct sigaction action {};
  action.sa_handler = end_by;
  action.sa_flags = SA_NODEFER | SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    if (sigaction(signal, nullptr, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

int parse_and_run(CLI::App& app, Job& job, int argc, char** argv) {
  const auto print = [&](const std::string& text) {
    if (job.speaks()) areal::command::write_out(text);
  };
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) return job.end("no verb given; areal-mpi --help lists them", 2);
  } catch (const CLI::CallForHelp&) {
    print(app.help());
  } catch (const CLI::CallForVersion&) {
    print("areal-mpi " + std::string(areal::version()) + "\n");
  } catch (const CLI::ParseError& error) {
    return job.end(areal::command::usage_error(app, error, {argv, static_cast<std::size_t>(argc)}), 2);
  }
  areal::command::flush_out();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Job job(argc, argv);
  set_signals();  // after MPI_Init, which may set handlers
  areal::command::MpiSettings settings;
  try {
    CLI::App app("Summed-area tables and integral histograms of images whose rows are spread over MPI ranks.",
                 "areal-mpi");
    app.fallthrough();
    app.require_subcommand(0, 1);
    app.set_version_flag("--version", std::string(areal::version()), "Print the version");
    settings.add_to(app);
    areal::command::add_sat(app, job, settings);
    areal::command::add_query(app, job, settings);
    areal::command::add_hist(app, job, settings);
    areal::command::add_bench(app, job, settings);
    app.footer(
        "mpirun -n 4 areal-mpi VERB ..; areal-mpi VERB --help shows the options of a verb and an example.\n"
        "Exit codes: 0 done, 1 a failure, 2 wrong use.");
    return parse_and_run(app, job, argc, argv);
  } catch (const areal::command::ReaderGone&) {
    return 0;  // the first rank's reader is gone; no collective call follows
  } catch (const areal::mpi::MpiError& error) {
    job.abort(error.what(), 1);
  } catch (const areal::InvalidArgument& error) {
    return job.end(error.what(), 2);
  } catch (const std::bad_alloc&) {
    return job.end("out of memory", 1);
  } catch (const std::exception& error) {
    return job.end(error.what(), 1);
  }
}
