#pragma once
// Bytes that come from outside, such as a file's: queries of a store trust what these functions check.

#include <cstddef>
#include "formulas/compact.hpp"
#include "formulas/rank.hpp"

namespace areal::cpu {

/// True if every label of `store`, which has c.bytes(), is a bin or none. Wrong counts are not found.
bool has_labels(const formulas::Compact& c, const std::byte* store, int threads);

/// True if every line of `store`, which has r.bytes() and is aligned to 32 bytes, has the number of zeros before it, no
/// bit beyond its panel, and every plane its number of zeros. Positions then stay inside their panels.
bool has_lines(const formulas::Rank& r, const std::byte* store, int threads);

}  // namespace areal::cpu
