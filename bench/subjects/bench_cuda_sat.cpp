// areal bench sat --backend cuda: tables on a GPU against the least traffic into the same geometry, in a plug-in, and
// against other libraries on that GPU and on the CPU.
#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/sat.hpp>
#include <cmath>
#include <cstring>
#include <set>
#include "bench/harness/bench.hpp"
#include "bench/harness/peers.hpp"

namespace areal::bench {
namespace {

/// The CPU's tables of that image, which share no code with a GPU's.
SatTable expected_tables(const ConstView& image, TypePair types, Border border, Squares squares) {
  return sat(image, {.border = border, .types = types, .squares = squares}, {.backend = Backend::cpu});
}
Squares squares_of(std::optional<Type> type) {
  if (!type) return Squares::no;
  return *type == Type::u32   ? Squares::u32
         : *type == Type::u64 ? Squares::u64
         : *type == Type::f32 ? Squares::f32
                              : Squares::f64;
}
std::size_t entries_of(const ConstView& table) { return bytes_of(table.shape, table.type) / size_of(table.type); }

template <class T>
void compare(const void* got, const void* expected, std::size_t entries, double slack, const std::string& name) {
  const auto* const a = static_cast<const T*>(got);
  const auto* const b = static_cast<const T*>(expected);
  for (std::size_t i = 0; i < entries; ++i)
    if (!(std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])) <=
          slack * (std::abs(static_cast<double>(b[i])) + 1)))
      throw Error(fmt::format("{}: entry {} is {}, the CPU's is {}", name, i, a[i], b[i]));
}

/// Entries from `first` on: the same bits for integers, within rounding for floats in [0, 1) or of whole numbers.
/// Throws where one differs. `chain`: how many additions one after another an entry may have gone through.
void check(const void* got, const ConstView& expected, std::size_t first, double chain, const std::string& name) {
  const std::size_t entries = entries_of(expected) - first;
  const auto* const there = static_cast<const char*>(expected.data) + first * size_of(expected.type);
  if (expected.type == Type::f32)
    compare<float>(got, there, entries, std::max(1e-4, chain * 0x1p-24), name);
  else if (expected.type == Type::f64)
    compare<double>(got, there, entries, std::max(1e-12, chain * 0x1p-53), name);
  else if (std::memcmp(got, there, entries * size_of(expected.type)) != 0)
    throw Error(name + ": the table differs from the CPU's");
}

/// What is timed: one shape, one type pair.
struct Case {
  Size size;
  TypePair types;
  Squares squares_request = Squares::no;
  std::optional<Type> squares = squares_type(types, squares_request);
  std::string name() const { return name_of(types, squares); }
};

/// cv::integral on the CPU; false where it cannot do that type pair.
bool time_opencv(const Case& what, const Array& pixels, Record record, const Options& options, CvIntegral opencv,
                 Report& report) {
  const auto [width, height] = what.size;
  if (what.squares && *what.squares != Type::f64 && *what.squares != Type::u64) return false;
  // 32u is 32s by bits; squares are 64f alone.
  const Type type = what.types.table == Type::u32 ? Type::s32 : what.types.table;
  const SatTable expected =
      expected_tables(pixels.view(), what.types, Border::zero, what.squares ? Squares::f64 : Squares::no);
  Array table(expected.sum().shape, type), squares;
  if (what.squares) squares = Array(table.shape(), Type::f64);
  record.threads = options.threads.back();
  const auto run = [&, w = width, h = height] {
    return opencv(pixels.data(), static_cast<int>(what.types.input), w, h, table.data(), static_cast<int>(type),
                  squares.data(), nullptr, record.threads);
  };
  if (!run()) return false;
  record.algorithm = "opencv " + opencv_version() + " cv::integral";
  record.time = measure({{record.algorithm, [&] { run(); }}}, std::min(options.repetitions, 5))[0];
  const auto chain = static_cast<double>(width + height);
  check(table.data(), expected.sum(), 0, chain, record.algorithm);
  if (what.squares) check(squares.data(), expected.squares(), 0, chain, record.algorithm + " squares");
  record.backend = Backend::cpu;
  record.device.clear();
  record.border = Border::zero;
  record.floor.clear();
  report.add(record);
  return true;
}

void run(const Case& what, const Options& options, CudaBenchSat bench, CvIntegral opencv, Report& report,
         const std::function<void(const std::string&)>& note) {
  const auto [width, height] = what.size;
  const Shape shape{width, height, 1, options.batch};
  const Array pixels = random_image({width, height * options.batch}, what.types.input);
  const ConstView image(pixels.data(), what.types.input, shape);
  const SatTable expected = expected_tables(image, what.types, options.border, what.squares_request);
  Array table(expected.sum().shape, what.types.table), squares;
  if (what.squares) squares = Array(expected.squares().shape, *what.squares);

  Record record{"sat", "", what.name(), width, height};
  record.batch = options.batch;
  record.floor = size_of(what.types.input) == size_of(what.types.table) && !what.squares ? "copy" : "widen";
  record.bytes = pixels.bytes() + table.bytes() + squares.bytes();
  record.backend = Backend::cuda;
  record.device = device_name(options.device);
  record.border = options.border;
  record.threads = 0;
  CudaSat request{what.types,
                  what.squares_request,
                  options.border,
                  width,
                  height,
                  options.batch,
                  pixels.data(),
                  table.data(),
                  squares.data(),
                  options.algorithms.empty() ? std::vector<std::string>{"auto"} : options.algorithms,
                  options.repetitions,
                  options.device,
                  options.peers && options.batch == 1,
                  {},
                  {},
                  {},
                  note};
  request.floor = [&](const std::vector<double>& times) { record.floor_time = times_of(times); };
  request.done = [&](const std::string& id, const std::vector<double>& times) {
    const std::string name = id + " of " + what.name();
    check(table.data(), expected.sum(), 0, 0, name);
    if (what.squares) check(squares.data(), expected.squares(), 0, 0, name + ", squares");
    record.algorithm = id;
    record.time = times_of(times);
    report.add(record);
  };
  request.peer = [&, chain = static_cast<double>(width + height)](const CudaPeer& peer) {
    try {
      const SatTable tables = expected_tables(image, what.types, peer.border, squares_of(peer.squares));
      check(peer.table, tables.sum(), peer.whole ? 0 : entries_of(tables.sum()) - 1, chain, peer.name);
      if (peer.squares) check(peer.squares_table, tables.squares(), 0, chain, peer.name + ", squares");
    } catch (const Error& wrong) {
      note(fmt::format("a peer of {} {}x{} is left out: {}", what.name(), shape.width, shape.height, wrong.what()));
      return;
    }
    Record theirs = record;
    theirs.algorithm = peer.name;
    theirs.border = peer.border;
    theirs.time = times_of(peer.times);
    if (peer.floor.empty())
      theirs.floor.clear();
    else
      theirs.floor_time = times_of(peer.floor);
    report.add(theirs);
  };
  call(bench, request);
  if (request.peers && opencv != nullptr && !time_opencv(what, pixels, record, options, opencv, report))
    note("OpenCV's cv::integral does not take " + what.name());
}

}  // namespace

void bench_cuda_sat(const Options& options, Report& report) {
  const auto bench = cuda_bench<CudaBenchSat>("areal_cuda_bench_sat");
  std::set<std::string> said;
  const auto note = [&](const std::string& words) {
    if (said.insert(words).second) report.note(words);
  };
  std::vector<Size> sizes = options.sizes;
  if (sizes.empty()) sizes = {{1024, 1024}, {2048, 2048}, {4096, 4096}, {8192, 8192}, {16384, 16384}};
  std::vector<TypePair> all = options.pairs;
  if (all.empty() && options.squares == Squares::no)
    for (const char* name : {"32f32f", "8u32u", "32u32u", "64f64f", "8u32f", "16u32u", "32f64f", "8u64f", "8u32s"})
      all.push_back(type_pair(name));
  if (all.empty()) all.push_back({Type::u8, Type::u32});
  const bool peers = options.peers && options.batch == 1;
  if (options.peers && !peers) note("peers are timed with one image, not with a batch");
  std::string missing;
  const CvIntegral opencv = peers ? find_opencv(missing) : nullptr;
  if (!missing.empty()) note(missing);
  std::vector<PythonCase> cases;
  for (const TypePair types : all)
    for (const Size& size : sizes) {
      run({size, types, options.squares}, options, bench, opencv, report, note);
      cases.push_back({name_of(types), size.width, size.height});
    }
  if (!peers || options.squares != Squares::no) return;
  // One process for all cases: importing takes seconds.
  for (const auto& [of, peer] : time_python_gpu(cases, options.repetitions, options.device, note)) {
    Record record{"sat", peer.name + " " + peer.version, of.types, of.width, of.height};
    record.time = peer.times, record.areal = peer.areal;
    record.threads = 0;
    record.backend = Backend::cuda;
    record.device = device_name(options.device);
    record.border = Border::none;
    const TypePair types = type_pair(of.types);
    if (peer.floor.rounds != 0)
      record.floor = types.input == types.table ? "copy" : "widen", record.floor_time = peer.floor;
    record.bytes =
        static_cast<std::uint64_t>(record.width * record.height) * (size_of(types.input) + size_of(types.table));
    report.add(record);
  }
}

}  // namespace areal::bench
