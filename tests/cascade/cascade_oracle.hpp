#pragma once
// Cascades at random as XML, and OpenCV's search over them by walks over the pixels, without tables and vectors.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace areal::test {

struct Gray {
  int width = 0, height = 0;
  std::vector<std::uint8_t> pixels;
  int at(int x, int y) const { return pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + x]; }
};

using OracleBox = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

struct OracleCascade {
  struct Part {
    int x, y, w, h;
    float weight;
  };
  struct Feature {
    std::vector<Part> parts;
    bool tilted = false;
  };
  struct Node {
    int left, right, feature;
    float threshold;
    int subset[8];
  };
  struct Tree {
    std::vector<Node> nodes;
    std::vector<float> leaves;
  };
  struct Stage {
    std::vector<Tree> trees;
    float threshold;
  };
  bool lbp = false;
  int width = 0, height = 0;
  std::vector<Feature> features;
  std::vector<Stage> stages;

  /// `nodes`: the most of a tree.
  static OracleCascade random(std::mt19937& random, bool lbp, bool tilted, int nodes, int stages) {
    const auto whole = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
    const auto real = [&](double least, double most) {
      return static_cast<float>(std::uniform_real_distribution<double>(least, most)(random));
    };
    OracleCascade made;
    made.lbp = lbp, made.width = whole(9, 14), made.height = whole(9, 14);
    for (int i = 0; i < 12; ++i) {
      Feature feature;
      feature.tilted = tilted && i % 2 == 0;
      for (int k = lbp ? 1 : whole(1, 3); k > 0;) {
        Part part{whole(0, made.width - 1), whole(0, made.height - 1), whole(1, made.width), whole(1, made.height),
                  lbp ? 0 : static_cast<float>(whole(-3, 3)) + 0.5F};
        const int times = lbp ? 3 : 1;
        const bool inside =
            feature.tilted
                ? part.x - part.h >= 0 && part.x + part.w <= made.width && part.y + part.w + part.h <= made.height
                : part.x + times * part.w <= made.width && part.y + times * part.h <= made.height;
        if (!inside) continue;
        feature.parts.push_back(part), --k;
      }
      made.features.push_back(feature);
    }
    for (int s = 0; s < stages; ++s) {
      Stage stage;
      double most = 0;
      for (int t = whole(1, 4); t > 0; --t) {
        Tree tree;
        const int count = whole(1, nodes);
        int leaves = 0, next = 1;  // the next node without a parent
        for (int i = 0; i < count; ++i) {
          Node node{};
          node.feature = whole(0, 11);
          node.threshold = real(-0.3, 0.3);
          for (int& word : node.subset) word = static_cast<int>(random());
          const auto child = [&]() { return next < count && (next == i + 1 || whole(0, 1) == 0) ? next++ : -leaves++; };
          node.left = child(), node.right = child();
          tree.nodes.push_back(node);
        }
        while (leaves < count + 1) ++leaves;
        float largest = -9;
        for (int i = 0; i <= count; ++i)
          tree.leaves.push_back(real(-1, 1)), largest = std::max(largest, tree.leaves.back());
        most += static_cast<double>(largest);
        stage.trees.push_back(tree);
      }
      stage.threshold = static_cast<float>(most) - real(0.2, 1.5);
      made.stages.push_back(stage);
    }
    return made;
  }

  std::string xml() const {
    std::ostringstream out;
    out.precision(17);
    out << "<?xml version=\"1.0\"?>\n<opencv_storage><cascade><stageType>BOOST</stageType><featureType>"
        << (lbp ? "LBP" : "HAAR") << "</featureType><height>" << height << "</height><width>" << width
        << "</width><featureParams><maxCatCount>" << (lbp ? 256 : 0) << "</maxCatCount></featureParams><stages>\n";
    for (const Stage& stage : stages) {
      out << "<_><stageThreshold>" << static_cast<double>(stage.threshold) << "</stageThreshold><weakClassifiers>";
      for (const Tree& tree : stage.trees) {
        out << "<_><internalNodes>";
        for (const Node& node : tree.nodes) {
          out << ' ' << node.left << ' ' << node.right << ' ' << node.feature;
          if (lbp)
            for (const int word : node.subset) out << ' ' << word;
          else
            out << ' ' << static_cast<double>(node.threshold);
        }
        out << "</internalNodes><leafValues>";
        for (const float leaf : tree.leaves) out << ' ' << static_cast<double>(leaf);
        out << "</leafValues></_>";
      }
      out << "</weakClassifiers></_>\n";
    }
    out << "</stages><features>\n";
    for (const Feature& feature : features) {
      out << "<_>";
      if (lbp) {
        const Part& p = feature.parts[0];
        out << "<rect>" << p.x << ' ' << p.y << ' ' << p.w << ' ' << p.h << "</rect>";
      } else {
        out << "<rects>";
        for (const Part& p : feature.parts)
          out << "<_>" << p.x << ' ' << p.y << ' ' << p.w << ' ' << p.h << ' ' << static_cast<double>(p.weight)
              << "</_>";
        out << "</rects><tilted>" << feature.tilted << "</tilted>";
      }
      out << "</_>\n";
    }
    out << "</features></cascade></opencv_storage>\n";
    return out.str();
  }

  /// -1: no contrast, 0: fails the first stage, 1: fails another, 2: passes.
  int run(const Gray& image, int x, int y) const {
    float scale = 1;
    if (!lbp) {
      std::int64_t sum = 0, squares = 0;
      for (int v = 1; v < height - 1; ++v)
        for (int u = 1; u < width - 1; ++u) {
          const int p = image.at(x + u, y + v);
          sum += p, squares += p * p;
        }
      const std::int64_t area = std::int64_t{width - 2} * (height - 2), variance = area * squares - sum * sum;
      if (variance <= 0) return -1;
      scale = static_cast<float>(1 / std::sqrt(static_cast<double>(variance)));
      if (!(static_cast<double>(area) * static_cast<double>(scale) < 0.1)) return -1;
    }
    for (std::size_t s = 0; s < stages.size(); ++s) {
      double sum = 0;
      for (const Tree& tree : stages[s].trees) {
        int i = 0;
        do {
          const Node& node = tree.nodes[static_cast<std::size_t>(i)];
          const Feature& feature = features[static_cast<std::size_t>(node.feature)];
          bool left;
          if (lbp) {
            const int code = pattern(image, x, y, feature.parts[0]);
            left = (static_cast<unsigned>(node.subset[code / 32]) >> code % 32 & 1U) != 0;
          } else {
            left = value(image, x, y, feature) * scale < node.threshold;
          }
          i = left ? node.left : node.right;
        } while (i > 0);
        sum += static_cast<double>(tree.leaves[static_cast<std::size_t>(-i)]);
      }
      if (sum < static_cast<double>(stages[s].threshold - 1e-5F)) return s == 0 ? 0 : 1;
    }
    return 2;
  }

 private:
  static std::int64_t sum_of(const Gray& image, int x, int y, int w, int h) {
    std::int64_t sum = 0;
    for (int v = y; v < y + h; ++v)
      for (int u = x; u < x + w; ++u) sum += image.at(u, v);
    return sum;
  }
  /// Pixels below the corner, between two lines at 45 degrees, each in a row of its own: those above its apex (x, y).
  std::int64_t cone(const Gray& image, int x0, int y0, int x, int y) const {
    std::int64_t sum = 0;
    for (int v = 0; v < std::min(height, y); ++v)
      for (int u = std::max(0, x - (y - v)); u < std::min(width, x + (y - v) - 1); ++u) sum += image.at(x0 + u, y0 + v);
    return sum;
  }
  float value(const Gray& image, int x, int y, const Feature& feature) const {
    float value = 0;
    for (const Part& p : feature.parts) {
      const std::int64_t sum = feature.tilted ? cone(image, x, y, p.x, p.y) - cone(image, x, y, p.x - p.h, p.y + p.h) -
                                                    cone(image, x, y, p.x + p.w, p.y + p.w) +
                                                    cone(image, x, y, p.x + p.w - p.h, p.y + p.w + p.h)
                                              : sum_of(image, x + p.x, y + p.y, p.w, p.h);
      value += p.weight * static_cast<float>(sum);
    }
    return value;
  }
  static int pattern(const Gray& image, int x, int y, const Part& p) {
    static constexpr int column[] = {0, 1, 2, 2, 2, 1, 0, 0}, row[] = {0, 0, 0, 1, 2, 2, 2, 1};
    const std::int64_t centre = sum_of(image, x + p.x + p.w, y + p.y + p.h, p.w, p.h);
    int code = 0;
    for (int i = 0; i < 8; ++i)
      code = 2 * code + (sum_of(image, x + p.x + column[i] * p.w, y + p.y + row[i] * p.h, p.w, p.h) >= centre);
    return code;
  }
};

inline std::int64_t round_even(double value) { return static_cast<std::int64_t>(std::nearbyint(value)); }

/// OpenCV's INTER_LINEAR_EXACT, a pixel at a time.
inline Gray shrunk(const Gray& from, int width, int height) {
  if (width == from.width && height == from.height) return from;
  Gray to{width, height, {}};
  struct Tap {
    int first, second, weight;
  };
  const auto tap = [](int i, int size, int new_size) {
    const double pitch = 1 / (static_cast<double>(new_size) / size), at = pitch * (i + 0.5) - 0.5;
    const int floor = static_cast<int>(std::floor(at));
    if (floor < 0) return Tap{0, 0, 0};
    if (floor >= size - 1) return Tap{size - 1, size - 1, 0};
    return Tap{floor, floor + 1, static_cast<int>(round_even((at - floor) * 256))};
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const Tap h = tap(x, from.width, width), v = tap(y, from.height, height);
      const auto row = [&](int j) { return (256 - h.weight) * from.at(h.first, j) + h.weight * from.at(h.second, j); };
      const int sum = (256 - v.weight) * row(v.first) + v.weight * row(v.second);
      to.pixels.push_back(static_cast<std::uint8_t>((sum + 32768) / 65536));
    }
  return to;
}

/// Every window that passes: by size, row and column.
inline std::vector<OracleBox> oracle_windows(const OracleCascade& cascade, const Gray& image, double factor,
                                             int least_side, int most_side) {
  std::vector<OracleBox> found;
  const int w = cascade.width, h = cascade.height;
  int stripes = 0;
  for (double exact = 1; round_even(w * exact) <= image.width && round_even(h * exact) <= image.height;
       exact *= factor) {
    const auto scale = static_cast<float>(exact);
    const auto times = [&](int n) { return round_even(static_cast<double>(static_cast<float>(n) * scale)); };
    if (times(w) < least_side || times(h) < least_side) continue;
    if (times(w) > most_side || times(h) > most_side) break;
    const auto size = [&](int n) {
      return static_cast<int>(round_even(static_cast<double>(static_cast<float>(n) / scale)));
    };
    const Gray level = shrunk(image, size(image.width), size(image.height));
    const int step = scale >= 2 ? 1 : 2, columns = std::max(0, level.width + 1 - w);
    int rows = std::max(0, level.height + 1 - h);
    if (stripes == 0) stripes = (columns + 31) / 32;
    rows = std::min(rows, stripes * (std::max((rows / step + stripes - 1) / stripes, 1) * step));
    for (int y = 0; y < rows; y += step)
      for (int x = 0; x < columns; x += step) {
        const int result = cascade.run(level, x, y);
        if (result == 2) found.emplace_back(times(x), times(y), times(w), times(h), 1);
        if (result == 0) x += step;
      }
  }
  return found;
}

/// The parts inside the image: rounding can carry a box over its edge.
inline std::vector<OracleBox> inside(std::vector<OracleBox> boxes, const Gray& image) {
  for (auto& [x, y, w, h, n] : boxes) w = std::min(w, image.width - x), h = std::min(h, image.height - y);
  return boxes;
}

/// Groups by flooding from one window to all that are similar.
inline std::vector<OracleBox> oracle_groups(const std::vector<OracleBox>& windows, std::int64_t least) {
  std::vector<int> group(windows.size(), -1);
  int groups = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (group[i] >= 0) continue;
    std::vector<std::size_t> open{i};
    group[i] = groups;
    while (!open.empty()) {
      const auto [x, y, w, h, n] = windows[open.back()];
      open.pop_back();
      for (std::size_t j = 0; j < windows.size(); ++j) {
        const auto [x2, y2, w2, h2, n2] = windows[j];
        const double most = 0.2 * static_cast<double>(std::min(w, w2) + std::min(h, h2)) * 0.5;
        const std::int64_t far =
            std::max({std::abs(x - x2), std::abs(y - y2), std::abs(x + w - x2 - w2), std::abs(y + h - y2 - h2)});
        if (group[j] < 0 && static_cast<double>(far) <= most) group[j] = groups, open.push_back(j);
      }
    }
    ++groups;
  }
  std::vector<OracleBox> means;
  for (int g = 0; g < groups; ++g) {
    std::int64_t x = 0, y = 0, w = 0, h = 0, n = 0;
    for (std::size_t i = 0; i < windows.size(); ++i)
      if (group[i] == g) {
        x += std::get<0>(windows[i]), y += std::get<1>(windows[i]), w += std::get<2>(windows[i]),
            h += std::get<3>(windows[i]), ++n;
      }
    const float share = 1.F / static_cast<float>(n);
    const auto mean = [&](std::int64_t sum) {
      return round_even(static_cast<double>(static_cast<float>(sum) * share));
    };
    means.emplace_back(mean(x), mean(y), mean(w), mean(h), n);
  }
  std::vector<OracleBox> boxes;
  for (std::size_t i = 0; i < means.size(); ++i) {
    const auto [x, y, w, h, n] = means[i];
    bool keep = n > least;
    for (std::size_t j = 0; j < means.size(); ++j) {
      const auto [x2, y2, w2, h2, n2] = means[j];
      const std::int64_t dx = round_even(static_cast<double>(w2) * 0.2), dy = round_even(static_cast<double>(h2) * 0.2);
      if (j != i && n2 > least && x >= x2 - dx && y >= y2 - dy && x + w <= x2 + w2 + dx && y + h <= y2 + h2 + dy &&
          (n2 > std::max<std::int64_t>(3, n) || n < 3))
        keep = false;
    }
    if (keep) boxes.push_back(means[i]);
  }
  return boxes;
}

}  // namespace areal::test
