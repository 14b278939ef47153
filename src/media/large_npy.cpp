// A .npy file as a large picture, by plain reads: it works under a limit of address space, and a file truncated
// meanwhile is an error.
#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include "media/channels.hpp"
#include "media/file_error.hpp"
#include "media/large.hpp"
#include "media/npy.hpp"

namespace areal::media {
namespace {

// Rows that are contiguous in file and block are read together, up to this many bytes.
constexpr std::int64_t piece_bytes = 1 << 20;
constexpr std::int64_t block_bytes = 4 << 20;

class LargeNpy final : public LargePicture {
 public:
  LargeNpy(const fs::path& path, const ReadOptions& options) : name_(path.string()) {
    InputFile file(path);
    require_npy_magic(file);
    layout_ = read_npy_layout(file, Axes::hwc);
    if (!file.size()) fail(name_, "is not a regular file; it cannot be read by blocks");
    if (layout_.shape.batch != 1) refuse(name_, "holds ", layout_.shape.batch, " images; a large picture is one");
    choice_ = array_channels(layout_.shape.channels, layout_.type, options, name_, notes_);
    shape_ = {layout_.shape.width, layout_.shape.height, choice_.count()};
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(name_, "could not be opened (", std::strerror(errno), ")");
  }
  ~LargeNpy() override { ::close(descriptor_); }
  LargeNpy(const LargeNpy&) = delete;
  LargeNpy& operator=(const LargeNpy&) = delete;

  const Shape& shape() const override { return shape_; }
  Type type() const override { return layout_.type; }
  BlockSize block() const override {
    const std::int64_t row = std::max<std::int64_t>(1, shape_.width * pixel());
    return {shape_.width, std::clamp<std::int64_t>(block_bytes / row, 1, std::max<std::int64_t>(1, shape_.height))};
  }
  std::vector<std::string> notes() const override { return notes_; }
  std::uint64_t memory() const override { return 2 * static_cast<std::uint64_t>(std::max(piece_bytes, pixel())); }

 private:
  const std::string& name() const override { return name_; }
  std::int64_t pixel() const { return layout_.shape.channels * static_cast<std::int64_t>(size_of(layout_.type)); }

  void read_at(std::int64_t offset, void* to, std::int64_t bytes) const {
    auto* out = static_cast<char*>(to);
    for (std::int64_t done = 0; done < bytes;) {
      const ::ssize_t got = ::pread(descriptor_, out + done, static_cast<std::size_t>(bytes - done),
                                    static_cast<std::int64_t>(layout_.begin) + offset + done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail(name_, "could not be read (", std::strerror(errno), ")");
      if (got == 0) fail(name_, "was cut short while it was read");
      done += got;
    }
  }

  void read_checked(std::int64_t x, std::int64_t y, const View& into) override {
    const std::int64_t width = into.shape.width, height = into.shape.height, row = layout_.shape.width * pixel();
    const bool straight = !choice_.luma && choice_.count() == layout_.shape.channels &&
                          (into.shape.layout == Layout::interleaved || choice_.count() == 1);
    if (straight && width == layout_.shape.width && into.row_pitch == row) {
      read_at(y * row, into.data, height * row);
      return;
    }
    if (straight) {
      for (std::int64_t i = 0; i < height; ++i) read_at((y + i) * row + x * pixel(), into.row(i), width * pixel());
      return;
    }
    const std::int64_t most =
        std::max<std::int64_t>(1, std::min(width, piece_bytes / std::max<std::int64_t>(1, pixel())));
    stored_.resize(static_cast<std::size_t>(most * pixel()));
    const std::int64_t chosen = choice_.count() * static_cast<std::int64_t>(size_of(layout_.type));
    chosen_.resize(static_cast<std::size_t>(most * chosen));
    for (std::int64_t i = 0; i < height; ++i)
      for (std::int64_t from = 0; from < width; from += most) {
        const std::int64_t pixels = std::min(most, width - from);
        read_at((y + i) * row + (x + from) * pixel(), stored_.data(), pixels * pixel());
        take_channels(layout_.type, choice_, stored_.data(), layout_.shape.channels, pixels, chosen_.data());
        put_pixels(chosen_.data(), into, from, i, pixels);
      }
  }

  std::string name_;
  NpyLayout layout_;
  Channels choice_;
  Shape shape_;
  std::vector<std::string> notes_;
  int descriptor_ = -1;
  std::vector<char> stored_, chosen_;
};

}  // namespace

std::unique_ptr<LargePicture> open_large_npy(const fs::path& path, const ReadOptions& options) {
  return std::make_unique<LargeNpy>(path, options);
}

}  // namespace areal::media
