// areal bench sat --table kasagi: Table II of Kasagi 2014 again. Its algorithms and areal's default in turns on the
// GPU; (1+r)R1W with the best of some 15 shares, whose times are kept, too; and the two sequential ones on a thread of
// the CPU.
//
// By default, on an H200 and one core, some 100 s: 20 for the search, 25 for 4R1W (2
// sqrt(n) - 1 launches, strided), 20 for the other rows of the GPU, and 35 for the CPU, up to 18K.

#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/research/sat.hpp>
#include <set>
#include <utility>
#include "bench/harness/bench.hpp"
#include "bench/harness/race.hpp"
#include "bench/papers/figure.hpp"
#include "io/pixels.hpp"
#include "io/progress.hpp"

namespace areal::bench {
namespace {

/// What records are of: a cell of the table, or a point of the curve over r that its best r comes from.
constexpr const char *kasagi_cell = "kasagi", *kasagi_curve = "kasagi-r";
/// The paper's rows with nothing to choose: on a GPU, and on the CPU.
constexpr const char *gpu_rows[] = {"2r2w", "4r4w", "4r1w", "2r1w", "1r1w"}, *cpu_rows[] = {"2r2w-cpu", "4r1w-cpu"};

constexpr std::int64_t kilo = 1024, most_on_cpu = 18 * kilo * 18 * kilo;  // the paper's largest

/// "4K", or "WxH".
std::string kasagi_size(const Size& size) {
  return size.width == size.height && size.width % kilo == 0 ? fmt::format("{}K", size.width / kilo) : text_of(size);
}

std::vector<Size> sizes_of(const Options& options) {
  if (!options.sizes.empty()) return options.sizes;
  std::vector<Size> sizes;
  for (const std::int64_t side : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20, 24, 32, 48, 64})
    sizes.push_back({side * kilo, side * kilo});
  return sizes;
}

void check(const Options& options) {
  const auto refuse = [](const char* option) {
    throw InvalidArgument(
        fmt::format("{} may not be given with --table kasagi, which takes --size and --types", option));
  };
  if (!options.algorithms.empty()) refuse("--algorithm");
  if (!options.bins.empty()) refuse("--bins");
  if (options.batch != 1) refuse("--batch");
  if (options.squares != Squares::no) refuse("--squares");
  if (options.border != Border::none) refuse("--border");
}

/// Measures, a size after another, and keeps the records.
class Kasagi {
 public:
  Kasagi(const Options& options, Report& report) : options_(options), report_(report) {}

  void run(TypePair types, const Size& size) {
    const std::vector<double> shares = best_shares(types, size);
    Race table{types, size, 0, 1, {}, false};
    for (const char* const id : gpu_rows) table.racers.push_back({id});
    for (const double share : shares) table.racers.push_back({"hybrid-1r1w", share});
    table.racers.push_back({"auto"});
    Options rounds = options_;
    if (is_large(size)) rounds.repetitions = std::min(rounds.repetitions, 7);
    run(table, rounds, kasagi_cell);
    if (size.width * size.height <= most_on_cpu)
      on_cpu(types, size);
    else if (said_.insert("cpu").second)
      report_.note("the CPU's rows end at 18K, as the paper's do");
  }

 private:
  static bool is_large(const Size& size) { return size.width * size.height > 20 * kilo * 20 * kilo; }

  /// A racer's share, and its median if it ran.
  struct Share {
    double r, time;
  };
  std::vector<Share> run(const Race& what, const Options& options, const char* shown) {
    std::vector<Share> shares;
    const auto ran = [&](std::size_t i, Record record) {
      record.shown = shown;
      report_.add(record);
      shares.push_back({what.racers[i].r, record.time.median});
    };
    const auto refused = [&](std::size_t i, const std::string& why) {
      note(fmt::format("{} of {} {} did not run: {}", what.racers[i].algorithm, name_of(what.types),
                       kasagi_size(what.size), why));
    };
    race(what, options, {ran, refused});
    return shares;
  }

  /// 1/4, rounded to tiles, and the two fastest shares of a search over all sides of the triangles, then between the
  /// neighbours of the best.
  std::vector<double> best_shares(TypePair types, const Size& size) {
    const Shape shape{size.width, size.height};
    Options fewer = options_;
    fewer.repetitions = std::min(options_.repetitions, is_large(size) ? 3 : 5);
    std::vector<Share> tried;
    const auto attempt = [&](const std::vector<double>& shares) {
      Race search{types, size, 0, 1, {}, false};
      for (const double share : shares) search.racers.push_back({"hybrid-1r1w", share});
      if (search.racers.empty()) return;
      for (const Share& share : run(search, fewer, kasagi_curve)) tried.push_back(share);
      std::sort(tried.begin(), tried.end(), [](const Share& a, const Share& b) { return a.time < b.time; });
    };
    const std::vector<double> coarse = research::hybrid_shares(shape, Border::none, 10);
    if (coarse.empty())
      note("hybrid-1r1w of " + kasagi_size(size) +
           " is left out: its triangles need two rows and two columns of tiles");
    attempt(coarse);
    if (tried.empty()) return {};
    const auto at = std::find(coarse.begin(), coarse.end(), tried[0].r);
    std::vector<double> fine = research::hybrid_shares(shape, Border::none, 7, at == coarse.begin() ? 0 : at[-1],
                                                       at + 1 == coarse.end() ? 1 : at[1]);
    std::erase_if(fine, [&](double r) { return std::find(coarse.begin(), coarse.end(), r) != coarse.end(); });
    attempt(fine);

    std::vector<double> shares{research::hybrid_share(shape, 0.25, Border::none)};
    for (std::size_t i = 0; i < std::min<std::size_t>(2, tried.size()); ++i)
      if (std::find(shares.begin(), shares.end(), tried[i].r) == shares.end()) shares.push_back(tried[i].r);
    return shares;
  }

  /// The two sequential algorithms. Few pixels are 1, the others 0, so that every table holds the sums exactly.
  void on_cpu(TypePair types, const Size& size) {
    const Shape shape{size.width, size.height};
    try {
      Array image(shape, types.input), table(shape, types.table);
      const std::uint64_t few =
          (std::uint64_t{1} << 32) / (static_cast<std::uint64_t>(size.width * size.height) / (1 << 22) + 2);
      const auto pixel = [&](std::int64_t x, std::int64_t y) {
        const auto i = static_cast<std::uint64_t>(y * size.width + x) * 0x9e3779b97f4a7c15U;
        return i >> 32 < few ? 1.0 : 0.0;
      };
      std::vector<double> row(static_cast<std::size_t>(size.width));
      for (std::int64_t y = 0; y < size.height; ++y) {
        for (std::int64_t x = 0; x < size.width; ++x) row[static_cast<std::size_t>(x)] = pixel(x, y);
        command::store_row(image.view(), y, 0, 0, row);
      }
      for (const char* const id : cpu_rows) {
        const SatPlan plan(shape, types.input, {.border = Border::none, .types = types, .algorithm = id},
                           {.backend = Backend::cpu, .threads = 1});
        Workspace workspace(plan);
        Record record{"sat", id, name_of(types), size.width, size.height};
        const int most = size.width * size.height > 8 * kilo * 8 * kilo ? 1 : 3;
        record.time = measure({{id,
                                [&] {
                                  plan.execute({std::as_const(image).view(), table.view()}, workspace);
                                }}},
                              std::min(options_.repetitions, most))[0];
        record.bytes = image.bytes() + table.bytes();
        record.border = Border::none;
        record.shown = kasagi_cell;
        check_table(table, pixel, id);
        report_.add(record);
      }
    } catch (const OutOfMemory& e) {
      note("the CPU's rows of " + kasagi_size(size) + " are left out: " + e.what());
    }
  }

  /// Every entry's difference from its three neighbours is the pixel.
  template <class Pixel>
  static void check_table(const Array& table, const Pixel& pixel, const char* name) {
    const auto width = static_cast<std::size_t>(table.shape().width);
    std::vector<double> above(width, 0), here(width);
    for (std::int64_t y = 0; y < table.shape().height; ++y) {
      command::load_row(table.view(), y, 0, 0, here);
      double row = 0;
      for (std::size_t x = 0; x < width; ++x) {
        row += pixel(static_cast<std::int64_t>(x), y);
        if (here[x] - above[x] != row)
          throw Error(
              fmt::format("{}: the table of {}x{} is wrong at {}, {}", name, width, table.shape().height, x, y));
      }
      std::swap(above, here);
    }
  }

  /// Each reason once: all shares of a search are refused for the same one.
  void note(const std::string& words) {
    if (said_.insert(words).second) report_.note(words);
  }

  const Options& options_;
  Report& report_;
  std::set<std::string> said_;
};

}  // namespace

void bench_kasagi(const Options& options, Report& report) {
  check(options);
  const std::vector<TypePair> pairs =
      options.pairs.empty() ? std::vector<TypePair>{{Type::f64, Type::f64}} : options.pairs;
  const std::vector<Size> sizes = sizes_of(options);
  Kasagi kasagi(options, report);
  command::ProgressBar bar("sizes", static_cast<std::int64_t>(pairs.size() * sizes.size()), report.quiet());
  std::int64_t done = 0;
  for (const TypePair& types : pairs)
    for (const Size& size : sizes) {
      kasagi.run(types, size);
      bar.update(++done);
    }
}

}  // namespace areal::bench
