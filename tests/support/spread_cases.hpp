#pragma once
// Tables that are spread over devices, for the CPU and for CUDA: pixels and tables of each strip in memory of any pitch
// and alignment with guard bands, the whole table against the oracle, regions against its entries.

#include <gtest/gtest.h>
#include <algorithm>
#include <areal/device.hpp>
#include <areal/region.hpp>
#include <areal/spread.hpp>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string>
#include <vector>
#include "conformance/pieces.hpp"
#include "conformance/shapes.hpp"

namespace areal::spread_cases {

using conformance::Buffer;
using conformance::Fill;
using conformance::Guard;
using conformance::Piece;
using conformance::Placement;
using conformance::placements;
using conformance::Values;

/// A buffer, and its copy where the strip's device is.
class StripMemory {
 public:
  StripMemory(Buffer host, const Worker& worker) : host_(std::move(host)), on_{worker.backend, worker.device} {
    if (on_.backend != Backend::cuda) return;
    there_ = DeviceArray::copy_of(bytes(), on_);
  }
  View view() {
    View view = host_.view();
    if (on_.backend != Backend::cuda) return view;
    const auto front = static_cast<char*>(view.data) - reinterpret_cast<char*>(host_.bytes().data());
    view.data = static_cast<char*>(there_.view().data) + front;
    return view.in(there_.memory());
  }
  /// The host's, with what the device has.
  Buffer& fetched() {
    if (on_.backend == Backend::cuda && !host_.bytes().empty()) copy_view(there_.view(), bytes());
    return host_;
  }
  void send() {
    if (on_.backend == Backend::cuda && !host_.bytes().empty()) copy_view(bytes(), there_.view());
  }
  Buffer& host() { return host_; }

 private:
  View bytes() { return View(host_.bytes().data(), Type::u8, {static_cast<std::int64_t>(host_.bytes().size()), 1}); }
  Buffer host_;
  Execution on_;
  DeviceArray there_;
};

/// So many, under sanitizers a fifth.
inline int turns(int all) { return std::getenv("AREAL_TEST_SHORT") == nullptr ? all : std::max(1, all / 5); }

struct SpreadCase {
  Shape image;
  TypePair types = type_pair("8u32u");
  Border border = Border::zero;
  SpreadOptions spread;
  Placement in = placements[0], out = placements[0];
  Fill fill = Fill::wild;
  std::uint64_t seed = 1;
  std::string algorithm = "auto";

  SatOptions options() const {
    SatOptions options;
    options.border = border, options.types = types, options.algorithm = algorithm;
    return options;
  }
};

inline std::string describe(const SpreadCase& c) {
  std::ostringstream text;
  text << name_of(c.types) << ", border " << name_of(c.border) << ", image " << c.image.width << "x" << c.image.height
       << ", rows";
  for (const std::int64_t rows : c.spread.rows) text << " " << rows;
  text << ", bands of " << c.spread.band_width << ", " << c.spread.parts << " parts, in " << c.in.name << ", out "
       << c.out.name << ", algorithm " << c.algorithm << ", seed " << c.seed;
  return text.str();
}

/// The pixels and tables of a case, in the memory of its strips.
struct SpreadMemory {
  Values image;
  std::vector<StripMemory> pixels, tables;

  SpreadMemory(const SpreadCase& c, const SpreadSat& spread)
      : image(conformance::random_image(c.types.input, c.image, c.fill, c.seed)) {
    for (const SpreadStrip& strip : spread.strips()) {
      const Piece rows{0, strip.first, c.image.width, strip.pixels.height};
      pixels.emplace_back(Buffer(conformance::part_of(image, rows), c.in), strip.worker);
      Buffer table(c.types.table, strip.table, c.out, Guard::output);
      table.poison(0xA7);
      tables.emplace_back(std::move(table), strip.worker);
    }
  }
  std::vector<ConstView> pixel_views() {
    std::vector<ConstView> views;
    for (StripMemory& strip : pixels) views.emplace_back(strip.view());
    return views;
  }
  std::vector<View> table_views() {
    std::vector<View> views;
    for (StripMemory& strip : tables) views.push_back(strip.view());
    return views;
  }
  std::vector<SatArguments> arguments() {
    std::vector<SatArguments> strips;
    for (std::size_t i = 0; i < pixels.size(); ++i)
      strips.push_back({.image = pixels[i].view(), .sum = tables[i].view()});
    return strips;
  }
  std::vector<ConstView> const_table_views() {
    const std::vector<View> views = table_views();
    return {views.begin(), views.end()};
  }
  void poison(std::uint8_t byte) {
    for (StripMemory& table : tables) table.host().poison(byte), table.send();
  }
  /// The strips' tables, one below the other.
  Values whole(const SpreadSat& spread) {
    Values whole(spread.types().table, spread.table_shape());
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const Values strip = conformance::values_of(ConstView(tables[i].fetched().view()));
      const auto to = static_cast<std::ptrdiff_t>(spread.strips()[i].table_row * whole.shape.width);
      std::copy(strip.integer.begin(), strip.integer.end(), whole.integer.begin() + (strip.integer.empty() ? 0 : to));
      std::copy(strip.real.begin(), strip.real.end(), whole.real.begin() + (strip.real.empty() ? 0 : to));
    }
    return whole;
  }
  std::string broken() {
    for (std::size_t i = 0; i < tables.size(); ++i) {
      if (const std::string guard = tables[i].fetched().broken_guard(); !guard.empty())
        return "table " + std::to_string(i) + ": " + guard;
      if (pixels[i].fetched().changed()) return "pixels " + std::to_string(i) + " were written";
    }
    return {};
  }
};

inline conformance::Expected expected_of(const SpreadCase& c, const Values& image) {
  return conformance::sums_of(conformance::terms_of(image), c.types.table, c.border);
}

/// Answers about regions: what areal::region_sums says of the same table in one piece of host memory.
inline std::string region_fault(const SpreadCase& c, const SpreadSat& spread, SpreadMemory& memory) {
  Array whole(spread.table_shape(), c.types.table);
  conformance::write(memory.whole(spread), whole.view());
  const std::int64_t less = c.border == Border::exclusive ? 1 : 0;
  const std::int64_t width = c.image.width - less, height = c.image.height - less;
  if (width <= 0 || height <= 0) return {};
  std::mt19937_64 random(c.seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  std::vector<Region> regions{{0, 0, width, height}, {0, 0, 0, 0}, {width, height, 0, 0}};
  for (int i = 0; i < 40; ++i) {
    const std::int64_t x = below(width), y = below(height);
    regions.push_back({x, y, below(width - x + 1), below(height - y + 1)});
  }
  const std::vector<ConstView> tables = memory.const_table_views();
  const SatView view(std::as_const(whole).view(), c.border);
  if (spread.region_sums<double>(tables, regions) != region_sums<double>(view, regions)) return "sums as double differ";
  if (is_float(c.types.table)) return {};
  const bool same =
      is_signed_integer(c.types.table)
          ? spread.region_sums<std::int64_t>(tables, regions) == region_sums<std::int64_t>(view, regions)
          : spread.region_sums<std::uint64_t>(tables, regions) == region_sums<std::uint64_t>(view, regions);
  return same ? "" : "sums as integers differ";
}

/// Empty, or what is wrong with a case. It is run twice, the second time into what the first has left.
inline std::string fault_of(const SpreadCase& c, bool regions = true) {
  SpreadSat spread(c.image, c.types.input, c.options(), c.spread);
  SpreadMemory memory(c, spread);
  const conformance::Expected expected = expected_of(c, memory.image);
  for (int turn = 0; turn < 2; ++turn) {
    spread.execute(memory.pixel_views(), memory.table_views());
    if (std::string wrong = conformance::difference(expected, memory.whole(spread)); !wrong.empty()) return wrong;
    if (std::string wrong = memory.broken(); !wrong.empty()) return wrong;
  }
  if (!regions) return {};
  bool finite = true;  // NaN differs from itself
  for (const long double value : memory.image.real) finite = finite && std::isfinite(value);
  return finite ? region_fault(c, spread, memory) : "";
}

/// All tables that one pass makes of three channels and a mask, twice, on streams of the caller's.
inline std::string fault_of_all_tables(const SpreadCase& c, Layout images, Layout tables) {
  SatOptions options = c.options();
  options.squares = Squares::automatic, options.mask = true, options.tables = tables;
  Shape image = c.image;
  image.channels = 3, image.layout = images;
  SpreadSat spread(image, c.types.input, options, c.spread);
  const Values pixels = conformance::random_image(c.types.input, image, c.fill, c.seed);
  const Values mask = conformance::random_mask(c.image, c.seed);
  std::vector<DeviceArray> sum = spread.allocate(), squares = spread.allocate(SpreadTable::squares),
                           count = spread.allocate(SpreadTable::count), on_devices;
  std::vector<OwnedStream> owned;
  std::vector<Stream> streams;
  std::vector<SatArguments> strips;
  for (const SpreadStrip& strip : spread.strips()) {
    const Execution on{.backend = strip.worker.backend, .device = strip.worker.device};
    const std::size_t i = strips.size();
    const auto rows = [&](const Values& of) {
      const Piece piece{0, strip.first, c.image.width, strip.pixels.height};
      Buffer host(conformance::part_of(of, piece), placements[0]);
      return std::as_const(on_devices.emplace_back(DeviceArray::copy_of(host.view(), on))).view();
    };
    strips.push_back({.image = rows(pixels), .sum = sum[i].view(), .mask = rows(mask)});
    strips[i].squares = squares[i].view(), strips[i].count = count[i].view();
    streams.push_back(owned.emplace_back(on));
  }
  for (int turn = 0; turn < 2; ++turn) spread.execute(strips, streams);
  for (const OwnedStream& stream : owned) stream.wait();
  const Values valid = conformance::valid_pixels(pixels, &mask, false);
  const auto wrong = [&](const char* what, const std::vector<DeviceArray>& of, Type type, const auto& terms) {
    conformance::Expected expected = conformance::sums_of(terms, type, c.border);
    for (std::size_t i = 0; i < of.size(); ++i) {
      Array strip(of[i].shape(), type);
      if (!of[i].shape().empty()) copy_view(of[i].view(), strip.view());
      const Piece piece{0, spread.strips()[i].table_row, expected.shape.width, of[i].shape().height};
      const std::string fault = conformance::difference(conformance::part_of(expected, piece),
                                                        conformance::values_of(std::as_const(strip).view()));
      if (!fault.empty()) return what + (", strip " + std::to_string(i) + ": " + fault);
    }
    return std::string();
  };
  std::string fault = wrong("sum", sum, spread.types().table, conformance::terms_of(pixels, false, &valid));
  if (fault.empty())
    fault = wrong("squares", squares, *spread.squares_type(), conformance::terms_of(pixels, true, &valid));
  return fault.empty() ? wrong("count", count, Type::u32, conformance::ones_of(valid)) : fault;
}

/// A caller's streams, pixels and tables, of which one run is queued after another.
class QueuedSet {
 public:
  QueuedSet(const SpreadCase& c, const SpreadSat& spread, std::uint64_t seed)
      : case_(c), spread_(spread), tables_(spread.allocate()) {
    case_.seed = seed;
    image_ = conformance::random_image(c.types.input, c.image, c.fill, seed);
    for (std::size_t i = 0; i < spread.strips().size(); ++i) {
      const SpreadStrip& strip = spread.strips()[i];
      const Execution on{.backend = strip.worker.backend, .device = strip.worker.device};
      owned_.emplace_back(on);
      streams_.push_back(owned_.back());
      host_.emplace_back(strip.pixels, c.types.input, on);
      conformance::write(conformance::part_of(image_, {0, strip.first, c.image.width, strip.pixels.height}),
                         host_.back().view());
      pixels_.emplace_back(strip.pixels, c.types.input, on);
      back_.emplace_back(strip.table, c.types.table, on);
    }
  }
  /// Behind the copy of the pixels, and before that of the table, which then is overwritten as soon as it may be.
  void queue(SpreadSat& spread) {
    std::vector<ConstView> from;
    std::vector<View> to;
    for (std::size_t i = 0; i < owned_.size(); ++i) {
      clear_view(pixels_[i].view(), streams_[i]);
      copy_view(std::as_const(host_[i]).view(), pixels_[i].view(), streams_[i]);
      from.emplace_back(std::as_const(pixels_[i]).view()), to.push_back(tables_[i].view());
    }
    spread.execute(from, to, streams_);
    for (std::size_t i = 0; i < owned_.size(); ++i) {
      copy_view(std::as_const(tables_[i]).view(), back_[i].view(), streams_[i]);
      clear_view(tables_[i].view(), streams_[i]);
    }
  }
  /// Waits: empty, or what is wrong with the last table.
  std::string fault() {
    for (const OwnedStream& stream : owned_) stream.wait();
    Values whole(case_.types.table, spread_.table_shape());
    for (std::size_t i = 0; i < back_.size(); ++i) {
      const Values strip = conformance::values_of(std::as_const(back_[i]).view());
      const auto at = static_cast<std::size_t>(spread_.strips()[i].table_row * whole.shape.width);
      for (std::size_t k = 0; k < strip.integer.size(); ++k) whole.integer[at + k] = strip.integer[k];
      for (std::size_t k = 0; k < strip.real.size(); ++k) whole.real[at + k] = strip.real[k];
    }
    return conformance::difference(expected_of(case_, image_), whole);
  }

 private:
  SpreadCase case_;
  const SpreadSat& spread_;
  Values image_;
  std::vector<OwnedStream> owned_;
  std::vector<Stream> streams_;
  std::vector<DeviceArray> pixels_, tables_;
  std::vector<PinnedArray> host_, back_;
};

/// Runs queued on streams of the caller's on CUDA, one after another; every third time on other streams, with other
/// pixels and tables.
inline std::string fault_of_queued(const SpreadCase& c, int turns) {
  SpreadSat spread(c.image, c.types.input, c.options(), c.spread);
  QueuedSet one(c, spread, c.seed), other(c, spread, c.seed + 1);
  for (int turn = 0; turn < turns; ++turn) (turn % 3 == 1 ? other : one).queue(spread);
  const std::string fault = one.fault(), fault_of_other = other.fault();
  return !fault.empty() ? fault : fault_of_other;
}

/// `count` devices; with several numbers they take turns.
inline std::vector<Worker> workers(Backend backend, std::size_t count, const std::vector<int>& numbers = {0}) {
  std::vector<Worker> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(
        {.backend = backend, .device = numbers[i % numbers.size()], .threads = backend == Backend::cpu ? 1 : 0});
  return all;
}

/// Uneven rows, some of them none or one, for so many strips.
inline std::vector<std::int64_t> random_rows(std::int64_t height, std::size_t strips, std::mt19937_64& random) {
  std::vector<std::int64_t> rows(strips, 0);
  std::int64_t left = height;
  for (std::size_t i = 0; i + 1 < strips; ++i) {
    const std::uint64_t kind = random() % 6;
    std::int64_t take = kind == 0   ? 0
                        : kind == 1 ? 1
                                    : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(left + 1));
    if (kind > 3) take = std::min(take, 2 * height / static_cast<std::int64_t>(strips));
    rows[i] = std::min(take, left);
    left -= rows[i];
  }
  rows.back() = left;
  std::shuffle(rows.begin(), rows.end(), random);
  return rows;
}

inline SpreadCase random_case(TypePair types, Border border, Backend backend, const std::vector<int>& numbers,
                              std::uint64_t seed, std::int64_t most = 90) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  SpreadCase c;
  c.image = {1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most)),
             1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most))};
  c.types = types, c.border = border, c.seed = seed;
  const std::size_t devices = 1 + below(8);
  c.spread.devices = workers(backend, devices, numbers);
  if (below(4) > 0) c.spread.rows = random_rows(c.image.height, devices, random);
  c.spread.band_width =
      static_cast<std::int64_t>(below(5) == 0 ? 0 : 1 + random() % static_cast<std::uint64_t>(c.image.width + 2));
  c.spread.parts = static_cast<int>(below(4));
  c.in = placements[below(std::size(placements))], c.out = placements[below(std::size(placements))];
  const Fill fills[] = {Fill::wild, Fill::exact, Fill::most, Fill::holes};
  c.fill = fills[below(4)];
  return c;
}

}  // namespace areal::spread_cases
