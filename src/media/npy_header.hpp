#pragma once
// The header of a .npy file: magic, version, and a Python dictionary literal of three keys.

#include <areal/type.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace areal::media {

struct NpyHeader {
  Type type = Type::u8;
  std::vector<std::int64_t> shape;
};

// Parses the dictionary. Throws IoError that starts with `name` for anything that areal cannot read exactly: Fortran
// order, big-endian, object, structured, complex or string types, lengths that are negative or overflow.
NpyHeader parse_npy_dictionary(std::string_view text, const std::string& name);

// Magic, version 1, and the dictionary, padded with spaces to a multiple of 64 bytes.
std::string npy_preamble(const NpyHeader& header);

}  // namespace areal::media
