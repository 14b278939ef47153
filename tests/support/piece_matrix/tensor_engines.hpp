#pragma once
// The engines that compute integral histograms in parts. What an engine has no argument for, its way refuses.

#include <areal/sequence.hpp>
#include <areal/strips.hpp>
#include <areal/tiled.hpp>
#include "piece_matrix/judge.hpp"
#include "piece_matrix/tensor_question.hpp"

namespace areal::piece_matrix {

struct TensorWay {
  const char* name;
  Values (*compute)(const TensorQuestion&, const TensorInputs&);
};
struct TensorEngine {
  const char* name;
  std::vector<TensorWay> ways;
};

inline Values whole_tensor(const TensorQuestion& q, const TensorInputs& in) {
  Watch watch;
  HistogramOptions options = q.options;
  if (q.progress) options.progress = watch.callback();
  const HistogramTensor tensor =
      integral_histogram(in.image_view(), q.rule.binning, options, {.backend = q.backend}, in.weights_view());
  if (q.backend == Backend::cpu) watch.expect_end();
  return conformance::values_of(tensor.tensor());
}

template <Way way>
Values strip_tensor(const TensorQuestion& q, const TensorInputs& in) {
  Watch watch;
  PieceOptions how{.workers = {{.backend = q.backend, .threads = q.backend == Backend::cpu ? 2 : 0}},
                   .height = q.cut.height,
                   .bins = q.group_bins};
  if (way == Way::tiles) how.height += 2, how.pushed_width = q.cut.width, how.pushed_height = q.cut.height;
  if (q.progress) how.progress = watch.callback();
  StripHistogram strips(q.image, q.type, q.rule.binning, q.options, how, q.weights.value_or(Type::f32));
  Gathered tensor(q.options.counter, strips.tensor_shape());
  const PieceSink sink = [&](const Piece& strip) {
    tensor.put(strip.values, 0, strip.y, strip.first_bin);
    return true;
  };
  running([&] {
    if (way == Way::run)
      return strips.run(reader_of(in.image_view()), sink, q.weights ? reader_of(in.weights_view()) : ImageReader());
    strips.begin(sink);
    std::int64_t passes = 0;
    do {
      for (const Part& p : parts_of(q.image, way == Way::tiles ? q.cut.width : q.image.width, q.cut.height))
        if (!strips.push(p.x, p.y, part(in.image_view(), p.x, p.y, p.width, p.height),
                         q.weights ? part(in.weights_view(), p.x, p.y, p.width, p.height) : ConstView()))
          throw Broken("push says that the sink has ended the run");
      ++passes;
    } while (strips.finish());
    if (passes != strips.groups()) throw Broken("the image is to be pushed another number of times than groups()");
  });
  watch.expect_end();
  return tensor.values();
}

inline Values tiled_tensor(const TensorQuestion& q, const TensorInputs& in) {
  Watch watch;
  PieceOptions tiled{
      .workers = two_workers(q.backend), .width = q.cut.width, .height = q.cut.height, .bins = q.group_bins};
  if (q.progress) tiled.progress = watch.callback();
  const TiledHistogram histogram(q.image, q.type, q.rule.binning, q.options, tiled, q.weights.value_or(Type::f32));
  const std::int64_t more = q.options.border == Border::zero ? 1 : 0;
  Gathered tensor(q.options.counter,
                  {q.image.width + more, q.image.height + more, q.rule.binning.bins(), 1, Layout::planar});
  const PieceSink sink = [&](const Piece& piece) {
    tensor.put(piece.values, piece.x, piece.y, piece.first_bin);
    return true;
  };
  running([&] {
    histogram.pieces(reader_of(in.image_view()), sink, q.weights ? reader_of(in.weights_view()) : ImageReader());
  });
  watch.expect_end();
  return tensor.values();
}

/// The images of the batch as frames.
inline Values sequence_tensor(const TensorQuestion& q, const TensorInputs& in) {
  refuse_if(q.weights.has_value(), "HistogramSequence has no weights");
  refuse_if(q.options.counter != Type::u32, "HistogramSequence has the counter 32u alone");
  refuse_if(q.options.algorithm != "auto", "HistogramSequence has no algorithm");
  Watch watch;
  SequenceOptions options{.workers = two_workers(q.backend), .slots = 2};
  options.tensors = true, options.border = q.options.border;
  std::int64_t answered = 0;
  if (q.progress)
    options.progress = [&, report = watch.callback()](const SequenceProgress& far) {
      report(far.answered, q.image.batch);
    };
  const Shape frame = image_of(in.image_view(), 0).shape;
  HistogramSequence sequence(frame, q.type, q.rule.binning, options);
  const std::int64_t more = q.options.border == Border::zero ? 1 : 0;
  Gathered all(Type::u32,
               {frame.width + more, frame.height + more, q.rule.binning.bins() * q.image.batch, 1, Layout::planar});
  std::int64_t next = 0;
  const FrameSource source = [&](const View& slot, Frame& to) {
    if (next == q.image.batch) return false;
    to.number = next;
    const ConstView pixels = image_of(in.image_view(), next++);
    if (next % 2 == 0)
      to.pixels = pixels;
    else
      conformance::write(conformance::values_of(pixels), slot);
    return true;
  };
  const FrameSink sink = [&](const FrameAnswer& answer) {
    if (answer.frame.number != answered++) throw Broken("frames are answered out of order");
    if (!answer.tensor || answer.tensor->border != q.options.border)
      throw Broken("a frame's tensor has another border");
    all.put(answer.tensor->view, 0, 0, answer.frame.number * q.rule.binning.bins());
    return true;
  };
  running([&] {
    sequence.run(
        source, [](const Frame&, std::vector<Region>&) {}, sink);
  });
  watch.expect_end();
  Values values = all.values();  // the bins of all images follow each other, as in a batch
  values.shape.channels = q.rule.binning.bins(), values.shape.batch = q.image.batch;
  return values;
}

inline const std::vector<TensorEngine>& tensor_engines() {
  static const std::vector<TensorEngine> engines = {
      {"StripHistogram",
       {{"StripHistogram::run", strip_tensor<Way::run>},
        {"StripHistogram::push rows", strip_tensor<Way::rows>},
        {"StripHistogram::push tiles", strip_tensor<Way::tiles>}}},
      {"TiledHistogram::pieces", {{"TiledHistogram::pieces", tiled_tensor}}},
      {"HistogramSequence::tensors", {{"HistogramSequence::tensors", sequence_tensor}}},
  };
  return engines;
}

/// Empty, or what is wrong with the answer to a question.
inline std::string fault(const TensorWay& way, const TensorQuestion& q, Refused& refused) {
  TensorInputs in(q);
  const std::vector<unsigned char> before = in.image.bytes();
  const auto whole = outcome_of([&] { return whole_tensor(q, in); });
  const auto got = outcome_of([&] { return way.compute(q, in); });
  return judge(way.name, q.named, whole, got, refused, [&](const Values& tensor) -> std::string {
    if (in.image.bytes() != before) return "writes into its input";
    const std::vector<double> expected = in.expected(q);
    if (tensor.type != whole.answer->type || tensor.size() != expected.size()) return "another type or shape";
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (tensor.number(i) != expected[i])
        return "element (" + conformance::place_of(tensor.shape, i) + ") is " + std::to_string(tensor.number(i)) +
               ", not " + std::to_string(expected[i]);
    if (tensor.integer != whole.answer->integer || tensor.real != whole.answer->real)
      return "other entries than the tensor of the whole image";
    return {};
  });
}

}  // namespace areal::piece_matrix
