#include "media/pictures/sub_ifds.hpp"
#include <algorithm>
#include <array>
#include <fstream>
#include "media/file_error.hpp"

namespace areal::media {
namespace {

constexpr int sub_ifds_tag = 330;

// Reads numbers of a file in either byte order.
class Numbers {
 public:
  Numbers(const std::string& name, std::uint64_t bytes) : name_(name), bytes_(bytes), file_(name, std::ios::binary) {}
  bool big_endian = false;

  std::uint64_t at(std::uint64_t offset, std::uint64_t size) {
    std::array<char, 8> text{};
    if (offset > bytes_ || size > bytes_ - offset) end_at(offset);
    file_.seekg(static_cast<std::streamoff>(offset));
    if (!file_.read(text.data(), static_cast<std::streamsize>(size))) end_at(offset);
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < size; ++i)
      value = value << 8 | static_cast<unsigned char>(text[big_endian ? i : size - 1 - i]);
    return value;
  }

 private:
  [[noreturn]] void end_at(std::uint64_t offset) const {
    fail(name_, "is truncated or damaged: it has ", bytes_, " bytes, and byte ", offset,
         " is needed to find its levels");
  }
  const std::string& name_;
  std::uint64_t bytes_;
  std::ifstream file_;
};

}  // namespace

SubIfd find_sub_ifd(const std::string& name, std::uint64_t bytes, std::uint64_t index) {
  Numbers numbers(name, bytes);
  SubIfd found;
  found.big_endian = numbers.big_endian = numbers.at(0, 1) == 'M';
  found.bigtiff = numbers.at(2, 2) == 43;
  const std::uint64_t word = found.bigtiff ? 8 : 4, first = numbers.at(word, word);
  const std::uint64_t head = found.bigtiff ? 8 : 2, entry_bytes = found.bigtiff ? 20 : 12;
  const std::uint64_t entries = numbers.at(first, head);
  for (std::uint64_t e = 0; e < entries; ++e) {
    const std::uint64_t entry = first + head + e * entry_bytes;
    const std::uint64_t tag = numbers.at(entry, 2);
    if (tag > sub_ifds_tag) break;  // entries are sorted
    if (tag != sub_ifds_tag) continue;
    const std::uint64_t type = numbers.at(entry + 2, 2);
    const std::uint64_t size = type == 4 || type == 13 ? 4 : type == 16 || type == 18 ? 8 : 0;  // LONG, IFD; of 64 bits
    if (size == 0) fail(name, "is damaged: its sub-IFDs are of type ", type);
    found.count = numbers.at(entry + 4, word);
    if (index >= found.count) break;
    const std::uint64_t value = entry + 4 + word;
    const std::uint64_t list = found.count <= word / size ? value : numbers.at(value, word);
    if (list > bytes || found.count > (bytes - list) / size)
      fail(name, "is truncated or damaged: it has ", bytes, " bytes, and its list of ", found.count,
           " sub-IFDs would begin at byte ", list);
    found.place = numbers.at(list + index * size, size);
    if (found.place < 2 * word || found.place >= bytes)
      fail(name, "is truncated or damaged: it has ", bytes, " bytes, and level ", index + 1, " would begin at byte ",
           found.place);
    break;
  }
  return found;
}

FromSubIfd::FromSubIfd(const std::string& name, const SubIfd& ifd) : IOFile(name, Read) {
  for (int i = 0, n = ifd.bigtiff ? 8 : 4; i < n; ++i) place_ += static_cast<char>(ifd.place >> 8 * i);
  if (ifd.big_endian) std::reverse(place_.begin(), place_.end());
}

std::size_t FromSubIfd::read(void* to, std::size_t size) {
  const std::int64_t offset = tell();
  const std::size_t got = IOFile::read(to, size);
  put_place(to, got, offset);
  return got;
}

std::size_t FromSubIfd::pread(void* to, std::size_t size, std::int64_t offset) {
  const std::size_t got = IOFile::pread(to, size, offset);
  put_place(to, got, offset);
  return got;
}

void FromSubIfd::put_place(void* to, std::size_t size, std::int64_t offset) const {
  const auto begin = static_cast<std::int64_t>(place_.size());  // 4 in a TIFF, 8 in a BigTIFF
  for (std::int64_t i = 0; i < begin; ++i)
    if (const std::int64_t at = begin + i - offset; at >= 0 && at < static_cast<std::int64_t>(size))
      static_cast<char*>(to)[at] = place_[static_cast<std::size_t>(i)];
}

}  // namespace areal::media
