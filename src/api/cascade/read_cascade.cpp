// OpenCV's XML of cascades, new and old, as a model whose every index and rectangle is checked.
#include <areal/error.hpp>
#include "api/cascade/cascade_state.hpp"
#include "api/core/require.hpp"

#if AREAL_HAS_PUGIXML
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <pugixml.hpp>
#include <string>
#include <vector>
#endif

namespace areal {

#if AREAL_HAS_PUGIXML
namespace {

using Model = cpu::CascadeModel;

constexpr std::size_t most_bytes = std::size_t{64} << 20;
// OpenCV's sums of squares have 32 bits: 255^2 times the pixels. Its sums have 31.
constexpr std::int64_t most_haar_pixels = 66'051, most_lbp_pixels = std::int64_t{1} << 23;
constexpr std::int64_t most_side = 1 << 14;
constexpr std::int64_t most_nodes = 4096;  // of a tree
// OpenCV lowers the thresholds of stages by so much.
constexpr float stage_slack = 1e-5F;

/// The text of an element without its comments.
std::string text_of(const pugi::xml_node& node) {
  std::string text;
  for (const pugi::xml_node& part : node)
    if (part.type() == pugi::node_pcdata || part.type() == pugi::node_cdata) text += part.value();
  return text;
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::string word_of(const pugi::xml_node& node) {
  const std::string text = text_of(node);
  const auto first = std::ranges::find_if_not(text, is_space);
  const auto last = std::find_if_not(text.rbegin(), std::make_reverse_iterator(first), is_space).base();
  return {first, last};
}

/// At most 40 characters of a word, for a sentence.
std::string quoted(std::string_view word) {
  std::string text(word.substr(0, 40));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 32) c = '?';
  return text + (word.size() > 40 ? ".." : "");
}

/// Where a number or an element stands: "stage 3, tree 2".
struct Where {
  std::int64_t stage = -1, tree = -1, feature = -1;
  friend std::ostream& operator<<(std::ostream& out, const Where& at) {
    if (at.feature >= 0) return out << "feature " << at.feature;
    if (at.stage < 0) return out << "cascade";
    out << "stage " << at.stage;
    if (at.tree >= 0) out << ", tree " << at.tree;
    return out;
  }
};

/// The numbers of an element, with the rules of OpenCV: decimal doubles.
class Numbers {
 public:
  Numbers(const pugi::xml_node& node, const Where& where) : name_(node.name()), where_(where) {
    const std::string text = text_of(node);
    const char* at = text.data();
    const char* const end = at + text.size();
    while (true) {
      while (at != end && is_space(*at)) ++at;
      if (at == end) break;
      const char* const stop = std::find_if(at, end, is_space);
      const char* const digits = *at == '+' ? at + 1 : at;
      double value = 0;
      const auto [to, error] = std::from_chars(digits, stop, value);
      // Too small for a double is 0; too large is refused.
      const bool tiny = error == std::errc::result_out_of_range && to == stop &&
                        std::string_view(at, static_cast<std::size_t>(stop - at)).find("e-") != std::string_view::npos;
      require((error == std::errc() || tiny) && to == stop && std::isfinite(value), where_, ": <", name_, "> has ",
              quoted({at, static_cast<std::size_t>(stop - at)}), " where a finite number belongs");
      values_.push_back(tiny ? 0 : value);
      at = stop;
    }
  }

  std::size_t size() const { return values_.size(); }
  double real(std::size_t i) const { return values_[i]; }
  float single(std::size_t i) const {
    const auto value = static_cast<float>(values_[i]);
    require(std::isfinite(value), where_, ": <", name_, "> has ", values_[i], ", which no float holds");
    return value;
  }
  std::int32_t whole(std::size_t i, std::int64_t least, std::int64_t most) const {
    const double value = values_[i];
    require(value == std::floor(value) && value >= static_cast<double>(least) && value <= static_cast<double>(most),
            where_, ": <", name_, "> has ", value, ", it may be a whole number from ", least, " to ", most);
    return static_cast<std::int32_t>(value);
  }
  void require_size(std::size_t size) const {
    require(values_.size() == size, where_, ": <", name_, "> has ", values_.size(), " numbers, it may have ", size);
  }

 private:
  std::string name_;
  Where where_;
  std::vector<double> values_;
};

pugi::xml_node child(const pugi::xml_node& node, const char* name, const Where& where) {
  const pugi::xml_node found = node.child(name);
  require(!found.empty(), where, ": has no <", name, ">");
  return found;
}

Numbers numbers(const pugi::xml_node& node, const char* name, const Where& where) {
  return {child(node, name, where), where};
}

double number(const pugi::xml_node& node, const char* name, const Where& where) {
  const Numbers one = numbers(node, name, where);
  one.require_size(1);
  return one.real(0);
}

float threshold_of(double value, const Where& where) {
  const auto threshold = static_cast<float>(value);
  require(std::isfinite(threshold), where, ": its threshold ", value, " is no float");
  return threshold;
}

void take_window(Model& model, std::int32_t width, std::int32_t height) {
  const std::int64_t pixels = std::int64_t{width} * height, most = model.is_lbp ? most_lbp_pixels : most_haar_pixels;
  const std::int32_t least = model.is_lbp ? 1 : 3;
  require(width >= least && height >= least, "window ", width, "x", height, ": it may have ", least,
          " or more columns and rows");
  require(pixels <= most, "window ", width, "x", height, ": it may have up to ", most, " pixels");
  model.width = width, model.height = height;
}

Model::Rectangle rectangle_of(const Model& model, const Numbers& numbers, bool weighted) {
  numbers.require_size(weighted ? 5 : 4);
  Model::Rectangle r{numbers.whole(0, 0, model.width - 1), numbers.whole(1, 0, model.height - 1),
                     numbers.whole(2, 1, model.width), numbers.whole(3, 1, model.height), 0};
  if (weighted) r.weight = numbers.single(4);
  return r;
}

void require_inside(const Model& model, const Model::Rectangle& r, bool tilted, const Where& where) {
  // In blocks: an LBP feature has three in each direction.
  const std::int32_t times = model.is_lbp ? 3 : 1;
  const std::int32_t left = tilted ? r.x - r.height : r.x, right = r.x + times * r.width,
                     bottom = tilted ? r.y + r.width + r.height : r.y + times * r.height;
  require(left >= 0 && right <= model.width && bottom <= model.height, where, ": its ", tilted ? "tilted " : "",
          model.is_lbp ? "blocks" : "rectangle", " at ", r.x, ",", r.y, " of ", r.width, "x", r.height,
          model.is_lbp ? " leave" : " leaves", " the window of ", model.width, "x", model.height);
}

void add_haar(Model& model, const pugi::xml_node& node, const Where& where) {
  Model::Feature feature;
  feature.tilted = !node.child("tilted").empty() && number(node, "tilted", where) != 0;
  model.has_tilted = model.has_tilted || feature.tilted;
  std::size_t count = 0;
  for (const pugi::xml_node& one : child(node, "rects", where).children("_")) {
    require(count < 3, where, ": has more than 3 rectangles");
    const Model::Rectangle r = rectangle_of(model, {one, where}, true);
    require_inside(model, r, feature.tilted, where);
    feature.rectangle[count++] = r;
  }
  require(count > 0, where, ": has no rectangles");
  model.features.push_back(feature);
}

void add_lbp(Model& model, const pugi::xml_node& node, const Where& where) {
  Model::Feature feature;
  feature.rectangle[0] = rectangle_of(model, numbers(node, "rect", where), false);
  require_inside(model, feature.rectangle[0], false, where);
  model.features.push_back(feature);
}

/// A child above 0 is a node after `parent`, others are minus the number of a leaf.
Model::Branch branch_of(std::int32_t value, std::int32_t parent, std::int32_t nodes, const std::vector<float>& leaves,
                        const Where& where) {
  if (value > 0) {
    require(value < nodes, where, ": node ", parent, " has the child ", value, ", but there are ", nodes, " nodes");
    require(value > parent, where, ": node ", parent, " has the child ", value, ", which must come after it");
    return {value, 0};
  }
  const auto leaf = static_cast<std::size_t>(-static_cast<std::int64_t>(value));
  require(leaf < leaves.size(), where, ": node ", parent, " has leaf ", leaf, ", but there are ", leaves.size());
  return {0, leaves[leaf]};
}

void add_tree(Model& model, std::int64_t nodes, const Where& where) {
  require(nodes <= most_nodes, where, ": has ", nodes, " nodes, it may have up to ", most_nodes);
  model.trees.push_back(static_cast<std::int32_t>(nodes));
  model.most_nodes = std::max(model.most_nodes, static_cast<std::int32_t>(nodes));
}

void add_new_tree(Model& model, const pugi::xml_node& tree, const Where& where) {
  const Numbers values = numbers(tree, "internalNodes", where), leaf_values = numbers(tree, "leafValues", where);
  const std::size_t step = model.is_lbp ? 11 : 4, count = values.size() / step;
  require(count > 0 && values.size() % step == 0, where, ": <internalNodes> has ", values.size(),
          " numbers, it may have a multiple of ", step);
  leaf_values.require_size(count + 1);
  std::vector<float> leaves(count + 1);
  for (std::size_t i = 0; i <= count; ++i) leaves[i] = leaf_values.single(i);
  add_tree(model, static_cast<std::int64_t>(count), where);
  const auto nodes = static_cast<std::int32_t>(count);
  for (std::int32_t i = 0; i < nodes; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * step;
    // OpenCV does not read the children of stumps if all trees are stumps.
    require(count > 1 || (values.real(0) == 0 && values.real(1) == -1), where, ": its one node has the children ",
            values.real(0), " and ", values.real(1), ", they may be 0 and -1");
    Model::Node node;
    node.left = branch_of(values.whole(at, -nodes, nodes), i, nodes, leaves, where);
    node.right = branch_of(values.whole(at + 1, -nodes, nodes), i, nodes, leaves, where);
    node.feature = values.whole(at + 2, 0, static_cast<std::int64_t>(model.features.size()) - 1);
    if (!model.is_lbp) node.threshold = values.single(at + 3);
    for (std::size_t k = 0; model.is_lbp && k < 8; ++k)
      node.subset[k] = static_cast<std::uint32_t>(
          values.whole(at + 3 + k, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
    model.nodes.push_back(node);
  }
}

void add_stage(Model& model, std::int64_t trees, double threshold, const Where& where) {
  require(trees > 0, where, ": has no trees");
  model.stages.push_back({static_cast<std::int32_t>(trees), threshold_of(threshold, where) - stage_slack});
}

Model read_new(const pugi::xml_node& root) {
  Model model;
  const Where cascade;
  const std::string stage_type = word_of(child(root, "stageType", cascade)),
                    feature_type = word_of(child(root, "featureType", cascade));
  require(stage_type == "BOOST", "stageType ", quoted(stage_type), ": it may be BOOST");
  require(feature_type == "HAAR" || feature_type == "LBP", "featureType ", quoted(feature_type),
          ": it may be HAAR or LBP");
  model.is_lbp = feature_type == "LBP";
  const Numbers width = numbers(root, "width", cascade), height = numbers(root, "height", cascade);
  width.require_size(1), height.require_size(1);
  take_window(model, width.whole(0, 1, most_side), height.whole(0, 1, most_side));
  const double categories = number(child(root, "featureParams", cascade), "maxCatCount", cascade);
  require(categories == (model.is_lbp ? 256 : 0), "maxCatCount ", categories, ": for ", feature_type, " it may be ",
          model.is_lbp ? 256 : 0);
  for (const pugi::xml_node& one : child(root, "features", cascade).children("_")) {
    const Where where{-1, -1, static_cast<std::int64_t>(model.features.size())};
    model.is_lbp ? add_lbp(model, one, where) : add_haar(model, one, where);
  }
  require(!model.features.empty(), "cascade: <features> is empty");
  for (const pugi::xml_node& stage : child(root, "stages", cascade).children("_")) {
    Where where{static_cast<std::int64_t>(model.stages.size())};
    const double threshold = number(stage, "stageThreshold", where);
    const std::size_t before = model.trees.size();
    for (const pugi::xml_node& tree : child(stage, "weakClassifiers", where).children("_")) {
      where.tree = static_cast<std::int64_t>(model.trees.size() - before);
      add_new_tree(model, tree, where);
    }
    where.tree = -1;
    add_stage(model, static_cast<std::int64_t>(model.trees.size() - before), threshold, where);
  }
  return model;
}

/// A value, which adds a leaf, or the number of a node. Returns what the new format writes.
std::int32_t old_branch(const pugi::xml_node& node, const char* value, const char* child_node,
                        std::vector<float>& leaves, const Where& where) {
  const pugi::xml_node leaf = node.child(value);
  if (!leaf.empty()) {
    const Numbers one(leaf, where);
    one.require_size(1);
    leaves.push_back(one.single(0));
    return -static_cast<std::int32_t>(leaves.size() - 1);
  }
  const Numbers one = numbers(node, child_node, where);
  one.require_size(1);
  return one.whole(0, 1, most_nodes);
}

void add_old_tree(Model& model, const pugi::xml_node& tree, const Where& where) {
  std::vector<float> leaves;
  std::vector<std::pair<std::int32_t, std::int32_t>> branches;
  const std::size_t first = model.nodes.size();
  for (const pugi::xml_node& one : tree.children("_")) {
    require(branches.size() < static_cast<std::size_t>(most_nodes), where, ": has more than ", most_nodes, " nodes");
    Model::Node node;
    node.feature = static_cast<std::int32_t>(model.features.size());
    add_haar(model, child(one, "feature", where), where);
    const Numbers threshold = numbers(one, "threshold", where);
    threshold.require_size(1);
    node.threshold = threshold.single(0);
    const std::int32_t left = old_branch(one, "left_val", "left_node", leaves, where),
                       right = old_branch(one, "right_val", "right_node", leaves, where);
    branches.emplace_back(left, right);
    model.nodes.push_back(node);
  }
  const auto nodes = static_cast<std::int32_t>(branches.size());
  require(nodes > 0, where, ": has no nodes");
  require(leaves.size() == branches.size() + 1, where, ": has ", nodes, " nodes and ", leaves.size(),
          " values, it may have one more than nodes");
  for (std::int32_t i = 0; i < nodes; ++i) {
    Model::Node& node = model.nodes[first + static_cast<std::size_t>(i)];
    node.left = branch_of(branches[static_cast<std::size_t>(i)].first, i, nodes, leaves, where);
    node.right = branch_of(branches[static_cast<std::size_t>(i)].second, i, nodes, leaves, where);
  }
  add_tree(model, nodes, where);
}

Model read_old(const pugi::xml_node& root) {
  Model model;
  const Where cascade;
  const Numbers size = numbers(root, "size", cascade);
  size.require_size(2);
  take_window(model, size.whole(0, 1, most_side), size.whole(1, 1, most_side));
  for (const pugi::xml_node& stage : child(root, "stages", cascade).children("_")) {
    const auto number_of_stage = static_cast<std::int64_t>(model.stages.size());
    Where where{number_of_stage};
    const double threshold = number(stage, "stage_threshold", where);
    if (!stage.child("parent").empty()) {
      const double parent = number(stage, "parent", where);
      require(parent == static_cast<double>(number_of_stage - 1), where, ": its parent is stage ", parent,
              ", but trees of stages are not supported");
    }
    const std::size_t before = model.trees.size();
    for (const pugi::xml_node& tree : child(stage, "trees", where).children("_")) {
      where.tree = static_cast<std::int64_t>(model.trees.size() - before);
      add_old_tree(model, tree, where);
    }
    where.tree = -1;
    add_stage(model, static_cast<std::int64_t>(model.trees.size() - before), threshold, where);
  }
  return model;
}

}  // namespace

cpu::CascadeModel read_cascade(std::string_view text) {
  require(text.size() <= most_bytes, "cascade of ", text.size(), " bytes: it may have up to 64 MiB");
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
  if (parsed.status == pugi::status_out_of_memory)
    throw OutOfMemory(sentence("cascade: no memory for the XML of ", text.size(), " bytes"), text.size());
  require(parsed, "cascade: no XML at byte ", parsed.offset, ": ", parsed.description());
  const pugi::xml_node storage = document.child("opencv_storage");
  require(!storage.empty(), "cascade: its XML has no <opencv_storage>");
  const pugi::xml_node root =
      storage.find_child([](const pugi::xml_node& node) { return node.type() == pugi::node_element; });
  require(!root.empty(), "cascade: <opencv_storage> is empty");
  const bool is_old = root.child("stageType").empty() && !root.child("size").empty();
  Model model = is_old ? read_old(root) : read_new(root);
  require(!model.stages.empty(), "cascade: has no stages");
  return model;
}

#else

cpu::CascadeModel read_cascade(std::string_view) {
  throw Unavailable("cascade: this areal was built without pugixml, which reads it (Debian package libpugixml-dev)");
}

#endif

}  // namespace areal
