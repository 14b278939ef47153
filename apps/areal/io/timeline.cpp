#include "io/timeline.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include "media/media.hpp"

namespace areal::command {
namespace {

// Okabe and Ito's palette for colour-blind readers.
constexpr std::array<const char*, 5> colours{"#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#0072b2"};

std::string json_of(const SequenceReport& report) {
  nlohmann::ordered_json stages = nlohmann::ordered_json::array();
  for (const StageTime& time : report.timeline) {
    nlohmann::ordered_json one{{"stage", name_of(time.stage)}, {"stream", time.stream}, {"frame", time.number}};
    if (time.worker >= 0) {
      one["worker"] = report.workers[static_cast<std::size_t>(time.worker)].name;
      one["lane"] = time.lane;
    }
    one["begin"] = time.begin;
    one["end"] = time.end;
    stages.push_back(std::move(one));
  }
  return stages.dump(1) + "\n";
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

/// The distance of ticks, 1, 2 or 5 times a power of ten, for at most ten ticks.
double step_of(double seconds) {
  double step = 1e-6;
  for (int i = 0; seconds / step > 10; ++i) step *= i % 3 == 1 ? 2.5 : 2;
  return step;
}

constexpr int picture_width = 1000, left = 110, row_height = 26;

/// Draws a timeline below `at_height` and moves `at_height` below the timeline.
std::string svg_of(const Timeline& of, int& at_height) {
  const int rows = static_cast<int>(of.rows.size()), top = at_height + 50, bottom = top + rows * row_height;
  const double seconds = std::max(of.seconds, 1e-9), scale = (picture_width - left - 20) / seconds;
  const auto x_of = [&](double at) { return left + at * scale; };
  std::string svg =
      fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"14\">{}</text>\n", left, at_height + 18, escaped(of.heading));
  int at = left;
  for (std::size_t stage = 0; stage < of.stages.size(); ++stage) {
    const auto shown = [&](const Timeline::Bar& bar) { return bar.stage == static_cast<int>(stage); };
    if (std::none_of(of.bars.begin(), of.bars.end(), shown)) continue;
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"11\" height=\"11\" fill=\"{}\"/><text x=\"{}\" y=\"{}\">{}</text>\n", at,
        at_height + 27, colours.at(stage), at + 15, at_height + 37, of.stages[stage]);
    at += 40 + 8 * static_cast<int>(of.stages[stage].size());
  }
  for (int row = 0; row < rows; ++row)
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", left - 8, top + row * row_height + 17,
                       escaped(of.rows[static_cast<std::size_t>(row)]));
  const double step = step_of(seconds);
  for (int i = 0; i * step <= seconds; ++i) {
    const double x = x_of(i * step);
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#ddd\"/><text x=\"{0:.1f}\" y=\"{3}\" "
        "text-anchor=\"middle\">{4:.4g}</text>\n",
        x, top, bottom, bottom + 16, i * step * (seconds < 1 ? 1e3 : 1));
  }
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (left + picture_width) / 2,
                     bottom + 34, seconds < 1 ? "milliseconds" : "seconds");
  for (const Timeline::Bar& bar : of.bars)
    svg += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"><title>{}: {:.3f} "
        "ms</title></rect>\n",
        x_of(bar.begin), top + bar.row * row_height + 4, std::max(0.4, (bar.end - bar.begin) * scale), row_height - 8,
        colours.at(static_cast<std::size_t>(bar.stage)), escaped(bar.title), (bar.end - bar.begin) * 1e3);
  at_height = bottom + 40;
  return svg;
}

Timeline timeline_of(const SequenceReport& report) {
  Timeline of;
  of.heading = fmt::format("{} frames in {:.4g} s", report.answered, report.seconds);
  of.seconds = report.seconds;
  for (std::size_t stage = 0; stage < colours.size(); ++stage)
    of.stages.emplace_back(name_of(static_cast<StageTime::Stage>(stage)));
  std::map<std::pair<int, int>, int> lanes;  // (worker, lane) to row
  for (const StageTime& time : report.timeline)
    if (time.worker >= 0) lanes.emplace(std::pair(time.worker, time.lane), 0);
  of.rows.emplace_back("source");
  for (auto& [lane, row] : lanes) {
    row = static_cast<int>(of.rows.size());
    of.rows.push_back(fmt::format("{}, {}", report.workers[static_cast<std::size_t>(lane.first)].name, lane.second));
  }
  of.rows.emplace_back("sink");
  for (const StageTime& time : report.timeline) {
    int row = time.stage == StageTime::sink ? static_cast<int>(of.rows.size()) - 1 : 0;
    if (time.worker >= 0) row = lanes.at({time.worker, time.lane});
    of.bars.push_back({row, time.stage,
                       fmt::format("{}, frame {}{}", name_of(time.stage), time.number,
                                   time.stream > 0 ? fmt::format(" of stream {}", time.stream) : ""),
                       time.begin, time.end});
  }
  return of;
}

}  // namespace

std::string timeline_svg(std::span<const Timeline> all) {
  std::string body;
  int height = 0;
  for (const Timeline& one : all) body += svg_of(one, height);
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" font-family=\"DejaVu Sans, "
             "sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
             picture_width, height) +
         body + "</svg>\n";
}

void write_timeline(const std::string& path, const SequenceReport& report) {
  const Timeline of = timeline_of(report);
  const std::string text = path.ends_with(".json") ? json_of(report) : timeline_svg({&of, 1});
  media::OutputFile file(path, text.size());
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace areal::command
