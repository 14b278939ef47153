// Loaded before the C library (LD_PRELOAD): stops the command at one of its calls that make, rename or remove a file,
// so that tests need no clock. AREAL_STOP_AT is `HOW N WHERE`: the N-th such call, from 0, with a path that contains
// WHERE.
//   kill     SIGKILL before the call
//   refuse   the call fails by EACCES, and every other after it
//   before, after   SIGTERM to the calling thread
//   beside   SIGTERM to another thread, which has removed what it knows before the call is done, and ends the process
//            after the thread that called has gone on to its next call
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct Stop {
  std::string how, where;
  long call = -1;
  Stop() {
    const char* const given = std::getenv("AREAL_STOP_AT");
    if (given == nullptr) return;
    const std::string text = given;
    const std::size_t first = text.find(' '), second = text.find(' ', first + 1);
    how = text.substr(0, first), call = std::atol(text.c_str() + first), where = text.substr(second + 1);
    ::unsetenv("AREAL_STOP_AT");
  }
};
Stop& stop() {
  static Stop& made = *new Stop;
  return made;
}

std::atomic<long> calls{0};
std::atomic<bool> beside{false};  // another thread ends the process
sem_t has_removed, has_gone_on;
thread_local bool is_ending_thread = false;

template <class F>
F* real(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

void goes_on() {
  const int error = errno;
  if (beside && !is_ending_thread) ::sem_post(&has_gone_on);
  errno = error;
}

/// Before such a call. True where it is to fail.
bool arrives(const char* path) {
  Stop& at = stop();
  if (at.call < 0 || is_ending_thread || std::strstr(path, at.where.c_str()) == nullptr) return false;
  const long number = calls++;
  if (at.how == "refuse") return number >= at.call;
  if (number != at.call) return false;
  if (at.how == "kill") ::kill(::getpid(), SIGKILL);
  if (at.how == "before") ::pthread_kill(::pthread_self(), SIGTERM);
  if (at.how == "beside") {
    ::sem_init(&has_removed, 0, 0), ::sem_init(&has_gone_on, 0, 0);
    pthread_t thread{};
    ::pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          is_ending_thread = true;
          ::pthread_kill(::pthread_self(), SIGTERM);
          return nullptr;
        },
        nullptr);
    ::sem_wait(&has_removed);
    beside = true;
  }
  return false;
}

/// After it.
void leaves(const char* path) {
  const int error = errno;
  Stop& at = stop();
  if (at.how == "after" && std::strstr(path, at.where.c_str()) != nullptr && calls == at.call + 1)
    ::pthread_kill(::pthread_self(), SIGTERM);
  errno = error;
}

template <class Call>
int around(const char* path, const Call& call) {
  const bool has_ended_beside = beside;
  if (arrives(path)) {
    errno = EACCES;
    return -1;
  }
  const int result = call();
  leaves(path);
  if (has_ended_beside) goes_on();
  return result;
}

int opened(const char* name, const char* path, int flags, mode_t mode) {
  const auto call = [&] { return real<int(const char*, int, ...)>(name)(path, flags, mode); };
  return (flags & O_CREAT) != 0 ? around(path, call) : call();
}

}  // namespace

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
int rename(const char* from, const char* to) noexcept {
  return around(from, [&] { return real<int(const char*, const char*)>("rename")(from, to); });
}
int remove(const char* path) noexcept {
  return around(path, [&] { return real<int(const char*)>("remove")(path); });
}
int unlink(const char* path) noexcept {
  return around(path, [&] { return real<int(const char*)>("unlink")(path); });
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  // A folder's content is removed by names within it.
  const std::string link = "/proc/self/fd/" + std::to_string(folder);
  std::string whole(4096, '\0');
  const ssize_t length = ::readlink(link.c_str(), whole.data(), whole.size());
  whole.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  whole = path[0] == '/' ? path : whole + '/' + path;
  return around(whole.c_str(), [&] { return real<int(int, const char*, int)>("unlinkat")(folder, path, flags); });
}
int mkdir(const char* path, mode_t mode) noexcept {
  return around(path, [&] { return real<int(const char*, mode_t)>("mkdir")(path, mode); });
}

// What a thread does after it has made or renamed a file.
ssize_t write(int fd, const void* data, size_t bytes) {
  goes_on();
  return real<ssize_t(int, const void*, size_t)>("write")(fd, data, bytes);
}
int fstatvfs(int fd, struct statvfs* status) noexcept {
  goes_on();
  return real<int(int, struct statvfs*)>("fstatvfs")(fd, status);
}
int fallocate(int fd, int mode, off_t offset, off_t bytes) {
  goes_on();
  return real<int(int, int, off_t, off_t)>("fallocate")(fd, mode, offset, bytes);
}
int pause() {
  goes_on();
  return real<int()>("pause")();
}

/// The end of the process, in the other thread.
int raise(int signal) noexcept {
  if (is_ending_thread) ::sem_post(&has_removed), ::sem_wait(&has_gone_on);
  return real<int(int)>("raise")(signal);
}
}
