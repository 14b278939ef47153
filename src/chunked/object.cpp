#include "chunked/object.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>
#include "chunked/crc32c.hpp"
#include "chunked/format.hpp"
#include "chunked/on_threads.hpp"
#include "chunked/sentence.hpp"

namespace areal::chunked {
namespace {

constexpr std::size_t piece_bytes = 1 << 20;
constexpr std::size_t most_a_call = std::size_t{1} << 30;  // Linux moves at most 2 GiB

/// Reads bytes; returns their number, smaller at the end of the file, or -1, and errno.
std::int64_t read_some(int fd, std::uint64_t offset, void* into, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::pread(fd, static_cast<char*>(into) + done, std::min(bytes - done, most_a_call),
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return static_cast<std::int64_t>(done);
}

/// 0, or errno. A file system that cannot flush a file or a folder is not asked to.
int flushed(int fd) {
  while (::fsync(fd) != 0) {
    if (errno == EINTR) continue;
    return errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP ? 0 : errno;
  }
  return 0;
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

ObjectReader::ObjectReader(const fs::path& path, const std::string& what) : path_(path) {
  file_ = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file_.get() < 0 && (errno == ENOENT || errno == ENOTDIR)) fail(path, what, " is missing");
  struct stat status {};
  if (file_.get() < 0 || ::fstat(file_.get(), &status) != 0)
    fail(path, what, " cannot be read (", std::strerror(errno), ")");
  if (!S_ISREG(status.st_mode)) fail(path, what, " cannot be read: it is no file");
  bytes_ = static_cast<std::uint64_t>(status.st_size);
}

void ObjectReader::read(std::uint64_t offset, void* into, std::size_t bytes, const std::string& what) const {
  if (offset > bytes_ || bytes > bytes_ - offset)
    fail(path_, what, " is cut short: its bytes would end at ", offset + bytes, ", and the object has ", bytes_);
  const std::int64_t got = read_some(file_.get(), offset, into, bytes);
  if (got < 0) fail(path_, what, " cannot be read (", std::strerror(errno), ")");
  if (static_cast<std::size_t>(got) != bytes) fail(path_, what, " is cut short");
}

void ObjectReader::read_checked(std::uint64_t offset, void* into, std::size_t bytes, const std::string& what) const {
  std::uint32_t stored = 0;
  read(offset, into, bytes, what);
  read(offset + bytes, &stored, sizeof stored, what);
  if (crc32c(into, bytes) != stored) fail(path_, what, " is damaged, as its checksum tells");
}

void ObjectReader::check(std::uint64_t bytes_with_checksum, const std::string& what) const {
  if (bytes_ != bytes_with_checksum) fail(path_, what, " has ", bytes_, " bytes instead of ", bytes_with_checksum);
  check_part(0, bytes_with_checksum, what);
}

void ObjectReader::check_part(std::uint64_t offset, std::uint64_t bytes_with_checksum, const std::string& what) const {
  const std::uint64_t end = offset + bytes_with_checksum - static_cast<std::uint64_t>(crc_bytes);
  std::vector<unsigned char> piece(std::min<std::size_t>(end - offset, piece_bytes));
  std::uint32_t crc = 0, stored = 0;
  for (std::uint64_t at = offset; at < end; at += piece.size()) {
    const std::size_t bytes = std::min<std::uint64_t>(piece.size(), end - at);
    read(at, piece.data(), bytes, what);
    crc = crc32c(piece.data(), bytes, crc);
  }
  read(end, &stored, sizeof stored, what);
  if (crc != stored) fail(path_, what, " is damaged, as its checksum tells");
}

std::string read_metadata(const fs::path& path) {
  const ObjectReader object(path, "the metadata");
  if (object.bytes() > most_metadata) fail(path, "the metadata have ", object.bytes(), " bytes, more than any need");
  std::string text(object.bytes(), '\0');
  object.read(0, text.data(), text.size(), "the metadata");
  return text;
}

void ObjectWriter::cannot_write(int error) const { fail(path_, "could not be written (", std::strerror(error), ")"); }

ObjectWriter::ObjectWriter(const fs::path& path) : path_(path), partial_(path.string() + ".partial") {
  const auto open = [&] {
    return FileDescriptor(::open(partial_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
  };
  file_ = open();
  if (file_.get() < 0 && errno == ENOENT) {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) cannot_write(error.value());
    file_ = open();
  }
  if (file_.get() < 0) cannot_write(errno);
}

ObjectWriter::~ObjectWriter() {
  if (file_.get() >= 0) ::unlink(partial_.c_str());
}

void ObjectWriter::write_at(std::uint64_t offset, const void* data, std::size_t bytes) const {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::pwrite(file_.get(), at, std::min(bytes, most_a_call), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) cannot_write(errno);
    at += done, offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::size_t>(done);
  }
}

void ObjectWriter::flush() const {
  if (const int error = flushed(file_.get()); error != 0) cannot_write(error);
}

void ObjectWriter::commit() {
  const int error = ::close(file_.release()) == 0 ? 0 : errno;
  if (error != 0 && error != EINTR) {
    ::unlink(partial_.c_str());
    cannot_write(error);
  }
  if (::rename(partial_.c_str(), path_.c_str()) == 0) return;
  const int why = errno;
  ::unlink(partial_.c_str());
  cannot_write(why);
}

void NumbersWriter::append(const std::uint64_t* numbers, std::size_t count) {
  const std::size_t bytes = count * sizeof *numbers;
  object_.write_at(end_, numbers, bytes);
  crc_ = crc32c(numbers, bytes, crc_);
  end_ += bytes;
}

void NumbersWriter::commit() {
  object_.write_at(end_, &crc_, sizeof crc_);
  object_.commit();
}

void write_object(const fs::path& path, const std::string& data, bool sync) {
  ObjectWriter object(path);
  object.write_at(0, data.data(), data.size());
  if (sync) object.flush();
  object.commit();
}

void flush_to_disk(const fs::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0 && errno == EACCES) return ::sync();  // a folder in which files may be made, but not listed
  const int error = file.get() < 0 ? errno : flushed(file.get());
  if (error != 0) fail(path, "could not be written to the disk (", std::strerror(error), ")");
}

void flush_all(const fs::path& folder, int threads) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, error))
    if (entry.is_regular_file(error) || entry.is_directory(error)) paths.push_back(entry.path());
  if (error) fail(folder, "could not be written to the disk (", error.message(), ")");
  std::atomic<std::size_t> next{0};
  on_threads(
      threads,
      [&](int) {
        for (std::size_t i = next++; i < paths.size(); i = next++) flush_to_disk(paths[i]);
      },
      [&] { next = paths.size(); });
  flush_to_disk(folder);
  const fs::path above = fs::absolute(folder / "..");
  flush_to_disk(above);
}

}  // namespace areal::chunked
