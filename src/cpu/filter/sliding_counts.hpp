#pragma once
// Counts of a window by level, of up to 2^16 levels, that gain and lose pixels one by one (Huang, Yang and Tang 1979).
// Each statistic keeps what makes its answer quick: O(1) a pixel that comes or goes, but for modes, which take O(4).

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include "cpu/filter/entropy_terms.hpp"
#include "formulas/level_statistics.hpp"

namespace areal::cpu {

/// Groups of 16 levels, of 16 such groups and so on, until one has all.
inline constexpr std::size_t most_tiers = 5;

/// Counters of levels, and of tiers of groups above them.
class Tiers {
 public:
  static std::size_t counters(std::size_t levels) {
    std::size_t all = levels;
    while (levels > 1) all += levels = (levels + 15) / 16;
    return all;
  }
  Tiers(std::uint32_t* memory, std::size_t levels) : memory_(memory), bytes_(counters(levels) * sizeof *memory) {
    tier_[0] = memory;
    for (; levels > 1; ++count_) {
      tier_[count_] = tier_[count_ - 1] + levels;
      levels = (levels + 15) / 16;
    }
  }
  void clear() { std::memset(memory_, 0, bytes_); }
  std::size_t count() const { return count_; }
  std::uint32_t* operator[](std::size_t tier) const { return tier_[tier]; }

 private:
  std::uint32_t* memory_;
  std::size_t bytes_, count_ = 1;
  std::array<std::uint32_t*, most_tiers + 1> tier_{};
};

/// For ranks of levels: groups count their pixels.
class RankCounts {
 public:
  explicit RankCounts(const Tiers& tiers) : tiers_(tiers) {}
  void clear() { tiers_.clear(); }
  void add(std::uint32_t level) {
    for (std::size_t t = 0; t < tiers_.count(); ++t, level /= 16) ++tiers_[t][level];
  }
  void remove(std::uint32_t level) {
    for (std::size_t t = 0; t < tiers_.count(); ++t, level /= 16) --tiers_[t][level];
  }
  /// The pixels up to a level.
  std::uint32_t up_to(std::uint32_t level) const {
    std::uint32_t sum = tiers_[0][level];
    for (std::size_t t = 0; t + 1 < tiers_.count(); ++t, level /= 16)
      for (std::uint32_t i = level / 16 * 16; i < level; ++i) sum += tiers_[t][i];
    return sum;
  }

 private:
  Tiers tiers_;
};

/// For modes: groups know the greatest count of a level.
class ModeCounts {
 public:
  explicit ModeCounts(const Tiers& tiers) : tiers_(tiers) {}
  void clear() { tiers_.clear(); }
  void add(std::uint32_t level) {
    const std::uint32_t count = ++tiers_[0][level];
    for (std::size_t t = 1; t < tiers_.count(); ++t) {
      std::uint32_t& most = tiers_[t][level /= 16];
      if (most >= count) return;
      most = count;
    }
  }
  void remove(std::uint32_t level) {
    std::uint32_t before = tiers_[0][level]--;
    for (std::size_t t = 1; t < tiers_.count(); ++t) {
      const std::uint32_t* const below = tiers_[t - 1] + level / 16 * 16;
      std::uint32_t& most = tiers_[t][level /= 16];
      if (most != before) return;
      most = *std::max_element(below, below + 16);
      if (most == before) return;
    }
  }
  std::uint32_t least_mode() const {
    const std::uint32_t most = tiers_[tiers_.count() - 1][0];
    if (most == 0) return 0;
    std::uint32_t level = 0;
    for (std::size_t t = tiers_.count() - 1; t-- > 0;) {
      level *= 16;
      while (tiers_[t][level] != most) ++level;
    }
    return level;
  }

 private:
  Tiers tiers_;
};

/// For Otsu's thresholds: a bit for each level that has pixels, and for each 64 levels.
class SplitCounts {
 public:
  SplitCounts(std::uint32_t* counts, std::size_t levels, bool zeros_alone)
      : counts_(counts), levels_(levels), zeros_alone_(zeros_alone) {}
  void clear() {
    std::memset(counts_, 0, levels_ * sizeof *counts_);
    words_.fill(0), groups_.fill(0);
    sum_ = 0;
  }
  void add(std::uint32_t level) {
    sum_ += level;
    if (counts_[level]++ > 0) return;
    words_[level / 64] |= std::uint64_t{1} << (level % 64);
    groups_[level / 4096] |= std::uint64_t{1} << (level / 64 % 64);
  }
  void remove(std::uint32_t level) {
    sum_ -= level;
    if (--counts_[level] > 0) return;
    words_[level / 64] &= ~(std::uint64_t{1} << (level % 64));
    if (words_[level / 64] == 0) groups_[level / 4096] &= ~(std::uint64_t{1} << (level / 64 % 64));
  }
  std::uint32_t split(std::uint32_t n) const {
    formulas::BestSplit best(n, sum_);
    std::uint64_t k = 0, s = 0;
    for (std::uint32_t g = 0; g < groups_.size(); ++g)
      for (std::uint64_t words = groups_[g]; words != 0; words &= words - 1) {
        const std::uint32_t word = 64 * g + static_cast<std::uint32_t>(std::countr_zero(words));
        for (std::uint64_t bits = words_[word]; bits != 0; bits &= bits - 1) {
          const std::uint32_t level = 64 * word + static_cast<std::uint32_t>(std::countr_zero(bits));
          k += counts_[level], s += std::uint64_t{level} * counts_[level];
          if (k < n && (level > 0 || zeros_alone_)) best.offer(level, k, s);
        }
      }
    return best.level();
  }

 private:
  std::uint32_t* counts_;
  std::size_t levels_;
  bool zeros_alone_;
  std::uint64_t sum_ = 0;
  std::array<std::uint64_t, 1024> words_{};
  std::array<std::uint64_t, 16> groups_{};
};

/// For entropies: the sum of terms of all counts C.
template <class C>
class TermCounts {
 public:
  TermCounts(std::uint32_t* counts, std::size_t levels, const EntropyTerms& terms)
      : counts_(counts), levels_(levels), terms_(terms) {}
  void clear() {
    std::memset(counts_, 0, levels_ * sizeof *counts_);
    sum_ = 0;
  }
  void add(std::uint32_t level) { change(counts_[level], counts_[level] + 1); }
  void remove(std::uint32_t level) { change(counts_[level], counts_[level] - 1); }
  double entropy(std::uint32_t n) const {
    return n == 0 ? 0 : formulas::entropy_of(terms_.of(static_cast<C>(n)) - sum_, n);
  }

 private:
  void change(std::uint32_t& count, std::uint32_t to) {
    sum_ += terms_.of(static_cast<C>(to)) - terms_.of(static_cast<C>(count));
    count = to;
  }

  std::uint32_t* counts_;
  std::size_t levels_;
  const EntropyTerms& terms_;
  TermSum<C> sum_ = 0;
};

}  // namespace areal::cpu
