#include "view/open_browser.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>
#include <areal/error.hpp>
#include <filesystem>
#include <string_view>

extern char** environ;  // NOLINT: POSIX's

namespace areal::command::page {

Redirect::Redirect(const std::string& url)
    : path_((std::filesystem::temp_directory_path() / "areal-view-XXXXXX.html").string()) {
  const int file = ::mkostemps(path_.data(), 5, O_CLOEXEC);  // of mode 0600
  if (file < 0) throw IoError(path_ + ": cannot be created");
  const std::string text =
      "<!doctype html><meta charset=utf-8><meta name=referrer content=no-referrer>"
      "<meta http-equiv=refresh content=\"0;url=" +
      url + "\"><title>areal view</title>\n";
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  if (written) return;
  remove();
  throw IoError(path_ + ": cannot be written");
}

void Redirect::remove() noexcept {
  if (!path_.empty()) ::unlink(path_.c_str());
  path_.clear();
}

bool open_in_browser(const Redirect& file) {
  std::string program = "xdg-open", path = file.path();
  char* arguments[] = {program.data(), path.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // Standard output has the URL alone.
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const bool started = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  return started;
}

}  // namespace areal::command::page
