#pragma once
// The engines that filter images in parts.

#include <areal/strips.hpp>
#include <cmath>
#include "piece_matrix/filters_question.hpp"
#include "piece_matrix/judge.hpp"

namespace areal::piece_matrix {

struct FiltersWay {
  const char* name;
  Values (*compute)(const FiltersQuestion&, const FiltersInputs&);
};
struct FiltersEngine {
  const char* name;
  std::vector<FiltersWay> ways;
};

inline Values whole_filter(const FiltersQuestion& q, const FiltersInputs& in) {
  const FilterPlan plan(q.image, q.type, q.out(), q.filter, q.options, {.backend = Backend::cpu, .threads = 1});
  const Values room(q.out(), plan.out_shape());
  Buffer out(room, conformance::placements[0]);
  Workspace workspace(plan);
  FilterArguments arguments{in.image_view(), out.view()};
  (q.options.guide > 0 ? arguments.guide : arguments.mask) = in.second_view();
  plan.execute(arguments, workspace);
  return conformance::values_of(out.view());
}

template <Way way>
Values strip_filter(const FiltersQuestion& q, const FiltersInputs& in) {
  Watch watch;
  PieceOptions how{.workers = {{.threads = q.threads}}, .height = q.cut.height};
  if (way == Way::tiles) how.height += 2, how.pushed_width = q.cut.width, how.pushed_height = q.cut.height;
  if (q.progress) how.progress = watch.callback();
  StripFilter strips(q.image, q.type, q.out(), q.filter, q.options, how);
  Gathered rows(q.out(), strips.output_shape());
  const WindowStripSink sink = [&](const WindowStrip& strip) {
    rows.put(strip.values[0], 0, strip.y);
    return true;
  };
  if (way == Way::run) {
    std::int64_t read = 0;
    const ImageReader image = reader_of(in.image_view());
    const ImageReader once = [&](std::int64_t x, std::int64_t y, const View& block) {
      if (q.options.window.edge != Edge::wrap && y != read) throw Broken("a row is not read once, from the top down");
      read += block.shape.height;
      return image(x, y, block);
    };
    running([&] { strips.run(once, sink, in.second ? reader_of(in.second_view()) : ImageReader()); });
  } else {
    strips.begin(sink);
    running([&] {
      for (const Part& p : parts_of(q.image, way == Way::tiles ? q.cut.width : q.image.width, q.cut.height))
        if (!strips.push(p.x, p.y, part(in.image_view(), p.x, p.y, p.width, p.height),
                         in.second ? part(in.second_view(), p.x, p.y, p.width, p.height) : ConstView()))
          throw Broken("push says that the sink has ended the run");
      strips.finish();
    });
  }
  watch.expect_end();
  return rows.values();
}

inline const std::vector<FiltersEngine>& filters_engines() {
  static const std::vector<FiltersEngine> engines = {
      {"StripFilter",
       {{"StripFilter::run", strip_filter<Way::run>},
        {"StripFilter::push rows", strip_filter<Way::rows>},
        {"StripFilter::push tiles", strip_filter<Way::tiles>}}},
  };
  return engines;
}

/// Empty, or what is wrong with the filter of a question: no bit differs from the whole image's, NaN apart.
inline std::string fault(const FiltersWay& way, const FiltersQuestion& q, Refused& refused) {
  const FiltersInputs in(q);
  const auto whole = outcome_of([&] { return whole_filter(q, in); });
  const auto got = outcome_of([&] { return way.compute(q, in); });
  return judge(way.name, q.named, whole, got, refused, [&](const Values& rows) -> std::string {
    if (in.changed()) return "writes into its input";
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const long double is = rows.number(i), right = whole.answer->number(i);
      const bool same = std::isnan(right) ? std::isnan(is) : is == right && std::signbit(is) == std::signbit(right);
      if (!same)
        return "element (" + conformance::place_of(rows.shape, i) + ") is " + std::to_string(is) + ", of the whole " +
               std::to_string(right);
    }
    return {};
  });
}

}  // namespace areal::piece_matrix
