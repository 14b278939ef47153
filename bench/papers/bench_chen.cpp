// areal bench sat --figure chen: Figures 6 to 8 of Chen 2018. Each algorithm, scan-scan and NPP, and the launches.
//
// On an H200, in 15 rounds: scan-scan and NPP, which take longest, about 5 and 20 ms of 20480 x 20480 pixels, all
// others together 10; the sizes have 4 times the pixels of the largest. Seven type pairs, three of them with NPP: about
// 20 s, and as much again for images and checks.

#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/type.hpp>
#include <map>
#include "bench/harness/race.hpp"
#include "bench/papers/figure.hpp"

namespace areal::bench {
namespace {

// The paper's sizes, 1k to 20k; above 8k, where it finds few images, in wider steps.
constexpr std::int64_t sides[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20};
// Its type pairs. 32s32s and 32u32u are the same numbers by bits, and so are 8u32s and 8u32u.
constexpr TypePair pairs_shown[] = {{Type::u8, Type::s32},  {Type::u8, Type::u32},  {Type::u8, Type::f32},
                                    {Type::s32, Type::s32}, {Type::u32, Type::u32}, {Type::f32, Type::f32},
                                    {Type::f64, Type::f64}};
// Figure 8 is of this type pair, up to that many pixels.
constexpr TypePair types_of_launches{Type::f32, Type::f32};
constexpr std::int64_t most_with_launches = 4096 * 4096;

constexpr const char *npp = "npp",
                     *raced[] = {"scan-scan", npp, "scanrow-brlt", "brlt-scanrow", "scanrow-column", "auto"};

/// Why racers did not run, each reason once for all sizes.
class LeftOut {
 public:
  void add(const std::string& racer, const std::string& why, const Size& size) {
    of_[{racer, why}].push_back(text_of(size));
  }
  void print(const TypePair& types, const Report& report) const {
    for (const auto& [what, sizes] : of_)
      report.note(fmt::format("{} of {} did not run at {}{}: {}", what.first, name_of(types), sizes[0],
                              sizes.size() == 1 ? "" : fmt::format(" and {} more", sizes.size() - 1), what.second));
  }

 private:
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> of_;
};

bool has_launches(const TypePair& types, const Size& size) {
  return types == types_of_launches && size.width * size.height <= most_with_launches;
}

/// Returns whether the launches are in the records.
bool run(const TypePair& types, const Size& size, const Options& options, Report& report, LeftOut& left_out) {
  Race contest;
  contest.types = types;
  contest.size = size;
  contest.launches = has_launches(types, size);
  for (const char* const algorithm : raced)
    if (algorithm != npp || options.peers) contest.racers.push_back({algorithm});
  const std::size_t by_default = contest.racers.size() - 1;
  if (contest.launches)
    for (const char* const algorithm : {"scanrow-brlt", "scanrow-column"})
      contest.racers.push_back({algorithm, 0.25, WarpScan::ladner_fischer});
  bool launches = false;
  const auto refused = [&](std::size_t i, const std::string& why) {
    left_out.add(contest.racers[i].algorithm + (i > by_default ? " with ladner-fischer" : ""), why, size);
  };
  const auto ran = [&](std::size_t i, Record record) {
    if (contest.racers[i].algorithm == npp) {  // its table has another geometry and so another floor
      record.border = Border::zero;
      record.floor.clear();
    }
    launches = launches || record.launches.size() == 2;
    report.add(record);
  };
  race(contest, options, {ran, refused});
  return launches;
}

/// The figure has these of its own.
void refuse_what_is_given(const Options& options) {
  const auto refuse = [](const char* option) {
    throw InvalidArgument(std::string(option) +
                          " may not be given with --figure chen, which takes --size, --types and --repetitions");
  };
  if (!options.algorithms.empty()) refuse("--algorithm");
  if (options.squares != Squares::no) refuse("--squares");
  if (!options.bins.empty()) refuse("--bins");
  if (options.border != Border::none) refuse("--border");
  if (options.batch != 1) refuse("--batch");
}

}  // namespace

void bench_chen(const Options& options, Report& report) {
  refuse_what_is_given(options);
  std::vector<Size> sizes = options.sizes;
  if (sizes.empty())
    for (const std::int64_t side : sides) sizes.push_back({side * 1024, side * 1024});
  std::stable_sort(sizes.begin(), sizes.end(),
                   [](const Size& a, const Size& b) { return a.width * a.height < b.width * b.height; });
  std::vector<TypePair> pairs = options.pairs;
  if (pairs.empty()) pairs.assign(std::begin(pairs_shown), std::end(pairs_shown));
  bool launches = false;
  for (const TypePair& types : pairs) {
    LeftOut left_out;
    for (const Size& size : sizes) launches = run(types, size, options, report, left_out) || launches;
    left_out.print(types, report);
  }
  if (!launches)
    report.note("Figure 8 is left out: it needs 32f32f up to 4096x4096, which was not asked for or did not run");
}

}  // namespace areal::bench
