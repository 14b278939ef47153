#include "shared_table.hpp"
#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

namespace areal::command {
namespace {

// For a signal handler: the name is complete while `live` is set. One table is written at a time.
std::array<char, PATH_MAX> name{};
std::atomic<bool> live{false};

[[noreturn]] void cannot_write(const std::string& path) {
  throw IoError(path + ": could not be written (" + std::strerror(errno) + ")");
}

void write_all(int fd, const std::string& path, const void* data, std::size_t bytes, std::uint64_t offset) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::pwrite(fd, at, std::min(bytes, std::size_t{1} << 30), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) cannot_write(path);
    at += done, offset += static_cast<std::uint64_t>(done), bytes -= static_cast<std::size_t>(done);
  }
}

}  // namespace

void remove_shared_table() noexcept {
  if (live.load(std::memory_order_acquire)) ::unlink(name.data());
}

SharedTable::SharedTable(const Job& job, const std::string& path, const Shape& shape, Type type,
                         const media::TableFile& description)
    : job_(job), path_(path), shape_(shape), type_(type) {
  // All ranks know the name before the file exists, so that any surviving rank can remove it.
  job.together([&] {
    if (job.speaks()) temporary_ = media::OutputFile::temporary_for(path).string();
  });
  std::uint64_t length = temporary_.size();
  job.broadcast(&length, 1, MPI_UINT64_T);
  temporary_.resize(length);
  job.broadcast(temporary_.data(), static_cast<int>(length), MPI_CHAR);
  if (!temporary_.empty() && temporary_.size() < name.size()) {
    std::copy(temporary_.c_str(), temporary_.c_str() + temporary_.size() + 1, name.begin());
    live.store(true, std::memory_order_release);
  }
  job.together([&] {
    if (!job.speaks()) return;
    writer_.emplace(path, shape, type, description, temporary_);
    begin_ = writer_->share();
  });
  job.broadcast(&begin_, 1, MPI_UINT64_T);
  job.together([&] {
    const std::string& at = temporary_.empty() ? path_ : temporary_;
    fd_ = ::open(at.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) throw IoError(path_ + ": this rank's machine could not open it (" + std::strerror(errno) + ")");
  });
}

SharedTable::~SharedTable() {
  live.store(false, std::memory_order_release);
  if (fd_ >= 0) ::close(fd_);
}

void SharedTable::write(std::int64_t y, const ConstView& piece) {
  job_.together([&] {
    const Shape& s = piece.shape;
    const auto row = static_cast<std::size_t>(s.width) * size_of(type_);
    for (std::int64_t c = 0; c < s.channels; ++c) {
      const std::uint64_t at = begin_ + (static_cast<std::uint64_t>(c) * static_cast<std::uint64_t>(shape_.height) +
                                         static_cast<std::uint64_t>(y)) *
                                            row;
      if (piece.row_pitch == static_cast<std::int64_t>(row) && s.height > 0)
        write_all(fd_, path_, piece.row(0, c), row * static_cast<std::size_t>(s.height), at);
      else
        for (std::int64_t r = 0; r < s.height; ++r)
          write_all(fd_, path_, piece.row(r, c), row, at + static_cast<std::uint64_t>(r) * row);
    }
  });
}

void SharedTable::finish() {
  job_.together([&] {
    media::flush_to_disk(fd_, path_);  // only this machine knows what it has not written yet
    if (::close(std::exchange(fd_, -1)) != 0 && errno != EINTR) cannot_write(path_);
  });
  job_.together([&] {
    if (writer_) writer_->finish();
  });
  live.store(false, std::memory_order_release);
}

}  // namespace areal::command
