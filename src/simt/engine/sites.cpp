#include "simt/engine/sites.hpp"

#include <cstring>

namespace areal::simt {

const char* name(Op op) {
  constexpr const char* names[] = {"load",         "store",      "get",           "put",          "atomic_add",
                                   "atomic_min",   "shared_add", "store_release", "load_acquire", "store_relaxed",
                                   "load_relaxed", "copy_async", "copy_async",    "bulk_load",    "bulk_store",
                                   "init",         "send",       "multiply_tiles"};
  return names[static_cast<int>(op)];
}

std::uint16_t Sites::slow_number(Site site, Op op, unsigned bytes, unsigned elements) {
  for (std::size_t i = 1; i < entries_.size(); ++i) {
    const Entry& e = entries_[i];
    // Each translation unit may have its own file name for the same line.
    if (e.site.line == site.line && e.op == op && e.bytes == bytes && e.elements == elements &&
        (e.site.file == site.file || std::strcmp(e.site.file, site.file) == 0))
      return static_cast<std::uint16_t>(i);
  }
  if (entries_.size() == most) return most - 1;
  entries_.push_back({site, op, static_cast<std::uint8_t>(bytes), static_cast<std::uint8_t>(elements)});
  return static_cast<std::uint16_t>(entries_.size() - 1);
}

}  // namespace areal::simt
