#pragma once
// Objects of a table as files: read in parts, and written atomically.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

namespace areal::chunked {

namespace fs = std::filesystem;

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) noexcept : fd_(fd) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// An existing object. All functions throw IoError, which names the path and `what` was to be read.
class ObjectReader {
 public:
  ObjectReader() = default;
  ObjectReader(const fs::path& path, const std::string& what);

  std::uint64_t bytes() const noexcept { return bytes_; }
  void read(std::uint64_t offset, void* into, std::size_t bytes, const std::string& what) const;
  /// Reads `bytes` and their checksum from `offset` on, and verifies it.
  void read_checked(std::uint64_t offset, void* into, std::size_t bytes, const std::string& what) const;
  /// Verifies the whole object, which must have that many bytes and their checksum, without keeping it.
  void check(std::uint64_t bytes_with_checksum, const std::string& what) const;
  /// Verifies a part of that many bytes, its checksum included, from `offset` on.
  void check_part(std::uint64_t offset, std::uint64_t bytes_with_checksum, const std::string& what) const;
  const fs::path& path() const noexcept { return path_; }

 private:
  fs::path path_;
  FileDescriptor file_;
  std::uint64_t bytes_ = 0;
};

/// A whole zarr.json. Throws IoError if it is missing or larger than any metadata.
std::string read_metadata(const fs::path& path);

/// An object being written, under NAME.partial. Creates its folders. Removes the file unless it is committed.
class ObjectWriter {
 public:
  explicit ObjectWriter(const fs::path& path);
  ~ObjectWriter();
  ObjectWriter(ObjectWriter&&) noexcept = default;
  ObjectWriter& operator=(ObjectWriter&&) = delete;

  void write_at(std::uint64_t offset, const void* data, std::size_t bytes) const;
  /// Writes the object to the disk.
  void flush() const;
  /// Renames the object to its final name. Throws IoError, without creating the object.
  void commit();

 private:
  [[noreturn]] void cannot_write(int error) const;
  fs::path path_, partial_;
  FileDescriptor file_;
};

/// Writes 64-bit numbers, and their checksum at the end.
class NumbersWriter {
 public:
  explicit NumbersWriter(const fs::path& path) : object_(path) {}
  void append(const std::uint64_t* numbers, std::size_t count);
  void commit();

 private:
  ObjectWriter object_;
  std::uint64_t end_ = 0;
  std::uint32_t crc_ = 0;
};

/// `sync`: its contents are on the disk before they have its name.
void write_object(const fs::path& path, const std::string& data, bool sync);
/// Writes a file's contents, or the names in a folder, to the disk. Throws IoError.
void flush_to_disk(const fs::path& path);
/// The same for everything in a folder and for its own name.
void flush_all(const fs::path& folder, int threads);

}  // namespace areal::chunked
