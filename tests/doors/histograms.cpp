#include "histograms.hpp"

#include <areal/histogram_measures.hpp>
#include <areal/region_histogram.hpp>
#include <cstring>

#include "tables.hpp"

namespace doors {
namespace {

template <class T>
std::vector<T> values_of(const Elements& elements) {
  std::vector<T> values(elements.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), elements.bytes.data(), elements.bytes.size());
  return values;
}

/// Of one image, all regions, from a TensorView or a StoreView.
template <class T, class From>
std::vector<T> counts(const Question& q, const From& from, Json* first_invalid) {
  const std::vector<areal::Region> regions = regions_of(q);
  areal::QueryOptions options = query_options(q);
  Room first({1, 1}, areal::Type::s64);
  if (q.flag_param("first_invalid")) options.first_invalid = first.span<std::int64_t>();
  std::vector<T> values;
  if (q.word("form", "span") == "vector") {
    values = areal::region_histograms<T>(from, regions, options);
  } else {
    const bool on_device = q.word("ask_from", "host") == "device";
    Room out({from.bins(), static_cast<std::int64_t>(regions.size())}, areal::type_of<T>, Lie(),
             on_device ? from.memory() : areal::MemoryPlace());
    areal::region_histograms(from, regions, out.span<T>(), options);
    values = values_of<T>(out.take("the histograms"));
  }
  if (!options.first_invalid.empty() && first_invalid)
    first_invalid->push_back(values_of<std::int64_t>(first.take("first_invalid")).front());
  return values;
}

/// (images, bins, rows, columns).
Elements by_bins(const Elements& e) {
  areal::Shape shape = e.shape;
  shape.batch = e.shape.batch * e.shape.channels;
  shape.channels = 1;
  Elements out = elements_of(shape, e.type);
  const std::size_t size = areal::size_of(e.type);
  for (std::int64_t n = 0; n < e.shape.batch; ++n)
    for (std::int64_t b = 0; b < e.shape.channels; ++b)
      for (std::int64_t y = 0; y < e.shape.height; ++y)
        for (std::int64_t x = 0; x < e.shape.width; ++x)
          std::memcpy(&out.bytes[out.offset(n * e.shape.channels + b, y, x, 0)], &e.bytes[e.offset(n, y, x, b)], size);
  return out;
}

/// From of_image(0) .. of_image(images - 1).
template <class OfImage>
Json of_regions(const Question& q, std::int64_t images, bool are_doubles, const OfImage& of_image) {
  Json answer = q.answer();
  Json first = Json::array();
  answer["counts"] = Json::array();
  for (std::int64_t n = 0; n < images; ++n) {
    const auto one = of_image(n);
    if (are_doubles || q.word("as") == "double")
      answer["counts"].push_back(histograms_json(counts<double>(q, one, &first), one.bins()));
    else
      answer["counts"].push_back(histograms_json(counts<std::uint64_t>(q, one, &first), one.bins()));
  }
  if (!first.empty()) answer["first_invalid"] = first;
  return answer;
}

Json of_regions(const Question& q, const Tensor& tensor) {
  return of_regions(q, tensor.view.shape.batch, areal::is_float(tensor.view.type),
                    [&tensor](std::int64_t n) { return tensor.of_image(n); });
}

Json whole(const Question& q, const Tensor& tensor) {
  if (!q.has("out")) throw BadQuestion("out: none is given");
  Json answer = q.answer();
  const std::string path = q.text("out") + ".tensor.npy";
  const auto& s = tensor.view.shape;
  write_npy(path, by_bins(gather(tensor.view)), {s.batch, s.channels, s.height, s.width});
  answer["tensor"] = path;
  return answer;
}

Json texts(const std::vector<double>& values) {
  Json all = Json::array();
  for (const double value : values) all.push_back(hex(value));
  return all;
}

/// Of histograms that follow each other, by one call or by one for each.
Json measured(const Question& q, const std::vector<double>& values, std::int64_t bins, areal::MemoryPlace place) {
  Elements elements = elements_of({bins, static_cast<std::int64_t>(values.size()) / bins}, areal::Type::f64);
  if (!values.empty()) std::memcpy(elements.bytes.data(), values.data(), elements.bytes.size());
  Room room(elements, Lie(), place);
  const areal::Span<const double> all(room.span<double>());
  const std::string measure = q.text("measure");
  const bool singly = q.word("by", "all") == "one";
  const std::vector<double> edges = binning_of(q).bin_edges();
  const double percent = q.has_param("percent") ? number_of(q.param("percent")) : 50;
  const areal::Execution on = query_options(q).execution;
  const auto each = [&values, bins](const auto& f) {
    std::vector<double> said;
    for (std::size_t i = 0; i < values.size(); i += static_cast<std::size_t>(bins))
      said.push_back(f(std::span<const double>(values).subspan(i, static_cast<std::size_t>(bins))));
    return texts(said);
  };
  using Histogram = std::span<const double>;
  if (measure == "entropy")
    return singly ? each([](Histogram h) { return areal::entropy(h); }) : texts(areal::entropies(all, bins, on));
  if (measure == "percentile")
    return singly ? each([&edges, percent](Histogram h) { return areal::percentile(h, edges, percent); })
                  : texts(areal::percentiles(all, bins, edges, percent, on));
  if (measure == "median")
    return singly ? each([&edges](Histogram h) { return areal::median(h, edges); })
                  : texts(areal::medians(all, bins, edges, on));
  if (measure == "mean")
    return singly ? each([&edges](Histogram h) { return areal::mean(h, edges); })
                  : texts(areal::means(all, bins, edges, on));
  if (measure == "mode") {
    if (singly) return each([](Histogram h) { return static_cast<double>(areal::mode(h)); });
    const auto modes = areal::modes(all, bins, on);
    return texts(std::vector<double>(modes.begin(), modes.end()));
  }
  if (measure == "normalise") {
    Room out({bins, static_cast<std::int64_t>(all.size()) / bins}, areal::Type::f64);
    auto span = out.span<double>();
    if (!singly) areal::normalise(all, bins, span, on);
    for (std::size_t i = 0; singly && i < values.size(); i += static_cast<std::size_t>(bins))
      areal::normalise(std::span<const double>(values).subspan(i, static_cast<std::size_t>(bins)),
                       span.host().subspan(i, static_cast<std::size_t>(bins)));
    return histograms_json(values_of<double>(out.take("the shares")), bins);
  }
  const auto distance = areal::distance_named(measure);
  if (!distance) throw BadQuestion("measure: " + measure);
  std::vector<double> target;
  for (const Json& value : q["target"]) target.push_back(number_of(value));
  return singly ? each([&target, distance](Histogram h) { return areal::distance(*distance, h, target); })
                : texts(areal::distances(*distance, all, target, on));
}

}  // namespace

std::optional<Elements> weights_elements(const Question& q, std::int64_t images) {
  if (!q.has("weights")) return {};
  Elements weights = read_npy(q.text("weights"));
  if (weights.shape.batch == 1 && images > 1) {
    const std::vector<std::byte> one = weights.bytes;
    for (std::int64_t n = 1; n < images; ++n) weights.bytes.insert(weights.bytes.end(), one.begin(), one.end());
    weights.shape.batch = images;
  }
  return weights;
}

HistogramInputs::HistogramInputs(const Question& q) : image(image_elements(q), lie_of_inputs(q), place_of(q)) {
  if (const auto elements = weights_elements(q, image.view().shape.batch))
    weights.emplace(*elements, lie_of_inputs(q), place_of(q));
}
void HistogramInputs::expect_unchanged() {
  image.expect_unchanged("image");
  if (weights) weights->expect_unchanged("weights");
}

areal::TensorView Tensor::of_image(std::int64_t n) const {
  areal::ConstView one = view;
  one.data = static_cast<const std::byte*>(view.data) + n * view.batch_pitch;
  one.shape.batch = 1;
  return {one, border};
}

Tensor tensor_in(std::shared_ptr<Room> room, areal::Border border) {
  (void)room->take("the tensor");
  Tensor tensor{std::as_const(*room).view(), border, {}, {}};
  tensor.keep = std::move(room);
  return tensor;
}

Tensor tensor_of(std::shared_ptr<areal::HistogramTensor> made) {
  Tensor tensor{std::as_const(*made).tensor(), made->border(), {}, {}};
  tensor.keep = std::move(made);
  return tensor;
}

Json answer_histograms(const Question& q, const areal::HistogramStore& store) {
  return of_regions(q, store.image_shape().batch, q.has("weights"), [&store](std::int64_t n) { return store.view(n); });
}

Json answer_measures(const Question& q, const Tensor& tensor) {
  Json answer = q.answer();
  answer["measures"] = Json::array();
  const areal::MemoryPlace place = q.word("ask_from", "host") == "device" ? place_of(q) : areal::MemoryPlace();
  for (std::int64_t n = 0; n < tensor.view.shape.batch; ++n) {
    const areal::TensorView one = tensor.of_image(n);
    answer["measures"].push_back(measured(q, counts<double>(q, one, nullptr), one.bins(), place));
  }
  return answer;
}

Json answer_distance_map(const Question& q, const Tensor& tensor) {
  const auto distance = areal::distance_named(q.text("measure"));
  if (!distance) throw BadQuestion("measure: " + q.text("measure"));
  if (!q.has("out")) throw BadQuestion("out: none is given");
  std::vector<double> target;
  for (const Json& value : q["target"]) target.push_back(number_of(value));
  const areal::Window window = window_of(q);
  const areal::TensorView one = tensor.of_image(0);
  areal::Window inside = window;
  inside.edge = areal::Edge::valid;
  const areal::Shape shape = areal::window_shape(one.image_width(), one.image_height(), inside);
  Room out(shape, type_of_name(q["window"].value("type", "64f")), lie_of_outputs(q));
  areal::distance_map(one, window.width, window.height, target, *distance, out.view(), query_options(q).execution);
  Json answer = q.answer();
  const std::string path = q.text("out") + ".map.npy";
  write_npy(path, out.take("the map"));
  answer["window"] = path;
  return answer;
}

Json respond(const Question& q, const Tensor& tensor) {
  const bool regions = q.has("regions") && !q["regions"].empty();
  Json answer = q.family() == "measures"       ? answer_measures(q, tensor)
                : q.family() == "distance-map" ? answer_distance_map(q, tensor)
                : regions                      ? of_regions(q, tensor)
                                               : whole(q, tensor);
  if (!tensor.ran.empty()) answer["ran"] = tensor.ran;
  return answer;
}

}  // namespace doors
