// Quantiles, percentiles and counts below a value, of regions: from a rank store, or selected from the image.
#include <algorithm>
#include <areal/error.hpp>
#include <areal/region_quantile.hpp>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>
#include "api/core/memory.hpp"
#include "api/core/require.hpp"
#include "api/core/store_state.hpp"
#include "api/core/value_type.hpp"
#include "api/core/view_check.hpp"
#include "api/query/query_call.hpp"
#include "api/query/region_blocks.hpp"
#include "cpu/histogram/rank.hpp"
#include "cpu/histogram/region_keys.hpp"
#include "cpu/threads.hpp"
#include "formulas/quantile.hpp"

namespace areal {
namespace {

using Access = StoreView::Access;
using formulas::QuantilePlace;

constexpr std::array<std::string_view, 13> method_names{"inverted_cdf",
                                                        "averaged_inverted_cdf",
                                                        "closest_observation",
                                                        "interpolated_inverted_cdf",
                                                        "hazen",
                                                        "weibull",
                                                        "linear",
                                                        "median_unbiased",
                                                        "normal_unbiased",
                                                        "lower",
                                                        "higher",
                                                        "midpoint",
                                                        "nearest"};

/// The values of one image: in a rank store, or the image itself.
struct Values {
  ConstView image;  ///< image `number` of it; its pixels matter only without a rank store
  std::int64_t number = 0;
  const StorePlan::State* plan = nullptr;  ///< of a store
  const formulas::Rank* rank = nullptr;
  const std::byte* store = nullptr;
  bool may_have_nan = true;

  const Shape& shape() const { return image.shape; }
};

Values values_of(const StoreView& store) {
  require(store.store() != Store::tensor && store.store() != Store::compact, "store ", name_of(store.store()),
          ": it counts bins and does not have the values; make a store without a binning, or take the image");
  const HistogramStore::State& state = Access::state(store);
  const StorePlan::State& plan = *state.plan;
  require(!plan.options.weighted && !plan.options.masked,
          "a store of weights or with a mask: values are selected without them; take the image");
  Values values;
  values.number = Access::image(store);
  values.plan = &plan;
  if (plan.store == Store::rank) {
    values.image.shape = plan.image;
    values.image.type = plan.type;
    values.image.memory = store.memory();
    values.rank = &plan.rank;
    values.store = static_cast<const std::byte*>(state.memory.data());
    values.may_have_nan = state.may_have_nan;
  } else {
    require_value_type(plan.type);
    values.image = state.arguments.image;
  }
  return values;
}

Values values_of(const ConstView& image) {
  require_value_type(image.type);
  check_view("image", image, image.shape, image.type);
  require(image.shape.batch == 1, "image: a batch of ", image.shape.batch, "; one image at a time, or a store");
  Values values;
  values.image = image;
  return values;
}

/// The store that answers on a device about an image there, or for a backend that is named; none for the CPU.
std::optional<HistogramStore> device_store(const ConstView& image, const QueryOptions& options) {
  const Execution& on = options.execution;
  const bool on_device = on.backend == Backend::automatic ? !image.memory.is_host() : on.backend != Backend::cpu;
  if (!on_device) return std::nullopt;
  values_of(image);  // throws
  return histogram_store(image, {.store = Store::rank}, on);
}

/// What a device is given for its answers.
struct Given {
  kernels::RankValuesRequest::What what;
  QuantileMethod method = QuantileMethod::linear;
  const double* numbers = nullptr;
  const std::uint64_t* keys = nullptr;
  std::size_t count = 0;
};

/// One channel of one region, for one thread at a time.
class Pixels {
 public:
  explicit Pixels(const Values& values) : values_(values), order_{values.image.type} {}

  /// With pixels.
  void set(const Region& region, std::int64_t channel) {
    region_ = region;
    matrix_ = values_.number * values_.shape().channels + channel;
    if (values_.rank == nullptr) keys_.read(values_.image, values_.number, channel, region);
  }
  std::uint64_t below(std::uint64_t key) const {
    if (values_.rank == nullptr) return keys_.below(key);
    const formulas::Rank& r = *values_.rank;
    if (key >> (r.planes - 1) > 1) return pixels();  // above all keys
    return cpu::rank_below(r, values_.store, matrix_, region_, key);
  }
  /// All but NaN.
  std::uint64_t count() const { return values_.may_have_nan && order_.has_nan() ? below(order_.end()) : pixels(); }
  /// The pixels of ranks that rise.
  void select(std::span<const std::uint64_t> ranks, std::vector<double>& out) {
    chosen_.resize(ranks.size());
    if (values_.rank == nullptr)
      keys_.select(ranks, chosen_.data());
    else
      cpu::rank_select(*values_.rank, values_.store, matrix_, region_, ranks, chosen_.data());
    out.resize(ranks.size());
    std::transform(chosen_.begin(), chosen_.end(), out.begin(), [&](std::uint64_t key) { return order_.value(key); });
  }

 private:
  std::uint64_t pixels() const { return static_cast<std::uint64_t>(region_.width * region_.height); }

  const Values& values_;
  cpu::PixelOrder order_;
  Region region_;
  std::int64_t matrix_ = 0;
  cpu::RegionKeys keys_;
  std::vector<std::uint64_t> chosen_;
};

/// answer(pixels, out) for each region and channel with pixels, in turn by a thread's own copy of `answer`; else
/// `empty`. On a device its kernel answers instead.
template <class Out, class Answer>
void answer_each(const Values& values, Span<const Region> regions, Span<Out> out, const Given& given, Out empty,
                 const QueryOptions& options, const Answer& answer) {
  const std::int64_t channels = values.shape().channels;
  const std::size_t each = given.count;
  const auto step = static_cast<unsigned __int128>(channels) * each;
  require(out.size() == step * regions.size(), "out has ", out.size(), " elements; ", regions.size(), " regions, ",
          channels, " channels and ", each, " answers each need ", static_cast<double>(step * regions.size()));
  Execution execution = options.execution;
  if (values.rank != nullptr && execution.backend == Backend::automatic)
    execution.backend = values.plan->execution.backend, execution.device = values.plan->execution.device;
  if (values.rank != nullptr && !execution.stream && execution.backend == values.plan->execution.backend)
    execution.stream = values.plan->execution.stream;
  QueryCall call(execution, {{values.rank != nullptr ? "store" : "image", values.image.memory}});
  const RegionRules rules{values.shape().width, values.shape().height, options.outside, false};
  if (!call.on_cpu()) {
    if (values.rank == nullptr)
      throw Unavailable(sentence("store none without a binning: the backend ", name_of(execution.backend),
                                 " selects no pixels of an image; choose rank or the backend cpu"));
    kernels::RankValuesRequest request;
    request.what = given.what, request.method = given.method;
    request.layout = *values.rank, request.store = values.store;
    request.image = values.number, request.channels = channels;
    request.type = values.image.type;
    request.may_have_nan = values.may_have_nan && is_float(values.image.type);
    request.regions = listed(call, regions, options, rules);
    request.count = static_cast<std::int64_t>(each), request.given = given.numbers, request.keys = given.keys;
    request.out = call.out(out, "out");
    return call.answer(request);
  }
  const Region* const all = call.in(regions, "regions");
  Out* const answers = call.out(out, "out");
  FirstInvalid first_invalid(call, options);
  const auto count = static_cast<std::int64_t>(regions.size());
  if (values.rank == nullptr && !values.shape().empty()) {
    // Selections work on copies of the regions.
    std::uint64_t most = 0;
    for (std::int64_t i = 0; i < count; ++i)
      if (Region region = all[i]; rules.take(region))
        most = std::max(most, static_cast<std::uint64_t>(region.width * region.height));
    const std::uint64_t bytes =
        cpu::RegionKeys::bytes(values.image.type, most) * static_cast<std::uint64_t>(cpu::slots(call.threads()));
    if (exceeds_free_memory(bytes))
      throw OutOfMemory(sentence("the largest region has ", most, " pixels: their selection takes ", bytes,
                                 " bytes, more than are free; fewer threads take fewer"),
                        bytes);
  }
  const auto body = [&](std::int64_t begin, std::int64_t end) {
    Pixels pixels(values);
    Answer own = answer;
    for (std::int64_t i = begin; i < end; ++i) {
      Out* const mine = answers + i * static_cast<std::int64_t>(step);
      Region region = all[i];
      Out none = empty;
      if (!rules.allow(region)) [[unlikely]] {
        if (!first_invalid.requested()) {
          region = rules.checked(region, i);
        } else if (!rules.take(region)) {
          region = {};
          none = invalid_answer<Out>();
          first_invalid.found(i);
        }
      }
      if (region.width == 0 || region.height == 0) {
        std::fill_n(mine, static_cast<std::size_t>(step), none);
        continue;
      }
      for (std::int64_t c = 0; c < channels; ++c) {
        pixels.set(region, c);
        own(pixels, mine + c * static_cast<std::int64_t>(each));
      }
    }
  };
  try {
    cpu::parallel_ranges(call.threads(), step == 0 ? 0 : count, values.rank != nullptr ? 16 : 1, body);
  } catch (const InvalidArgument&) {  // name the first invalid one, for any number of threads
    for (std::int64_t i = 0; i < count; ++i) rules.checked(all[i], i);
    throw;
  }
  first_invalid.store();
}

/// Quantiles of one region after another. place(q, n) is where a quantile of n pixels lies.
template <class Place>
class Quantiles {
 public:
  Quantiles(std::span<const double> quantiles, Place place) : quantiles_(quantiles), place_(std::move(place)) {}

  void operator()(Pixels& pixels, double* out) {
    const std::uint64_t n = pixels.count();
    if (n == 0) return static_cast<void>(std::fill_n(out, quantiles_.size(), invalid_answer<double>()));
    if (n != n_) set(n);
    pixels.select(ranks_, values_);
    for (std::size_t i = 0; i < quantiles_.size(); ++i)
      out[i] = formulas::quantile_of(places_[i], value(places_[i].lower), value(places_[i].upper));
  }

 private:
  void set(std::uint64_t n) {
    n_ = n;
    places_.clear();
    ranks_.clear();
    for (const double q : quantiles_) {
      const QuantilePlace place = place_(q, n);
      places_.push_back(place);
      ranks_.push_back(place.lower);
      ranks_.push_back(place.upper);
    }
    std::sort(ranks_.begin(), ranks_.end());
    ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
  }
  double value(std::uint64_t rank) const {
    return values_[static_cast<std::size_t>(std::lower_bound(ranks_.begin(), ranks_.end(), rank) - ranks_.begin())];
  }

  std::span<const double> quantiles_;
  Place place_;
  std::uint64_t n_ = 0;  ///< of the places
  std::vector<QuantilePlace> places_;
  std::vector<std::uint64_t> ranks_;
  std::vector<double> values_;
};

std::span<const double> host(Span<const double> span, const char* name) {
  require(span.memory().is_host(), name, ": they must be in host memory");
  return {span.data(), span.size()};
}

void check_each(std::span<const double> given, double most, const char* name) {
  for (const double q : given) require(q >= 0 && q <= most, name, " ", q, ": it may be 0 to ", most);
}

void quantiles(const Values& values, Span<const Region> regions, Span<const double> given, Span<double> out,
               QuantileMethod method, const QueryOptions& options) {
  const auto all = host(given, "quantiles");
  check_each(all, 1, "quantile");
  const auto place = [method](double q, std::uint64_t n) { return formulas::quantile_place(method, q, n); };
  answer_each(values, regions, out,
              {.what = kernels::RankValuesRequest::What::quantiles,
               .method = method,
               .numbers = all.data(),
               .count = all.size()},
              invalid_answer<double>(), options, Quantiles(all, place));
}

void percentiles(const Values& values, Span<const Region> regions, Span<const double> given, Span<double> out,
                 const QueryOptions& options) {
  const auto all = host(given, "percents");
  check_each(all, 100, "percent");
  const auto place = [](double percent, std::uint64_t n) {
    const std::uint64_t rank = formulas::percentile_rank(percent, n);
    return QuantilePlace{rank, rank, 0};
  };
  answer_each(values, regions, out,
              {.what = kernels::RankValuesRequest::What::percentiles, .numbers = all.data(), .count = all.size()},
              invalid_answer<double>(), options, Quantiles(all, place));
}

void counts_below(const Values& values, Span<const Region> regions, Span<const double> given, Span<std::uint64_t> out,
                  const QueryOptions& options) {
  const auto all = host(given, "values");
  const cpu::PixelOrder order{values.image.type};
  std::vector<std::uint64_t> keys(all.size());
  std::transform(all.begin(), all.end(), keys.begin(), [&](double value) { return order.least_from(value); });
  answer_each(values, regions, out,
              {.what = kernels::RankValuesRequest::What::counts_below, .keys = keys.data(), .count = keys.size()},
              std::uint64_t{0}, options, [&](Pixels& pixels, std::uint64_t* counts) {
                for (std::size_t i = 0; i < keys.size(); ++i) counts[i] = pixels.below(keys[i]);
              });
}

std::vector<double> answers(const Values& values, Span<const Region> regions, Span<const double> given) {
  return std::vector<double>(regions.size() * static_cast<std::size_t>(values.shape().channels) * given.size());
}

}  // namespace

std::string_view name_of(QuantileMethod method) noexcept { return method_names[static_cast<std::size_t>(method)]; }
std::optional<QuantileMethod> quantile_method_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i < method_names.size(); ++i)
    if (method_names[i] == name) return static_cast<QuantileMethod>(i);
  return std::nullopt;
}

void region_quantiles(const StoreView& store, Span<const Region> regions, Span<const double> given, Span<double> out,
                      QuantileMethod method, const QueryOptions& options) {
  quantiles(values_of(store), regions, given, out, method, options);
}
void region_quantiles(const ConstView& image, Span<const Region> regions, Span<const double> given, Span<double> out,
                      QuantileMethod method, const QueryOptions& options) {
  const auto store = device_store(image, options);
  quantiles(store ? values_of(*store) : values_of(image), regions, given, out, method, options);
}
std::vector<double> region_quantiles(const StoreView& store, Span<const Region> regions, Span<const double> given,
                                     QuantileMethod method, const QueryOptions& options) {
  const Values values = values_of(store);
  std::vector<double> out = answers(values, regions, given);
  quantiles(values, regions, given, out, method, options);
  return out;
}
std::vector<double> region_quantiles(const ConstView& image, Span<const Region> regions, Span<const double> given,
                                     QuantileMethod method, const QueryOptions& options) {
  const auto store = device_store(image, options);
  const Values values = store ? values_of(*store) : values_of(image);
  std::vector<double> out = answers(values, regions, given);
  quantiles(values, regions, given, out, method, options);
  return out;
}

void region_percentiles(const StoreView& store, Span<const Region> regions, Span<const double> given, Span<double> out,
                        const QueryOptions& options) {
  percentiles(values_of(store), regions, given, out, options);
}
void region_percentiles(const ConstView& image, Span<const Region> regions, Span<const double> given, Span<double> out,
                        const QueryOptions& options) {
  const auto store = device_store(image, options);
  percentiles(store ? values_of(*store) : values_of(image), regions, given, out, options);
}
std::vector<double> region_percentiles(const StoreView& store, Span<const Region> regions, Span<const double> given,
                                       const QueryOptions& options) {
  const Values values = values_of(store);
  std::vector<double> out = answers(values, regions, given);
  percentiles(values, regions, given, out, options);
  return out;
}
std::vector<double> region_percentiles(const ConstView& image, Span<const Region> regions, Span<const double> given,
                                       const QueryOptions& options) {
  const auto store = device_store(image, options);
  const Values values = store ? values_of(*store) : values_of(image);
  std::vector<double> out = answers(values, regions, given);
  percentiles(values, regions, given, out, options);
  return out;
}

void region_counts_below(const StoreView& store, Span<const Region> regions, Span<const double> given,
                         Span<std::uint64_t> out, const QueryOptions& options) {
  counts_below(values_of(store), regions, given, out, options);
}
void region_counts_below(const ConstView& image, Span<const Region> regions, Span<const double> given,
                         Span<std::uint64_t> out, const QueryOptions& options) {
  const auto store = device_store(image, options);
  counts_below(store ? values_of(*store) : values_of(image), regions, given, out, options);
}
std::vector<std::uint64_t> region_counts_below(const StoreView& store, Span<const Region> regions,
                                               Span<const double> given, const QueryOptions& options) {
  const Values values = values_of(store);
  std::vector<std::uint64_t> out(answers(values, regions, given).size());
  counts_below(values, regions, given, out, options);
  return out;
}
std::vector<std::uint64_t> region_counts_below(const ConstView& image, Span<const Region> regions,
                                               Span<const double> given, const QueryOptions& options) {
  const auto store = device_store(image, options);
  const Values values = store ? values_of(*store) : values_of(image);
  std::vector<std::uint64_t> out(answers(values, regions, given).size());
  counts_below(values, regions, given, out, options);
  return out;
}

}  // namespace areal
