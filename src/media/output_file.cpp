// Output files: complete or absent.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <random>
#include <utility>
#include "media/file_error.hpp"
#include "media/media.hpp"
#include "media/zarr/zarr.hpp"

namespace areal::media {
namespace {

// The temporary names of this process, readable by a signal handler: fixed memory, one flag for each slot. The
// OutputFile that set `in_use` owns the slot; `live` says that `path` is complete and the file may exist.
struct Slot {
  std::atomic<bool> in_use{false};
  std::atomic<bool> live{false};
  char path[PATH_MAX];
};
static_assert(std::atomic<bool>::is_always_lock_free);
Slot slots[1024];

// Set before the names are read. Any thread may get the signal: while it removes the files, another may create or
// rename one. Either the former sees the name, which is stored before the file exists, or the latter sees this flag.
std::atomic<bool> ending{false};

// Does not return if the process is ending by a signal: nothing may fail or succeed any more.
void wait_where_ending() {
  while (ending.load()) ::pause();
}

Slot* take_slot(const std::string& path) {
  if (path.size() >= PATH_MAX) return nullptr;
  for (Slot& slot : slots) {
    bool free = false;
    if (!slot.in_use.compare_exchange_strong(free, true)) continue;
    std::copy(path.c_str(), path.c_str() + path.size() + 1, slot.path);
    slot.live.store(true);
    return &slot;
  }
  return nullptr;  // more than 1024 at once: the destructor still removes the file, an interrupt would not
}

void free_slot(Slot* slot) {
  if (!slot) return;
  slot->live.store(false, std::memory_order_release);
  slot->in_use.store(false, std::memory_order_release);
}

std::atomic<bool> syncs{true};

/// 0, or errno. A file system that cannot flush a file or a folder is not asked to.
int flushed(int fd) {
  while (::fsync(fd) != 0) {
    if (errno == EINTR) continue;
    return errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP ? 0 : errno;
  }
  return 0;
}

/// 0, or errno: of the names in a folder.
int flushed_folder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && errno == EACCES) {  // files may be made in it, but not listed
    ::sync();
    return 0;
  }
  if (fd < 0) return errno;
  const int error = flushed(fd);
  ::close(fd);
  return error;
}

std::string temporary_name() {
  static std::atomic<unsigned> counter{0};
  std::random_device random;
  return ".areal-" + std::to_string(::getpid()) + "-" + std::to_string(counter++) + "-" +
         std::to_string(random() % 100000) + ".tmp";
}

}  // namespace

void leave_out_sync() noexcept { syncs = false; }
bool outputs_are_synced() noexcept { return syncs; }

void flush_to_disk(int fd, const std::string& name) {
  if (!syncs) return;
  if (const int error = flushed(fd); error != 0) fail(name, "could not be written (", std::strerror(error), ")");
}

void remove_unfinished_outputs() noexcept {
  ending.store(true);
  for (const Slot& slot : slots)
    if (slot.live.load()) ::unlink(slot.path);
}

struct OutputFile::State {
  std::string name;    // as the caller passed it
  fs::path target;     // the target of commit(): links followed
  fs::path temporary;  // == target for a device or a pipe
  Slot* slot = nullptr;
  int fd = -1;
  bool direct = false;
  bool is_temporary = false;  // the file `temporary` is there, and no one's but ours
  std::uint64_t reserved = 0;
  std::uint64_t end = 0;  // end of what write_at has written

  ~State() {
    if (fd >= 0) ::close(fd);
    if (is_temporary) ::unlink(temporary.c_str());
    free_slot(slot);
  }
  [[noreturn]] void cannot_write() const {
    const int error = errno;
    wait_where_ending();
    fail(name, "could not be written (", std::strerror(error), ")");
  }
  void open_temporary(mode_t mode, bool existed, const fs::path& requested);
  void reserve(std::uint64_t bytes);
  void cut();
};

void OutputFile::State::open_temporary(mode_t mode, bool existed, const fs::path& requested) {
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path("/");
  for (int attempt = 0; attempt < 16 && fd < 0; ++attempt) {
    temporary = attempt == 0 && !requested.empty() ? requested : folder / temporary_name();
    slot = take_slot(temporary.string());
    // A file that replaces a private one is private from the start.
    const mode_t first_mode = existed ? mode & 0700 : 0666;
    fd = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, first_mode);
    const int error = errno;
    if (ending.load() && fd >= 0) ::unlink(temporary.c_str());
    wait_where_ending();
    is_temporary = fd >= 0;
    if (fd >= 0) break;
    free_slot(std::exchange(slot, nullptr));
    errno = error;
    if (error != EEXIST) cannot_write();
  }
  if (fd < 0) cannot_write();
  // A replaced file keeps its permissions.
  struct stat made {};
  const bool differs = existed && (::fstat(fd, &made) != 0 || (made.st_mode & 0777) != (mode & 0777));
  if (differs && ::fchmod(fd, mode & 0777) != 0) cannot_write();
}

void OutputFile::State::reserve(std::uint64_t bytes) {
  if (bytes == 0) return;
  // Checked first: fallocate would fill the disk completely before it fails.
  struct statvfs disk {};
  if (::fstatvfs(fd, &disk) == 0 && disk.f_blocks > 0) {
    const std::uint64_t free = std::uint64_t{disk.f_bavail} * disk.f_frsize;
    if (free < bytes) fail(name, "needs ", bytes, " bytes, but the disk has ", free, " free");
  }
  if (bytes > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()))
    fail(name, "needs ", bytes, " bytes, more than a file can have");
  // Not posix_fallocate: if the file system cannot reserve, it writes a byte into every block instead.
  while (::fallocate(fd, 0, 0, static_cast<off_t>(bytes)) != 0) {
    if (errno == EINTR) continue;
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) cannot_write();
    return;
  }
  reserved = bytes;
}

fs::path OutputFile::temporary_for(const fs::path& path) {
  std::error_code ignored;
  const bool exists = fs::exists(path, ignored);
  if (exists && !fs::is_regular_file(path, ignored)) return {};
  const fs::path target = exists ? fs::canonical(path, ignored) : fs::absolute(path, ignored);
  return target.parent_path() / temporary_name();
}

OutputFile::OutputFile(const fs::path& path, std::uint64_t reserve_bytes, const fs::path& temporary)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.name = path.string();
  if (path.empty()) throw InvalidArgument("the output's name is empty");
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) s.cannot_write();
  if (exists && S_ISDIR(status.st_mode)) fail(s.name, "is a folder, not a file that could be written");
  if (exists && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0)
    fail(s.name, "exists and may not be written (", std::strerror(errno), ")");
  std::error_code ignored;
  s.target = exists ? fs::canonical(path, ignored) : fs::absolute(path);
  if (s.target.empty()) s.target = fs::absolute(path);
  if (exists && !S_ISREG(status.st_mode)) {
    s.direct = true;
    s.temporary = s.target;
    s.fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (s.fd < 0) s.cannot_write();
    return;
  }
  if (!fs::is_directory(s.target.parent_path(), ignored)) fail(s.name, "its folder does not exist");
  s.open_temporary(status.st_mode, exists, temporary);
  s.reserve(reserve_bytes);
}

OutputFile::~OutputFile() = default;

const fs::path& OutputFile::temporary() const { return state_->temporary; }
fs::path OutputFile::by_descriptor() const {
  const fs::path link = "/proc/self/fd/" + std::to_string(state_->fd);
  std::error_code ignored;
  return fs::exists(link, ignored) ? link : state_->temporary;
}

void OutputFile::write(const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    // Linux moves at most 2 GiB a call.
    const ssize_t done = ::write(state_->fd, at, std::min(bytes, std::size_t{1} << 30));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) state_->cannot_write();
    at += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

void OutputFile::write_at(std::uint64_t offset, const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::pwrite(state_->fd, at, std::min(bytes, std::size_t{1} << 30), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) state_->cannot_write();
    at += done, offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::size_t>(done);
    state_->end = std::max(state_->end, offset);
  }
}

// Reserved but unwritten space must not stay as zeros at the end. A library's writes under the file's name count too.
void OutputFile::State::cut() {
  if (direct || reserved == 0) return;
  const off_t here = std::max<off_t>(::lseek(fd, 0, SEEK_CUR), static_cast<off_t>(end));
  if (here > 0 && static_cast<std::uint64_t>(here) < reserved && ::ftruncate(fd, here) != 0) cannot_write();
}

std::optional<FileSum> OutputFile::sum() {
  State& s = *state_;
  if (s.direct) return std::nullopt;
  s.cut();
  FileSum sum;
  std::vector<char> piece(1 << 20);
  while (true) {
    const ssize_t got = ::pread(s.fd, piece.data(), piece.size(), static_cast<off_t>(sum.bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) s.cannot_write();
    if (got == 0) return sum;
    sum.crc32c = crc32c(piece.data(), static_cast<std::size_t>(got), sum.crc32c);
    sum.bytes += static_cast<std::uint64_t>(got);
  }
}

void OutputFile::flush() {
  State& s = *state_;
  if (s.fd < 0 || s.direct) return;
  s.cut();
  flush_to_disk(s.fd, s.name);
}

void OutputFile::commit(bool another_follows) {
  State& s = *state_;
  if (s.fd < 0) return;
  flush();
  const int closed = ::close(std::exchange(s.fd, -1));
  if (closed != 0 && errno != EINTR) s.cannot_write();
  if (s.direct) return;
  wait_where_ending();
  if (::rename(s.temporary.c_str(), s.target.c_str()) != 0) s.cannot_write();
  s.is_temporary = false;
  free_slot(std::exchange(s.slot, nullptr));
  s.temporary.clear();
  if (!syncs || another_follows) return;
  errno = flushed_folder(s.target.parent_path());
  if (errno != 0) s.cannot_write();
}

}  // namespace areal::media
