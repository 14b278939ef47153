#pragma once
// Parsers of --tile and --tile-threads, for integral histograms on tiles. Both throw InvalidArgument.

#include <algorithm>
#include <areal/research/histogram.hpp>
#include <string>
#include <vector>
#include "numbers.hpp"
#include "word_list.hpp"

namespace areal::command {

inline int tile_side(std::string_view text) {
  const auto side = static_cast<int>(whole_number("--tile", text, 16, 64));
  if (research::tile_threads(side).empty()) refuse("--tile ", text, ": may be 16, 32 or 64");
  return side;
}

inline int threads_on_tile(std::string_view text, int side) {
  const auto threads = whole_number("--tile-threads", text);
  const std::span<const int> all = research::tile_threads(side);
  if (std::find(all.begin(), all.end(), threads) != all.end()) return static_cast<int>(threads);
  std::vector<std::string> words;
  for (const int n : all) words.push_back(std::to_string(n));
  refuse("--tile-threads ", text, ": may be ", word_list(words), " on tiles of ", std::to_string(side));
}

}  // namespace areal::command
