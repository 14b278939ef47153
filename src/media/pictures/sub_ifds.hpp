#pragma once
// Levels in sub-IFDs of a TIFF's first page, as in OME-TIFF (tag 330, TIFF Technical Note 1).

#include <OpenImageIO/filesystem.h>
#include <cstdint>
#include <string>

namespace areal::media {

struct SubIfd {
  std::uint64_t count = 0;  // of the first page; 0 if it has none
  std::uint64_t place = 0;  // offset of the requested one, if it exists
  bool big_endian = false, bigtiff = false;
};

// Sub-IFD `index` of the first page. Throws IoError for a truncated file.
SubIfd find_sub_ifd(const std::string& name, std::uint64_t bytes, std::uint64_t index);

// The file with that sub-IFD as its first page, because OpenImageIO sees only pages.
class FromSubIfd final : public OIIO::Filesystem::IOFile {
 public:
  FromSubIfd(const std::string& name, const SubIfd& ifd);
  std::size_t read(void* to, std::size_t size) override;
  std::size_t pread(void* to, std::size_t size, std::int64_t offset) override;

 private:
  void put_place(void* to, std::size_t size, std::int64_t offset) const;
  std::string place_;  // as the header has it
};

}  // namespace areal::media
