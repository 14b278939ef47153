#pragma once
// The engines that count the pixels of regions by bins in parts. What an engine has no argument for, its way refuses.

#include <areal/region_histogram.hpp>
#include <areal/sequence.hpp>
#include <areal/strips.hpp>
#include <areal/tiled.hpp>
#include "piece_matrix/judge.hpp"
#include "piece_matrix/regions.hpp"
#include "piece_matrix/tensor_question.hpp"

namespace areal::piece_matrix {

/// Images x regions x bins: counts, or sums of weights.
using Counts = std::vector<double>;

struct CountsInputs : TensorInputs {
  std::vector<Region> regions;
  explicit CountsInputs(const TensorQuestion& q) : TensorInputs(q), regions(regions_of(q.image, q.seed, q.clip)) {}
  /// By the definition.
  Counts expected(const TensorQuestion& q) const {
    Counts counts;
    for (std::int64_t n = 0; n < q.image.batch; ++n)
      for (const Region& region : regions) {
        const std::size_t first = counts.size();
        counts.resize(first + static_cast<std::size_t>(q.rule.binning.bins()));
        const Region r = clipped(region, q.image);
        for (std::int64_t y = r.y; y < r.y + r.height; ++y)
          for (std::int64_t x = r.x; x < r.x + r.width; ++x)
            if (const std::int64_t bin = oracle::bin_at(q.rule, image.view, x, y, n); bin >= 0)
              counts[first + static_cast<std::size_t>(bin)] +=
                  q.weights ? oracle::value_at(weights.view, x, y, 0, n) : 1;
      }
    return counts;
  }
};

struct CountsWay {
  const char* name;
  Counts (*compute)(const TensorQuestion&, const CountsInputs&);
};
struct CountsEngine {
  const char* name;
  std::vector<CountsWay> ways;
};

inline Outside outside_of(const TensorQuestion& q) { return q.clip ? Outside::clip : Outside::error; }

/// Of each image by itself, which is in memory.
inline Counts whole_counts(const TensorQuestion& q, const CountsInputs& in) {
  Counts all;
  const QueryOptions how{.outside = outside_of(q)};
  for (std::int64_t n = 0; n < q.image.batch; ++n) {
    const ConstView image = image_of(in.image_view(), n);
    if (q.weights) {
      const Counts sums = region_histograms(image, q.rule.binning, image_of(in.weights_view(), n), in.regions, how);
      all.insert(all.end(), sums.begin(), sums.end());
    } else {
      for (const std::uint64_t count : region_histograms(image, q.rule.binning, in.regions, how))
        all.push_back(static_cast<double>(count));
    }
  }
  return all;
}

inline Counts strip_counts_of(const TensorQuestion& q, const CountsInputs& in) {
  refuse_if(q.weights.has_value(), "strip_counts has no weights");
  Watch watch;
  PieceOptions how{.workers = {{.threads = 2}}, .height = q.cut.height, .outside = outside_of(q)};
  if (q.progress) how.progress = watch.callback();
  const auto counts = strip_counts(reader_of(in.image_view()), q.image, q.type, q.rule.binning, in.regions, how);
  watch.expect_end();
  return {counts.begin(), counts.end()};
}

inline Counts tiled_counts(const TensorQuestion& q, const CountsInputs& in) {
  refuse_if(q.weights.has_value(), "TiledHistogram has no weights");
  Watch watch;
  PieceOptions tiled{.workers = two_workers(q.backend), .outside = outside_of(q)};
  tiled.width = q.cut.width, tiled.height = q.cut.height, tiled.bins = q.group_bins;
  if (q.progress) tiled.progress = watch.callback();
  const TiledHistogram histogram(q.image, q.type, q.rule.binning, {}, tiled);
  std::vector<std::uint64_t> counts(in.regions.size() * static_cast<std::size_t>(q.rule.binning.bins()), 77);
  running([&] { histogram.answers(reader_of(in.image_view()), in.regions, counts); });
  watch.expect_end();
  return {counts.begin(), counts.end()};
}

/// The images of the batch as frames.
inline Counts sequence_counts(const TensorQuestion& q, const CountsInputs& in) {
  refuse_if(q.weights.has_value(), "HistogramSequence has no weights");
  Watch watch;
  SequenceOptions options{.workers = two_workers(q.backend), .slots = 2, .outside = outside_of(q)};
  options.tensors = q.tensors, options.border = q.options.border;
  std::int64_t next = 0;
  if (q.progress)
    options.progress = [&, report = watch.callback()](const SequenceProgress& far) {
      report(far.answered, q.image.batch);
    };
  HistogramSequence sequence(image_of(in.image_view(), 0).shape, q.type, q.rule.binning, options);
  Counts counts;
  const FrameSource source = [&](const View& slot, Frame& to) {
    if (next == q.image.batch) return false;
    to.number = next;
    conformance::write(conformance::values_of(image_of(in.image_view(), next++)), slot);
    return true;
  };
  const FrameRegions regions = [&](const Frame&, std::vector<Region>& into) { into = in.regions; };
  const FrameSink sink = [&](const FrameAnswer& answer) {
    counts.insert(counts.end(), answer.counts.begin(), answer.counts.end());
    return true;
  };
  sequence.run(source, regions, sink);  // which is where it learns of the regions
  watch.expect_end();
  return counts;
}

inline const std::vector<CountsEngine>& counts_engines() {
  static const std::vector<CountsEngine> engines = {
      {"strip_counts", {{"strip_counts", strip_counts_of}}},
      {"TiledHistogram::answers", {{"TiledHistogram::answers", tiled_counts}}},
      {"HistogramSequence::counts", {{"HistogramSequence::counts", sequence_counts}}},
  };
  return engines;
}

/// Empty, or what is wrong with the counts of a question.
inline std::string fault(const CountsWay& way, const TensorQuestion& q, Refused& refused) {
  const CountsInputs in(q);
  const auto whole = outcome_of([&] { return whole_counts(q, in); });
  const auto got = outcome_of([&] { return way.compute(q, in); });
  return judge(way.name, q.named, whole, got, refused, [&](const Counts& counts) -> std::string {
    const Counts expected = in.expected(q);
    if (*whole.answer != expected) return "those of the whole image are wrong";
    if (counts.size() != expected.size()) return "another number of counts";
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (counts[i] != expected[i])
        return "count " + std::to_string(i) + " is " + std::to_string(counts[i]) + ", not " +
               std::to_string(expected[i]);
    return {};
  });
}

}  // namespace areal::piece_matrix
