// Plans of stores without a binning, which answer quantiles: none and rank.
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <string>
#include <string_view>
#include <utility>
#include "api/core/device_plan.hpp"
#include "api/core/execute.hpp"
#include "api/core/memory.hpp"
#include "api/core/memory_check.hpp"
#include "api/core/require.hpp"
#include "api/core/store_state.hpp"
#include "api/core/value_type.hpp"
#include "api/core/view_check.hpp"
#include "cpu/histogram/rank.hpp"
#include "cpu/histogram/region_keys.hpp"
#include "cuda/device.hpp"
#include "cuda/memory.hpp"
#include "policy/value_store_choice.hpp"

namespace areal {
namespace {

void check_options(const StoreOptions& o, Type type) {
  require(o.store == Store::automatic || o.store == Store::none || o.store == Store::rank, "store ", name_of(o.store),
          ": it counts bins; give a binning, or choose none or rank");
  require(!o.weighted && !o.masked, "a store without a binning: it takes no weights and no mask");
  require(o.block == 0, "block ", o.block, ": it is the store compact's, which needs a binning");
  require(o.regions >= -1, "regions ", o.regions, ": it may be -1 (unknown), 0 or more");
  require(o.area >= -1, "area ", o.area, ": it may be -1 (unknown), 0 or more");
  const int all = static_cast<int>(8 * size_of(type));
  require(o.bits >= 0 && o.bits <= all, "bits ", o.bits, ": of ", name_of(type), " they may be 1 to ", all,
          ", or 0 for all of them");
  require(o.bits == 0 || (!is_float(type) && !is_signed_integer(type)), "bits ", o.bits,
          ": only of unsigned integers, not of ", name_of(type));
}

std::uint64_t limit_of(const StoreOptions& options) {
  return options.memory_limit != 0 ? options.memory_limit : free_memory();
}

/// True if a pixel may have a bit that the store leaves out.
bool checks_bits(const StorePlan::State& s) { return s.rank.planes < static_cast<int>(8 * size_of(s.type)); }

void require_bits(const StorePlan::State& s, std::uint64_t greatest) {
  require(greatest >> s.rank.planes == 0, "bits ", s.options.bits, ": the image has a pixel of ", greatest);
}

/// The plan of the build on the device.
void plan_rank_device(StorePlan::State& s) {
  constexpr std::int64_t most = kernels::RankRequest::most_columns;
  const auto columns = static_cast<unsigned __int128>(s.image.width) * static_cast<unsigned __int128>(s.rank.matrices);
  if (columns > static_cast<unsigned __int128>(most))
    throw Unavailable(sentence("store rank of ", s.image.width, "x", s.image.height, ": the backend ",
                               name_of(s.execution.backend), " takes images of at most ", most,
                               " columns of all channels and images together"));
  s.rank_device =
      device_plan<kernels::RankBuild>(s.execution.backend, s.execution.device, {s.type, s.rank, checks_bits(s)});
  s.workspace_bytes = s.rank_device->workspace_bytes();
}

constexpr ArgumentViews<StoreArguments, 1, 0> rank_views{{{{"image", &StoreArguments::image}}}, {}};

void build_rank_on_device(const StorePlan& plan, const StorePlan::State& s, const ConstView& image,
                          HistogramStore::State& store) {
  if (!store.workspace) store.workspace.emplace(plan);
  Workspace::State& workspace = *store.workspace->state();
  require(!s.on_cuda() || !checks_bits(s) || !cuda::is_capturing(workspace.stream),
          "stream: it is being captured into a CUDA graph, where `bits` cannot be checked; leave them 0");
  execute_in(workspace, rank_views, StoreArguments{.image = image},
             [&](const StoreArguments& there, void* memory, Stream stream) {
               s.rank_device->execute({there.image, store.memory.data()}, memory, stream, {});
             });
  store.may_have_nan = is_float(s.type);
  if (!checks_bits(s) || s.rank.levels == 0) return;
  const std::uint64_t* const from = kernels::RankBuild::greatest(workspace.memory);
  std::uint64_t inverted = 0;
  if (s.on_cuda()) {
    const cuda::DeviceScope scope(s.execution.device);
    cuda::copy_out(&inverted, from, sizeof inverted, workspace.stream);
    cuda::synchronize(workspace.stream);
  } else {
    inverted = *from;
  }
  require_bits(s, ~inverted);
}

}  // namespace

void require_value_type(Type type) {
  require(cpu::has_rank(type), "image of ", name_of(type),
          ": quantiles are doubles, which do not hold all integers of 64 bits");
}

StorePlan::StorePlan(const Shape& image, Type type, const StoreOptions& options, const Execution& execution)
    : StorePlan([&] {
        check_shape("image", image, type);
        require_value_type(type);
        require(execution.threads >= 0, "threads ", execution.threads, ": it may be 0 (all) or more");
        check_options(options, type);
        auto s = std::make_shared<State>(image, type, Binning::uniform(1, 0, 1), options);
        s->has_bins = false;
        s->execution = execution;
        const bool has_device_stream = execution.stream && !execution.stream->is_host();
        s->execution.backend = execution.backend != Backend::automatic ? execution.backend
                               : has_device_stream                     ? Backend::cuda
                                                                       : Backend::cpu;
        const bool on_cpu = s->execution.backend == Backend::cpu;
        require_stream_of(s->execution);
        require_backend(s->execution.backend, s->execution.device);
        if (!on_cpu && options.store == Store::none)
          throw Unavailable(sentence("store none without a binning: the backend ", name_of(s->execution.backend),
                                     " selects no pixels of an image; choose rank or the backend cpu"));
        const bool fits = formulas::Rank::fits(image.width, image.height);
        unsigned __int128 bytes = 0;
        if (fits) {
          s->rank = formulas::Rank::of(image.width, image.height, image.channels * image.batch,
                                       options.bits != 0 ? options.bits : static_cast<int>(8 * size_of(type)));
          bytes = s->rank.bytes<unsigned __int128>();
        }
        const bool has_rank = fits && bytes >> 63 == 0;
        s->store = options.store;
        s->reason = "store " + std::string(name_of(options.store)) + ": requested";
        if (s->store == Store::automatic) {
          policy::ValueStoreQuestion question;
          question.pixels =
              static_cast<double>(image.width) * static_cast<double>(image.height) * static_cast<double>(image.batch);
          question.regions = options.regions, question.area = options.area;
          question.on_cpu = on_cpu;
          question.rank_bytes = has_rank ? static_cast<std::uint64_t>(bytes) : std::uint64_t{1} << 63;
          if (on_cpu) question.memory = limit_of(options);
          policy::StoreChoice choice = policy::choose_value_store(question);
          s->store = choice.store;
          s->reason = std::move(choice.reason);
        }
        require(s->store != Store::rank || fits, "store rank of ", image.width, "x", image.height,
                ": it takes images of less than 2^32 pixels; choose none");
        require(s->store != Store::rank || has_rank, "store rank of ", image.width, "x", image.height, " and ",
                s->rank.planes, " bits: its bytes do not fit 63 bits");
        s->algorithm = name_of(s->store);
        if (!on_cpu) plan_rank_device(*s);
        return std::shared_ptr<const State>(std::move(s));
      }()) {}

void build_rank_store(const StorePlan& plan, const StorePlan::State& s, const ConstView& image,
                      HistogramStore::State& store) {
  if (!s.rank_device && checks_bits(s)) require_bits(s, cpu::greatest_key(image, s.execution.threads));
  if (store.memory.bytes() == 0) {
    plan.require_fit();
    store.memory = Memory(static_cast<std::size_t>(s.rank.bytes()), s.memory());
  }
  if (s.rank_device) return build_rank_on_device(plan, s, image, store);
  const std::uint64_t scratch = cpu::rank_scratch_bytes(s.rank, s.type, s.execution.threads);
  if (exceeds_free_memory(scratch))
    throw OutOfMemory(sentence("a rank store of ", s.image.width, "x", s.image.height, ": its build takes another ",
                               scratch, " bytes, more than are free; fewer threads take fewer"),
                      scratch);
  auto* const bytes = static_cast<std::byte*>(store.memory.data());
  cpu::build_rank(s.rank, image, bytes, s.execution.threads);
  store.may_have_nan = has_nan(s, bytes);  // once for each image, so that queries need not count them
}

bool has_nan(const StorePlan::State& s, const std::byte* store) {
  if (!is_float(s.type) || s.rank.levels == 0) return false;
  const cpu::PixelOrder order{s.type};
  const Region whole{0, 0, s.image.width, s.image.height};
  const auto pixels = static_cast<std::uint64_t>(s.image.width * s.image.height);
  for (std::int64_t matrix = 0; matrix < s.rank.matrices; ++matrix)
    if (cpu::rank_below(s.rank, store, matrix, whole, order.end()) != pixels) return true;
  return false;
}

HistogramStore histogram_store(const ConstView& image, const StoreOptions& options, const Execution& execution) {
  return StorePlan(image.shape, image.type, options, execution_of(image, execution)).build({image});
}

}  // namespace areal
