#pragma once
// A door: one way to ask areal.

#include <span>
#include <string_view>
#include <vector>

#include "question.hpp"

namespace doors {

struct Door {
  std::string_view name;
  std::vector<std::string_view> families;
  Json (*ask)(const Question& question);
};

/// Plants faults, and says how many and which of them the program did not find.
Json self_test();

/// A file each.
std::span<const Door> table_doors();
std::span<const Door> border_doors();
std::span<const Door> device_doors();
std::span<const Door> piece_doors();
std::span<const Door> histogram_doors();
std::span<const Door> histogram_part_doors();
std::span<const Door> cluster_doors();
std::span<const Door> strip_doors();
std::span<const Door> chunked_doors();
std::span<const Door> line_doors();
std::span<const Door> track_doors();
std::span<const Door> filter_doors();
std::span<const Door> cascade_doors();
std::span<const Door> store_doors();

}  // namespace doors
