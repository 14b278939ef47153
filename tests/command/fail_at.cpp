// Loaded before the C library (LD_PRELOAD): a file system that fails, or that loses power, at one of the command's
// operations on files of one folder: open to write, write, pwrite, ftruncate, fallocate, rename, fsync, mkdir, rmdir,
// remove, unlink, unlinkat. AREAL_FAIL_AT is `HOW N FOLDER NOTES`: the N-th operation, from 0; -1: the end of the
// process. NOTES is another folder of the same file system, in which this library keeps what it needs.
//   count    writes the number of operations to NOTES/count
//   fail     the operation fails once, by EIO
//   before, after   SIGKILL
//   zeroed   power is lost before the operation: what was not flushed of the files' contents is zeros
//   lost     the same, and what was not flushed of the folders is undone: new names, removed ones, new folders
// A flush of a file is its own contents', one of a folder its own names'. What the C library writes by itself, as for
// fwrite, is not seen.
#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace {

namespace fs = std::filesystem;

template <class F>
F* real(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

using Inode = std::pair<dev_t, ino_t>;

/// What a folder had under a name before, if it is not known to have forgotten it.
struct Before {
  bool was_there = false, is_folder = false;
  std::string kept;  // the old file
};

struct State {
  std::string how, folder, notes;
  long at = -2, calls = 0;
  int kept = 0;
  std::set<Inode> unflushed;
  std::map<std::string, Before> names;  // the latest flushed state of what has changed since
  std::recursive_mutex mutex;
  bool is_busy = false;  // with operations of its own
  State() {
    const char* const given = std::getenv("AREAL_FAIL_AT");
    if (given == nullptr) return;
    std::string text = given;
    for (std::string* const word : {&how, static_cast<std::string*>(nullptr), &folder, &notes}) {
      const std::size_t end = std::min(text.find(' '), text.size());
      if (word == nullptr)
        at = std::atol(text.c_str());
      else
        *word = text.substr(0, end);
      text.erase(0, end + 1);
    }
    ::unsetenv("AREAL_FAIL_AT");
  }
};
State& state() {
  static State& made = *new State;
  return made;
}

std::string path_of(int fd) {
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  char path[PATH_MAX];
  const ssize_t length = ::readlink(link.c_str(), path, sizeof path);
  return {path, length > 0 ? static_cast<std::size_t>(length) : 0};
}

/// Links are followed in the folder's path alone.
std::string whole(const std::string& path, const std::string& from = "") {
  const fs::path given = fs::path(path).is_absolute() || from.empty() ? fs::path(path) : fs::path(from) / path;
  std::error_code error;
  const fs::path above = fs::weakly_canonical(given.has_parent_path() ? given.parent_path() : fs::path("."), error);
  return (above / given.filename()).string();
}

bool is_ours(const std::string& path) {
  const State& s = state();
  return !s.folder.empty() && !s.is_busy && path.starts_with(s.folder + "/");
}

Inode inode_of(int fd) {
  struct stat status {};
  ::fstat(fd, &status);
  return {status.st_dev, status.st_ino};
}

int zero(const char* path, const struct stat* status, int, FTW*) {
  if (S_ISREG(status->st_mode) && state().unflushed.contains({status->st_dev, status->st_ino})) {
    const off_t bytes = status->st_size;
    if (::truncate(path, 0) != 0 || ::truncate(path, bytes) != 0) std::abort();
  }
  return 0;
}

void lose_power() {
  State& s = state();
  s.is_busy = true;
  if (s.how == "lost") {
    std::error_code error;
    for (const auto& [name, before] : s.names) {
      if (!before.was_there) {
        fs::remove_all(name, error);
      } else if (before.is_folder) {
        fs::create_directories(name, error);
      } else {
        fs::create_directories(fs::path(name).parent_path(), error);
        real<int(const char*, const char*)>("rename")(before.kept.c_str(), name.c_str());
      }
    }
  }
  ::nftw(s.folder.c_str(), zero, 16, FTW_PHYS);
}

/// Before an operation. True where it is to fail.
bool arrives(const std::string& path) {
  State& s = state();
  if (!is_ours(path)) return false;
  const long number = s.calls++;
  if (number != s.at) return false;
  if (s.how == "zeroed" || s.how == "lost") lose_power();
  if (s.how == "zeroed" || s.how == "lost" || s.how == "before") ::kill(::getpid(), SIGKILL);
  return s.how == "fail";
}

void leaves(const std::string& path) {
  const State& s = state();
  if (s.how == "after" && is_ours(path) && s.calls == s.at + 1) ::kill(::getpid(), SIGKILL);
}

/// What a name is, before it changes.
void keep(const std::string& path) {
  State& s = state();
  if (s.how != "lost" || !is_ours(path) || s.names.contains(path)) return;
  struct stat status {};
  Before before;
  before.was_there = ::lstat(path.c_str(), &status) == 0;
  before.is_folder = before.was_there && S_ISDIR(status.st_mode);
  if (before.was_there && !before.is_folder) {
    before.kept = s.notes + "/" + std::to_string(s.kept++);
    if (::link(path.c_str(), before.kept.c_str()) != 0) std::abort();
  }
  s.names[path] = before;
}

void folder_is_flushed(const std::string& folder) {
  std::erase_if(state().names, [&](const auto& entry) {
    const std::string above = fs::path(entry.first).parent_path().string();
    if (above == folder) return true;
    std::error_code error;  // of a folder that has gone for good
    return above.starts_with(folder + "/") && !fs::exists(above, error);
  });
}

template <class Call>
auto around(const std::string& path, const Call& call) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (arrives(path)) {
    errno = EIO;
    return static_cast<decltype(call())>(-1);
  }
  const auto result = call();
  const int error = errno;
  leaves(path);
  errno = error;
  return result;
}

template <class Call>
auto around_name(const std::string& path, const Call& call) {
  return around(path, [&] {
    keep(path);
    return call();
  });
}

template <class Call>
auto around_contents(int fd, const Call& call) {
  if (state().folder.empty()) return call();
  return around(path_of(fd), [&] {
    const auto result = call();
    if (result >= 0) state().unflushed.insert(inode_of(fd));
    return result;
  });
}

int opened(const char* name, const char* path, int flags, mode_t mode) {
  const auto call = [&] { return real<int(const char*, int, ...)>(name)(path, flags, mode); };
  if (state().folder.empty() || (flags & (O_WRONLY | O_RDWR)) == 0) return call();
  return around_name(whole(path), call);
}

}  // namespace

__attribute__((destructor)) void at_the_end() {
  State& s = state();
  if (s.how == "count") {
    const int fd = real<int(const char*, int, ...)>("open")((s.notes + "/count").c_str(), O_CREAT | O_WRONLY, 0600);
    const std::string number = std::to_string(s.calls);
    if (real<ssize_t(int, const void*, size_t)>("write")(fd, number.data(), number.size()) < 0) std::abort();
    ::close(fd);
  }
  if (s.at == -1 && (s.how == "zeroed" || s.how == "lost")) lose_power();
}

extern "C" {

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const auto mode = static_cast<mode_t>((flags & O_CREAT) != 0 ? va_arg(list, int) : 0);
  va_end(list);
  return opened("open", path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const auto mode = static_cast<mode_t>((flags & O_CREAT) != 0 ? va_arg(list, int) : 0);
  va_end(list);
  return opened("open64", path, flags, mode);
}
ssize_t write(int fd, const void* data, size_t bytes) {
  return around_contents(fd, [&] { return real<ssize_t(int, const void*, size_t)>("write")(fd, data, bytes); });
}
ssize_t pwrite(int fd, const void* data, size_t bytes, off_t at) {
  return around_contents(fd,
                         [&] { return real<ssize_t(int, const void*, size_t, off_t)>("pwrite")(fd, data, bytes, at); });
}
ssize_t pwrite64(int fd, const void* data, size_t bytes, off_t at) {
  return around_contents(
      fd, [&] { return real<ssize_t(int, const void*, size_t, off_t)>("pwrite64")(fd, data, bytes, at); });
}
int ftruncate(int fd, off_t bytes) noexcept {
  return around_contents(fd, [&] { return real<int(int, off_t)>("ftruncate")(fd, bytes); });
}
int fallocate(int fd, int mode, off_t offset, off_t bytes) {
  return around_contents(fd, [&] { return real<int(int, int, off_t, off_t)>("fallocate")(fd, mode, offset, bytes); });
}
int fsync(int fd) {
  if (state().folder.empty()) return real<int(int)>("fsync")(fd);
  const std::string path = path_of(fd);
  return around(path == state().folder ? path + "/." : path, [&] {
    // What it does to the disk itself is of no use here.
    state().unflushed.erase(inode_of(fd));
    folder_is_flushed(path);
    return 0;
  });
}
int rename(const char* from, const char* to) noexcept {
  if (state().folder.empty()) return real<int(const char*, const char*)>("rename")(from, to);
  const std::string old_name = whole(from);
  return around_name(whole(to), [&] {
    keep(old_name);
    return real<int(const char*, const char*)>("rename")(from, to);
  });
}
int remove(const char* path) noexcept {
  const auto call = [&] { return real<int(const char*)>("remove")(path); };
  return state().folder.empty() ? call() : around_name(whole(path), call);
}
int unlink(const char* path) noexcept {
  const auto call = [&] { return real<int(const char*)>("unlink")(path); };
  return state().folder.empty() ? call() : around_name(whole(path), call);
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  const auto call = [&] { return real<int(int, const char*, int)>("unlinkat")(folder, path, flags); };
  return state().folder.empty() ? call() : around_name(whole(path, folder == AT_FDCWD ? "" : path_of(folder)), call);
}
int mkdir(const char* path, mode_t mode) noexcept {
  const auto call = [&] { return real<int(const char*, mode_t)>("mkdir")(path, mode); };
  return state().folder.empty() ? call() : around_name(whole(path), call);
}
int rmdir(const char* path) noexcept {
  const auto call = [&] { return real<int(const char*)>("rmdir")(path); };
  return state().folder.empty() ? call() : around_name(whole(path), call);
}
}
