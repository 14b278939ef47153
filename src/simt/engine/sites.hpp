#pragma once
// Numbers for the places of the source that access memory, so that a stamp in shadow memory holds one in 12 bits. One
// line can contain several accesses, for example put(s.x, load(p)), so the number identifies the line, the call, the
// size and its elements (a template may store four sums of 4 bytes there, or two of 8).

#include <array>
#include <cstdint>
#include <vector>

#include "simt/engine/op.hpp"

namespace areal::simt {

class Sites {
 public:
  static constexpr unsigned most = 4096;  // all later sites share the last number

  struct Entry {
    Site site;
    Op op;
    std::uint8_t bytes;     // of one access
    std::uint8_t elements;  // in one access
  };

  Sites() { entries_.push_back({{"no site", 0}, Op::load, 1, 1}); }

  unsigned number(Site site, Op op, unsigned bytes, unsigned elements) {
    const std::uint64_t file = reinterpret_cast<std::uintptr_t>(site.file);
    const std::uint64_t key = (file * 31 + static_cast<unsigned>(site.line)) * 64 + static_cast<unsigned>(op);
    Cached& cached = cache_[((key ^ (std::uint64_t{bytes} << 2)) * 0x9e3779b97f4a7c15u) >> 53];
    if (cached.file != site.file || cached.line != site.line || cached.op != op || cached.bytes != bytes ||
        cached.elements != elements)
      cached = {site.file,
                site.line,
                op,
                static_cast<std::uint8_t>(bytes),
                static_cast<std::uint8_t>(elements),
                slow_number(site, op, bytes, elements)};
    return cached.number;
  }
  const Entry& operator[](unsigned number) const { return entries_[number]; }
  unsigned size() const { return static_cast<unsigned>(entries_.size()); }

 private:
  struct Cached {
    const char* file = nullptr;
    int line = 0;
    Op op = Op::load;
    std::uint8_t bytes = 0, elements = 0;
    std::uint16_t number = 0;
  };
  std::uint16_t slow_number(Site site, Op op, unsigned bytes, unsigned elements);

  std::array<Cached, 2048> cache_;
  std::vector<Entry> entries_;
};

}  // namespace areal::simt
