// A folder of pictures, opened as a video: in natural order, one frame for each picture.
#include <algorithm>
#include <optional>
#include "media/file_error.hpp"
#include "media/picture_formats.hpp"
#include "media/plugin.hpp"

namespace areal::media {
namespace {

// a2 before a10: runs of digits compare as numbers, all else as bytes.
bool before_naturally(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      while (i < a.size() && a[i] == '0') ++i;
      while (j < b.size() && b[j] == '0') ++j;
      std::size_t m = i, n = j;
      while (m < a.size() && digit(a[m])) ++m;
      while (n < b.size() && digit(b[n])) ++n;
      if (m - i != n - j) return m - i < n - j;
      if (const int order = a.compare(i, m - i, b, j, n - j); order != 0) return order < 0;
      i = m, j = n;
    } else {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i, ++j;
    }
  }
  const std::size_t left_a = a.size() - i, left_b = b.size() - j;
  return left_a != left_b ? left_a < left_b : a < b;  // a01 and a1: any fixed order
}

class PictureFolder : public Video {
 public:
  PictureFolder(const fs::path& path, const ReadOptions& options) : name_(path.string()), options_(options) {
    std::error_code error;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
      const std::string file = at->path().filename().string();
      if (!file.starts_with('.') && is_picture_name(at->path()) && !at->is_directory()) files_.push_back(file);
    }
    if (error) fail(name_, "the folder could not be read (", error.message(), ")");
    if (files_.empty()) fail(name_, "the folder holds no picture (.png, .jpg, .tif, .exr, .pgm, .ppm)");
    std::sort(files_.begin(), files_.end(), before_naturally);
    // The first picture defines the size of all others; read once. Damage is skipped only after it.
    first_ = read_picture(fs::path(name_) / files_[0], options_).pixels;
    shape_ = first_->shape();
    type_ = first_->type();
  }

  bool next(Frame& frame) override {
    bool lost = false;
    for (; at_ < files_.size() && (damage_.empty() || options_.skip_damage); ++at_) {
      const fs::path file = fs::path(name_) / files_[at_];
      try {
        frame.pixels = at_ == 0 && first_ ? std::move(*first_) : read_picture(file, options_).pixels;
      } catch (const IoError& error) {
        if (damage_.empty()) damage_ = error.what();
        lost = true;
        continue;
      }
      first_.reset();
      require_alike(file, frame.pixels.shape(), frame.pixels.type());
      frame.number = static_cast<std::int64_t>(at_++);
      frame.seconds = 0;
      resumptions_ += lost ? 1 : 0;
      return true;
    }
    return false;
  }
  bool next(LumaFrame& frame) override {
    frame = {};
    Frame read;
    if (!next(read)) return false;
    const auto held = std::make_shared<const Array>(std::move(read.pixels));
    frame.pixels = held->view();
    frame.keep = held;
    frame.number = read.number;
    return true;
  }
  std::int64_t width() const override { return shape_.width; }
  std::int64_t height() const override { return shape_.height; }
  double frames_per_second() const override { return 0; }
  std::optional<std::int64_t> frame_count() const override { return static_cast<std::int64_t>(files_.size()); }
  std::string damage() const override { return damage_; }
  std::int64_t resumptions() const override { return resumptions_; }

 private:
  // Throws unless the picture has the size, channels and type of the first one. The sentence names only what differs.
  void require_alike(const fs::path& file, const Shape& s, Type type) const {
    constexpr const char* but = ", but the folder's first picture ";
    if (s.width != shape_.width || s.height != shape_.height)
      fail(file.string(), "is ", s.width, "x", s.height, but, "is ", shape_.width, "x", shape_.height);
    if (s != shape_) fail(file.string(), "has channels: ", s.channels, but, "has ", shape_.channels);
    if (type != type_) fail(file.string(), "is of ", name_of(type), but, "is of ", name_of(type_));
  }

  std::string name_;
  ReadOptions options_;
  std::vector<std::string> files_;
  std::optional<Array> first_;
  Shape shape_;
  Type type_ = Type::u8;
  std::size_t at_ = 0;
  std::int64_t resumptions_ = 0;
  std::string damage_;
};

}  // namespace

std::unique_ptr<Video> open_picture_folder(const fs::path& path, const ReadOptions& options) {
  return std::make_unique<PictureFolder>(path, options);
}

}  // namespace areal::media
