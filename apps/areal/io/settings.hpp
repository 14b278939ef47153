#pragma once
// The options that every verb takes, and messages on standard error.

#include <fmt/format.h>
#include <areal/sequence.hpp>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace areal::command {

struct Settings {
  bool quiet = false, verbose = false, json = false;
  int threads = 0;  // 0: all
  Backend backend = Backend::automatic;
  int device = 0;
  char** arguments = nullptr;  // of the process, for the laboratory

  /// --backend, --device and --threads, for plans.
  Execution execution() const noexcept { return {.backend = backend, .device = device, .threads = threads}; }
  /// The same, for images in parts.
  Worker worker() const noexcept { return {.backend = backend, .device = device, .threads = threads}; }
  /// For queries of tables in host memory, whichever backend computed them.
  Execution on_host() const noexcept { return {.threads = threads}; }

  /// Adds --quiet, -v, --json, --no-sync, --threads, --backend, --device.
  void add_to(CLI::App& app);
  /// Parses the texts. Throws InvalidArgument for wrong use, Unavailable for a missing backend or device.
  void resolve();

  /// A message unless --quiet: something was omitted, or differs from what the user may expect.
  template <class... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) const {
    if (!quiet) say("areal: note: " + fmt::format(format, std::forward<Args>(args)...));
  }
  /// A message of -v: choices, their reasons, times.
  template <class... Args>
  void detail(fmt::format_string<Args...> format, Args&&... args) const {
    if (verbose && !quiet) say("areal: " + fmt::format(format, std::forward<Args>(args)...));
  }

  /// Prints one or more lines on standard error.
  static void say(const std::string& line);

 private:
  std::string threads_text_, backend_text_ = "auto", device_text_;
};

}  // namespace areal::command
