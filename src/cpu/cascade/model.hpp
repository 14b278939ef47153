#pragma once
// A cascade as its file has it: stages of trees of nodes that compare a feature.

#include <array>
#include <cstdint>
#include <vector>

namespace areal::cpu {

struct CascadeModel {
  struct Rectangle {
    std::int32_t x = 0, y = 0, width = 0, height = 0;
    float weight = 0;
  };
  /// Haar: up to three rectangles, `width` to the lower right and `height` to the lower left if tilted. LBP: the first
  /// of 3x3 equal blocks.
  struct Feature {
    std::array<Rectangle, 3> rectangle;
    bool tilted = false;
  };
  /// The left branch is taken by a value below the threshold, or by a code in the subset.
  struct Branch {
    std::int32_t node = 0;  ///< of the tree, after its parent; 0: a leaf
    float leaf = 0;
  };
  struct Node {
    std::int32_t feature = 0;
    float threshold = 0;
    std::array<std::uint32_t, 8> subset{};  // LBP: bit c of word c / 32 is code c
    Branch left, right;
  };
  struct Stage {
    std::int32_t trees = 0;
    float threshold = 0;
  };

  bool is_lbp = false, has_tilted = false;
  std::int32_t width = 0, height = 0;
  std::vector<Stage> stages;
  std::vector<std::int32_t> trees;  // nodes of each
  std::vector<Node> nodes;
  std::vector<Feature> features;
  std::int32_t most_nodes = 0;  // of a tree
};

}  // namespace areal::cpu
