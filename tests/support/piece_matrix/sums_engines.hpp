#pragma once
// The engines that answer sums, squares, means and deviations of regions of an image in parts.

#include <areal/sat.hpp>
#include <areal/strips.hpp>
#include "piece_matrix/judge.hpp"
#include "piece_matrix/spread.hpp"
#include "piece_matrix/sums_question.hpp"

namespace areal::piece_matrix {

struct SumsWay {
  const char* name;
  Sums (*compute)(const SumsQuestion&, const SumsInputs&);
  bool from_table;  ///< a NaN spoils what lies right of it and below, as in a table
};
struct SumsEngine {
  const char* name;
  std::vector<SumsWay> ways;
};

/// From the tables of the whole image.
inline Sums whole_sums(const SumsQuestion& q, const SumsInputs& in) {
  SatOptions options;
  options.squares = q.needs_squares() ? Squares::automatic : Squares::no;
  options.mask = q.mask, options.ignore_nan = q.ignore_nan, options.reverse = q.reverse;
  const SatTable table = sat(in.image_view(), options, {.backend = Backend::cpu}, in.mask_view());
  SatView view(TableView(table.sum(), Border::zero));
  if (q.needs_squares()) view.squares = TableView(table.squares(), Border::zero);
  if (q.mask || q.ignore_nan) view.count = TableView(table.count(), Border::zero);
  const SatView squares(TableView(table.squares(), Border::zero));
  const QueryOptions how{.outside = q.outside()};
  Sums sums;
  if (q.stat == Stat::mean) {
    sums.reals = region_means(view, in.regions, how);
  } else if (q.stat == Stat::deviation) {
    sums.reals = region_standard_deviations(view, in.regions, how);
  } else {
    const SatView& of = q.stat == Stat::squares ? squares : view;
    if (!q.in_integers()) {
      sums.reals = region_sums(of, in.regions, how);
    } else if (q.stat == Stat::sum && is_signed_integer(q.type)) {
      for (const std::int64_t sum : region_sums<std::int64_t>(of, in.regions, how))
        sums.integers.push_back(static_cast<std::uint64_t>(sum));
    } else {
      sums.integers = region_sums<std::uint64_t>(of, in.regions, how);
    }
  }
  return sums;
}

/// Sums of an engine whose `get` gives them as 64 bits of the pixels' sign or as double.
template <class Get>
Sums sums_of(const SumsQuestion& q, bool is_signed, const Get& get) {
  Sums sums;
  if (!q.in_integers()) {
    sums.reals = get(double());
  } else if (is_signed) {
    for (const std::int64_t sum : get(std::int64_t())) sums.integers.push_back(static_cast<std::uint64_t>(sum));
  } else {
    sums.integers = get(std::uint64_t());
  }
  return sums;
}

template <Way way>
Sums strip_sums(const SumsQuestion& q, const SumsInputs& in) {
  refuse_if(q.mask, "StripSums has no mask");
  refuse_if(q.ignore_nan, "StripSums has no ignore_nan");
  refuse_if(q.reverse, "StripSums has no reverse");
  Watch watch;
  PieceOptions how{.workers = {{.threads = 2}}, .height = q.cut.height, .outside = q.outside()};
  if (way == Way::tiles) how.height += 2, how.pushed_width = q.cut.width, how.pushed_height = q.cut.height;
  if (q.progress) how.progress = watch.callback();
  StripSums strips(q.image, q.type, in.regions, {.squares = q.needs_squares()}, how);
  running([&] {
    if (way == Way::run) return strips.run(reader_of(in.image_view()));
    strips.begin();
    for (const Part& p : parts_of(q.image, way == Way::tiles ? q.cut.width : q.image.width, q.cut.height))
      strips.push(p.x, p.y, part(in.image_view(), p.x, p.y, p.width, p.height));
    strips.finish();
  });
  watch.expect_end();
  switch (q.stat) {
    case Stat::mean:
      return {{}, strips.means()};
    case Stat::deviation:
      return {{}, strips.standard_deviations()};
    case Stat::squares:
      return sums_of(q, false, [&](auto type) { return strips.squares<decltype(type)>(); });
    default:
      return sums_of(q, is_signed_integer(q.type), [&](auto type) { return strips.sums<decltype(type)>(); });
  }
}

inline Sums spread_sums(const SumsQuestion& q, const SumsInputs& in) {
  refuse_if(q.stat != Stat::sum, "SpreadSat answers sums alone");
  refuse_if(q.clip, "SpreadSat clips no regions");
  SatOptions options;
  options.mask = q.mask, options.ignore_nan = q.ignore_nan, options.reverse = q.reverse;
  if (q.progress) options.progress = Watch().callback();
  Spread spread(q.image, q.type, options, q.cut, Backend::cpu, in.image_view(), in.mask_view());
  spread.execute();
  return sums_of(q, is_signed_integer(q.type),
                 [&](auto type) { return spread.sat().region_sums<decltype(type)>(spread.tables(), in.regions); });
}

inline const std::vector<SumsEngine>& sums_engines() {
  static const std::vector<SumsEngine> engines = {
      {"StripSums",
       {{"StripSums::run", strip_sums<Way::run>, false},
        {"StripSums::push rows", strip_sums<Way::rows>, false},
        {"StripSums::push tiles", strip_sums<Way::tiles>, false}}},
      {"SpreadSat::region_sums", {{"SpreadSat::region_sums", spread_sums, true}}},
  };
  return engines;
}

/// Empty, or what is wrong with the sums of a question.
inline std::string fault(const SumsWay& way, const SumsQuestion& q, Refused& refused) {
  const SumsInputs in(q);
  const auto whole = outcome_of([&] { return whole_sums(q, in); });
  if (whole.answer)
    if (const std::string wrong = fault_in(q, in, *whole.answer, true); !wrong.empty())
      return "of the whole image " + wrong;
  const auto got = outcome_of([&] { return way.compute(q, in); });
  return judge(way.name, q.named, whole, got, refused, [&](const Sums& sums) -> std::string {
    if (in.pixels.changed() || (in.mask && in.valid.changed())) return "writes into its input";
    const std::string wrong = fault_in(q, in, sums, way.from_table);
    return wrong.empty() && sums.integers != whole.answer->integers ? "other sums than of the whole image" : wrong;
  });
}

}  // namespace areal::piece_matrix
