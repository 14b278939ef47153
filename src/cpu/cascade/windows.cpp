// Windows in vectors of neighbouring positions, stage by stage, until none of a vector passes. Every value is computed
// with the operations and the order of OpenCV, so that the same windows pass: features in float, stages in double.
#include "cpu/cascade/windows.hpp"
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/cascade/windows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef AREAL_CPU_CASCADE_WINDOWS_ONCE
#define AREAL_CPU_CASCADE_WINDOWS_ONCE
namespace areal::cpu {

struct CascadeBranch {
  std::int32_t node;
  float leaf;
};

struct HaarNode {
  std::array<std::array<std::int32_t, 4>, 3> at;  // entries: upper left, upper right, lower left, lower right
  std::array<float, 3> weight;
  float threshold;
  CascadeBranch left, right;
};

struct LbpNode {
  std::array<std::int32_t, 16> at;  // the corners of 3x3 blocks
  alignas(32) std::array<std::int32_t, 8> subset;
  CascadeBranch left, right;
};

struct CascadeWindows::Nodes {
  std::vector<CascadeModel::Stage> stages;
  std::vector<std::int32_t> trees;  // nodes of each; empty if all have one
  std::vector<HaarNode> haar;       // one of the two
  std::vector<LbpNode> lbp;
  std::int32_t most_nodes = 1;
  std::array<std::int32_t, 4> rim{};  // corners of the window less its rim
  std::int32_t squares = 0;
  double pixels = 0;  // within the rim
};

/// Bits of positions, 64 in a word.
using PositionBits = std::vector<std::uint64_t>;

struct CascadeKernels {
  /// The positions that fail the first stage, those that pass it, and 1 / (deviation * pixels) of each.
  void (*first)(const CascadeWindows::Nodes& nodes, const std::int32_t* tables, std::int64_t positions,
                CascadeWindows::Scratch& scratch);
  /// The positions that pass the other stages, of those whose bit is set.
  void (*others)(const CascadeWindows::Nodes& nodes, const std::int32_t* tables, std::int64_t positions,
                 CascadeWindows::Scratch& scratch, std::vector<std::int64_t>& passed);
};

}  // namespace areal::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Bits of a vector's lanes fit a byte or two.
using Floats = hn::CappedTag<float, 16>;
using Ints = hn::RebindToSigned<Floats>;
using Float = hn::Vec<Floats>;
using Int = hn::Vec<Ints>;
#if HWY_TARGET == HWY_SCALAR
using Doubles = hn::ScalableTag<double>;
#else
using Doubles = hn::RepartitionToWide<Floats>;
#endif
using HalfFloats = hn::Rebind<float, Doubles>;
using HalfInts = hn::Rebind<std::int32_t, Doubles>;
using Double = hn::Vec<Doubles>;
using FloatMask = hn::Mask<Floats>;

HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(Floats())); }

/// The doubles of the first and of the last floats of a vector.
struct Sums {
  Double low, high;
};

HWY_INLINE Double low_of(Float v) {
#if HWY_TARGET == HWY_SCALAR
  return hn::PromoteTo(Doubles(), v);
#else
  return hn::PromoteTo(Doubles(), hn::LowerHalf(HalfFloats(), v));
#endif
}
HWY_INLINE Double high_of(Float v) {
#if HWY_TARGET == HWY_SCALAR
  return hn::PromoteTo(Doubles(), v);
#else
  return hn::PromoteTo(Doubles(), hn::UpperHalf(HalfFloats(), v));
#endif
}

template <class Mask>
HWY_INLINE std::uint32_t bits_of(Doubles d, Mask mask) {
  std::array<std::uint8_t, 8> bytes{};
  hn::StoreMaskBits(d, mask, bytes.data());
  return bytes[0];
}

HWY_INLINE std::uint32_t at_least(const Sums& sums, float threshold) {
  const Doubles d;
  const Double least = hn::Set(d, static_cast<double>(threshold));
  const std::uint32_t low = bits_of(d, hn::Ge(sums.low, least));
#if HWY_TARGET == HWY_SCALAR
  return low;
#else
  return low | bits_of(d, hn::Ge(sums.high, least)) << hn::Lanes(d);
#endif
}

HWY_INLINE Int sum_at(const std::int32_t* tables, std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d) {
  const Ints di;
  return hn::Add(hn::Sub(hn::LoadU(di, tables + a), hn::LoadU(di, tables + b)),
                 hn::Sub(hn::LoadU(di, tables + d), hn::LoadU(di, tables + c)));
}

/// Lanes that take the left branch.
HWY_INLINE FloatMask goes_left(const HaarNode& node, const std::int32_t* tables, Float scale) {
  const Floats d;
  const auto part = [&](std::size_t i) HWY_ATTR {
    const auto& at = node.at[i];
    return hn::Mul(hn::Set(d, node.weight[i]), hn::ConvertTo(d, sum_at(tables, at[0], at[1], at[2], at[3])));
  };
  Float value = hn::Add(part(0), part(1));
  if (node.weight[2] != 0) value = hn::Add(value, part(2));
  return hn::Lt(hn::Mul(value, scale), hn::Set(d, node.threshold));
}

HWY_INLINE FloatMask goes_left(const LbpNode& node, const std::int32_t* tables, Float) {
  const Ints di;
  std::array<std::array<Int, 4>, 4> corner;
  for (std::size_t i = 0; i < 16; ++i) corner[i / 4][i % 4] = hn::LoadU(di, tables + node.at[i]);
  const auto block = [&](std::size_t y, std::size_t x) HWY_ATTR {
    return hn::Add(hn::Sub(corner[y][x], corner[y][x + 1]), hn::Sub(corner[y + 1][x + 1], corner[y + 1][x]));
  };
  const Int centre = block(1, 1);
  const auto bit = [&](std::size_t y, std::size_t x, std::int32_t value)
                       HWY_ATTR { return hn::IfThenZeroElse(hn::Gt(centre, block(y, x)), hn::Set(di, value)); };
  const Int code = hn::Or(hn::Or(hn::Or(bit(0, 0, 128), bit(0, 1, 64)), hn::Or(bit(0, 2, 32), bit(1, 2, 16))),
                          hn::Or(hn::Or(bit(2, 2, 8), bit(2, 1, 4)), hn::Or(bit(2, 0, 2), bit(1, 0, 1))));
  const Int word = hn::GatherIndex(di, node.subset.data(), hn::ShiftRight<5>(code));
  const Int mask = hn::Shl(hn::Set(di, 1), hn::And(code, hn::Set(di, 31)));
  return hn::RebindMask(Floats(), hn::Ne(hn::And(word, mask), hn::Zero(di)));
}

HWY_INLINE void add(Sums& sums, Float leaf) {
  sums.low = hn::Add(sums.low, low_of(leaf));
  sums.high = hn::Add(sums.high, high_of(leaf));
}

/// The leaf of each lane. `at` holds, for each node, the lanes that reach it.
template <class Node>
HWY_INLINE Float leaf_of(const Node* nodes, std::int32_t count, const std::int32_t* tables, Float scale,
                         std::int32_t* at) {
  const Floats d;
  const Ints di;
  const std::int64_t n = lanes();
  Float leaf = hn::Zero(d);
  hn::StoreU(hn::Set(di, -1), di, at);
  for (std::int32_t i = 1; i < count; ++i) hn::StoreU(hn::Zero(di), di, at + i * n);
  for (std::int32_t i = 0; i < count; ++i) {
    const Int here = hn::LoadU(di, at + i * n);
    if (hn::AllFalse(di, hn::Ne(here, hn::Zero(di)))) continue;
    const Node& node = nodes[i];
    const Int left = hn::And(here, hn::BitCast(di, hn::VecFromMask(d, goes_left(node, tables, scale))));
    const auto take = [&](const CascadeBranch& branch, Int by) HWY_ATTR {
      if (branch.node > 0) {
        std::int32_t* const to = at + branch.node * n;
        hn::StoreU(hn::Or(hn::LoadU(di, to), by), di, to);
      } else {
        leaf = hn::IfThenElse(hn::MaskFromVec(hn::BitCast(d, by)), hn::Set(d, branch.leaf), leaf);
      }
    };
    take(node.left, left);
    take(node.right, hn::AndNot(left, here));
  }
  return leaf;
}

/// Where the nodes and trees of a stage begin.
struct Place {
  std::size_t node = 0, tree = 0;
};

template <bool stumps, class Node>
HWY_INLINE Sums stage_sums(const CascadeWindows::Nodes& of, const std::vector<Node>& nodes, std::int32_t trees,
                           Place& place, const std::int32_t* tables, Float scale, std::int32_t* at) {
  const Floats d;
  Sums sums{hn::Zero(Doubles()), hn::Zero(Doubles())};
  const Node* node = nodes.data() + place.node;
  if constexpr (stumps) {
    for (const Node* const end = node + trees; node != end; ++node)
      add(sums,
          hn::IfThenElse(goes_left(*node, tables, scale), hn::Set(d, node->left.leaf), hn::Set(d, node->right.leaf)));
  } else {
    for (std::int32_t i = 0; i < trees; ++i) {
      const std::int32_t count = of.trees[place.tree++];
      add(sums, leaf_of(node, count, tables, scale, at));
      node += count;
    }
  }
  place.node = static_cast<std::size_t>(node - nodes.data());
  return sums;
}

/// The bits of lanes whose deviation is large enough; 1 / (deviation * pixels).
HWY_INLINE std::uint32_t deviations(const CascadeWindows::Nodes& of, const std::int32_t* tables, float* scale) {
  const Doubles d;
  const HalfInts di;
  const HalfFloats df;
  const Double pixels = hn::Set(d, of.pixels), one = hn::Set(d, 1.0);
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  std::uint32_t bits = 0;
  for (std::int64_t i = 0; i < lanes(); i += n) {
    const auto sum_of = [&](std::int32_t offset) HWY_ATTR {
      const std::int32_t* const from = tables + offset + i;
      return hn::Add(hn::Sub(hn::LoadU(di, from + of.rim[0]), hn::LoadU(di, from + of.rim[1])),
                     hn::Sub(hn::LoadU(di, from + of.rim[3]), hn::LoadU(di, from + of.rim[2])));
    };
    const Double sum = hn::PromoteTo(d, sum_of(0));
    // Unsigned: 2^31 less, and added again.
    const auto flipped = hn::Xor(sum_of(of.squares), hn::Set(di, std::numeric_limits<std::int32_t>::min()));
    const Double squares = hn::Add(hn::PromoteTo(d, flipped), hn::Set(d, 2147483648.0));
    const Double variance = hn::Sub(hn::Mul(pixels, squares), hn::Mul(sum, sum));
    const auto positive = hn::Gt(variance, hn::Zero(d));
    const Double root = hn::Sqrt(hn::IfThenElse(positive, variance, one));
    const auto factor = hn::DemoteTo(df, hn::Div(one, root));
    hn::StoreU(factor, df, scale + i);
    const auto enough = hn::Lt(hn::Mul(pixels, hn::PromoteTo(d, factor)), hn::Set(d, 0.1));
    bits |= bits_of(d, hn::And(positive, enough)) << i;
  }
  return bits;
}

template <bool stumps, class Node>
void first_stage(const CascadeWindows::Nodes& of, const std::vector<Node>& nodes, const std::int32_t* tables,
                 std::int64_t positions, CascadeWindows::Scratch& scratch) {
  const std::uint32_t all = (std::uint32_t{1} << lanes()) - 1;
  for (std::int64_t i = 0; i < positions; i += lanes()) {
    std::uint32_t valid = all;
    float* const scale = scratch.scale.data() + i;
    if constexpr (std::is_same_v<Node, HaarNode>) valid = deviations(of, tables + i, scale);
    if (positions - i < lanes()) valid &= (std::uint32_t{1} << (positions - i)) - 1;
    if (valid == 0) continue;
    Place place;
    const Sums sums = stage_sums<stumps>(of, nodes, of.stages[0].trees, place, tables + i, hn::LoadU(Floats(), scale),
                                         scratch.at.data());
    const std::uint32_t bits = at_least(sums, of.stages[0].threshold);
    const auto word = static_cast<std::size_t>(i / 64);
    scratch.failed[word] |= std::uint64_t{valid & ~bits} << (i % 64);
    scratch.passed[word] |= std::uint64_t{valid & bits} << (i % 64);
  }
}

template <bool stumps, class Node>
void other_stages(const CascadeWindows::Nodes& of, const std::vector<Node>& nodes, const std::int32_t* tables,
                  std::int64_t positions, CascadeWindows::Scratch& scratch, std::vector<std::int64_t>& passed) {
  const std::uint32_t all = (std::uint32_t{1} << lanes()) - 1;
  Place second{static_cast<std::size_t>(of.stages[0].trees), static_cast<std::size_t>(of.stages[0].trees)};
  if constexpr (!stumps) {
    second.node = 0;
    for (std::int32_t i = 0; i < of.stages[0].trees; ++i) second.node += static_cast<std::size_t>(of.trees[i]);
  }
  for (std::int64_t begin = 0; begin < positions; begin += 64) {
    const auto word = static_cast<std::size_t>(begin / 64);
    while (scratch.passed[word] != 0) {
      const int shift = std::countr_zero(scratch.passed[word]);
      const std::int64_t at = begin + shift;
      std::uint64_t alive = scratch.passed[word] >> shift;
      scratch.passed[word] &= ~(std::uint64_t{all} << shift);
      if (shift + lanes() > 64) {
        alive |= scratch.passed[word + 1] << (64 - shift);
        scratch.passed[word + 1] &= ~(std::uint64_t{all} >> (64 - shift));
      }
      auto bits = static_cast<std::uint32_t>(alive & all);
      const Float scale = hn::LoadU(Floats(), scratch.scale.data() + at);
      Place place = second;
      for (std::size_t s = 1; s < of.stages.size() && bits != 0; ++s) {
        const Sums sums =
            stage_sums<stumps>(of, nodes, of.stages[s].trees, place, tables + at, scale, scratch.at.data());
        bits &= at_least(sums, of.stages[s].threshold);
      }
      for (; bits != 0; bits &= bits - 1) passed.push_back(at + std::countr_zero(bits));
    }
  }
}

void first_of(const CascadeWindows::Nodes& of, const std::int32_t* tables, std::int64_t positions,
              CascadeWindows::Scratch& scratch) {
  const bool stumps = of.trees.empty();
  if (of.lbp.empty())
    stumps ? first_stage<true>(of, of.haar, tables, positions, scratch)
           : first_stage<false>(of, of.haar, tables, positions, scratch);
  else
    stumps ? first_stage<true>(of, of.lbp, tables, positions, scratch)
           : first_stage<false>(of, of.lbp, tables, positions, scratch);
}

void others_of(const CascadeWindows::Nodes& of, const std::int32_t* tables, std::int64_t positions,
               CascadeWindows::Scratch& scratch, std::vector<std::int64_t>& passed) {
  const bool stumps = of.trees.empty();
  if (of.lbp.empty())
    stumps ? other_stages<true>(of, of.haar, tables, positions, scratch, passed)
           : other_stages<false>(of, of.haar, tables, positions, scratch, passed);
  else
    stumps ? other_stages<true>(of, of.lbp, tables, positions, scratch, passed)
           : other_stages<false>(of, of.lbp, tables, positions, scratch, passed);
}

const CascadeKernels* cascade_kernels() {
  static constexpr CascadeKernels kernels{first_of, others_of};
  return &kernels;
}

}  // namespace
}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
HWY_EXPORT(cascade_kernels);

namespace {

constexpr std::int64_t most_lanes = 16;

std::int64_t rounded_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

/// Bits of the positions that a failed neighbour on the left hides. In a run of failed positions the first hides the
/// second, the third the fourth: the subtraction carries each run's alternation to its end.
std::uint64_t hidden(std::uint64_t failed, bool& carry) {
  constexpr std::uint64_t odd = 0xAAAAAAAAAAAAAAAA;
  const std::uint64_t first = carry ? 1 : 0, may_hide = failed & ~first;
  const std::uint64_t alternating = (((may_hide << 1) | odd) - may_hide) ^ odd;
  carry = (alternating & failed) >> 63 != 0;
  return alternating ^ (failed | first);
}

}  // namespace

CascadeLayout::CascadeLayout(const CascadeModel& model, std::int64_t columns, int step_)
    : step(step_),
      tables(model.is_lbp       ? 1
             : model.has_tilted ? 3
                                : 2) {
  half = step == 1 ? 0 : rounded_up((columns + 1) / 2, 16);
  table = step == 1 ? rounded_up(columns, 16) : 2 * half;
  row = table * tables;
  if (row % 1024 == 0) row += 16;  // rows of 4 KiB would share a few sets of the cache
  tilted = table;
  squares = table * (tables - 1);
}

void CascadeLayout::place(const std::uint32_t* from, std::int64_t columns, std::uint32_t* to) const {
  if (step == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(columns) * sizeof(*from));
    return;
  }
  std::uint32_t* const odd = to + half;
  for (std::int64_t i = 0; i < columns / 2; ++i) to[i] = from[2 * i], odd[i] = from[2 * i + 1];
  if (columns % 2 == 1) to[columns / 2] = from[columns - 1];
}

CascadeWindows::CascadeWindows(const CascadeModel& model, const CascadeLayout& layout) {
  auto made = std::make_unique<Nodes>();
  made->stages = model.stages;
  made->most_nodes = model.most_nodes;
  if (model.most_nodes > 1) made->trees = model.trees;
  const auto entry = [&](std::int64_t x, std::int64_t y) {
    return static_cast<std::int32_t>(y * layout.row + layout.column(x));
  };
  const auto corners = [&](const CascadeModel::Rectangle& r) {
    return std::array<std::int32_t, 4>{entry(r.x, r.y), entry(r.x + r.width, r.y), entry(r.x, r.y + r.height),
                                       entry(r.x + r.width, r.y + r.height)};
  };
  const auto branch = [](const CascadeModel::Branch& b) { return CascadeBranch{b.node, b.leaf}; };
  for (const CascadeModel::Node& node : model.nodes) {
    const CascadeModel::Feature& feature = model.features[static_cast<std::size_t>(node.feature)];
    if (model.is_lbp) {
      LbpNode& to = made->lbp.emplace_back();
      const CascadeModel::Rectangle& block = feature.rectangle[0];
      for (std::int32_t i = 0; i < 16; ++i)
        to.at[static_cast<std::size_t>(i)] = entry(block.x + i % 4 * block.width, block.y + i / 4 * block.height);
      for (std::size_t i = 0; i < 8; ++i) to.subset[i] = static_cast<std::int32_t>(node.subset[i]);
      to.left = branch(node.left), to.right = branch(node.right);
      continue;
    }
    HaarNode& to = made->haar.emplace_back();
    for (std::size_t i = 0; i < 3; ++i) {
      const CascadeModel::Rectangle& r = feature.rectangle[i];
      to.weight[i] = r.weight;
      to.at[i] = corners(r);
      if (!feature.tilted || r.weight == 0) continue;
      // The 45 degree sums: its uppermost corner, the left one, the right one, the lowest.
      const auto tilted = static_cast<std::int32_t>(layout.tilted);
      to.at[i] = {tilted + entry(r.x, r.y), tilted + entry(r.x - r.height, r.y + r.height),
                  tilted + entry(r.x + r.width, r.y + r.width),
                  tilted + entry(r.x + r.width - r.height, r.y + r.width + r.height)};
    }
    to.threshold = node.threshold;
    to.left = branch(node.left), to.right = branch(node.right);
  }
  if (!model.is_lbp) {
    made->rim = corners({1, 1, model.width - 2, model.height - 2, 0});
    made->pixels = static_cast<double>(model.width - 2) * static_cast<double>(model.height - 2);
    made->squares = static_cast<std::int32_t>(layout.squares);
  }
  nodes_ = std::move(made);
}

CascadeWindows::~CascadeWindows() = default;

void CascadeWindows::row(const std::uint32_t* tables, std::int64_t positions, Scratch& scratch,
                         std::vector<std::int64_t>& passed) const {
  const auto words = static_cast<std::size_t>((positions + 63) / 64);
  scratch.failed.assign(words + 1, 0);
  scratch.passed.assign(words + 1, 0);
  scratch.scale.resize(static_cast<std::size_t>(positions + most_lanes));
  scratch.at.resize(static_cast<std::size_t>(nodes_->most_nodes * most_lanes));
  const CascadeKernels& kernels = *HWY_DYNAMIC_DISPATCH(cascade_kernels)();
  const auto* const from = reinterpret_cast<const std::int32_t*>(tables);
  kernels.first(*nodes_, from, positions, scratch);
  bool carry = false;
  for (std::size_t i = 0; i < words; ++i) scratch.passed[i] &= ~hidden(scratch.failed[i], carry);
  if (nodes_->stages.size() > 1) return kernels.others(*nodes_, from, positions, scratch, passed);
  for (std::int64_t i = 0; i < positions; ++i)
    if (scratch.passed[static_cast<std::size_t>(i / 64)] >> (i % 64) & 1) passed.push_back(i);
}

}  // namespace areal::cpu
#endif
