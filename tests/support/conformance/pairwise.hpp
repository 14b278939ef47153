#pragma once
// A small set of tests that contains every pair of values of any two factors.

#include <cstddef>
#include <vector>

namespace areal::conformance {

/// One value per factor.
using Choice = std::vector<std::size_t>;

/// The pairs of values of two factors that occur.
class Pairs {
 public:
  explicit Pairs(const std::vector<std::size_t>& levels) : levels_(levels) {
    for (std::size_t a = 0; a < levels.size(); ++a)
      for (std::size_t b = a + 1; b < levels.size(); ++b) {
        seen_.emplace_back(levels[a] * levels[b], false);
        missing_ += levels[a] * levels[b];
      }
  }
  bool seen(std::size_t a, std::size_t i, std::size_t b, std::size_t j) const {
    return a < b ? seen_[table(a, b)][i * levels_[b] + j] : seen_[table(b, a)][j * levels_[a] + i];
  }
  void add(const Choice& choice) {
    for (std::size_t a = 0; a < choice.size(); ++a)
      for (std::size_t b = a + 1; b < choice.size(); ++b) {
        auto pair = seen_[table(a, b)].begin() + static_cast<std::ptrdiff_t>(choice[a] * levels_[b] + choice[b]);
        missing_ -= !*pair;
        *pair = true;
      }
  }
  std::size_t missing() const { return missing_; }

 private:
  std::size_t table(std::size_t a, std::size_t b) const {
    std::size_t before = 0;
    for (std::size_t i = 0; i < a; ++i) before += levels_.size() - 1 - i;
    return before + b - a - 1;
  }
  std::vector<std::size_t> levels_;
  std::vector<std::vector<bool>> seen_;
  std::size_t missing_ = 0;
};

/// Greedy: each test starts from a new pair and takes, factor by factor, the value that adds most new pairs. Ties go to
/// the values in turn, so that no value is starved. Deterministic.
inline std::vector<Choice> covering_array(const std::vector<std::size_t>& levels) {
  Pairs pairs(levels);
  std::vector<Choice> tests;
  const std::size_t factors = levels.size();
  for (std::size_t a = 0; a < factors; ++a)
    for (std::size_t b = a + 1; b < factors; ++b)
      for (std::size_t i = 0; i < levels[a]; ++i)
        for (std::size_t j = 0; j < levels[b]; ++j) {
          if (pairs.seen(a, i, b, j)) continue;
          Choice choice(factors);
          std::vector<bool> fixed(factors, false);
          choice[a] = i, choice[b] = j;
          fixed[a] = fixed[b] = true;
          for (std::size_t f = 0; f < factors; ++f) {
            if (fixed[f]) continue;
            std::size_t best = 0, most = 0;
            for (std::size_t k = 0; k < levels[f]; ++k) {
              const std::size_t value = (k + tests.size()) % levels[f];
              std::size_t fresh = 1;
              for (std::size_t g = 0; g < factors; ++g)
                if (fixed[g] && !pairs.seen(f, value, g, choice[g])) ++fresh;
              if (fresh > most) most = fresh, best = value;
            }
            choice[f] = best;
            fixed[f] = true;
          }
          pairs.add(choice);
          tests.push_back(choice);
        }
  return tests;
}

/// Every n-th of them.
inline std::vector<Choice> one_in(std::size_t n, const std::vector<Choice>& all) {
  std::vector<Choice> some;
  for (std::size_t i = 0; i < all.size(); i += n) some.push_back(all[i]);
  return some;
}

/// All choices.
inline std::vector<Choice> full_product(const std::vector<std::size_t>& levels) {
  std::vector<Choice> tests{Choice{}};
  for (const std::size_t level : levels) {
    std::vector<Choice> longer;
    for (const Choice& choice : tests)
      for (std::size_t value = 0; value < level; ++value) {
        longer.push_back(choice);
        longer.back().push_back(value);
      }
    tests = std::move(longer);
  }
  return tests;
}

}  // namespace areal::conformance
