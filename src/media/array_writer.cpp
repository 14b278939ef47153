// .npy files in pieces.
#include <string>
#include "media/npy.hpp"

namespace areal::media {

struct ArrayWriter::State {
  Shape shape;
  Type type;
  std::uint64_t preamble;
  OutputFile file;
  bool is_shared = false;

  std::int64_t size() const { return static_cast<std::int64_t>(size_of(type)); }
  std::int64_t pixel() const { return shape.layout == Layout::interleaved ? shape.channels * size() : size(); }
  std::uint64_t offset(std::int64_t x, std::int64_t y, std::int64_t plane) const {
    return preamble + static_cast<std::uint64_t>(((plane * shape.height + y) * shape.width + x) * pixel());
  }
};

ArrayWriter::ArrayWriter(const fs::path& path, const Shape& shape, Type type, const fs::path& temporary) {
  const ConstView array(nullptr, type, shape);
  const std::string preamble = npy_preamble_of(array);
  state_.reset(new State{shape, type, preamble.size(), OutputFile(path, npy_file_bytes(array), temporary)});
  state_->file.write(preamble.data(), preamble.size());
}
ArrayWriter::~ArrayWriter() = default;
ArrayWriter::ArrayWriter(ArrayWriter&&) noexcept = default;

void ArrayWriter::write(std::int64_t x, std::int64_t y, const ConstView& piece, std::int64_t channel) {
  State& s = *state_;
  const std::int64_t bytes = piece.shape.width * s.pixel();
  if (bytes == 0 || piece.shape.height == 0) return;
  const std::int64_t planes = s.shape.layout == Layout::planar ? piece.shape.channels : 1;
  for (std::int64_t c = 0; c < planes; ++c) {
    if (piece.shape.width == s.shape.width && piece.row_pitch == bytes) {
      s.file.write_at(s.offset(x, y, channel + c), piece.row(0, c),
                      static_cast<std::size_t>(bytes * piece.shape.height));
      continue;
    }
    for (std::int64_t row = 0; row < piece.shape.height; ++row)
      s.file.write_at(s.offset(x, y + row, channel + c), piece.row(row, c), static_cast<std::size_t>(bytes));
  }
}

std::uint64_t ArrayWriter::share() {
  State& s = *state_;
  s.is_shared = true;
  const std::uint64_t bytes = bytes_of(s.shape, s.type);
  if (bytes > 0) s.file.write_at(s.preamble + bytes - 1, "", 1);
  return s.preamble;
}
// What others have written may not be seen here yet, on a network's file system.
std::optional<FileSum> ArrayWriter::sum() { return state_->is_shared ? std::nullopt : state_->file.sum(); }
const fs::path& ArrayWriter::temporary() const { return state_->file.temporary(); }
void ArrayWriter::flush() { state_->file.flush(); }
void ArrayWriter::finish() { state_->file.commit(); }

}  // namespace areal::media
