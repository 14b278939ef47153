#pragma once
// Writing a .npy into an output file that something else commits.

#include "media/media.hpp"

namespace areal::media {

// Bytes of the whole file, header included.
std::uint64_t npy_file_bytes(const ConstView& array);
void write_npy_into(OutputFile& file, const ConstView& array);

}  // namespace areal::media
