// Plans of stores: checks, the choice, and builds.
#include <algorithm>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <string>
#include <string_view>
#include <utility>
#include "api/core/device_plan.hpp"
#include "api/core/device_rule.hpp"
#include "api/core/execute.hpp"
#include "api/core/memory_check.hpp"
#include "api/core/pixel_rule.hpp"
#include "api/core/require.hpp"
#include "api/core/store_choice.hpp"
#include "api/core/store_state.hpp"
#include "api/core/view_check.hpp"
#include "cpu/histogram/compact.hpp"
#include "cpu/histogram/direct.hpp"
#include "cuda/device.hpp"
#include "formulas/float_environment.hpp"
#include "policy/store_choice.hpp"

namespace areal {
namespace {

void check_options(const StoreOptions& o) {
  require(o.store != Store::rank, "store rank: it orders values and takes no bins; make it without a binning");
  require(o.bits == 0, "bits ", o.bits, ": they are the store rank's, which takes no bins");
  require(o.block == 0 || o.block == 32 || o.block == 64 || o.block == 128, "block ", o.block,
          ": it may be 32, 64, 128, or 0 for the one that suits the number of bins");
  require(o.regions >= -1, "regions ", o.regions, ": it may be -1 (unknown), 0 or more");
  require(o.area >= -1, "area ", o.area, ": it may be -1 (unknown), 0 or more");
  require(!(o.weighted && o.masked), "a mask together with weights: give the excluded pixels the weight 0");
  require(!(o.store == Store::compact && o.weighted),
          "store compact: it counts pixels; for weights choose none or tensor");
  require(!(o.store == Store::tensor && o.masked), "store tensor: it takes no mask; choose none or compact");
}

HistogramOptions tensor_options(const StoreOptions& o, const Shape& image) {
  HistogramOptions options;
  options.weighted = o.weighted;
  options.memory_limit = o.memory_limit;
  if (o.weighted)
    options.counter = Type::f64;
  else if (formulas::Compact::of(image.width, image.height, 1, 1, false).anchor_bytes == 8)
    options.counter = Type::u64;  // 32 bits do not count the whole image
  return options;
}

/// The bytes of the compact store, at most 2^63.
std::uint64_t set_layout(StorePlan::State& s) {
  const bool has_none = s.options.masked || cpu::has_no_bin(*s.rule);
  s.layout =
      formulas::Compact::of(s.image.width, s.image.height, s.binning.bins(), s.image.batch, has_none, s.options.block);
  // The image's bytes fit 63 bits: those times 2^16 bins and 16 bytes fit 128.
  const auto bytes = s.layout.bytes<unsigned __int128>();
  constexpr std::uint64_t most = std::uint64_t{1} << 63;
  return bytes < most ? static_cast<std::uint64_t>(bytes) : most;
}

std::uint64_t limit_of(const StorePlan::State& s) {
  if (s.options.memory_limit != 0) return s.options.memory_limit;
  return s.on_cuda() ? cuda::free_memory(s.execution.device) : free_memory();
}

/// Why a device builds no compact store of such images; empty if it does.
std::string lacks_compact(const StorePlan::State& s) {
  constexpr std::int64_t most = kernels::CompactRequest::most_side;
  if (s.execution.backend == Backend::cpu || (s.image.width <= most && s.image.height <= most)) return {};
  return sentence("store compact of ", s.image.width, "x", s.image.height, ": the backend ",
                  name_of(s.execution.backend), " takes images of at most ", most, " rows and columns");
}

/// The plan of its build on the device.
void plan_device(StorePlan::State& s) {
  kernels::CompactRequest request;
  request.type = s.type;
  request.layout = s.layout;
  request.masked = s.options.masked;
  request.scale = bin_scale(*s.rule);
  const DeviceRule rule = device_rule(*s.rule);
  request.rule = rule.rule;
  request.tables = rule.tables;
  std::copy(std::begin(rule.table_at), std::end(rule.table_at), std::begin(request.table_at));
  s.device = device_plan<kernels::CompactBuild>(s.execution.backend, s.execution.device, request);
  s.workspace_bytes = s.device->workspace_bytes();
}

/// The views of a compact store's build on a device.
constexpr ArgumentViews<StoreArguments, 2, 0> compact_views{
    {{{"image", &StoreArguments::image}, {"mask", &StoreArguments::mask}}}, {}};

/// Without the regions and the memory.
policy::StoreQuestion question_of(const Shape& image, Type type, const Binning& binning, const StoreOptions& options,
                                  Backend backend, std::uint64_t compact_bytes) {
  policy::StoreQuestion question;
  question.pixels =
      static_cast<double>(image.width) * static_cast<double>(image.height) * static_cast<double>(image.batch);
  question.bins = binning.bins();
  question.weighted = options.weighted;
  question.on_cpu = backend == Backend::cpu;
  question.none_takes_it = question.on_cpu || !options.masked;
  question.counting = options.masked                        ? policy::Counting::masked
                      : cpu::has_direct_counts(type, image) ? policy::Counting::bytes
                                                            : policy::Counting::streamed;
  question.compact_bytes = compact_bytes;
  if (const double tensor = 4 * question.pixels * static_cast<double>(question.bins); !options.masked && tensor < 1e18)
    question.tensor_bytes = static_cast<std::uint64_t>(tensor);
  return question;
}

policy::StoreChoice choose(const StorePlan::State& s, std::uint64_t compact_bytes) {
  policy::StoreQuestion question =
      question_of(s.image, s.type, s.binning, s.options, s.execution.backend, compact_bytes);
  question.regions = s.options.regions, question.area = s.options.area;
  question.memory = limit_of(s);
  return policy::choose_store(question);
}

}  // namespace

bool counting_is_less(const StorePlan& compact, std::span<const Region> regions) {
  policy::StoreQuestion question = question_of(compact.image_shape(), compact.image_type(), compact.binning(),
                                               compact.options(), compact.backend(), compact.bytes());
  question.regions = static_cast<std::int64_t>(regions.size());
  question.area = 0;
  for (const Region& region : regions) question.area += region.width * region.height;
  return policy::counting_is_less(question);
}

void StorePlan::State::prepare(void* memory, Stream stream) const {
  if (device) device->prepare(memory, stream);
  if (rank_device) rank_device->prepare(memory, stream);
}

StorePlan::StorePlan(const Shape& image, Type type, const Binning& binning, const StoreOptions& options,
                     const Execution& execution)
    : StorePlan([&] {
        check_shape("image", image, type);
        require(execution.threads >= 0, "threads ", execution.threads, ": it may be 0 (all) or more");
        check_options(options);
        auto s = std::make_shared<State>(image, type, binning, options);
        s->execution = execution;
        const bool has_device_stream = execution.stream && !execution.stream->is_host();
        const Backend backend = execution.backend != Backend::automatic ? execution.backend
                                : has_device_stream                     ? Backend::cuda
                                                                        : Backend::cpu;
        s->execution.backend = backend;
        s->store = options.store;
        std::string why = "store " + std::string(name_of(options.store)) + ": requested";
        if (backend != Backend::cpu && options.masked && options.store == Store::none)
          throw Unavailable(sentence("store none with a mask: the backend ", name_of(backend),
                                     " takes none; choose compact or the backend cpu"));
        if (s->store != Store::tensor) {
          require_stream_of(s->execution);
          require_backend(backend, execution.device);
          s->rule = std::make_shared<const cpu::PixelBins>(pixel_bins(binning, type, image.channels));
          const std::uint64_t bytes = set_layout(*s);
          if (s->store == Store::automatic) {
            policy::StoreChoice choice = choose(*s, bytes);
            s->store = choice.store;
            why = std::move(choice.reason);
            if (std::string lacks = lacks_compact(*s);
                s->store == Store::compact && !lacks.empty() && !options.masked) {
              s->store = Store::none;
              why = "store none: " + std::move(lacks) + "; regions are counted from the image";
            }
          }
          require(s->store != Store::compact || bytes >> 63 == 0, "store compact of ", image.width, "x", image.height,
                  " and ", binning.bins(), " bins: its bytes do not fit 63 bits");
        }
        if (s->store == Store::tensor) {
          s->execution = execution;
          s->tensor.emplace(image, type, binning, tensor_options(options, image), execution);
          s->execution = s->tensor->execution();
          s->algorithm = s->tensor->algorithm();
          s->reason = why + "; algorithm " + s->algorithm + ", " + s->tensor->reason();
        } else {
          s->algorithm = name_of(s->store);
          s->reason = std::move(why);
          if (s->store == Store::compact) s->options.block = s->layout.block;
          if (s->store == Store::compact && backend != Backend::cpu) {
            if (const std::string lacks = lacks_compact(*s); !lacks.empty()) throw Unavailable(lacks);
            plan_device(*s);
          }
        }
        return std::shared_ptr<const State>(std::move(s));
      }()) {}
StorePlan::StorePlan(std::shared_ptr<const State> state) noexcept : Plan(std::move(state)) {}

const StorePlan::State& StorePlan::state() const noexcept { return static_cast<const State&>(*state_); }
Store StorePlan::store() const noexcept { return state().store; }
std::uint64_t StorePlan::bytes() const noexcept {
  const State& s = state();
  if (s.store == Store::tensor) return s.tensor->tensor_bytes();
  if (s.store == Store::rank) return static_cast<std::uint64_t>(s.rank.bytes());
  return s.store == Store::compact ? static_cast<std::uint64_t>(s.layout.bytes()) : 0;
}
const Shape& StorePlan::image_shape() const noexcept { return state().image; }
Type StorePlan::image_type() const noexcept { return state().type; }
const Binning& StorePlan::binning() const {
  require(state().has_bins, "store ", name_of(store()), ": it was planned without a binning");
  return state().binning;
}
const StoreOptions& StorePlan::options() const noexcept { return state().options; }

void StorePlan::require_fit() const {
  const State& s = state();
  if (s.store == Store::tensor && !s.on_cuda()) return s.tensor->require_fit();
  constexpr std::uint64_t few = std::uint64_t{1} << 24;  // querying the limit takes longer than a small build
  if (s.options.memory_limit == 0 && bytes() <= few) return;
  const std::uint64_t limit = limit_of(s);
  if (bytes() <= limit) return;
  throw OutOfMemory(sentence("a ", name_of(s.store), " store of ", s.image.width, "x", s.image.height,
                             s.image.batch == 1 ? "" : sentence(", batch ", s.image.batch),
                             s.has_bins ? sentence(" and ", s.binning.bins(), " bins takes ")
                                        : sentence(" and ", s.rank.planes, " bits takes "),
                             bytes(), " bytes, more than the ", limit,
                             s.options.memory_limit != 0 ? " bytes of memory_limit" : " bytes that are free",
                             "; the store none answers regions without it"),
                    bytes());
}

void StorePlan::build(const StoreArguments& arguments, HistogramStore& into) const {
  const State& s = state();
  const StoreArguments& a = arguments;
  check_view("image", a.image, s.image, s.type);
  if (s.options.weighted)
    check_weights(a.weights, s.image);
  else
    require(a.weights.data == nullptr, "weights were given, but the plan was not made for them");
  if (s.options.masked)
    check_view("mask", a.mask, {s.image.width, s.image.height, 1, s.image.batch}, Type::u8);
  else
    require(a.mask.data == nullptr, "a mask was given, but the plan was not made for one");
  if (s.store != Store::tensor) {
    require_memory("image", a.image.memory, *this, true);
    if (a.weights.data != nullptr) require_memory("weights", a.weights.memory, *this, true);
    if (a.mask.data != nullptr) require_memory("mask", a.mask.memory, *this, true);
  }
  if (into.state() == nullptr || into.state()->plan.get() != &s)
    into = HistogramStore(
        std::make_unique<HistogramStore::State>(std::static_pointer_cast<const StorePlan::State>(state_)));
  HistogramStore::State& store = *into.state();
  if (s.store == Store::none) {
    store.arguments = a;
  } else if (s.store == Store::rank) {
    build_rank_store(*this, s, a.image, store);
  } else if (s.store == Store::compact) {
    if (store.memory.bytes() == 0) {
      require_fit();
      store.memory = Memory(static_cast<std::size_t>(s.layout.bytes()), s.memory());
    }
    if (s.device) {
      if (!store.workspace) store.workspace.emplace(*this);
      return execute_in(*store.workspace->state(), compact_views, StoreArguments{a.image, {}, a.mask},
                        [&](const StoreArguments& there, void* memory, Stream stream) {
                          s.device->execute({there.image, there.mask, store.memory.data()}, memory, stream, {});
                        });
    }
    const FloatEnvironment floats;
    cpu::build_compact(s.layout, *s.rule, a.image, s.options.masked ? a.mask : ConstView(),
                       static_cast<std::byte*>(store.memory.data()), s.execution.threads);
  } else {
    if (!store.workspace) {
      if (s.on_cuda()) require_fit();
      store.tensor = s.tensor->allocate(s.on_cuda() ? s.memory() : MemoryPlace{});
      store.workspace.emplace(*s.tensor);
    }
    s.tensor->execute(a.image, store.tensor, *store.workspace, a.weights);
  }
}

HistogramStore StorePlan::build(const StoreArguments& arguments) const {
  HistogramStore store;
  build(arguments, store);
  return store;
}

HistogramStore histogram_store(const StoreArguments& arguments, const Binning& binning, const StoreOptions& options,
                               const Execution& execution) {
  StoreOptions given = options;
  if (arguments.weights.data != nullptr) given.weighted = true;
  if (arguments.mask.data != nullptr) given.masked = true;
  return StorePlan(arguments.image.shape, arguments.image.type, binning, given,
                   execution_of(arguments.image, execution))
      .build(arguments);
}

HistogramStore histogram_store(const ConstView& image, const Binning& binning, const StoreOptions& options,
                               const Execution& execution) {
  return histogram_store(StoreArguments{image}, binning, options, execution);
}

}  // namespace areal
