#pragma once
// Parts of .npy files: what a header declares, and the writing of an array to an output file, which the caller commits.

#include <string>
#include "media/input_file.hpp"
#include "media/media.hpp"

namespace areal::media {

struct NpyLayout {
  Type type = Type::u8;
  Shape shape;
  std::uint64_t begin = 0, bytes = 0;  // of the data
};
// Reads the header after the magic. Throws IoError if areal cannot read it, or if the file's size differs from what it
// declares.
NpyLayout read_npy_layout(InputFile& file, Axes axes);
// Throws IoError unless the file begins as a .npy.
void require_npy_magic(InputFile& file);

// Throws IoError if the file has a size, and not that of these raw pixels.
void require_raw_size(const InputFile& file, const Shape& shape, Type type);

// Bytes of the whole file, header included.
std::uint64_t npy_file_bytes(const ConstView& array);
std::string npy_preamble_of(const ConstView& array);
void write_npy_into(OutputFile& file, const ConstView& array);
// The same of n x 1 as a 1-D array.
std::uint64_t npy_line_bytes(const ConstView& line);
void write_npy_line_into(OutputFile& file, const ConstView& line);

}  // namespace areal::media
