#pragma once
// The product of options, types and cuts, and how it is thinned.

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <vector>
#include "extent.hpp"
#include "piece_matrix/cuts.hpp"

namespace areal::piece_matrix {

/// Of the matrix: a few questions of each kind, all kinds, or the product.
using test::Extent;
using test::extent;

inline constexpr Type pixel_types[] = {Type::u8,  Type::s8,  Type::u16, Type::s16, Type::u32, Type::s32,
                                       Type::u64, Type::s64, Type::f16, Type::f32, Type::f64};

/// Each option, and each pair of options that do not exclude each other, as those of one group and of `excluding`
/// groups do.
template <class Option>
std::vector<std::vector<const Option*>> combinations(
    std::span<const Option> options, const std::vector<std::pair<std::string_view, std::string_view>>& excluding) {
  std::vector<std::vector<const Option*>> all;
  for (const Option& one : options) all.push_back({&one});
  for (std::size_t i = 0; i < options.size(); ++i)
    for (std::size_t j = i + 1; j < options.size(); ++j) {
      const std::string_view one = options[i].group, other = options[j].group;
      const bool exclude = one == other || std::ranges::any_of(excluding, [&](const auto& pair) {
                             return pair == std::pair(one, other) || pair == std::pair(other, one);
                           });
      if (!exclude) all.push_back({&options[i], &options[j]});
    }
  return all;
}

/// f(options, kind, cut, seed) for combinations x kinds x cuts. The product only with AREAL_TEST_FULL; else every kind
/// of a single option and one in `thin` of a pair's, each with one of the cuts in turns; with AREAL_TEST_SHORT a fifth
/// of these. `thin` and the numbers of kinds and cuts have no divisor in common, so that none is left out.
template <class Combinations, class F>
void each_choice(const Combinations& all, std::size_t kinds, std::size_t thin, const F& f) {
  std::size_t number = 0;
  for (const auto& options : all)
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      const std::size_t i = number++;
      const std::size_t every = (options.size() > 1 ? thin : 1) * (extent() == Extent::few ? 5 : 1);
      if (extent() != Extent::all && i % every != 0) continue;
      for (std::size_t c = 0; c < std::size(cuts); ++c)
        if (extent() == Extent::all || c == i % std::size(cuts)) f(options, kind, cuts[c], i + 1);
    }
}

}  // namespace areal::piece_matrix
