#pragma once
// The checks at the library's entry: throw what the caller did, in one sentence.

#include <areal/error.hpp>
#include <sstream>
#include <string>

namespace areal {

/// The parts written one after another.
template <class... Parts>
std::string sentence(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

/// Throws InvalidArgument with the parts as its sentence unless `holds`.
template <class... Parts>
void require(bool holds, const Parts&... parts) {
  if (!holds) [[unlikely]]
    throw InvalidArgument(sentence(parts...));
}

}  // namespace areal
