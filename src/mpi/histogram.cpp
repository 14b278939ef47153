// Integral histograms of images whose rows are distributed over ranks: groups of bins, each in the three phases of a
// table.
#include <algorithm>
#include <areal/array.hpp>
#include <areal/device.hpp>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include "mpi/column_blocks.hpp"
#include "mpi/exchange.hpp"
#include "mpi/shared.hpp"

namespace areal::mpi {
namespace {

constexpr std::int64_t block_rows = 64, block_columns = 256;

/// Some bins of a strip's tensor.
struct Group {
  Binning binning;
  std::int64_t first = 0, count = 0;
  View tensor;
};

struct Strip {
  ConstView image, weights;
  HistogramOptions options;
  Execution execution;  // of a named backend
  Shape row_of(const Group& group) const {
    return {image.shape.width + 1, 1, group.count, image.shape.batch, Layout::planar};
  }
};

ConstView rows_of(const ConstView& image, std::int64_t first, std::int64_t count) {
  ConstView rows = image;
  if (image.data != nullptr) rows.data = image.row(first);
  rows.shape.height = count;
  return rows;
}

/// The bin of an 8- or 16-bit integer by a table, or of other values by the rule.
class BinOf {
 public:
  BinOf(const Binning& binning, Type type) : binning_(binning) {
    if (is_float(type) || size_of(type) > 2) return;
    const std::int64_t values = std::int64_t{1} << 8 * size_of(type);
    first_ = is_signed_integer(type) ? -values / 2 : 0;
    for (std::int64_t v = 0; v < values; ++v)
      table_.push_back(static_cast<std::int32_t>(binning.bin_of(static_cast<double>(first_ + v))));
  }
  template <class In>
  std::int64_t of(In value) const {
    if constexpr (std::is_integral_v<In> && sizeof(In) <= 2)
      return table_[static_cast<std::size_t>(value - first_)];
    else if constexpr (std::is_same_v<In, Half>)
      return binning_.bin_of(static_cast<double>(to_float(value)));
    else
      return binning_.bin_of(static_cast<double>(value));
  }

 private:
  const Binning& binning_;
  std::int64_t first_ = 0;
  std::vector<std::int32_t> table_;
};

/// row[1 + x] of each bin: the pixels of the columns up to x, all rows.
template <class In, class Count>
void count_columns(const Strip& strip, const Group& group, const BinOf& bin_of, const View& row) {
  const Shape& s = strip.image.shape;
  for (std::int64_t n = 0; n < s.batch; ++n) {
    in_column_blocks(s.width, block_columns, strip.execution.threads, [&](std::int64_t from, std::int64_t count) {
      for (std::int64_t b = 0; b < group.count; ++b)
        std::fill_n(static_cast<Count*>(row.row(0, b, n)) + 1 + from, count, Count(0));
      for (std::int64_t y = 0; y < s.height; ++y) {
        const char* const pixels = static_cast<const char*>(strip.image.row(y, 0, n));
        for (std::int64_t x = from; x < from + count; ++x) {
          In value;
          std::memcpy(&value, pixels + x * static_cast<std::int64_t>(sizeof(In)), sizeof(In));
          const std::int64_t bin = bin_of.of(value) - group.first;
          if (bin >= 0 && bin < group.count) ++static_cast<Count*>(row.row(0, bin, n))[1 + x];
        }
      }
    });
    for (std::int64_t b = 0; b < group.count; ++b) {
      Count* const sums = static_cast<Count*>(row.row(0, b, n));
      sums[0] = 0;
      for (std::int64_t x = 0; x < s.width; ++x) sums[x + 1] = static_cast<Count>(sums[x + 1] + sums[x]);
    }
  }
}

template <class In>
void count_columns_of(const Strip& strip, const Group& group, const BinOf& bin_of, const View& row) {
  if (size_of(row.type) == 8)
    count_columns<In, std::uint64_t>(strip, group, bin_of, row);
  else
    count_columns<In, std::uint32_t>(strip, group, bin_of, row);
}

void count_columns(const Strip& strip, const Group& group, const BinOf& bin_of, const View& row) {
  switch (strip.image.type) {
    case Type::u8:
      return count_columns_of<std::uint8_t>(strip, group, bin_of, row);
    case Type::s8:
      return count_columns_of<std::int8_t>(strip, group, bin_of, row);
    case Type::u16:
      return count_columns_of<std::uint16_t>(strip, group, bin_of, row);
    case Type::s16:
      return count_columns_of<std::int16_t>(strip, group, bin_of, row);
    case Type::u32:
      return count_columns_of<std::uint32_t>(strip, group, bin_of, row);
    case Type::s32:
      return count_columns_of<std::int32_t>(strip, group, bin_of, row);
    case Type::u64:
      return count_columns_of<std::uint64_t>(strip, group, bin_of, row);
    case Type::s64:
      return count_columns_of<std::int64_t>(strip, group, bin_of, row);
    case Type::f16:
      return count_columns_of<Half>(strip, group, bin_of, row);
    case Type::f32:
      return count_columns_of<float>(strip, group, bin_of, row);
    case Type::f64:
      return count_columns_of<double>(strip, group, bin_of, row);
  }
}

ConstView last_row(const ConstView& tensor, std::int64_t height) {
  ConstView row = tensor;
  row.data = tensor.row(height);
  row.shape.height = 1;
  return row;
}

template <class T>
void add_row(const ConstView& row, const View& to) {
  for (std::int64_t n = 0; n < to.shape.batch; ++n)
    for (std::int64_t b = 0; b < to.shape.channels; ++b)
      for (std::int64_t x = 0; x < to.shape.width; ++x) {
        T& sum = static_cast<T*>(to.row(0, b, n))[x];
        sum = static_cast<T>(sum + static_cast<const T*>(row.row(0, b, n))[x]);
      }
}

void add_row(const ConstView& row, const View& to) {
  if (to.type == Type::f32) return add_row<float>(row, to);
  if (to.type == Type::f64) return add_row<double>(row, to);
  if (size_of(to.type) == 8) return add_row<std::uint64_t>(row, to);
  if (size_of(to.type) == 4) return add_row<std::uint32_t>(row, to);
  add_row<std::uint16_t>(row, to);
}

/// The same by plans, on any backend, with weights and joint bins: sums the last rows of the tensors of blocks of rows,
/// in the order of the blocks.
void sum_blocks(const Strip& strip, const Group& group, const View& row) {
  const Shape& image = strip.image.shape;
  clear_view(row);
  HistogramOptions options = strip.options;
  options.border = Border::zero;
  options.carries = false;
  options.progress = {};
  HistogramTensor tensor;
  std::optional<HistogramPlan> plan;
  std::optional<Workspace> workspace;
  Array last(row.shape, row.type);
  for (std::int64_t first = 0; first < image.height; first += block_rows) {
    const std::int64_t height = std::min(block_rows, image.height - first);
    if (!plan || plan->image_shape().height != height) {
      Shape shape = image;
      shape.height = height;
      plan.emplace(shape, strip.image.type, group.binning, options, strip.execution);
      workspace.emplace(*plan);
      tensor = plan->allocate(strip.image.memory);
    }
    plan->execute({rows_of(strip.image, first, height),
                   tensor.tensor(),
                   strip.weights.data ? rows_of(strip.weights, first, height) : strip.weights,
                   {}},
                  *workspace);
    workspace->wait();
    copy_view(last_row(tensor.tensor(), height), last.view());
    add_row(last.view(), row);
  }
}

/// The carry in a plan's form: a corner, and the sum above each entry, border included.
Array carry_row(const Strip& strip, const ConstView& above) {
  const Border border = strip.options.border;
  Shape shape = above.shape;
  shape.width += border == Border::zero ? 1 : 0;
  Array row(shape, above.type);
  const auto size = static_cast<std::int64_t>(size_of(above.type));
  const std::int64_t corner = border == Border::none ? 0 : 1;  // `above` begins with a zero already
  for (std::int64_t n = 0; n < shape.batch; ++n)
    for (std::int64_t b = 0; b < shape.channels; ++b) {
      char* const to = static_cast<char*>(row.view().row(0, b, n));
      std::memset(to, 0, static_cast<std::size_t>(size));
      std::memcpy(to + corner * size, above.row(0, b, n), static_cast<std::size_t>((shape.width - corner) * size));
    }
  return row;
}

void execute_with(const Strip& strip, const Group& group, const ConstView& above) {
  const Array row = carry_row(strip, above);
  HistogramArguments arguments{strip.image, group.tensor, strip.weights, {row.view(), {}}};
  DeviceArray there;
  if (!strip.image.memory.is_host()) {
    there = DeviceArray::copy_of(row.view(), {.backend = Backend::cuda, .device = strip.image.memory.device});
    arguments.carry.above = there.view();
  }
  const HistogramPlan plan(strip.image.shape, strip.image.type, group.binning, strip.options, strip.execution);
  Workspace workspace(plan);
  plan.execute(arguments, workspace);
  workspace.wait();
}

/// A hash of everything that determines a value's bin.
std::int64_t fingerprint(const Binning& binning) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a over 64-bit words
  const auto take = [&](std::uint64_t word) { hash = (hash ^ word) * 1099511628211u; };
  take(static_cast<std::uint64_t>(binning.kind()));
  take(binning.is_clamped());
  take(static_cast<std::uint64_t>(binning.ignored_label().value_or(INT64_MIN)));
  for (const double edge : binning.bin_edges()) take(std::bit_cast<std::uint64_t>(edge));
  for (const std::int32_t bin : binning.table()) take(static_cast<std::uint64_t>(bin));
  for (const Binning& part : binning.parts()) take(static_cast<std::uint64_t>(fingerprint(part)));
  return static_cast<std::int64_t>(hash);
}

/// The number of bins whose carries fit; whole planes of joint bins, all if a rule cannot be cut.
std::int64_t bins_at_once(const Binning& binning, const Shape& image, Type counter, std::size_t carry_bytes) {
  if (binning.kind() == Binning::Kind::labels && binning.ignored_label()) return binning.bins();
  const std::int64_t unit =
      binning.kind() == Binning::Kind::joint ? binning.bins() / binning.parts()[0].bins() : std::int64_t{1};
  // Totals and carry, of each bin of every image.
  const std::uint64_t each = 2 * static_cast<std::uint64_t>(image.width + 1) * static_cast<std::uint64_t>(image.batch) *
                             size_of(counter) * static_cast<std::uint64_t>(unit);
  const auto units =
      static_cast<std::int64_t>(std::max<std::uint64_t>(1, carry_bytes / std::max<std::uint64_t>(1, each)));
  return std::clamp<std::int64_t>(units, 1, std::max<std::int64_t>(1, binning.bins() / unit)) * unit;
}

}  // namespace

Tensor integral_histogram(MPI_Comm caller, const ConstView& strip, const Binning& binning,
                          const HistogramOptions& options, const Options& how, const ConstView& weights) {
  const Communicator comm(caller);
  Costs mine;
  Costs& costs = how.costs != nullptr ? *how.costs : mine;
  std::vector<Shared> shared = shared_of(strip, how);
  for (const Shared& value :
       std::vector<Shared>{{"border", static_cast<int>(options.border), std::string(name_of(options.border))},
                           {"counter", static_cast<int>(options.counter), std::string(name_of(options.counter))},
                           {"weighted", options.weighted, {}},
                           {"bins", binning.bins(), {}},
                           {"kind of binning", static_cast<int>(binning.kind()), {}},
                           {"binning", fingerprint(binning), "of other edges, labels or clamping"}})
    shared.push_back(value);
  comm.require_same(shared);
  Tensor made;
  comm.together([&] { require_strip(strip); });
  made.rows = comm.rows_of(strip.shape.height);
  Strip here{strip, weights, options, {}};
  here.options.carries = true;
  View tensor;
  comm.together([&] {
    const HistogramPlan plan(strip.shape, strip.type, binning, here.options, execution_for(strip, how));
    made.strip = plan.allocate(strip.memory);
    here.execution = plan.execution();
    tensor = made.strip.tensor();
    plan.check({strip, tensor, weights});
    const std::int64_t wide = strip.shape.width + (options.border == Border::zero ? 2 : 1);
    const Array zeros({wide, 1, binning.bins(), strip.shape.batch, Layout::planar}, options.counter);
    if (strip.memory.is_host()) plan.check({strip, tensor, weights, {zeros.view(), {}}});  // may refuse the algorithm
  });
  const bool counted = here.execution.backend == Backend::cpu && strip.memory.is_host() && !options.weighted &&
                       binning.channels() == 1 && strip.shape.channels == 1;
  const std::int64_t at_once = bins_at_once(binning, strip.shape, options.counter, how.carry_bytes);
  std::optional<BinOf> bin_of;
  comm.together([&] {
    if (counted) bin_of.emplace(binning, strip.type);
  });
  for (std::int64_t first = 0; first < binning.bins(); first += at_once) {
    Clock clock;
    std::optional<Group> group;
    Array totals, above;
    comm.together([&] {
      const std::int64_t count = std::min(at_once, binning.bins() - first);
      group.emplace(Group{count == binning.bins() ? binning : binning.slice(first, count), first, count, tensor});
      if (tensor.data != nullptr) group->tensor.data = tensor.row(0, first);
      group->tensor.shape.channels = count;
      totals = Array(here.row_of(*group), options.counter), above = Array(here.row_of(*group), options.counter);
      if (counted)
        count_columns(here, *group, *bin_of, totals.view());
      else
        sum_blocks(here, *group, totals.view());
    });
    costs.sums_seconds += clock.lap();
    exclusive_scan(comm, totals.data(), above.data(), totals.bytes() / size_of(totals.type()), totals.type(), how);
    costs.exchange_seconds += clock.lap();
    comm.together([&] { execute_with(here, *group, above.view()); });
    costs.table_seconds += clock.lap();
  }
  return made;
}

}  // namespace areal::mpi
