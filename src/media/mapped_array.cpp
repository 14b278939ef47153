// Arrays that stay on disk: a .npy, or raw pixels.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include "media/file_error.hpp"
#include "media/npy.hpp"

namespace areal::media {
namespace {

class MappedFile final : public MappedArray {
 public:
  /// `size`: of the whole file.
  MappedFile(const fs::path& path, std::uint64_t size, const NpyLayout& layout) : size_(size) {
    const std::string name = path.string();
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) fail(name, "could not be opened (", std::strerror(errno), ")");
    struct stat status {};
    const bool same = ::fstat(descriptor, &status) == 0 && static_cast<std::size_t>(status.st_size) == size_;
    if (same) data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    const int error = errno;
    ::close(descriptor);
    if (!same) fail(name, "changed while it was opened");
    if (data_ == MAP_FAILED) fail(name, "could not be mapped (", std::strerror(error), ")");
    view_ = ConstView(static_cast<const char*>(data_) + layout.begin, layout.type, layout.shape);
  }
  ~MappedFile() override {
    if (data_ != MAP_FAILED) ::munmap(data_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  const ConstView& view() const override { return view_; }

 private:
  void* data_ = MAP_FAILED;
  std::size_t size_ = 0;
  ConstView view_;
};

std::uint64_t size_of_regular(const InputFile& file) {
  if (!file.size()) fail(file.name(), "is no regular file; it cannot be mapped");
  return *file.size();
}

}  // namespace

std::unique_ptr<MappedArray> map_npy(const fs::path& path, Axes axes) {
  InputFile file(path);
  require_npy_magic(file);
  const NpyLayout layout = read_npy_layout(file, axes);
  return std::make_unique<MappedFile>(path, size_of_regular(file), layout);
}

std::unique_ptr<MappedArray> map_raw(const fs::path& path, const Shape& shape, Type type) {
  const InputFile file(path);
  const std::uint64_t size = size_of_regular(file);
  require_raw_size(file, shape, type);
  NpyLayout layout;
  layout.shape = shape, layout.type = type, layout.begin = 0;
  return std::make_unique<MappedFile>(path, size, layout);
}

}  // namespace areal::media
