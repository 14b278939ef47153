// SpreadSat: what it refuses, how it is cut, and an execute.
//
// Forward progress. Piece (part p, band c) waits for (p - 1, c) and (p, c - 1) alone. Each thread queues the pieces of
// its strip band by band, in a band from the top down, so that of all pieces that are not done the first in that order
// (bands first, then parts) waits for none. On CUDA streams do the same pieces in the same order, and a thread queues a
// wait for an event only after the other thread has recorded it.
#include "cluster/spread_sat.hpp"

#include <algorithm>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "cluster/spread_order.hpp"
#include "queue/workers.hpp"

namespace areal {

using cluster::SpreadLane;
using cluster::SpreadRows;

namespace {

std::vector<SpreadRows> rows_of(const Shape& image, const SpreadOptions& spread, std::size_t strips) {
  std::vector<std::int64_t> counts = spread.rows;
  if (counts.empty()) counts = cluster::even_rows(image.height, strips);
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

/// What a piece is planned with.
SatOptions piece_options(const Shape& image, Type type, const SatOptions& options) {
  require(image.batch == 1 && image.channels == 1, "image of ", image.channels, " channels, batch ", image.batch,
          ": a table is spread of one image of one channel");
  require(options.squares == Squares::no && !options.tilted && !options.mask && !options.ignore_nan &&
              !options.volume && !options.reverse && !options.progress,
          "a table is spread of sums of all pixels: no squares, no tilted table, no mask, no ignore_nan, no volume, no "
          "reverse and no progress");
  if (const Algorithm* const row = find_algorithm("sat", options.algorithm))
    require(!row->plain_only, "algorithm ", options.algorithm,
            " takes no carries, so it makes no table that is spread; choose auto");
  SatOptions of_whole = options;
  of_whole.algorithm = "auto";
  const SatPlan whole(image, type, of_whole, {.backend = Backend::cpu});  // what it refuses; it takes no memory
  SatOptions piece;
  piece.border = Border::none;
  piece.types = whole.types();
  piece.algorithm = options.algorithm;
  return piece;
}

/// Does the row above come straight from the device above?
bool is_direct(const Worker& worker, const Worker& above) {
  if (worker.backend != Backend::cuda) return true;
  return cuda::open_access(worker.device, above.device) && cuda::open_access(above.device, worker.device);
}

}  // namespace

std::unique_ptr<SpreadSat::State> spread_sat(const Shape& image, Type type, const SatOptions& options,
                                             const SpreadOptions& spread) {
  auto state = std::make_unique<SpreadSat::State>();
  cluster::SpreadWork& work = state->work;
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
  work.plan = piece_options(image, type, options);
  work.image = image, work.type = type, work.border = options.border;
  const std::vector<SpreadRows> rows = rows_of(image, spread, devices.size());
  const bool on_cuda = devices[0].backend == Backend::cuda;
  work.cut = cluster::cut_spread(image, options.border, rows, {spread.band_width, spread.parts, on_cuda});

  const std::int64_t more = options.border == Border::zero ? 1 : 0;
  std::size_t above = devices.size();  // none yet
  for (std::size_t i = 0; i < devices.size(); ++i) {
    SpreadStrip strip;
    strip.worker = devices[i];
    if (on_cuda) strip.memory = {MemoryPlace::cuda, devices[i].device};
    strip.first = rows[i].first;
    strip.pixels = {image.width, rows[i].count};
    strip.table = {image.width + more, rows[i].count + (i == 0 ? more : 0)};
    strip.table_row = rows[i].first + (i == 0 ? 0 : more);
    if (above < i) strip.direct = is_direct(devices[i], devices[above]);
    work.strips.push_back(strip);
    if (rows[i].count > 0) above = i;
  }
  const SpreadLane* lane_above = nullptr;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    state->lanes.push_back(cluster::named(
        devices[i], [&] { return std::make_unique<SpreadLane>(work, i, rows[i].count > 0 ? lane_above : nullptr); }));
    if (rows[i].count > 0 && work.cut.width > 0) lane_above = state->lanes.back().get();
  }
  return state;
}

SpreadSat::State::~State() {
  for (const auto& lane : lanes) lane->wait_quietly();
}

void SpreadSat::State::check(const cluster::SpreadArguments& arguments) const {
  const std::size_t strips = work.strips.size();
  require(arguments.pixels.size() == strips, "pixels: views of ", arguments.pixels.size(), " strips, there are ",
          strips);
  require(arguments.tables.size() == strips, "tables: views of ", arguments.tables.size(), " strips, there are ",
          strips);
  require(arguments.streams.empty() || arguments.streams.size() == strips, "streams: ", arguments.streams.size(),
          ", there are ", strips, " strips");
  const bool on_cuda = work.strips[0].worker.backend == Backend::cuda;
  for (const Stream& stream : arguments.streams)
    require(stream.is_host() != on_cuda,
            "streams: ", on_cuda ? "CUDA devices take CUDA streams" : "the CPU takes Stream::host()");
  for (std::size_t i = 0; i < strips; ++i) {
    const SpreadStrip& strip = work.strips[i];
    const ConstView& pixels = arguments.pixels[i];
    const View& table = arguments.tables[i];
    const auto in_place_of = [&](const ConstView& view, const char* what) {
      require(view.data == nullptr || view.memory == strip.memory, what, "[", i, "] does not lie in the memory of ",
              name_of(strip.worker));
    };
    check_view(sentence("pixels[", i, "]"), pixels, strip.pixels, work.type);
    check_view(sentence("tables[", i, "]"), table, strip.table, work.table_type());
    in_place_of(pixels, "pixels"), in_place_of(table, "tables");
    for (std::size_t j = 0; j < strips; ++j) {
      require(i == j || !may_overlap(table, arguments.tables[j]), "tables[", i, "] and tables[", j, "] share memory");
      if (!may_overlap(table, arguments.pixels[j])) continue;
      const bool in_place = i == j && table.data == pixels.data && table.row_pitch == pixels.row_pitch &&
                            work.border == Border::none && size_of(work.type) == size_of(work.table_type());
      require(in_place, "tables[", i, "] and pixels[", j,
              "] share memory: in place needs border none, the same pitch, and input and table types of the same size");
    }
  }
}

void SpreadSat::State::execute(const cluster::SpreadArguments& arguments, const cluster::SpreadHooks& hooks) {
  check(arguments);
  cluster::SpreadOrder order(work.cut.parts.size());
  std::mutex failing;
  std::exception_ptr failed;
  const auto guarded = [&](std::size_t i, const auto& f) {
    try {
      cluster::named(work.strips[i].worker, f);
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
    if (!arguments.streams.empty()) return arguments.streams[i];
    return lanes[i]->on_cuda() ? Stream::legacy_default() : Stream::host();
  };
  const auto below = [&](std::size_t i) -> const SpreadLane* {
    for (std::size_t j = i + 1; j < lanes.size(); ++j)
      if (lanes[j]->takes_rows()) return lanes[j].get();
    return nullptr;
  };
  for (std::size_t i = 0; i < lanes.size() && !failed; ++i)
    guarded(i, [&] { lanes[i]->begin(arguments.pixels[i], arguments.tables[i], caller(i), below(i)); });
  if (!failed) {
    std::vector<std::thread> threads;
    guarded(0, [&] {  // where no thread can be had, those that there are end
      for (std::size_t i = 1; i < lanes.size(); ++i) threads.emplace_back([&, i] { guarded(i, [&] { run(i); }); });
      run(0);
    });
    for (std::thread& thread : threads) thread.join();
  }
  for (std::size_t i = 0; i < lanes.size() && !failed; ++i) guarded(i, [&] { lanes[i]->hold_back_caller(below(i)); });
  if (arguments.streams.empty())
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
TypePair SpreadSat::types() const noexcept { return *state_->work.plan.types; }
Shape SpreadSat::table_shape() const noexcept {
  const std::int64_t more = state_->work.border == Border::zero ? 1 : 0;
  return {state_->work.image.width + more, state_->work.image.height + more};
}
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

std::vector<DeviceArray> SpreadSat::allocate() const {
  std::vector<DeviceArray> tables;
  for (const SpreadStrip& strip : state_->work.strips)
    tables.push_back(cluster::named(strip.worker, [&] {
      return DeviceArray(strip.table, types().table,
                         Execution{.backend = strip.worker.backend, .device = strip.worker.device});
    }));
  return tables;
}

void SpreadSat::execute(Span<const ConstView> pixels, Span<const View> tables, Span<const Stream> streams) {
  state_->execute({pixels, tables, streams});
}

}  // namespace areal
