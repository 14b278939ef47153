// Parses, runs one verb, and turns exceptions into one line and an exit code.
//   0  done; also when the reader of standard output has closed the pipe, which ends the command quietly
//   1  a failure: of a file, of memory, of a backend that is not available
//   2  wrong use
// SIGINT, SIGTERM and SIGHUP remove unfinished output files and end the process by the same signal; while frames are on
// their way, the first SIGINT lets them end first.

#include "io/command.hpp"
#include <malloc.h>
#include <sys/resource.h>
#include <CLI/CLI.hpp>
#include <areal/error.hpp>
#include <areal/version.hpp>
#include <csignal>
#include <filesystem>
#include <ios>
#include <new>
#include "io/help.hpp"
#include "io/interrupt.hpp"
#include "io/out.hpp"
#include "io/usage_error.hpp"

namespace areal::command {
namespace {

void set_signals() {
  struct sigaction action {};
  action.sa_handler = interrupted_by;
  action.sa_flags = SA_NODEFER | SA_RESTART;  // the raise in the handler must end the process at once
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    // Keep ignoring a signal that the shell ignores for its jobs (nohup, &).
    if (sigaction(signal, nullptr, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);  // writes fail with EPIPE, and unfinished outputs are removed
  std::signal(SIGXFSZ, SIG_IGN);  // writes fail with EFBIG, as on a full disk
}

// glibc reserves 64 MiB of address space for each thread that allocates. Under `ulimit -v` images need that space, and
// whether a buffer could be allocated depended on which thread came first.
void share_one_heap_under_a_limit() {
#ifdef __GLIBC__
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) mallopt(M_ARENA_MAX, 1);
#endif
}

int fail(const std::string& sentence, int code) {
  write_message("areal: " + sentence);
  return code;
}

// The word in the place of a verb that is none; empty where a verb was given, or only options.
std::string unknown_verb(const CLI::App& app) {
  const std::vector<std::string> unknown = app.remaining();
  const bool is_word = app.get_subcommands().empty() && !unknown.empty() && !unknown[0].starts_with('-');
  return is_word ? unknown[0] : std::string();
}

int parse_and_run(CLI::App& app, int argc, char** argv) {
  const auto refuse_word = [](const std::string& word) {
    return fail(word + " is not a verb; areal --help lists them", 2);
  };
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) return fail("no verb given; areal --help lists them", 2);
  } catch (const CLI::CallForHelp&) {
    if (const std::string word = unknown_verb(app); !word.empty()) return refuse_word(word);
    write_out(app.help());
  } catch (const CLI::CallForVersion&) {
    if (const std::string word = unknown_verb(app); !word.empty()) return refuse_word(word);
    write_out("areal " + std::string(version()) + "\n");
  } catch (const CLI::ParseError& error) {
    const std::string word = unknown_verb(app);
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !word.empty()) return refuse_word(word);
    return fail(usage_error(app, error, {argv, static_cast<std::size_t>(argc)}), 2);
  }
  flush_out();
  return 0;
}

}  // namespace

int run_command(int argc, char** argv, const std::function<void(CLI::App&, Settings&)>& add_verbs) {
  set_signals();
  share_one_heap_under_a_limit();
  Settings settings;
  settings.arguments = argv;
  try {
    CLI::App app(
        "Summed-area tables and integral histograms of pictures and video, and statistics of any region from them.",
        "areal");
    app.formatter(std::make_shared<GroupedHelp>());
    app.fallthrough();
    app.require_subcommand(0, 1);
    app.set_version_flag("--version", std::string(version()), "Print the version");
    settings.add_to(app);
    add_verbs(app, settings);
    app.footer(
        "areal VERB --help, or areal help VERB, shows the options of a verb and an example.\n"
        "Exit codes: 0 done, 1 a failure, 2 wrong use.");
    return parse_and_run(app, argc, argv);
  } catch (const ReaderGone&) {
    // Not std::exit, which would write stdio's buffer again.
    std::_Exit(0);
  } catch (const InvalidArgument& error) {
    return fail(error.what(), 2);
  } catch (const std::bad_alloc&) {
    return fail("out of memory", 1);
  } catch (const std::filesystem::filesystem_error& error) {  // its own words are the library's
    const std::string path = error.path1().string();
    return fail((path.empty() ? "a file" : path) + ": " + error.code().message(), 1);
  } catch (const std::ios_base::failure& error) {
    return fail("a file could not be read or written: " + error.code().message(), 1);
  } catch (const std::exception& error) {
    return fail(error.what(), 1);
  }
}

}  // namespace areal::command
