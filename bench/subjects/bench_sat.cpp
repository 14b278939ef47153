// areal bench sat: tables against a plain pass that reads the pixels and writes the table's type, and against other
// libraries.

#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/sat.hpp>
#include <cmath>
#include <random>
#include "bench/harness/bench.hpp"
#include "bench/harness/floors.hpp"
#include "bench/harness/peers.hpp"

namespace areal::bench {
namespace {

double pixel(const Array& image, std::int64_t i) {
  const auto at = [&](auto type) { return static_cast<double>(static_cast<const decltype(type)*>(image.data())[i]); };
  switch (image.type()) {
    case Type::u8:
      return at(std::uint8_t{});
    case Type::s8:
      return at(std::int8_t{});
    case Type::u16:
      return at(std::uint16_t{});
    case Type::s16:
      return at(std::int16_t{});
    case Type::u32:
      return at(std::uint32_t{});
    case Type::s32:
      return at(std::int32_t{});
    case Type::u64:
      return at(std::uint64_t{});
    case Type::s64:
      return at(std::int64_t{});
    case Type::f32:
      return at(float{});
    case Type::f64:
      return at(double{});
    default:
      return to_float(image.as<Half>()[i]);
  }
}

/// Random regions summed directly against the table: throws where one differs. Small ones, so that every sum fits
/// every table; wrapped tables give the same differences.
void check(const Array& image, const Array& table, bool squares, const std::string& name) {
  std::mt19937_64 random(7);
  const std::int64_t width = image.shape().width, height = image.shape().height;
  for (int i = 0; i < 100; ++i) {
    const auto below = [&](std::int64_t n) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    };
    Region region{below(width), below(height), 0, 0};
    region.width = 1 + below(std::min<std::int64_t>(64, width - region.x));
    region.height = 1 + below(std::min<std::int64_t>(64, height - region.y));
    double direct = 0;
    for (std::int64_t y = region.y; y < region.y + region.height; ++y)
      for (std::int64_t x = region.x; x < region.x + region.width; ++x) {
        const double value = pixel(image, y * width + x);
        direct += squares ? value * value : value;
      }
    const bool wraps = !is_float(table.type()) && size_of(table.type()) == size_of(image.type());
    if (wraps) direct = 0;  // sums may wrap; the tests cover these types
    const double answer = wraps ? 0 : region_sum({table.view(), Border::zero}, region);
    // Four entries of up to the whole sum, each rounded at most a few thousand times.
    const double whole = static_cast<double>(width) * static_cast<double>(height);
    const double slack = table.type() == Type::f32 ? whole * 0x1p-24 * 64 * (image.type() == Type::u8 ? 255 : 1)
                         : is_float(table.type())  ? whole * 0x1p-53 * 1024 * (squares ? 65025 : 255)
                                                   : 0;
    if (std::abs(answer - direct) > slack)
      throw Error(fmt::format("{}: region {},{},{},{} sums to {}, but its table gives {}", name, region.x, region.y,
                              region.width, region.height, direct, answer));
  }
}

struct Case {
  TypePair types;
  Squares squares = Squares::no;
};

void run(const Size& size, const Case& what, const Options& options, CvIntegral opencv, Report& report) {
  const std::int64_t pixels = size.width * size.height;
  const Array image = random_image(size, what.types.input);
  const Shape table_shape{size.width + 1, size.height + 1};
  const std::optional<Type> type_of_squares = squares_type(what.types, what.squares);
  Array table(table_shape, what.types.table), squares;
  if (type_of_squares) squares = Array(table_shape, *type_of_squares);
  const std::uint64_t bytes = image.bytes() + table.bytes() + squares.bytes();

  Record record{"sat", "", name_of(what.types, type_of_squares), size.width, size.height};
  record.floor = !type_of_squares && size_of(what.types.input) == size_of(what.types.table) ? "copy" : "widen";
  record.bytes = bytes;
  for (const int threads : options.threads) {
    struct Prepared {
      SatPlan plan;
      Workspace workspace;
    };
    std::vector<Prepared> prepared;
    std::vector<Contestant> contestants;
    contestants.push_back({"floor", [&] {
                             if (type_of_squares)
                               widen_twice(image.data(), table.data(), squares.data(), pixels, what.types,
                                           *type_of_squares, threads);
                             else
                               widen(image.data(), table.data(), pixels, what.types, threads);
                           }});
    for (const std::string& id : options.algorithms.empty() ? std::vector<std::string>{"auto"} : options.algorithms) {
      const SatPlan plan({size.width, size.height}, what.types.input,
                         {.types = what.types, .algorithm = id, .squares = what.squares},
                         {.backend = Backend::cpu, .threads = threads});
      prepared.push_back({plan, Workspace(plan)});
    }
    for (Prepared& p : prepared)
      contestants.push_back(
          {p.plan.algorithm(), [&image, &table, &squares, prepared_plan = &p] {
             prepared_plan->plan.execute({image.view(), table.view(), {}, squares.view()}, prepared_plan->workspace);
           }});
    // cv::integral computes squares only in 64f.
    const bool cv = opencv != nullptr && (!type_of_squares || *type_of_squares == Type::f64) &&
                    opencv(image.data(), static_cast<int>(what.types.input), size.width, size.height, table.data(),
                           static_cast<int>(what.types.table), squares.data(), nullptr, threads);
    if (cv)
      contestants.push_back({"opencv " + opencv_version() + " cv::integral", [&] {
                               opencv(image.data(), static_cast<int>(what.types.input), size.width, size.height,
                                      table.data(), static_cast<int>(what.types.table), squares.data(), nullptr,
                                      threads);
                             }});
    const std::vector<Times> times = measure(contestants, options.repetitions);
    record.threads = threads;
    record.floor_time = times[0];
    for (std::size_t i = 1; i < contestants.size(); ++i) {
      // Check the table of the timed run.
      std::fill_n(static_cast<unsigned char*>(table.data()), table.bytes(), static_cast<unsigned char>(0xa5));
      contestants[i].run();
      check(image, table, false, contestants[i].name);
      if (type_of_squares) check(image, squares, true, contestants[i].name + " squares");
      record.algorithm = contestants[i].name;
      record.time = times[i];
      report.add(record);
    }
  }
}

}  // namespace

void bench_sat(const Options& options, Report& report) {
  std::vector<Size> sizes = options.sizes;
  if (sizes.empty()) sizes = {{1920, 1080}, {4096, 4096}, {8192, 8192}};
  std::vector<Case> cases;
  std::vector<TypePair> pairs = options.pairs;
  if (pairs.empty() && options.squares != Squares::no) pairs = {{Type::u8, Type::u32}};
  for (const TypePair& types : pairs) cases.push_back({types, options.squares});
  const TypePair words{Type::u8, Type::s32};
  if (cases.empty())
    cases = {
        {words}, {words, Squares::f64}, {{Type::f32, Type::f64}}, {{Type::u8, Type::u32}}, {{Type::f64, Type::f64}}};
  std::string missing;
  const CvIntegral opencv = options.peers ? find_opencv(missing) : nullptr;
  if (!missing.empty()) report.note(missing);
  for (const Size& size : sizes) {
    for (const Case& what : cases) run(size, what, options, opencv, report);
    if (!options.peers) continue;
    std::string no_python;
    for (const PythonPeer& peer : time_python(size.width, size.height, options.repetitions, no_python)) {
      Record record{"sat", peer.name + " " + peer.version, "8u", size.width, size.height};
      record.time = peer.times, record.areal = peer.areal;
      if (peer.floor.rounds != 0) record.floor = "widen", record.floor_time = peer.floor;
      report.add(record);
    }
    if (!no_python.empty()) report.note(no_python);
  }
}

}  // namespace areal::bench
