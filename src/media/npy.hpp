#pragma once
// Writes a .npy into an output file, which the caller commits.

#include <string>
#include "media/media.hpp"

namespace areal::media {

// Bytes of the whole file, header included.
std::uint64_t npy_file_bytes(const ConstView& array);
std::string npy_preamble_of(const ConstView& array);
void write_npy_into(OutputFile& file, const ConstView& array);

}  // namespace areal::media
