// Doors of histograms without one whole tensor: from the image, from slices of bins, from pieces with carries, by
// strips.

#include <algorithm>
#include <areal/histogram.hpp>
#include <areal/region_histogram.hpp>
#include <areal/strips.hpp>
#include <cstring>

#include "door.hpp"
#include "histograms.hpp"
#include "run.hpp"
#include "strips.hpp"
#include "tables.hpp"

namespace doors {
namespace {

areal::ConstView one_image(const areal::ConstView& view, std::int64_t n) {
  if (view.data == nullptr) return view;
  areal::ConstView one = view;
  one.data = static_cast<const std::byte*>(view.data) + n * view.batch_pitch;
  one.shape.batch = 1;
  return one;
}

/// Of the image, or its images, without a tensor.
Json from_image(const Question& q) {
  HistogramInputs inputs(q.with_param("memory", "host"));
  const areal::Binning binning = binning_of(q);
  const std::vector<areal::Region> regions = regions_of(q);
  areal::QueryOptions options = query_options(q);
  Json answer = q.answer();
  answer["counts"] = Json::array();
  for (std::int64_t n = 0; n < inputs.image_view().shape.batch; ++n) {
    const areal::ConstView image = one_image(inputs.image_view(), n);
    Room first({1, 1}, areal::Type::s64);
    if (q.flag_param("first_invalid")) options.first_invalid = first.span<std::int64_t>();
    const bool vectors = q.word("form", "span") == "vector";
    const bool weighted = inputs.weights.has_value();
    Room out({binning.bins(), static_cast<std::int64_t>(regions.size())},
             weighted ? areal::Type::f64 : areal::Type::u64);
    if (weighted) {
      const areal::ConstView weights = one_image(inputs.weights_view(), n);
      std::vector<double> values(regions.size() * static_cast<std::size_t>(binning.bins()));
      if (vectors)
        values = areal::region_histograms(image, binning, weights, regions, options);
      else
        areal::region_histograms(image, binning, weights, regions, out.span<double>(), options);
      const Elements elements = out.take("the histograms");
      if (!vectors && !values.empty()) std::memcpy(values.data(), elements.bytes.data(), elements.bytes.size());
      answer["counts"].push_back(histograms_json(values, binning.bins()));
    } else {
      std::vector<std::uint64_t> values(regions.size() * static_cast<std::size_t>(binning.bins()));
      if (vectors)
        values = areal::region_histograms(image, binning, regions, options);
      else
        areal::region_histograms(image, binning, regions, out.span<std::uint64_t>(), options);
      const Elements elements = out.take("the histograms");
      if (!vectors && !values.empty()) std::memcpy(values.data(), elements.bytes.data(), elements.bytes.size());
      answer["counts"].push_back(histograms_json(values, binning.bins()));
    }
    if (!options.first_invalid.empty()) answer["first_invalid"].push_back(options.first_invalid[0]);
  }
  inputs.expect_unchanged();
  return answer;
}

double value_of(const std::byte* element, areal::Type type) {
  const auto as = [element](auto value) {
    std::memcpy(&value, element, sizeof value);
    if constexpr (std::is_same_v<decltype(value), areal::Half>)
      return static_cast<double>(areal::to_float(value));
    else
      return static_cast<double>(value);
  };
  switch (type) {
    case areal::Type::u8:
      return as(std::uint8_t());
    case areal::Type::s8:
      return as(std::int8_t());
    case areal::Type::u16:
      return as(std::uint16_t());
    case areal::Type::s16:
      return as(std::int16_t());
    case areal::Type::u32:
      return as(std::uint32_t());
    case areal::Type::s32:
      return as(std::int32_t());
    case areal::Type::u64:
      return as(std::uint64_t());
    case areal::Type::s64:
      return as(std::int64_t());
    case areal::Type::f16:
      return as(areal::Half());
    case areal::Type::f32:
      return as(float());
    case areal::Type::f64:
      return as(double());
  }
  return 0;
}

/// The part of a region inside the image.
areal::Region inside(const areal::Region& r, const areal::Shape& image, areal::Outside outside) {
  const auto part_of = [](std::int64_t first, std::int64_t count, std::int64_t extent) {
    const std::int64_t begin = std::clamp<std::int64_t>(first, 0, extent);
    if (first > extent) return std::pair(begin, std::int64_t{0});
    const std::int64_t end = first >= 0 && count > extent - first ? extent : std::min(extent, first + count);
    return std::pair(begin, std::max<std::int64_t>(0, end - begin));
  };
  const auto columns = part_of(r.x, r.width, image.width), rows = part_of(r.y, r.height, image.height);
  const areal::Region clipped{columns.first, rows.first, columns.second, rows.second};
  if (r.width < 0 || r.height < 0 || (outside == areal::Outside::error && clipped != r))
    throw areal::InvalidArgument("a region reaches outside the image, or has a negative extent");
  return clipped;
}

/// Pixel by pixel, by Binning::bin_of: the definition.
Json by_definition(const Question& q) {
  const Elements image = image_elements(q);
  const std::optional<Elements> weights = weights_elements(q, image.shape.batch);
  const areal::Binning binning = binning_of(q);
  if (image.shape.channels != 1) throw BadQuestion("image: bin_of takes values of one channel");
  Json answer = q.answer();
  answer["counts"] = Json::array();
  for (std::int64_t n = 0; n < image.shape.batch; ++n) {
    std::vector<std::uint64_t> counts;
    std::vector<double> sums;
    for (const areal::Region& region : regions_of(q)) {
      const areal::Region r = inside(region, image.shape, query_options(q).outside);
      const std::size_t first = counts.size();
      counts.resize(first + static_cast<std::size_t>(binning.bins()));
      sums.resize(counts.size());
      for (std::int64_t y = r.y; y < r.y + r.height; ++y)
        for (std::int64_t x = r.x; x < r.x + r.width; ++x) {
          const std::int64_t bin = binning.bin_of(value_of(&image.bytes[image.offset(n, y, x, 0)], image.type));
          if (bin < 0) continue;
          ++counts[first + static_cast<std::size_t>(bin)];
          if (weights)
            sums[first + static_cast<std::size_t>(bin)] +=
                value_of(&weights->bytes[weights->offset(n, y, x, 0)], weights->type);
        }
    }
    answer["counts"].push_back(weights ? histograms_json(sums, binning.bins())
                                       : histograms_json(counts, binning.bins()));
  }
  return answer;
}

void put_bins(Room& whole, const areal::ConstView& bins, std::int64_t first_bin, std::int64_t x, std::int64_t y) {
  areal::View to = part(whole.view(), x, y, bins.shape.width, bins.shape.height);
  to.data = static_cast<std::byte*>(to.data) + first_bin * to.plane_pitch;
  to.shape.channels = bins.shape.channels;
  copy_elements(bins, to);
}

/// Groups of bins, each a tensor by itself.
Json slices(const Question& q) {
  HistogramInputs inputs(q.with_param("memory", "host"));
  const areal::Binning binning = binning_of(q);
  const areal::HistogramOptions options = histogram_options(q);
  const areal::ConstView image = inputs.image_view();
  const areal::HistogramPlan plan(image.shape, image.type, binning, options, execution_of(q));
  auto room = std::make_shared<Room>(plan.tensor_shape(), options.counter, lie_of_outputs(q));
  const std::int64_t group = std::max<std::int64_t>(1, q.number("group_bins", 3));
  for (std::int64_t first = 0; first < binning.bins(); first += group) {
    const areal::HistogramTensor tensor =
        areal::integral_histogram(image, binning.slice(first, std::min(group, binning.bins() - first)), options,
                                  execution_of(q), inputs.weights_view());
    put_bins(*room, tensor.tensor(), first, 0, 0);
  }
  inputs.expect_unchanged();
  return respond(q, tensor_in(room, options.border));
}

/// Pieces of a tensor with what lies above and to the left of them: of border none first, which has the carries.
class Pieces {
 public:
  explicit Pieces(const Question& q)
      : q_(q.with_param("memory", "host")),
        running_(q_),
        inputs_(q_),
        image_(inputs_.image_view()),
        binning_(binning_of(q_)),
        options_(histogram_options(q_)) {
    std::tie(width_, height_) = q_.pair("tile", 5, 3);
    width_ = std::max<std::int64_t>(1, width_);
    height_ = std::max<std::int64_t>(1, height_);
  }
  Json answer() {
    auto none = pass(areal::Border::none, nullptr);
    auto room = options_.border == areal::Border::none ? none : pass(options_.border, none.get());
    inputs_.expect_unchanged();
    Tensor tensor = tensor_in(room, options_.border);
    tensor.ran = ran_;
    return respond(q_, tensor);
  }

 private:
  areal::HistogramPlan plan(const areal::Shape& shape, areal::Border border) const {
    areal::HistogramOptions options = options_;
    options.border = border;
    return {shape, image_.type, binning_, options, running_.execution()};
  }
  std::shared_ptr<Room> pass(areal::Border border, Room* none) {
    auto whole =
        std::make_shared<Room>(plan(image_.shape, border).tensor_shape(), options_.counter, lie_of_outputs(q_));
    for (std::int64_t y = 0; y < image_.shape.height; y += height_)
      for (std::int64_t x = 0; x < image_.shape.width; x += width_) piece(x, y, border, *whole, none ? *none : *whole);
    return whole;
  }
  void piece(std::int64_t x, std::int64_t y, areal::Border border, Room& whole, Room& none) {
    const std::int64_t w = std::min(width_, image_.shape.width - x), h = std::min(height_, image_.shape.height - y);
    const std::int64_t more = border == areal::Border::zero ? 1 : 0;
    areal::HistogramArguments arguments;
    arguments.image = part(image_, x, y, w, h);
    arguments.tensor = part(whole.view(), x, y, w + more, h + more);
    if (inputs_.weights) arguments.weights = part(inputs_.weights_view(), x, y, w, h);
    // carry.hpp counts entries: a border's first row and column are entries, too.
    const areal::ConstView sums = std::as_const(none).view();
    const std::int64_t shift = border == areal::Border::none ? 0 : 1;
    areal::Shape line = sums.shape;
    line.width = w + more + 1;
    line.height = 1;
    Room above(elements_of(line, sums.type), lie_of_inputs(q_), {});
    line.width = 1;
    line.height = h + more;
    Room left(elements_of(line, sums.type), lie_of_inputs(q_), {});
    const auto put = [&sums](std::int64_t from_x, std::int64_t from_y, const areal::View& to) {
      if (from_x >= 0 && from_y >= 0) copy_elements(part(sums, from_x, from_y, 1, 1), to);
    };
    put(x - 1, y - 1, part(above.view(), 0, 0, 1, 1));
    for (std::int64_t i = 0; i < w + more; ++i) put(x + i - shift, y - 1, part(above.view(), 1 + i, 0, 1, 1));
    for (std::int64_t i = 0; i < h + more; ++i) put(x - 1, y + i - shift, part(left.view(), 0, i, 1, 1));
    if (y > 0) arguments.carry.above = std::as_const(above).view();
    if (x > 0) arguments.carry.left = std::as_const(left).view();
    const areal::HistogramPlan piece_plan = plan(arguments.image.shape, border);
    ran_ = piece_plan.algorithm();
    GuardedWorkspace workspace(piece_plan, q_);
    piece_plan.execute(arguments, workspace.get());
    workspace.finish();
  }

  Question q_;
  Running running_;
  HistogramInputs inputs_;
  areal::ConstView image_;
  areal::Binning binning_;
  areal::HistogramOptions options_;
  std::int64_t width_ = 0, height_ = 0;
  std::string ran_;
};

Json carries(const Question& q) { return Pieces(q).answer(); }

Json strip_histogram(const Question& q, Way way) {
  HistogramInputs inputs(q.with_param("memory", "host"));
  const areal::ConstView image = inputs.image_view(), weights = inputs.weights_view();
  const areal::HistogramOptions options = histogram_options(q);
  areal::StripHistogram strips(image.shape, image.type, binning_of(q), options, strip_options_of(q, way == Way::tiles),
                               inputs.weights ? weights.type : areal::Type::f32);
  auto room = std::make_shared<Room>(strips.tensor_shape(), options.counter, lie_of_outputs(q));
  std::int64_t next = 0, bin = 0;
  const auto sink = [&room, &next, &bin](const areal::Piece& strip) {
    if (strip.first_bin != bin) {
      bin = strip.first_bin;
      next = 0;
    }
    if (strip.y != next)
      throw Failed("a strip begins at row " + std::to_string(strip.y) + ", not where the last ended");
    next += strip.values.shape.height;
    put_bins(*room, strip.values, strip.first_bin, 0, strip.y);
    return true;
  };
  if (way == Way::run) {
    strips.run(reader_of(image), sink, inputs.weights ? reader_of(weights) : areal::ImageReader());
  } else {
    strips.begin(sink);
    std::int64_t times = 0;
    do {
      for (const Block& b : blocks_of(q, image.shape, way == Way::tiles))
        strips.push(b.x, b.y, part(image, b.x, b.y, b.width, b.height),
                    inputs.weights ? part(weights, b.x, b.y, b.width, b.height) : areal::ConstView());
      ++times;
    } while (strips.finish());
    if (times != strips.groups()) throw Failed("the image was to be pushed another number of times than groups()");
  }
  inputs.expect_unchanged();
  return respond(q, tensor_in(room, options.border));
}

Json by_run(const Question& q) { return strip_histogram(q, Way::run); }
Json by_push(const Question& q) { return strip_histogram(q, Way::rows); }
Json by_tiles(const Question& q) { return strip_histogram(q, Way::tiles); }

Json strip_counts(const Question& q) {
  if (q.has("weights")) throw BadQuestion("weights: strip_counts takes none");
  HistogramInputs inputs(q.with_param("memory", "host"));
  const areal::ConstView image = inputs.image_view();
  const areal::Binning binning = binning_of(q);
  const auto counts =
      areal::strip_counts(reader_of(image), image.shape, image.type, binning, regions_of(q), strip_options(q));
  inputs.expect_unchanged();
  Json answer = q.answer();
  answer["counts"] = Json::array({histograms_json(counts, binning.bins())});
  return answer;
}

const std::vector<std::string_view> histogram = {"histogram"};
const std::vector<Door> doors = {
    {"histogram-bin-of", histogram, by_definition}, {"region-histograms", histogram, from_image},
    {"histogram-slices", histogram, slices},        {"histogram-carries", histogram, carries},
    {"strip-histogram", histogram, by_run},         {"strip-histogram-push", histogram, by_push},
    {"strip-histogram-tiles", histogram, by_tiles}, {"strip-counts", histogram, strip_counts}};

}  // namespace

std::span<const Door> histogram_part_doors() { return doors; }

}  // namespace doors
