#pragma once
// What the matrix asks of engines that compute integral histograms or count regions by them, and what these must be.

#include <areal/histogram.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include "histogram_oracle.hpp"
#include "piece_matrix/cuts.hpp"

namespace areal::piece_matrix {

struct TensorQuestion {
  oracle::Rule rule = oracle::uniform(6, 0, 16);
  Shape image;
  Cut cut{};
  Type type = Type::u8;
  HistogramOptions options;
  std::int64_t group_bins = 0;
  std::optional<Type> weights;
  bool progress = false;
  bool clip = false;     ///< regions, of counts
  bool tensors = false;  ///< a sequence that counts hands tensors out, too
  Backend backend = Backend::cpu;
  std::vector<std::string> named;  ///< its options, as in refused.txt
  std::uint64_t seed = 1;

  std::string words() const {
    std::string words = std::string(name_of(type)) + ", " + cut.name;
    for (const std::string& name : named) words += ", " + name;
    return words + ", seed " + std::to_string(seed);
  }
};

inline void set_weights(TensorQuestion& q, Type weights, Type counter) {
  q.weights = weights, q.options.weighted = true, q.options.counter = counter;
}
/// As TableOption.
struct TensorOption {
  const char *group, *name;
  void (*set)(TensorQuestion&);
};
/// Of tensors and of counts.
inline constexpr TensorOption shared_options[] = {
    {"rule", "edges",
     [](TensorQuestion& q) {
       q.rule = oracle::edges({0, 1, 3, 7.5, 12});
     }},
    {"rule", "clamped", [](TensorQuestion& q) { q.rule = oracle::uniform(5, 2, 11, true); }},
    {"rule", "look-up",
     [](TensorQuestion& q) {
       q.rule = oracle::lookup({0, 1, -1, 2, 2, 3, 0, 5});
     }},
    {"uncut rule", "labels", [](TensorQuestion& q) { q.rule = oracle::labels(9, 4); }},
    {"uncut rule", "joint of 2 channels",
     [](TensorQuestion& q) {
       q.rule = oracle::joint({oracle::uniform(3, 0, 12), oracle::uniform(2, 0, 16)}), q.image.channels = 2;
     }},
    {"uncut rule", "joint of 3 planar channels",
     [](TensorQuestion& q) {
       q.rule = oracle::joint({oracle::uniform(2, 0, 12), oracle::uniform(2, 0, 16), oracle::edges({0, 3, 9, 18})});
       q.image.channels = 3, q.image.layout = Layout::planar;
     }},
    {"weights", "8u in 64f", [](TensorQuestion& q) { set_weights(q, Type::u8, Type::f64); }},
    {"weights", "16u in 32f", [](TensorQuestion& q) { set_weights(q, Type::u16, Type::f32); }},
    {"weights", "32f in 32f", [](TensorQuestion& q) { set_weights(q, Type::f32, Type::f32); }},
    {"weights", "64f in 64f", [](TensorQuestion& q) { set_weights(q, Type::f64, Type::f64); }},
    {"groups", "of 2 bins", [](TensorQuestion& q) { q.group_bins = 2; }},
    {"groups", "of 4 bins", [](TensorQuestion& q) { q.group_bins = 4; }},
    {"groups", "of 2 labels", [](TensorQuestion& q) { q.rule = oracle::labels(9, 4), q.group_bins = 2; }},
    {"groups", "of 4 of 6 joint bins",
     [](TensorQuestion& q) {
       q.rule = oracle::joint({oracle::uniform(3, 0, 12), oracle::uniform(2, 0, 16)}), q.image.channels = 2;
       q.group_bins = 4;
     }},
    {"groups", "of 3 of 6 joint bins",
     [](TensorQuestion& q) {
       q.rule = oracle::joint({oracle::uniform(3, 0, 12), oracle::uniform(2, 0, 16)}), q.image.channels = 2;
       q.group_bins = 3;
     }},
    {"batch", "2 images", [](TensorQuestion& q) { q.image.batch = 2; }},
    {"progress", "counted", [](TensorQuestion& q) { q.progress = true; }},
};
inline constexpr TensorOption options_of_tensors[] = {
    {"border", "none", [](TensorQuestion&) {}},
    {"border", "zero", [](TensorQuestion& q) { q.options.border = Border::zero; }},
    {"border", "exclusive", [](TensorQuestion& q) { q.options.border = Border::exclusive; }},
    {"counter", "64u", [](TensorQuestion& q) { q.options.counter = Type::u64; }},
    {"counter", "16u", [](TensorQuestion& q) { q.options.counter = Type::u16; }},
    {"algorithm", "fused", [](TensorQuestion& q) { q.options.algorithm = "fused"; }},
    {"paper", "serial", [](TensorQuestion& q) { q.options.algorithm = "serial"; }},
};
inline constexpr TensorOption options_of_counts[] = {
    {"counts", "alone", [](TensorQuestion&) {}},
    {"outside", "clip", [](TensorQuestion& q) { q.clip = true; }},
    {"tensors", "border none", [](TensorQuestion& q) { q.tensors = true; }},
    {"tensors", "border zero", [](TensorQuestion& q) { q.tensors = true, q.options.border = Border::zero; }},
    {"tensors", "border exclusive", [](TensorQuestion& q) { q.tensors = true, q.options.border = Border::exclusive; }},
};
/// With the shared ones.
inline std::vector<TensorOption> tensor_options(std::span<const TensorOption> more) {
  std::vector<TensorOption> all(more.begin(), more.end());
  all.insert(all.end(), std::begin(shared_options), std::end(shared_options));
  return all;
}
inline TensorQuestion tensor_question(Type type, const Cut& cut, const std::vector<const TensorOption*>& options) {
  TensorQuestion q;
  q.cut = cut, q.type = type;
  q.image = {cut.image_width, cut.image_height};
  for (const TensorOption* const option : options) {
    option->set(q);
    q.named.push_back(std::string(option->group) + " " + option->name);
  }
  return q;
}

/// Image and weights; of float pixels some are NaN and infinities.
struct TensorInputs {
  oracle::Guarded image, weights;

  explicit TensorInputs(const TensorQuestion& q) : image(q.image, q.type, static_cast<int>(q.seed % 5), 3) {
    std::mt19937_64 random(q.seed);
    const bool is_signed = is_float(q.type) || is_signed_integer(q.type);
    oracle::fill_random(image.view, random, is_signed ? -4 : 0, 18);
    if (!q.weights) return;
    weights = oracle::Guarded({q.image.width, q.image.height, 1, q.image.batch}, *q.weights, 1, 5);
    oracle::fill_random(weights.view, random, 0, 9, false);
  }
  ConstView image_view() const { return image.view; }
  ConstView weights_view() const { return weights.view; }
  /// By the definition; sums of these weights are exact in every counter.
  std::vector<double> expected(const TensorQuestion& q) const {
    const ConstView of_weights = weights.view;
    return oracle::tensor(q.rule, image.view, q.weights ? &of_weights : nullptr, q.options.border);
  }
};

/// One image of a batch.
inline ConstView image_of(ConstView view, std::int64_t n) {
  if (view.data != nullptr) view.data = static_cast<const char*>(view.data) + n * view.batch_pitch;
  view.shape.batch = 1;
  return view;
}

}  // namespace areal::piece_matrix
