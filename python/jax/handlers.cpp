// Handlers of XLA's foreign function interface: tables, box sums and their transpose, integral histograms, on the CPU
// and on CUDA. A module of its own, since it needs the headers that come with JAX.
#include <nanobind/nanobind.h>
#include <algorithm>
#include <areal/binning.hpp>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/region.hpp>
#include <areal/sat.hpp>
#include <areal/scatter.hpp>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "../src/spelled_binning.hpp"
#include "xla/ffi/api/ffi.h"

namespace nb = nanobind;
namespace ffi = xla::ffi;

namespace areal::python {
namespace {

Type type_of(ffi::DataType type) {
  const std::pair<ffi::DataType, Type> known[] = {
      {ffi::DataType::PRED, Type::u8}, {ffi::DataType::U8, Type::u8},   {ffi::DataType::S8, Type::s8},
      {ffi::DataType::U16, Type::u16}, {ffi::DataType::S16, Type::s16}, {ffi::DataType::U32, Type::u32},
      {ffi::DataType::S32, Type::s32}, {ffi::DataType::U64, Type::u64}, {ffi::DataType::S64, Type::s64},
      {ffi::DataType::F16, Type::f16}, {ffi::DataType::F32, Type::f32}, {ffi::DataType::F64, Type::f64}};
  for (const auto& [theirs, ours] : known)
    if (theirs == type) return ours;
  throw InvalidArgument("array: areal has no type for its elements");
}

/// Where a call runs.
struct Where {
  MemoryPlace place;
  std::optional<Stream> stream = {};
  ffi::ScratchAllocator* scratch = nullptr;
};

Where on_device(void* stream, std::int32_t device, ffi::ScratchAllocator& scratch) {
  return {{MemoryPlace::cuda, device}, stream == nullptr ? Stream::legacy_default() : Stream::cuda(stream), &scratch};
}

Span<std::byte> scratch_of(const Where& where, std::size_t bytes) {
  if (bytes == 0) return {};
  const std::optional<void*> memory =
      where.scratch->Allocate(bytes, 16);  // XLA refuses more; a workspace begins anywhere
  if (!memory) throw OutOfMemory("workspace: XLA has no " + std::to_string(bytes) + " bytes", bytes);
  return Span<std::byte>(static_cast<std::byte*>(*memory), bytes, where.place);
}

Workspace workspace_of(const Plan& plan, const Where& where) {
  if (!where.stream) return Workspace(plan);
  return Workspace(plan, scratch_of(where, plan.workspace_bytes()), *where.stream);
}

/// A contiguous buffer whose last dimensions are named by letters; what comes before is a batch of such.
struct Batch {
  std::int64_t count = 1;  ///< volumes; of other axes all is in `shape`
  Shape shape;             ///< planes of channels are images
};

Batch batch_of(ffi::AnyBuffer buffer, std::string_view letters) {
  const auto dims = buffer.dimensions();
  if (dims.size() < letters.size())
    throw InvalidArgument("axes " + std::string(letters) + ": the array has " + std::to_string(dims.size()) +
                          " dimensions");
  Batch made;
  std::int64_t leading = 1;
  for (std::size_t i = 0; i + letters.size() < dims.size(); ++i) leading *= dims[i];
  std::int64_t inner = 1, depth = 1;
  const bool interleaved = letters.back() == 'C';
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const std::int64_t extent = dims[dims.size() - letters.size() + i];
    if (letters[i] == 'H')
      made.shape.height = extent;
    else if (letters[i] == 'W')
      made.shape.width = extent;
    else if (letters[i] == 'D')
      depth = extent;
    else if (letters[i] == 'C' && interleaved)
      made.shape.channels = extent;
    else
      inner *= extent;
  }
  const bool volume = letters[0] == 'D';
  made.count = volume ? leading : 1;
  made.shape.batch = volume ? depth : leading * inner;
  return made;
}

/// The plans of the last calls.
template <class Key, class P>
class Plans {
 public:
  template <class Make>
  P get(const Key& key, const Make& make) {
    const std::lock_guard lock(mutex_);
    for (auto& [known, plan] : known_)
      if (known == key) return plan;
    known_.insert(known_.begin(), {key, make()});
    if (known_.size() > 64) known_.pop_back();
    return known_.front().second;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<Key, P>> known_;
};

Border border_of(std::string_view name) {
  const auto border = border_named(name);
  if (!border) throw InvalidArgument("border " + std::string(name) + ": may be zero, none or exclusive");
  return *border;
}

Execution execution_on(const Where& where) {
  Execution execution;
  execution.backend = where.stream ? Backend::cuda : Backend::cpu;
  execution.device = where.place.device;
  return execution;
}

struct SatKey {
  Shape shape;
  TypePair types;
  Border border;
  bool volume, reverse;
  MemoryPlace place;
  friend bool operator==(const SatKey&, const SatKey&) = default;
};

/// The pair that is computed: a table that wraps modulo 2^k has the same bits with and without a sign.
TypePair pair_of(Type input, Type table) {
  const auto all = type_pairs();
  for (const Type same : {table, Type::u32, Type::u64, Type::s32, Type::s64})
    if (size_of(same) == size_of(table) && is_float(same) == is_float(table) &&
        std::find(all.begin(), all.end(), TypePair{input, same}) != all.end())
      return {input, same};
  return {input, table};
}

char* bytes_at(void* data, std::int64_t index, const Shape& shape, Type type) {
  return static_cast<char*>(data) +
         index * shape.width * shape.height * shape.channels * shape.batch * static_cast<std::int64_t>(size_of(type));
}

void sat(const Where& where, ffi::AnyBuffer x, ffi::AnyBuffer out, std::string_view letters, std::string_view border,
         bool reverse) {
  static auto& plans = *new Plans<SatKey, SatPlan>;
  const Batch batch = batch_of(x, letters);
  const TypePair types = pair_of(type_of(x.element_type()), type_of(out.element_type()));
  const SatKey key{batch.shape, types, border_of(border), letters[0] == 'D', reverse, where.place};
  const SatPlan plan = plans.get(key, [&] {
    SatOptions options;
    options.border = key.border, options.types = types, options.volume = key.volume, options.reverse = reverse;
    options.tables = Layout::interleaved;
    return SatPlan(batch.shape, types.input, options, execution_on(where));
  });
  Workspace workspace = workspace_of(plan, where);
  const Shape table = plan.table_shape();
  for (std::int64_t i = 0; i < batch.count; ++i) {
    SatArguments arguments;
    arguments.image =
        ConstView(bytes_at(x.untyped_data(), i, batch.shape, types.input), types.input, batch.shape).in(where.place);
    arguments.sum = View(bytes_at(out.untyped_data(), i, table, types.table), types.table, table).in(where.place);
    plan.execute(arguments, workspace);
  }
}

QueryOptions query_on(const Where& where, std::string_view outside, Span<std::int64_t> first) {
  QueryOptions options;
  options.outside = outside == "clip" ? Outside::clip : Outside::error;
  options.execution.stream = where.stream;
  options.first_invalid = first;
  return options;
}

/// One number that a query may write.
class First {
 public:
  explicit First(const Where& where) {
    if (!where.stream) return;
    const Span<std::byte> memory = scratch_of(where, sizeof(std::int64_t));
    span_ = Span<std::int64_t>(reinterpret_cast<std::int64_t*>(memory.data()), 1, where.place);
  }
  Span<std::int64_t> span() { return span_.empty() ? Span<std::int64_t>(&number_, 1) : span_; }

 private:
  std::int64_t number_ = -1;
  Span<std::int64_t> span_;
};

/// Boxes and tables in step: the leading dimensions of both are one batch, whose tables have the planes of `letters`.
struct Steps {
  std::int64_t count = 1, boxes = 0, values = 0;
  Shape table;  ///< of one step
};

Steps steps_of(ffi::AnyBuffer table, ffi::AnyBuffer boxes, std::string_view letters) {
  const auto dims = boxes.dimensions();
  if (dims.size() < 2 || dims[dims.size() - 1] != 4 || boxes.element_type() != ffi::DataType::S64)
    throw InvalidArgument("boxes: they must be N x 4 of int64");
  Steps made;
  for (std::size_t i = 0; i + 2 < dims.size(); ++i) made.count *= dims[i];
  made.boxes = dims[dims.size() - 2];
  made.table = batch_of(table, letters).shape;
  made.table.batch = made.count == 0 ? 0 : made.table.batch / made.count;
  made.values = made.boxes * made.table.batch * made.table.channels;
  return made;
}

Span<const Region> regions_at(ffi::AnyBuffer boxes, std::int64_t step, const Steps& steps, const Where& where) {
  const auto* all = static_cast<const Region*>(boxes.untyped_data());
  return Span<const Region>(all + step * steps.boxes, static_cast<std::size_t>(steps.boxes), where.place);
}

void box_sums(const Where& where, ffi::AnyBuffer table, ffi::AnyBuffer boxes, ffi::AnyBuffer out,
              std::string_view letters, std::string_view border, std::string_view outside) {
  const Steps steps = steps_of(table, boxes, letters);
  const Type type = type_of(table.element_type());
  First first(where);
  const QueryOptions options = query_on(where, outside, first.span());
  const auto size = static_cast<std::size_t>(steps.values);
  for (std::int64_t i = 0; i < steps.count; ++i) {
    const ConstView view = ConstView(bytes_at(table.untyped_data(), i, steps.table, type), type, steps.table);
    const SatView tables(TableView(view.in(where.place), border_of(border)));
    const Span<const Region> regions = regions_at(boxes, i, steps, where);
    const auto answers = [&](auto zero) {
      using T = decltype(zero);
      return Span<T>(static_cast<T*>(out.untyped_data()) + i * steps.values, size, where.place);
    };
    if (is_float(type))
      region_sums(tables, regions, answers(double{}), options);
    else if (is_signed_integer(type))
      signed_region_sums(tables, regions, answers(std::int64_t{}), options);
    else
      region_sums(tables, regions, answers(std::uint64_t{}), options);
  }
}

void scatter(const Where& where, ffi::AnyBuffer values, ffi::AnyBuffer boxes, ffi::AnyBuffer out,
             std::string_view letters, std::string_view border, std::string_view outside) {
  const Steps steps = steps_of(out, boxes, letters);
  const Type type = type_of(out.element_type());
  First first(where);
  const QueryOptions options = query_on(where, outside, first.span());
  Span<std::byte> workspace;
  if (where.stream) workspace = scratch_of(where, scatter_workspace_bytes(static_cast<std::size_t>(steps.boxes)));
  for (std::int64_t i = 0; i < steps.count; ++i) {
    const View view = View(bytes_at(out.untyped_data(), i, steps.table, type), type, steps.table).in(where.place);
    const Span<const double> given(static_cast<const double*>(values.untyped_data()) + i * steps.values,
                                   static_cast<std::size_t>(steps.values), where.place);
    scatter_corners(regions_at(boxes, i, steps, where), given, view, border_of(border), options, workspace);
  }
}

/// A binning as areal/_spelled.py has it. Attributes are never empty: what a kind has not is one number, not read.
struct Spelled {
  std::string kind;
  std::int64_t bins;
  std::vector<double> numbers;
  std::vector<std::int64_t> table;
  bool clamp;
  std::optional<std::int64_t> ignored;
  friend bool operator==(const Spelled&, const Spelled&) = default;
};

struct HistogramKey {
  Shape shape;
  Type type, counter;
  Spelled binning;
  bool weighted;
  Border border;
  MemoryPlace place;
  friend bool operator==(const HistogramKey&, const HistogramKey&) = default;
};

void histogram(const Where& where, ffi::AnyBuffer x, std::optional<ffi::AnyBuffer> weights, ffi::AnyBuffer out,
               std::string_view letters, std::string_view border, const Spelled& binning) {
  static auto& plans = *new Plans<HistogramKey, HistogramPlan>;
  const Shape shape = batch_of(x, letters).shape;
  const Type type = type_of(x.element_type());
  Type counter = type_of(out.element_type());
  if (counter == Type::s32) counter = Type::u32;
  if (counter == Type::s64) counter = Type::u64;
  const HistogramKey key{shape, type, counter, binning, weights.has_value(), border_of(border), where.place};
  const HistogramPlan plan = plans.get(key, [&] {
    HistogramOptions options;
    options.border = key.border, options.counter = counter, options.weighted = key.weighted;
    const auto& b = binning;
    return HistogramPlan(shape, type, spelled_binning(b.kind, b.bins, b.numbers, b.table, b.clamp, b.ignored), options,
                         execution_on(where));
  });
  Workspace workspace = workspace_of(plan, where);
  HistogramArguments arguments;
  arguments.image = ConstView(x.untyped_data(), type, shape).in(where.place);
  arguments.tensor = View(out.untyped_data(), counter, plan.tensor_shape()).in(where.place);
  Shape plain = shape;
  plain.channels = 1;
  if (weights)
    arguments.weights = ConstView(weights->untyped_data(), type_of(weights->element_type()), plain).in(where.place);
  plan.execute(arguments, workspace);
}

/// C++'s sentences, with XLA's codes.
template <class Run>
ffi::Error guarded(const Run& run) {
  try {
    run();
    return ffi::Error::Success();
  } catch (const InvalidArgument& e) {
    return ffi::Error(ffi::ErrorCode::kInvalidArgument, e.what());
  } catch (const OutOfMemory& e) {
    return ffi::Error(ffi::ErrorCode::kResourceExhausted, e.what());
  } catch (const Unavailable& e) {
    return ffi::Error(ffi::ErrorCode::kUnavailable, e.what());
  } catch (const std::exception& e) {
    return ffi::Error(ffi::ErrorCode::kInternal, e.what());
  }
}

using Out = ffi::Result<ffi::AnyBuffer>;
using Text = std::string_view;

// Each handler twice: on the CPU, and on CUDA with the stream, the device and XLA's memory.

ffi::Error sat_cpu(ffi::AnyBuffer x, Out out, Text axes, Text border, bool reverse) {
  return guarded([&] { sat({}, x, *out, axes, border, reverse); });
}
ffi::Error sat_cuda(void* stream, std::int32_t device, ffi::ScratchAllocator scratch, ffi::AnyBuffer x, Out out,
                    Text axes, Text border, bool reverse) {
  return guarded([&] { sat(on_device(stream, device, scratch), x, *out, axes, border, reverse); });
}
ffi::Error box_sums_cpu(ffi::AnyBuffer table, ffi::AnyBuffer boxes, Out out, Text axes, Text border, Text outside) {
  return guarded([&] { box_sums({}, table, boxes, *out, axes, border, outside); });
}
ffi::Error box_sums_cuda(void* stream, std::int32_t device, ffi::ScratchAllocator scratch, ffi::AnyBuffer table,
                         ffi::AnyBuffer boxes, Out out, Text axes, Text border, Text outside) {
  return guarded([&] { box_sums(on_device(stream, device, scratch), table, boxes, *out, axes, border, outside); });
}
ffi::Error scatter_cpu(ffi::AnyBuffer values, ffi::AnyBuffer boxes, Out out, Text axes, Text border, Text outside) {
  return guarded([&] { scatter({}, values, boxes, *out, axes, border, outside); });
}
ffi::Error scatter_cuda(void* stream, std::int32_t device, ffi::ScratchAllocator scratch, ffi::AnyBuffer values,
                        ffi::AnyBuffer boxes, Out out, Text axes, Text border, Text outside) {
  return guarded([&] { scatter(on_device(stream, device, scratch), values, boxes, *out, axes, border, outside); });
}
Spelled spelled(Text kind, std::int64_t bins, ffi::Span<const double> numbers, ffi::Span<const std::int64_t> table,
                bool clamp, std::int64_t ignored, bool ignores) {
  return {std::string(kind),
          bins,
          {numbers.begin(), numbers.end()},
          {table.begin(), table.end()},
          clamp,
          ignores ? std::optional(ignored) : std::nullopt};
}

ffi::Error histogram_cpu(ffi::AnyBuffer x, Out out, Text axes, Text border, Text kind, std::int64_t bins,
                         ffi::Span<const double> numbers, ffi::Span<const std::int64_t> table, bool clamp,
                         std::int64_t ignored, bool ignores) {
  return guarded([&] {
    histogram({}, x, std::nullopt, *out, axes, border, spelled(kind, bins, numbers, table, clamp, ignored, ignores));
  });
}
ffi::Error histogram_cuda(void* stream, std::int32_t device, ffi::ScratchAllocator scratch, ffi::AnyBuffer x, Out out,
                          Text axes, Text border, Text kind, std::int64_t bins, ffi::Span<const double> numbers,
                          ffi::Span<const std::int64_t> table, bool clamp, std::int64_t ignored, bool ignores) {
  return guarded([&] {
    histogram(on_device(stream, device, scratch), x, std::nullopt, *out, axes, border,
              spelled(kind, bins, numbers, table, clamp, ignored, ignores));
  });
}
ffi::Error weighted_histogram_cpu(ffi::AnyBuffer x, ffi::AnyBuffer weights, Out out, Text axes, Text border, Text kind,
                                  std::int64_t bins, ffi::Span<const double> numbers,
                                  ffi::Span<const std::int64_t> table, bool clamp, std::int64_t ignored, bool ignores) {
  return guarded([&] {
    histogram({}, x, weights, *out, axes, border, spelled(kind, bins, numbers, table, clamp, ignored, ignores));
  });
}
ffi::Error weighted_histogram_cuda(void* stream, std::int32_t device, ffi::ScratchAllocator scratch, ffi::AnyBuffer x,
                                   ffi::AnyBuffer weights, Out out, Text axes, Text border, Text kind,
                                   std::int64_t bins, ffi::Span<const double> numbers,
                                   ffi::Span<const std::int64_t> table, bool clamp, std::int64_t ignored,
                                   bool ignores) {
  return guarded([&] {
    histogram(on_device(stream, device, scratch), x, weights, *out, axes, border,
              spelled(kind, bins, numbers, table, clamp, ignored, ignores));
  });
}

auto cuda_binding() {
  return ffi::Ffi::Bind().Ctx<ffi::PlatformStream<void*>>().Ctx<ffi::DeviceOrdinal>().Ctx<ffi::ScratchAllocator>();
}
template <class Binding>
auto with_table(Binding binding) {
  return std::move(binding)
      .template Arg<ffi::AnyBuffer>()
      .template Ret<ffi::AnyBuffer>()
      .template Attr<Text>("axes")
      .template Attr<Text>("border")
      .template Attr<bool>("reverse");
}
template <class Binding>
auto with_boxes(Binding binding) {
  return std::move(binding)
      .template Arg<ffi::AnyBuffer>()
      .template Arg<ffi::AnyBuffer>()
      .template Ret<ffi::AnyBuffer>()
      .template Attr<Text>("axes")
      .template Attr<Text>("border")
      .template Attr<Text>("outside");
}
template <class Binding>
auto with_bins(Binding binding) {
  return std::move(binding)
      .template Ret<ffi::AnyBuffer>()
      .template Attr<Text>("axes")
      .template Attr<Text>("border")
      .template Attr<Text>("kind")
      .template Attr<std::int64_t>("bins")
      .template Attr<ffi::Span<const double>>("numbers")
      .template Attr<ffi::Span<const std::int64_t>>("table")
      .template Attr<bool>("clamp")
      .template Attr<std::int64_t>("ignored")
      .template Attr<bool>("ignores");
}

XLA_FFI_DEFINE_HANDLER(SatCpu, sat_cpu, with_table(ffi::Ffi::Bind()));
XLA_FFI_DEFINE_HANDLER(SatCuda, sat_cuda, with_table(cuda_binding()));
XLA_FFI_DEFINE_HANDLER(BoxSumsCpu, box_sums_cpu, with_boxes(ffi::Ffi::Bind()));
XLA_FFI_DEFINE_HANDLER(BoxSumsCuda, box_sums_cuda, with_boxes(cuda_binding()));
XLA_FFI_DEFINE_HANDLER(ScatterCpu, scatter_cpu, with_boxes(ffi::Ffi::Bind()));
XLA_FFI_DEFINE_HANDLER(ScatterCuda, scatter_cuda, with_boxes(cuda_binding()));
XLA_FFI_DEFINE_HANDLER(HistogramCpu, histogram_cpu, with_bins(ffi::Ffi::Bind().Arg<ffi::AnyBuffer>()));
XLA_FFI_DEFINE_HANDLER(HistogramCuda, histogram_cuda, with_bins(cuda_binding().Arg<ffi::AnyBuffer>()));
XLA_FFI_DEFINE_HANDLER(WeightedHistogramCpu, weighted_histogram_cpu,
                       with_bins(ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Arg<ffi::AnyBuffer>()));
XLA_FFI_DEFINE_HANDLER(WeightedHistogramCuda, weighted_histogram_cuda,
                       with_bins(cuda_binding().Arg<ffi::AnyBuffer>().Arg<ffi::AnyBuffer>()));

nb::capsule capsule_of(XLA_FFI_Error* (*handler)(XLA_FFI_CallFrame*)) {
  return nb::capsule(reinterpret_cast<void*>(handler), "xla._CUSTOM_CALL_TARGET");
}

}  // namespace
}  // namespace areal::python

NB_MODULE(_jax, m) {
  using namespace areal::python;
  // For jax.ffi.register_ffi_target: (name, on the CPU, on CUDA).
  m.def("handlers", [] {
    nb::list all;
    const auto add = [&](const char* name, auto cpu, auto cuda) {
      all.append(nb::make_tuple(name, capsule_of(cpu), capsule_of(cuda)));
    };
    add("areal_sat", SatCpu, SatCuda);
    add("areal_box_sums", BoxSumsCpu, BoxSumsCuda);
    add("areal_scatter_corners", ScatterCpu, ScatterCuda);
    add("areal_histogram", HistogramCpu, HistogramCuda);
    add("areal_weighted_histogram", WeightedHistogramCpu, WeightedHistogramCuda);
    return all;
  });
}
