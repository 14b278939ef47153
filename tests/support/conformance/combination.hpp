#pragma once
// Options together: type pair, border, size, squares, mask and NaN, tilted or volume, channels, layouts, batch,
// placement, reverse. If the type pair does not support an option, the nearest supported one replaces it.

#include <span>
#include <utility>
#include "conformance/pairwise.hpp"
#include "conformance/sat_case.hpp"
#include "conformance/shapes.hpp"

namespace areal::conformance {

using Size = std::pair<std::int64_t, std::int64_t>;

/// The number of values of each factor, in the order in which `combination` reads them.
inline std::vector<std::size_t> combination_levels(std::span<const Size> sizes) {
  return {type_pairs().size(), 3, sizes.size(), 5, 4, 3, 4, 2, 2, 3, std::size(placements), 2};
}

/// The case of a choice; its further factors are the caller's.
inline SatCase combination(const Choice& choice, std::span<const Size> sizes) {
  constexpr Border borders[] = {Border::zero, Border::none, Border::exclusive};
  constexpr std::optional<Type> squares[] = {std::nullopt, Type::u32, Type::u64, Type::f64, Type::f32};
  enum Extra : std::size_t { nothing, with_tilted, with_volume };
  SatCase c;
  PlanOptions& o = c.options;
  c.types = type_pairs()[choice[0]];
  const bool real = is_float(c.types.input);
  o.border = borders[choice[1]];
  c.image = {sizes[choice[2]].first, sizes[choice[2]].second};
  o.squares = squares[choice[3]];
  if (o.squares == Type::u32 && size_of(c.types.input) > 1) o.squares = Type::u64;
  if (o.squares && !has_squares(c.types.input, *o.squares)) o.squares = Type::f64;
  o.mask = choice[4] % 2 == 1;
  o.ignore_nan = real && choice[4] >= 2;
  c.fill = o.ignore_nan ? Fill::holes : Fill::wild;
  o.reverse = choice[11] == 1;
  o.tilted = choice[5] == with_tilted && !o.reverse;
  o.volume = choice[5] == with_volume;
  c.image.channels = static_cast<std::int64_t>(choice[6] + 1);
  c.image.layout = choice[7] ? Layout::planar : Layout::interleaved;
  o.tables = choice[8] ? Layout::interleaved : Layout::planar;
  c.image.batch = static_cast<std::int64_t>(choice[9] + 1);
  c.in = placements[choice[10]];
  c.out = placements[(choice[10] + choice[0]) % std::size(placements)];
  c.seed = base_seed();
  for (const std::size_t value : choice) c.seed = c.seed * 31 + value;
  return c;
}

}  // namespace areal::conformance
