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

// Okabe and Ito's palette, which the colour-blind can tell apart.
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

/// A tick every 1, 2 or 5 times a power of ten: at most ten of them.
double step_of(double seconds) {
  double step = 1e-6;
  for (int i = 0; seconds / step > 10; ++i) step *= i % 3 == 1 ? 2.5 : 2;
  return step;
}

std::string svg_of(const SequenceReport& report) {
  std::map<std::pair<int, int>, int> rows;  // of workers' lanes
  for (const StageTime& time : report.timeline)
    if (time.worker >= 0) rows.emplace(std::pair(time.worker, time.lane), 0);
  int next = 1;
  for (auto& [lane, row] : rows) row = next++;
  const int sink = next, width = 1000, left = 110, row_height = 26, top = 50;
  const int height = top + (sink + 1) * row_height + 40;
  const double seconds = std::max(report.seconds, 1e-9), scale = (width - left - 20) / seconds;
  const auto x_of = [&](double at) { return left + at * scale; };
  const auto row_of = [&](const StageTime& time) {
    if (time.stage == StageTime::read) return 0;
    return time.stage == StageTime::sink ? sink : rows.at({time.worker, time.lane});
  };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" font-family=\"DejaVu Sans, sans-serif\" "
      "font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      width, height);
  svg += fmt::format("<text x=\"{}\" y=\"18\" font-size=\"14\">{} frames in {:.4g} s</text>\n", left, report.answered,
                     report.seconds);
  int at = left;
  for (std::size_t stage = 0; stage < colours.size(); ++stage) {
    if (report.stage_seconds[stage] == 0) continue;
    const std::string_view name = name_of(static_cast<StageTime::Stage>(stage));
    svg += fmt::format(
        "<rect x=\"{}\" y=\"27\" width=\"11\" height=\"11\" fill=\"{}\"/><text x=\"{}\" y=\"37\">{}</text>\n", at,
        colours[stage], at + 15, name);
    at += 40 + 8 * static_cast<int>(name.size());
  }
  const auto label = [&](int row, const std::string& text) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", left - 8, top + row * row_height + 17,
                       escaped(text));
  };
  label(0, "source");
  for (const auto& [lane, row] : rows)
    label(row, fmt::format("{}, {}", report.workers[static_cast<std::size_t>(lane.first)].name, lane.second));
  label(sink, "sink");
  const double step = step_of(seconds);
  for (int i = 0; i * step <= seconds; ++i) {
    const double x = x_of(i * step);
    const int bottom = top + (sink + 1) * row_height;
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#ddd\"/><text x=\"{0:.1f}\" y=\"{3}\" "
        "text-anchor=\"middle\">{4:.4g}</text>\n",
        x, top, bottom, bottom + 16, i * step * (seconds < 1 ? 1e3 : 1));
  }
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (left + width) / 2, height - 6,
                     seconds < 1 ? "milliseconds" : "seconds");
  for (const StageTime& time : report.timeline)
    svg += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"><title>{}, frame {}{}: {:.3f} "
        "ms</title></rect>\n",
        x_of(time.begin), top + row_of(time) * row_height + 4, std::max(0.4, (time.end - time.begin) * scale),
        row_height - 8, colours[time.stage], name_of(time.stage), time.number,
        time.stream > 0 ? fmt::format(" of stream {}", time.stream) : "", (time.end - time.begin) * 1e3);
  return svg + "</svg>\n";
}

}  // namespace

void write_timeline(const std::string& path, const SequenceReport& report) {
  const std::string text = path.ends_with(".json") ? json_of(report) : svg_of(report);
  media::OutputFile file(path, text.size());
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace areal::command
