#pragma once
// Checks at the library's entry, which throw with one sentence.

#include <areal/error.hpp>
#include <cstdint>
#include <sstream>
#include <string>

namespace areal {

/// A part of a sentence that is formatted only on failure: a check that holds costs no text.
template <class Write>
struct Phrase {
  Write write;
  friend std::ostream& operator<<(std::ostream& out, const Phrase& phrase) {
    phrase.write(out);
    return out;
  }
};
template <class Write>
Phrase(Write) -> Phrase<Write>;

/// The concatenated parts.
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

/// Throws InvalidArgument, naming the value, unless it is within the range.
inline void require_range(const char* name, std::int64_t value, std::int64_t least, std::int64_t most) {
  require(value >= least && value <= most, name, " ", value, ": may be ", least, " to ", most);
}

}  // namespace areal
