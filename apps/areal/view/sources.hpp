#pragma once
// Opens what `areal view` shows.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include "io/input.hpp"
#include "io/settings.hpp"
#include "view/scene.hpp"

namespace areal::command::page {

/// A layer's computation may take this share of the memory, an eighth.
inline constexpr std::uint64_t layer_share = 8;

struct SceneOptions {
  InputOptions input;
  std::int64_t bins = 256;
  std::optional<std::pair<double, double>> range = {};
  std::uint64_t memory = 0;  // bytes for pixels, pyramids, stores and readers
};

/// A picture in memory if it fits, and either its stores fit, too, or it has few pixels that are quickly counted, or it
/// cannot be read in parts; else one on disk. Adds sentences about it to `notes`. Throws what reading throws,
/// InvalidArgument for what a page does not show, and OutOfMemory.
std::unique_ptr<view::Scene> open_scene(const SceneOptions& options, const Settings& settings,
                                        std::vector<std::string>& notes);

}  // namespace areal::command::page
