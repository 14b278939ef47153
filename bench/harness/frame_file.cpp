#include "bench/harness/frame_file.hpp"
#include <unistd.h>
#include <algorithm>
#include <areal/error.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include "bench/harness/noise.hpp"

namespace areal::bench {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{128} << 20;
constexpr int step = 31;  // from one frame's bytes to the next one's; odd, so that 256 frames differ

[[noreturn]] void fail(const char* what) {
  throw IoError(std::string("a temporary file could not be ") + what + ": " + std::strerror(errno));
}

}  // namespace

FrameFile::FrameFile(const Size& size, std::int64_t frames) : size_(size) {
  first_.resize(static_cast<std::size_t>(size.width * size.height));
  fill_noise(View(first_.data(), size.width, size.height), 12);
  for (const std::uint8_t value : first_) ++values_[value];
  const auto of_frame = static_cast<std::int64_t>(first_.size());
  frames_ = std::clamp<std::int64_t>(frames, 1, std::clamp<std::int64_t>(most_bytes / of_frame, 1, 256));
  std::string name = (std::filesystem::temp_directory_path() / "areal-frames-XXXXXX").string();
  file_ = mkstemp(name.data());
  if (file_ < 0) fail("made");
  unlink(name.c_str());
  for (std::int64_t i = 0; i < frames_; ++i) {
    const std::vector<std::uint8_t> frame = made(i);
    for (std::size_t at = 0; at < frame.size();) {
      const ssize_t written = ::write(file_, frame.data() + at, frame.size() - at);
      if (written < 0 && errno != EINTR) fail("written");
      at += static_cast<std::size_t>(std::max<ssize_t>(written, 0));
    }
  }
}
FrameFile::~FrameFile() {
  if (file_ >= 0) close(file_);
}

void FrameFile::read(std::int64_t number, void* to) const {
  const auto begin = static_cast<off_t>(number % frames_ * static_cast<std::int64_t>(first_.size()));
  for (std::size_t at = 0; at < first_.size();) {
    const ssize_t got = pread(file_, static_cast<char*>(to) + at, first_.size() - at, begin + static_cast<off_t>(at));
    if (got == 0 || (got < 0 && errno != EINTR)) fail("read");
    at += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  }
}

int FrameFile::shift(std::int64_t number) const { return static_cast<int>(step * (number % frames_) % 256); }

std::vector<std::uint8_t> FrameFile::made(std::int64_t number) const {
  std::vector<std::uint8_t> frame = first_;
  const int by = shift(number);
  for (std::uint8_t& value : frame) value = static_cast<std::uint8_t>(value + by);
  return frame;
}

std::array<std::uint32_t, 256> FrameFile::values(std::int64_t number) const {
  std::array<std::uint32_t, 256> values{};
  for (int value = 0; value < 256; ++value)
    values[static_cast<std::size_t>((value + shift(number)) % 256)] = values_[static_cast<std::size_t>(value)];
  return values;
}

FrameChecks::FrameChecks(const FrameFile& file, std::int64_t bins, std::int64_t frames)
    : file_(file),
      bins_(bins),
      frames_(frames),
      first_(file.made(0)),
      last_(file.made(frames - 1)),
      of_first_(first_.data(), file.size(), bins),
      of_last_(last_.data(), file.size(), bins) {}

std::string FrameChecks::check(std::int64_t number, const ConstView& tensor) {
  if (number != next_)
    return "frame " + std::to_string(number) + " came where frame " + std::to_string(next_) + " was due";
  ++next_;
  const auto in_frame = [&](const std::string& what) {
    return what.empty() ? what : "frame " + std::to_string(number) + ": " + what;
  };
  if (number == 0 || number == frames_ - 1) {
    const TensorCheck& of = number == 0 ? of_first_ : of_last_;
    const std::string what = of.entries(tensor);
    return in_frame(what.empty() ? of.whole(tensor) : what);
  }
  const std::array<std::uint32_t, 256> values = file_.values(number);
  std::vector<std::uint32_t> last(static_cast<std::size_t>(bins_));
  for (std::int64_t value = 0; value < 256; ++value)
    last[static_cast<std::size_t>(value * bins_ / 256)] += values[static_cast<std::size_t>(value)];
  const Size& size = file_.size();
  for (std::int64_t bin = 0; bin < bins_; ++bin) {
    const std::uint32_t is = static_cast<const std::uint32_t*>(tensor.row(size.height - 1, bin))[size.width - 1];
    if (is != last[static_cast<std::size_t>(bin)])
      return in_frame("the last entry of bin " + std::to_string(bin) + " is " + std::to_string(is) + ", not " +
                      std::to_string(last[static_cast<std::size_t>(bin)]));
  }
  return "";
}

}  // namespace areal::bench
