// A .npy that stays on disk.
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

class MappedNpy final : public MappedArray {
 public:
  MappedNpy(const fs::path& path, Axes axes) {
    NpyLayout layout;
    {
      InputFile file(path);
      require_npy_magic(file);
      layout = read_npy_layout(file, axes);
      if (!file.size()) fail(file.name(), "is no regular file; it cannot be mapped");
      size_ = static_cast<std::size_t>(*file.size());
    }
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
  ~MappedNpy() override {
    if (data_ != MAP_FAILED) ::munmap(data_, size_);
  }
  MappedNpy(const MappedNpy&) = delete;
  MappedNpy& operator=(const MappedNpy&) = delete;
  const ConstView& view() const override { return view_; }

 private:
  void* data_ = MAP_FAILED;
  std::size_t size_ = 0;
  ConstView view_;
};

}  // namespace

std::unique_ptr<MappedArray> map_npy(const fs::path& path, Axes axes) {
  return std::make_unique<MappedNpy>(path, axes);
}

}  // namespace areal::media
