// Doors of stores: histograms of regions from each kind, of images with weights or a mask; quantiles, percentiles and
// counts below, from stores and straight from the image.

#include <areal/histogram_store.hpp>
#include <areal/region_quantile.hpp>
#include <cstring>

#include "door.hpp"
#include "histograms.hpp"
#include "run.hpp"
#include "tables.hpp"

namespace doors {
namespace {

areal::Store store_of(const std::string& name) {
  const auto store = areal::store_named(name);
  if (!store) throw BadQuestion("store: " + name);
  return *store;
}

areal::StoreOptions store_options(const Question& q, areal::Store store) {
  areal::StoreOptions options;
  options.store = store;
  options.regions = static_cast<std::int64_t>(regions_of(q).size());
  options.weighted = q.has("weights");
  options.masked = q.has("mask");
  options.block = static_cast<int>(q.number("block"));
  options.bits = static_cast<int>(q.number("bits"));
  return options;
}

/// A plan's store is the one that its options name, and owns the bytes that the plan says.
void expect_as_planned(const areal::StorePlan& plan, const areal::HistogramStore& store) {
  const areal::Store named = plan.options().store;
  if (named != areal::Store::automatic && plan.store() != named)
    throw Failed("a store that is not the one that was named");
  if (store.store() != plan.store()) throw Failed("a store that is not its plan's");
  if (store.bytes() != plan.bytes())
    throw Failed("a store of " + std::to_string(store.bytes()) + " bytes, of which its plan says " +
                 std::to_string(plan.bytes()));
}

struct StoreInputs : HistogramInputs {
  explicit StoreInputs(const Question& q) : HistogramInputs(q) {
    if (const auto elements = mask_elements(q)) mask.emplace(*elements, lie_of_inputs(q), place_of(q));
  }
  areal::StoreArguments arguments() const {
    return {image_view(), weights_view(), mask ? std::as_const(*mask).view() : areal::ConstView()};
  }
  void expect_unchanged() {
    HistogramInputs::expect_unchanged();
    if (mask) mask->expect_unchanged("mask");
  }
  std::optional<Room> mask;
};

/// Built twice by one plan, the second time into the memory of the first.
template <areal::Store kind>
Json histograms(const Question& q) {
  const Running running(q);
  StoreInputs inputs(q);
  const areal::ConstView image = inputs.image_view();
  const areal::StorePlan plan(image.shape, image.type, binning_of(q), store_options(q, kind), running.execution());
  plan.require_fit();
  areal::HistogramStore store = plan.build(inputs.arguments());
  expect_as_planned(plan, store);
  const Json first = answer_histograms(q, store);
  plan.build(inputs.arguments(), store);
  expect_as_planned(plan, store);
  const Json second = answer_histograms(q, store);
  inputs.expect_unchanged();
  if (first != second) throw Failed("histograms of two builds of one plan that differ");
  return second;
}

Json one_line(const Question& q) {
  StoreInputs inputs(q);
  const areal::HistogramStore store = areal::histogram_store(
      inputs.arguments(), binning_of(q), store_options(q, areal::Store::automatic), execution_of(q));
  const Json answer = answer_histograms(q, store);
  inputs.expect_unchanged();
  return answer;
}

areal::QuantileMethod method_of(const Question& q) {
  const auto method = areal::quantile_method_named(q.word("method", "linear"));
  if (!method) throw BadQuestion("method: " + q.word("method"));
  return *method;
}

template <class T>
Json numbers_in(Room& room) {
  const Elements elements = room.take("the answers");
  std::vector<T> values(elements.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), elements.bytes.data(), elements.bytes.size());
  return values.empty() ? Json::array() : histograms_json(values, static_cast<std::int64_t>(values.size()))[0];
}

/// Regions x channels x numbers of `target`, of a StoreView or a ConstView of one image.
template <class From>
Json quantiles_from(const Question& q, const From& from, std::int64_t channels) {
  const std::vector<areal::Region> regions = regions_of(q);
  const areal::QueryOptions options = query_options(q);
  std::vector<double> target;
  for (const Json& value : q["target"]) target.push_back(number_of(value));
  const std::string measure = q.text("measure");
  const areal::Shape shape{channels * static_cast<std::int64_t>(target.size()),
                           static_cast<std::int64_t>(regions.size())};
  const bool vector = q.word("form", "span") == "vector";
  if (measure == "below") {
    Room out(shape, areal::Type::u64);
    if (vector) {
      const auto answers = areal::region_counts_below(from, regions, target, options);
      std::copy(answers.begin(), answers.end(), out.span<std::uint64_t>().host().begin());
    } else {
      areal::region_counts_below(from, regions, target, out.span<std::uint64_t>(), options);
    }
    return numbers_in<std::uint64_t>(out);
  }
  if (measure != "quantile" && measure != "percentile") throw BadQuestion("measure: " + measure);
  Room out(shape, areal::Type::f64);
  const auto answers = out.span<double>();
  if (vector) {
    const auto all = measure == "quantile" ? areal::region_quantiles(from, regions, target, method_of(q), options)
                                           : areal::region_percentiles(from, regions, target, options);
    std::copy(all.begin(), all.end(), answers.host().begin());
  } else if (measure == "quantile") {
    areal::region_quantiles(from, regions, target, answers, method_of(q), options);
  } else {
    areal::region_percentiles(from, regions, target, answers, options);
  }
  return numbers_in<double>(out);
}

Json quantiles(const Question& q) {
  const Running running(q);
  HistogramInputs inputs(q);
  const areal::ConstView image = inputs.image_view();
  const areal::StorePlan plan(image.shape, image.type, store_options(q, store_of(q.word("store", "auto"))),
                              running.execution());
  areal::HistogramStore store = plan.build({.image = image});
  expect_as_planned(plan, store);
  plan.build({.image = image}, store);
  Json answer = q.answer();
  answer["quantiles"] = Json::array();
  for (std::int64_t n = 0; n < image.shape.batch; ++n)
    answer["quantiles"].push_back(quantiles_from(q, store.view(n), image.shape.channels));
  inputs.expect_unchanged();
  return answer;
}

/// Straight from the pixels, image by image.
Json quantiles_of_image(const Question& q) {
  HistogramInputs inputs(q);
  areal::ConstView image = inputs.image_view();
  const std::int64_t images = image.shape.batch;
  image.shape.batch = 1;
  Json answer = q.answer();
  answer["quantiles"] = Json::array();
  for (std::int64_t n = 0; n < images; ++n) {
    answer["quantiles"].push_back(quantiles_from(q, image, image.shape.channels));
    image.data = static_cast<const std::byte*>(image.data) + image.batch_pitch;
  }
  inputs.expect_unchanged();
  return answer;
}

const std::vector<std::string_view> both = {"histogram", "stores"};
const std::vector<Door> doors = {{"store-none", both, histograms<areal::Store::none>},
                                 {"store-compact", both, histograms<areal::Store::compact>},
                                 {"store-tensor", both, histograms<areal::Store::tensor>},
                                 {"store-automatic", both, histograms<areal::Store::automatic>},
                                 {"store-one-line", both, one_line},
                                 {"quantiles", {"quantiles"}, quantiles},
                                 {"quantiles-of-image", {"quantiles"}, quantiles_of_image}};

}  // namespace

std::span<const Door> store_doors() { return doors; }

}  // namespace doors
