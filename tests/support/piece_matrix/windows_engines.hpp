#pragma once
// The engines that compute dense windows of images in parts.

#include <areal/sat.hpp>
#include <areal/strips.hpp>
#include "piece_matrix/judge.hpp"
#include "piece_matrix/windows_question.hpp"

namespace areal::piece_matrix {

struct WindowsWay {
  const char* name;
  Values (*compute)(const WindowsQuestion&, const WindowsInputs&);
};
struct WindowsEngine {
  const char* name;
  std::vector<WindowsWay> ways;
};

inline Shape answer_shape(const WindowsQuestion& q) {
  Shape shape = window_shape(q.image.width, q.image.height, q.window);
  shape.channels = q.statistic == WindowStatistic::count ? 1 : q.image.channels;
  shape.batch = q.image.batch, shape.layout = q.image.layout;
  return shape;
}

/// From the tables of the whole image, which have neither counts nor pixels.
inline Values whole_windows(const WindowsQuestion& q, const WindowsInputs& in) {
  SatOptions options;
  options.squares = q.has_squares() ? Squares::automatic : Squares::no;
  options.mask = q.mask, options.ignore_nan = q.ignore_nan;
  const SatTable table = sat(in.image_view(), options, {.backend = Backend::cpu}, in.second_view());
  SatView view(TableView(table.sum(), Border::zero));
  if (q.has_squares()) view.squares = TableView(table.squares(), Border::zero);
  if (q.mask || q.ignore_nan) view.count = TableView(table.count(), Border::zero);
  const bool of_sums = q.statistic == WindowStatistic::count || q.statistic == WindowStatistic::pixel;
  Shape shape = answer_shape(q);
  if (of_sums) shape.channels = q.image.channels;
  const Values room(of_sums ? q.output : q.type_of_answer(), shape);
  Buffer out(room, conformance::placements[0]);
  switch (q.statistic) {
    case WindowStatistic::mean:
      window_means(view, q.window, out.view());
      break;
    case WindowStatistic::variance:
      window_variances(view, q.window, out.view());
      break;
    case WindowStatistic::standard_deviation:
      window_standard_deviations(view, q.window, out.view());
      break;
    default:
      window_sums(view, q.window, out.view());
  }
  return conformance::values_of(out.view());
}

template <Way way>
Values strip_windows(const WindowsQuestion& q, const WindowsInputs& in) {
  Watch watch;
  PieceOptions how{.workers = {{.threads = 2}}, .height = q.cut.height};
  if (way == Way::tiles) how.height += 2, how.pushed_width = q.cut.width, how.pushed_height = q.cut.height;
  if (q.progress) how.progress = watch.callback();
  StripWindows strips(q.image, q.type, q.window,
                      {.statistics = {q.statistic}, .output = q.output, .mask = q.mask, .ignore_nan = q.ignore_nan},
                      how);
  Gathered windows(q.type_of_answer(), answer_shape(q));
  const WindowStripSink sink = [&](const WindowStrip& strip) {
    windows.put(strip.values[0], 0, strip.y);
    return true;
  };
  if (way == Way::run) {
    std::int64_t rows = 0;
    const ImageReader image = reader_of(in.image_view());
    const ImageReader once = [&](std::int64_t x, std::int64_t y, const View& block) {
      if (q.window.edge != Edge::wrap && y != rows) throw Broken("a row is not read once, from the top down");
      rows += block.shape.height;
      return image(x, y, block);
    };
    running([&] { strips.run(once, sink, q.mask ? reader_of(in.second_view()) : ImageReader()); });
  } else {
    strips.begin(sink);
    running([&] {
      for (const Part& p : parts_of(q.image, way == Way::tiles ? q.cut.width : q.image.width, q.cut.height))
        if (!strips.push(p.x, p.y, part(in.image_view(), p.x, p.y, p.width, p.height),
                         q.mask ? part(in.second_view(), p.x, p.y, p.width, p.height) : ConstView()))
          throw Broken("push says that the sink has ended the run");
      strips.finish();
    });
  }
  watch.expect_end();
  return windows.values();
}

inline const std::vector<WindowsEngine>& windows_engines() {
  static const std::vector<WindowsEngine> engines = {
      {"StripWindows",
       {{"StripWindows::run", strip_windows<Way::run>},
        {"StripWindows::push rows", strip_windows<Way::rows>},
        {"StripWindows::push tiles", strip_windows<Way::tiles>}}},
  };
  return engines;
}

/// Empty, or what is wrong with the windows of a question.
inline std::string fault(const WindowsWay& way, const WindowsQuestion& q, Refused& refused) {
  const WindowsInputs in(q);
  const auto whole = outcome_of([&] { return whole_windows(q, in); });
  const auto got = outcome_of([&] { return way.compute(q, in); });
  return judge(way.name, q.named, whole, got, refused, [&](const Values& windows) -> std::string {
    if (in.changed()) return "writes into its input";
    const std::string wrong = fault_in(q, in, windows);
    const bool of_tables = q.statistic != WindowStatistic::count && q.statistic != WindowStatistic::pixel;
    if (!wrong.empty() || !of_tables || !q.is_exact()) return wrong;
    for (std::size_t i = 0; i < windows.size(); ++i) {  // NaN is what no pixel gives
      const long double is = windows.number(i), of_whole = whole.answer->number(i);
      if (is != of_whole && !(std::isnan(is) && std::isnan(of_whole))) return "other windows than of the whole image";
    }
    return {};
  });
}

}  // namespace areal::piece_matrix
