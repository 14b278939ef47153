#pragma once
// Levels that a TIFF keeps in sub-IFDs of its first page, as OME-TIFF does (tag 330, TIFF Technical Note 1).

#include <OpenImageIO/filesystem.h>
#include <cstdint>
#include <string>

namespace areal::media {

struct SubIfd {
  std::uint64_t count = 0;  // of the first page: 0 where it has none
  std::uint64_t place = 0;  // of the one that was asked for, if there are as many
  bool big_endian = false, bigtiff = false;
};

// Number `index` of the first page's. Throws IoError for a file that ends before what it names.
SubIfd find_sub_ifd(const std::string& name, std::uint64_t bytes, std::uint64_t index);

// The file, with that sub-IFD for its first page: OpenImageIO sees pages alone.
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
