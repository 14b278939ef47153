#pragma once
// The terms c log2(c) of entropies, in a table up to 2^16 - 1.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>
#include "formulas/level_statistics.hpp"

namespace areal::cpu {

/// Sums of terms of counts C: in 64 bits for windows of fewer than 2^16 pixels.
template <class C>
using TermSum = std::conditional_t<sizeof(C) == 2, std::int64_t, formulas::Signed128>;

class EntropyTerms {
 public:
  EntropyTerms() = default;
  /// Of windows of so many pixels.
  explicit EntropyTerms(std::int64_t pixels)
      : terms_(static_cast<std::size_t>(std::min<std::int64_t>(pixels, 65535)) + 1) {
    for (std::size_t c = 0; c < terms_.size(); ++c) terms_[c] = static_cast<std::int64_t>(formulas::entropy_term(c));
  }

  template <class C>
  TermSum<C> of(C count) const {
    if constexpr (sizeof(C) == 2)
      return terms_[count];
    else
      return count < terms_.size() ? terms_[count] : static_cast<formulas::Signed128>(formulas::entropy_term(count));
  }

 private:
  std::vector<std::int64_t> terms_;
};

}  // namespace areal::cpu
