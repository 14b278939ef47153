#include "strips/strip_slots.hpp"
#include <algorithm>
#include <areal/error.hpp>
#include <cstring>
#include "api/core/require.hpp"
#include "cluster/tile_grid.hpp"
#include "cuda/device.hpp"

namespace areal::strips {
namespace {

__extension__ using Wide = unsigned __int128;
constexpr std::int64_t whole_tiles = 64;  // rows: of the CPU's tiles, and a divisor of the kernels' largest

Wide bytes_of_rows(const std::vector<RowType>& types, std::int64_t width, std::int64_t rows) {
  constexpr Wide line = 64;  // what an allocation is rounded up to
  Wide bytes = 0;
  for (const RowType& type : types) {
    const Wide all = Wide{size_of(type.type)} * static_cast<Wide>(width) * static_cast<Wide>(rows) *
                     static_cast<Wide>(type.channels);
    bytes += (all + line - 1) / line * line;
  }
  return bytes;
}

void check_options(const StripWork& work, const StripOptions& options) {
  require(options.height >= 0, "height ", options.height, ": a strip has 0 (as many as memory takes) or more rows");
  require(
      options.tile_width >= 0 && options.tile_height >= 0 && (options.tile_width == 0) == (options.tile_height == 0),
      "tiles of ", options.tile_width, "x", options.tile_height, ": both extents are given, or none");
  require(!work.execution.stream, "execution: strips have streams of their own, it may name none");
}

}  // namespace

std::optional<StripBytes> strip_bytes(const StripWork& work, std::int64_t rows, std::int64_t tile_height) {
  const Wide pixels = slots * bytes_of_rows(work.inputs, work.width, rows);
  const Wide tables = static_cast<Wide>(work.table_buffers) * bytes_of_rows(work.tables, work.width + 1, rows + 1);
  const Wide row = bytes_of_rows(work.tables, work.width + 1 + work.carry_lead, 1);
  const Wide tiles = bytes_of_rows(work.inputs, work.width, tile_height);
  Wide computing = pixels + tables + (work.carried ? row : 0), host = 0;
  if (work.on_cuda())
    host = pixels + (work.carried ? tables : row) + tiles;
  else
    computing += tiles;
  if (std::max(computing, host) >> 62) return std::nullopt;  // before a plan is asked
  computing += work.workspace_bytes(rows);
  if (computing >> 63) return std::nullopt;
  return StripBytes{static_cast<std::uint64_t>(computing), static_cast<std::uint64_t>(host)};
}

std::uint64_t default_limit(const StripWork& work, std::int64_t tile_height) {
  const auto bytes = strip_bytes(work, std::min(default_rows, work.height), tile_height);
  require(bytes.has_value(), "an image ", work.width, " wide: the bytes of some rows of its tables do not fit 63 bits");
  return std::max(bytes->most(), work.default_memory);
}

std::int64_t strip_height_within(const StripWork& work, const StripOptions& options, std::uint64_t bytes) {
  check_options(work, options);
  const auto fits = [&](std::int64_t rows) {
    const auto taken = strip_bytes(work, rows, options.tile_height);
    return taken && taken->most() <= bytes;
  };
  const std::int64_t most = std::max<std::int64_t>(1, work.height);
  if (options.height > 0) {
    const std::int64_t rows = std::min(options.height, most);
    return fits(rows) ? rows : 0;
  }
  const std::int64_t rows = cluster::largest(most, fits);
  return rows < most && rows > whole_tiles ? rows - rows % whole_tiles : rows;
}

std::int64_t strip_height(const StripWork& work, const StripOptions& options) {
  check_options(work, options);
  const std::uint64_t usual = default_limit(work, options.tile_height);
  const std::uint64_t limit = options.memory > 0 ? options.memory : options.height > 0 ? ~std::uint64_t{0} : usual;
  const std::int64_t rows = strip_height_within(work, options, limit);
  const bool is_default = options.memory == 0 && options.height == 0 && !work.on_cuda();
  if (rows > 0) return is_default ? std::min(rows, default_most_rows(work.height)) : rows;
  const std::int64_t wanted = std::max<std::int64_t>(1, std::min(options.height, work.height));
  const auto needed = strip_bytes(work, wanted, options.tile_height);
  const std::uint64_t bytes = needed ? needed->most() : usual;
  throw OutOfMemory(sentence("a strip of ", wanted, wanted == 1 ? " row" : " rows", ", ", work.width,
                             " pixels wide, takes ", bytes, " bytes, more than the ", limit, " of memory"),
                    bytes);
}

/// Streams, events and memory of the device, which is current while they are made.
struct StripSlots::Device {
  cuda::OwnedStream up, computing, down;
  std::array<cuda::Event, slots> uploaded, computed;
  std::array<std::vector<Memory>, slots> inputs, tables;
};

StripSlots::StripSlots(const StripWork& work, std::int64_t height) : work_(work), height_(height) {
  std::optional<cuda::DeviceScope> scope;
  if (work.on_cuda()) {
    place_ = {MemoryPlace::cuda, work.execution.device};
    scope.emplace(place_.device);
    device_ = std::make_unique<Device>();
  }
  const auto bytes = [&](const RowType& type, std::int64_t width, std::int64_t rows) {
    return std::max<std::size_t>(1, bytes_of(type.rows(width, rows), type.type));
  };
  for (std::size_t slot = 0; slot < slots; ++slot) {
    for (const RowType& input : work.inputs) {
      const std::size_t n = bytes(input, work.width, height);
      inputs_[slot].push_back(Memory::of_host(n, work.on_cuda()));
      if (device_) device_->inputs[slot].emplace_back(n, place_);
    }
    if (static_cast<int>(slot) >= work.table_buffers) continue;
    for (const RowType& table : work.tables) {
      const std::size_t n = bytes(table, work.width + 1, height + 1);
      if (!device_ || work.carried) tables_[slot].push_back(Memory::of_host(n, work.on_cuda()));
      if (device_) device_->tables[slot].emplace_back(n, place_);
    }
  }
  for (const RowType& table : work.tables) {
    const std::size_t n = bytes(table, work.width + 1 + work.carry_lead, 1);
    if (!work.carried && device_) last_rows_.push_back(Memory::of_host(n, true));
    if (!work.carried) continue;
    above_.emplace_back(n, place_);
    if (work.carry_lead == 0) continue;
    if (device_)
      cuda::clear(above_.back().data(), n, stream());
    else
      std::memset(above_.back().data(), 0, n);
  }
}

StripSlots::~StripSlots() {
  if (!device_) return;
  try {
    const cuda::DeviceScope scope(place_.device);
    for (const cuda::OwnedStream* stream : {&device_->up, &device_->computing, &device_->down}) stream->synchronize();
  } catch (const Error&) {  // of a device that fails, memory is given up all the same
  }
}

Stream StripSlots::stream() const { return device_ ? device_->computing.get() : Stream::host(); }

View StripSlots::input(int slot, std::size_t which, std::int64_t rows) {
  const auto s = static_cast<std::size_t>(slot);
  if (device_) {
    const cuda::DeviceScope scope(place_.device);
    device_->uploaded[s].synchronize();
  }
  const RowType& type = work_.inputs[which];
  return View(inputs_[s][which].data(), type.type, type.rows(work_.width, rows));
}

void StripSlots::upload(int slot, std::int64_t rows) {
  if (!device_) return;
  const auto s = static_cast<std::size_t>(slot);
  const cuda::DeviceScope scope(place_.device);
  device_->computed[s].hold_back(device_->up.get());  // which reads the same memory of the device
  for (std::size_t i = 0; i < work_.inputs.size(); ++i)
    if (const auto bytes = bytes_of(work_.inputs[i].rows(work_.width, rows), work_.inputs[i].type))
      cuda::copy_in(device_->inputs[s][i].data(), inputs_[s][i].data(), bytes, device_->up.get());
  device_->uploaded[s].record(device_->up.get());
}

View StripSlots::table(int slot, std::size_t which, std::int64_t rows) {
  const RowType& type = work_.tables[which];
  const auto s = static_cast<std::size_t>(slot % work_.table_buffers);
  return (device_ ? device_->tables : tables_)[s][which].view(type.type, type.rows(work_.width + 1, rows + 1));
}

void StripSlots::compute(int slot, std::int64_t rows, const std::vector<ConstView>* pixels) {
  const auto s = static_cast<std::size_t>(slot);
  std::optional<cuda::DeviceScope> scope;
  if (device_) scope.emplace(place_.device);
  if (plan_rows_ != rows) {
    if (device_) device_->computing.synchronize();  // the workspace is in use
    plan_.reset();
    plan_rows_ = -1;
    plan_ = work_.plan(rows, stream());
    plan_rows_ = rows;
  }
  std::vector<ConstView> inputs, above;
  std::vector<View> tables;
  for (std::size_t i = 0; i < work_.inputs.size(); ++i) {
    const RowType& type = work_.inputs[i];
    inputs.emplace_back((device_ ? device_->inputs : inputs_)[s][i].view(type.type, type.rows(work_.width, rows)));
  }
  for (std::size_t t = 0; t < work_.tables.size(); ++t) {
    const RowType& type = work_.tables[t];
    tables.push_back(table(slot, t, rows));
    const bool carries = work_.carried && !first_;
    above.push_back(
        ConstView(carries ? above_[t].data() : nullptr, type.type, type.rows(work_.carry_lead + work_.width + 1, 1))
            .in(place_));
  }
  if (device_) device_->uploaded[s].hold_back(stream());
  plan_->execute(pixels ? *pixels : inputs, tables, above);
  if (work_.carried) keep_last_rows(slot, rows);
  if (device_) device_->computed[s].record(stream());
  first_ = false;
}

void StripSlots::keep_last_rows(int slot, std::int64_t rows) {
  for (std::size_t t = 0; t < work_.tables.size(); ++t) {
    const View from = table(slot, t, rows);
    View to(above_[t].data(), from.type, work_.tables[t].rows(work_.carry_lead + work_.width + 1, 1));
    to.data = static_cast<char*>(to.data) + work_.carry_lead * to.column_pitch();
    const bool planar = from.shape.layout == Layout::planar;
    const std::int64_t planes = planar ? from.shape.channels : 1;
    const auto bytes = static_cast<std::size_t>(from.row_pitch);
    if (device_ && from.plane_pitch <= cuda::most_pitch && planes > 1)
      cuda::copy_rows(to.data, to.plane_pitch, from.row(rows), from.plane_pitch, bytes,
                      static_cast<std::size_t>(planes), cuda::CopyDirection::within, stream());
    else
      for (std::int64_t c = 0; c < planes; ++c)
        if (device_)
          cuda::copy(to.row(0, c), from.row(rows, c), bytes, stream());
        else
          std::memcpy(to.row(0, c), from.row(rows, c), bytes);
  }
}

std::vector<ConstView> StripSlots::download(int slot, std::int64_t rows) {
  std::vector<ConstView> views;
  const auto s = static_cast<std::size_t>(slot % work_.table_buffers);
  std::optional<cuda::DeviceScope> scope;
  if (device_) {
    scope.emplace(place_.device);
    device_->computed[static_cast<std::size_t>(slot)].hold_back(device_->down.get());
  }
  for (std::size_t t = 0; t < work_.tables.size(); ++t) {
    const View table = this->table(slot, t, rows);
    views.emplace_back(tables_[s][t].data(), table.type, table.shape);
    if (device_)
      cuda::copy_out(tables_[s][t].data(), table.data, bytes_of(table.shape, table.type), device_->down.get());
  }
  if (device_) device_->down.synchronize();
  return views;
}

std::vector<ConstView> StripSlots::last_rows(int slot, std::int64_t rows) {
  std::vector<ConstView> views;
  std::optional<cuda::DeviceScope> scope;
  if (device_) scope.emplace(place_.device);
  for (std::size_t t = 0; t < work_.tables.size(); ++t) {
    const View table = this->table(slot, t, rows);
    const bool planar = table.shape.layout == Layout::planar;
    const Shape row = work_.tables[t].rows(work_.width + 1, 1);
    if (!device_) {
      views.emplace_back(table.row(rows), table.type, row, table.row_pitch, table.plane_pitch);
      continue;
    }
    const View to(last_rows_[t].data(), table.type, row);
    for (std::int64_t c = 0; c < (planar ? row.channels : 1); ++c)
      cuda::copy_out(to.row(0, c), table.row(rows, c), static_cast<std::size_t>(table.row_pitch), stream());
    views.emplace_back(to);
  }
  if (device_) device_->computing.synchronize();
  return views;
}

}  // namespace areal::strips
