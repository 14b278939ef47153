#pragma once
// A file of random frames, which benchmarks of sequences read in order.

#include <array>
#include <cstdint>
#include <string>
#include <vector>
#include "bench/harness/bench.hpp"
#include "bench/harness/tensor_check.hpp"

namespace areal::bench {

class FrameFile {
 public:
  /// Writes `frames` different frames, or as many as fit 128 MiB, to an unnamed temporary file. Throws IoError.
  FrameFile(const Size& size, std::int64_t frames);
  ~FrameFile();
  FrameFile(const FrameFile&) = delete;
  FrameFile& operator=(const FrameFile&) = delete;

  const Size& size() const noexcept { return size_; }
  /// Reads frame `number`; numbers wrap around. Throws IoError.
  void read(std::int64_t number, void* to) const;
  /// The same frame, from memory.
  std::vector<std::uint8_t> made(std::int64_t number) const;
  /// How many pixels of a frame have each value.
  std::array<std::uint32_t, 256> values(std::int64_t number) const;

 private:
  int shift(std::int64_t number) const;  // of a frame's bytes against the first's

  Size size_;
  std::int64_t frames_ = 0;
  std::vector<std::uint8_t> first_;
  std::array<std::uint32_t, 256> values_{};  // of the first frame
  int file_ = -1;
};

/// Of the frames of a run: their numbers rise by one, each one's last entries are right, the first and the last of them
/// are right as a whole.
class FrameChecks {
 public:
  FrameChecks(const FrameFile& file, std::int64_t bins, std::int64_t frames);
  /// "" or what is wrong. To be called for each frame.
  std::string check(std::int64_t number, const ConstView& tensor);
  std::int64_t frames() const noexcept { return next_; }  ///< that were checked

 private:
  const FrameFile& file_;
  std::int64_t bins_, frames_, next_ = 0;
  std::vector<std::uint8_t> first_, last_;
  TensorCheck of_first_, of_last_;
};

}  // namespace areal::bench
