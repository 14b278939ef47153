// SpreadSat: what it refuses, how it is cut, and an execute.
//
// Forward progress. Piece (part p, band c) waits for (p - 1, c) and (p, c - 1) alone. Each thread queues the pieces of
// its strip band by band, in a band from the top down, so that of all pieces that are not done the first in that order
// (bands first, then parts) waits for none. On CUDA streams do the same pieces in the same order, and a thread queues a
// wait for an event only after the other thread has recorded it.
#include "pieces/spread/spread_sat.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "pieces/spread/order.hpp"
#include "queue/workers.hpp"

namespace areal {

using pieces::SpreadLane;
using pieces::SpreadRows;
using pieces::Views;

namespace {

std::vector<SpreadRows> rows_of(const Shape& image, const SpreadOptions& spread, std::size_t strips) {
  std::vector<std::int64_t> counts = spread.rows;
  if (counts.empty()) counts = pieces::even_rows(image.height, strips);
  require(counts.size() == strips, "rows for ", counts.size(), " strips: there are ", strips, " devices");
  std::vector<SpreadRows> rows;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    require(counts[i] >= 0 && counts[i] <= image.height - first, "rows[", i, "] ", counts[i], ": ",
            image.height - first, " rows of the image of ", image.height, " are left");
    rows.push_back({first, counts[i]});
    first += counts[i];
  }
  require(first == image.height, "rows of all devices: they are ", first, ", the image has ", image.height);
  return rows;
}

SatPlan plan_of_whole(const Shape& image, Type type, SatOptions options) {
  require(image.batch == 1, "image of batch ", image.batch, ": a table is spread of one image");
  require(!options.tilted && !options.volume && !options.reverse && !options.progress,
          "spread tables are sums, squares and counts: no tilted table, no volume, no reverse and no progress");
  pieces::require_carries("sat", options.algorithm, "table that is spread");
  options.algorithm = "auto";
  return SatPlan(image, type, options, {.backend = Backend::cpu});
}

SatOptions of_pieces(const SatPlan& whole, SatOptions options) {
  options.border = Border::none, options.types = whole.types(), options.carries = true;
  return options;
}

/// Does the row above come straight from the device above?
bool is_direct(const Worker& worker, const Worker& above) {
  if (worker.backend != Backend::cuda) return true;
  return cuda::open_access(worker.device, above.device) && cuda::open_access(above.device, worker.device);
}

}  // namespace

std::unique_ptr<SpreadSat::State> spread_sat(const Shape& image, Type type, const SatOptions& options,
                                             const SpreadOptions& spread) {
  const std::vector<Worker> devices = spread.devices.empty() ? workers_named("all") : spread.devices;
  for (const Worker& device : devices) {
    require(device.backend == Backend::cpu || device.backend == Backend::cuda, "device ", name_of(device),
            ": a table is spread over CUDA devices, or over the CPU");
    require(device.backend == devices[0].backend, "devices ", name_of(devices[0]), " and ", name_of(device),
            ": all must be of one backend");
  }
  queue::require_workers(devices);
  require(spread.band_width >= 0, "band_width ", spread.band_width, ": it may be 0 (chosen) or more");
  require(spread.parts >= 0 && spread.parts <= 64, "parts ", spread.parts, ": they may be 0 (chosen) to 64");
  const SatPlan whole = plan_of_whole(image, type, options);
  std::unique_ptr<SpreadSat::State> state(new SpreadSat::State{{whole, of_pieces(whole, options)}});
  pieces::SpreadWork& work = state->work;
  const std::vector<SpreadRows> rows = rows_of(image, spread, devices.size());
  const bool on_cuda = devices[0].backend == Backend::cuda;
  work.cut = pieces::cut_spread(image, options.border, rows, {spread.band_width, spread.parts, on_cuda});

  const std::int64_t more = options.border == Border::zero ? 1 : 0;
  std::size_t above = devices.size();  // none yet
  for (std::size_t i = 0; i < devices.size(); ++i) {
    SpreadStrip& strip = work.strips.emplace_back();
    strip.worker = devices[i];
    if (on_cuda) strip.memory = {MemoryPlace::cuda, devices[i].device};
    strip.first = rows[i].first;
    strip.pixels = image, strip.pixels.height = rows[i].count;
    strip.table = whole.table_shape(), strip.table.height = rows[i].count + (i == 0 ? more : 0);
    strip.table_row = rows[i].first + (i == 0 ? 0 : more);
    if (above < i) strip.direct = is_direct(devices[i], devices[above]);
    if (rows[i].count > 0) above = i;
  }
  const SpreadLane* lane_above = nullptr;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    state->lanes.push_back(pieces::on_worker(
        devices[i], [&] { return std::make_unique<SpreadLane>(work, i, rows[i].count > 0 ? lane_above : nullptr); }));
    if (rows[i].count > 0 && work.cut.width > 0) lane_above = state->lanes.back().get();
  }
  return state;
}

SpreadSat::State::~State() {
  for (const auto& lane : lanes) lane->wait_quietly();
}

std::vector<Views> SpreadSat::State::checked(Span<const SatArguments> strips, Span<const Stream> streams) const {
  const std::size_t count = work.strips.size();
  require(strips.size() == count, "strips: arguments of ", strips.size(), " strips, there are ", count);
  require(streams.empty() || streams.size() == count, "streams: ", streams.size(), ", there are ", count, " strips");
  const pieces::Work& tables = lanes[0]->tables();
  for (const Stream& stream : streams)
    require(stream.is_host() != tables.on_cuda(),
            "streams: ", tables.on_cuda() ? "CUDA devices take CUDA streams" : "the CPU takes Stream::host()");
  struct Argument {
    std::string name;
    std::size_t strip;
    ConstView view;
  };
  std::vector<Argument> inputs, outputs;
  std::vector<Views> all;
  const bool mask = work.of_pieces.mask, counts = mask || work.of_pieces.ignore_nan;
  const bool squares = work.of_pieces.squares != Squares::no;
  for (std::size_t i = 0; i < count; ++i) {
    const SatArguments& of = strips[i];
    const SpreadStrip& strip = work.strips[i];
    require((mask || !of.mask.data) && (squares || !of.squares.data) && (counts || !of.count.data) && !of.tilted.data &&
                of.carry.empty() && of.squares_carry.empty() && of.count_carry.empty(),
            "strips[", i, "]: a view was given that the options do not ask for");
    Views& views = all.emplace_back(Views{{of.image}, {of.sum}, {}});
    if (mask) views.inputs.push_back(of.mask);
    if (squares) views.outputs.push_back(of.squares);
    if (counts) views.outputs.push_back(of.count);
    const auto check = [&](const auto& of_kind, const std::vector<pieces::Rows>& rows, const Shape& extent,
                           const std::vector<const char*>& names, std::vector<Argument>& arguments) {
      for (std::size_t v = 0; v < of_kind.size(); ++v) {
        const std::string name = sentence(names[v], "[", i, "]");
        check_view(name, of_kind[v], rows[v].of(extent.width, extent.height), rows[v].type);
        require(of_kind[v].data == nullptr || of_kind[v].memory == strip.memory, name,
                " does not lie in the memory of ", name_of(strip.worker));
        arguments.push_back({name, i, of_kind[v]});
      }
    };
    check(views.inputs, tables.form().inputs, strip.pixels, {"pixels", "masks"}, inputs);
    check(views.outputs, tables.form().outputs, strip.table, {"tables", squares ? "squares" : "counts", "counts"},
          outputs);
  }
  for (const Argument& table : outputs) {
    for (const Argument& other : outputs)
      require(&table == &other || !may_overlap(table.view, other.view), table.name, " and ", other.name,
              " share memory");
    for (const Argument& input : inputs) {
      const ConstView &to = table.view, &from = input.view;
      if (!may_overlap(to, from)) continue;
      const bool in_place = table.strip == input.strip && to.data == from.data && to.row_pitch == from.row_pitch &&
                            to.plane_pitch == from.plane_pitch && work.border() == Border::none &&
                            size_of(to.type) == size_of(from.type) &&
                            (to.shape.channels == 1 || to.shape.layout == from.shape.layout);
      require(in_place, table.name, " and ", input.name,
              " share memory: in place needs border none, the same pitch, and input and table types of the same size");
    }
  }
  return all;
}

void SpreadSat::State::execute(Span<const SatArguments> strips, Span<const Stream> streams,
                               const pieces::SpreadHooks& hooks) {
  const std::vector<Views> views = checked(strips, streams);
  pieces::SpreadOrder order(work.cut.parts.size());
  std::mutex failing;
  std::exception_ptr failed;
  const auto guarded = [&](std::size_t i, const auto& f) {
    try {
      pieces::on_worker(work.strips[i].worker, f);
    } catch (...) {
      order.stop();
      const std::lock_guard lock(failing);
      if (!failed) failed = std::current_exception();
    }
  };
  const auto run = [&](std::size_t i) {
    SpreadLane& lane = *lanes[i];
    for (std::size_t c = 0; c < work.cut.band_count(); ++c) {
      if (lane.takes_rows()) {
        if (hooks.in_order && !order.wait(lane.part_above(), c)) return;
        lane.take_row(c);
      }
      for (std::size_t p = 0; p < lane.parts(); ++p) {
        const std::size_t part = lane.first_part() + p;
        if (hooks.before) hooks.before(part, c);
        lane.compute(p, c);
        if (hooks.after) hooks.after(part, c);
        order.publish(part);
      }
    }
    lane.end();
  };
  const auto caller = [&](std::size_t i) {
    if (!streams.empty()) return streams[i];
    return lanes[i]->tables().on_cuda() ? Stream::legacy_default() : Stream::host();
  };
  const auto below = [&](std::size_t i) -> const SpreadLane* {
    for (std::size_t j = i + 1; j < lanes.size(); ++j)
      if (lanes[j]->takes_rows()) return lanes[j].get();
    return nullptr;
  };
  for (std::size_t i = 0; i < lanes.size() && !failed; ++i)
    guarded(i, [&] { lanes[i]->begin(views[i], caller(i), below(i)); });
  if (!failed) {
    std::vector<std::thread> threads;
    guarded(0, [&] {  // where no thread can be had, those that there are end
      for (std::size_t i = 1; i < lanes.size(); ++i) threads.emplace_back([&, i] { guarded(i, [&] { run(i); }); });
      run(0);
    });
    for (std::thread& thread : threads) thread.join();
  }
  for (std::size_t i = 0; i < lanes.size() && !failed; ++i) guarded(i, [&] { lanes[i]->hold_back_caller(below(i)); });
  if (streams.empty())
    for (std::size_t i = 0; i < lanes.size() && !failed; ++i) guarded(i, [&] { lanes[i]->wait(); });
  if (!failed) return;
  for (const auto& lane : lanes) lane->wait_quietly();
  std::rethrow_exception(failed);
}

SpreadSat::SpreadSat(const Shape& image, Type type, const SatOptions& options, const SpreadOptions& spread)
    : state_(spread_sat(image, type, options, spread)) {}
SpreadSat::~SpreadSat() = default;
SpreadSat::SpreadSat(SpreadSat&&) noexcept = default;
SpreadSat& SpreadSat::operator=(SpreadSat&&) noexcept = default;

const std::vector<SpreadStrip>& SpreadSat::strips() const noexcept { return state_->work.strips; }
TypePair SpreadSat::types() const noexcept { return state_->work.whole.types(); }
std::optional<Type> SpreadSat::squares_type() const noexcept { return state_->work.whole.squares_type(); }
Shape SpreadSat::table_shape() const noexcept { return state_->work.whole.table_shape(); }
Shape SpreadSat::count_shape() const noexcept { return state_->work.whole.count_shape(); }
std::int64_t SpreadSat::bands() const noexcept { return static_cast<std::int64_t>(state_->work.cut.band_count()); }
std::int64_t SpreadSat::band_width() const noexcept {
  const std::vector<std::int64_t>& bands = state_->work.cut.bands;
  return bands.size() > 1 ? bands[1] : 0;
}
int SpreadSat::parts() const noexcept {
  std::size_t most = 0;
  for (const auto& lane : state_->lanes) most = std::max(most, lane->parts());
  return static_cast<int>(most);
}

std::vector<DeviceArray> SpreadSat::allocate(SpreadTable which) const {
  const SatPlan& whole = state_->work.whole;
  const bool counts = whole.options().mask || whole.options().ignore_nan;
  require(which != SpreadTable::squares || whole.squares_type(), "which: the options ask for no squares");
  require(which != SpreadTable::count || counts, "which: the options ask for no counts");
  const std::vector<pieces::Rows>& all = state_->lanes[0]->tables().form().outputs;
  const pieces::Rows& rows = which == SpreadTable::sum ? all[0] : which == SpreadTable::squares ? all[1] : all.back();
  std::vector<DeviceArray> tables;
  for (const SpreadStrip& strip : state_->work.strips)
    tables.push_back(pieces::on_worker(strip.worker, [&] {
      return DeviceArray(rows.of(strip.table.width, strip.table.height), rows.type, pieces::execution_of(strip.worker));
    }));
  return tables;
}

void SpreadSat::execute(Span<const SatArguments> strips, Span<const Stream> streams) {
  state_->execute(strips, streams);
}
void SpreadSat::execute(Span<const ConstView> pixels, Span<const View> tables, Span<const Stream> streams) {
  const std::size_t count = strips().size();
  require(pixels.size() == count, "pixels: views of ", pixels.size(), " strips, there are ", count);
  require(tables.size() == count, "tables: views of ", tables.size(), " strips, there are ", count);
  std::vector<SatArguments> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back({.image = pixels[i], .sum = tables[i]});
  state_->execute(all, streams);
}

}  // namespace areal
