#include "model_plot.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

namespace areal::command {
namespace {

constexpr double width = 440, height = 340, left = 70, top = 60, gap = 70, legend = 170, strip = 22;
// Okabe and Ito's colours, which most eyes tell apart; the bound is black.
constexpr std::array<const char*, 9> colours{"#000000", "#0072b2", "#e69f00", "#999999", "#d55e00",
                                             "#009e73", "#56b4e9", "#cc79a7", "#8c6d1f"};

// Where a value lies on a logarithmic axis of that length.
struct Axis {
  double least, most, length;
  double at(double value) const {
    return most > least ? length * std::log(value / least) / std::log(most / least) : length / 2;
  }
};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

std::string text(double x, double y, const char* anchor, const std::string& words, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                     escaped(words));
}

std::string line(double x1, double y1, double x2, double y2, const char* colour) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2, y2,
                     colour);
}

// Of all panels that have this axis.
Axis y_axis(const Plot& plot, const std::string& y_name) {
  double least = 0, most = 0;
  for (const PlotPanel& panel : plot.panels) {
    if (panel.y_name != y_name) continue;
    for (const PlotCurve& curve : panel.curves)
      for (const double value : curve.values) {
        if (!(value > 0)) continue;
        least = least > 0 ? std::min(least, value) : value;
        most = std::max(most, value);
      }
  }
  if (!(least > 0)) return {1, 10, height};
  return {std::pow(10, std::floor(std::log10(least))), std::pow(10, std::floor(std::log10(most)) + 1), height};
}

// The grid and its numbers; x values in rows that would overlap are left out.
std::string grid(const Plot& plot, const Axis& x, const Axis& y) {
  std::string out;
  for (double tick = y.least; tick <= y.most * 1.001; tick *= 10) {
    out += line(0, height - y.at(tick), width, height - y.at(tick), "#dddddd");
    out += text(-8, height - y.at(tick) + 4, "end", tick < 1 ? fmt::format("{:g}", tick) : fmt::format("{:.0f}", tick));
  }
  double free = -1;
  for (const double value : plot.x) {
    const std::string number = fmt::format("{:.0f}", value);
    const double half = 4.0 * static_cast<double>(number.size());
    if (x.at(value) - half < free) continue;
    free = x.at(value) + half + 4;
    out += line(x.at(value), 0, x.at(value), height, "#eeeeee");
    out += text(x.at(value), height + 16, "middle", number);
  }
  return out + text(width / 2, height + 38 + strip, "middle", plot.x_name);
}

// Below the axis: which word holds where. A zone ends half way to the next x.
std::string zones(const Plot& plot, const PlotPanel& panel, const Axis& x) {
  std::string out;
  const auto middle = [&](std::size_t i) { return (x.at(plot.x[i - 1]) + x.at(plot.x[i])) / 2; };
  bool shaded = false;
  for (std::size_t i = 0; i < panel.zones.size(); shaded = !shaded) {
    std::size_t end = i;
    while (end < panel.zones.size() && panel.zones[end] == panel.zones[i]) ++end;
    const double from = i == 0 ? 0 : middle(i), to = end == panel.zones.size() ? width : middle(end);
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" stroke=\"#ffffff\"/>\n", from,
        height + strip, to - from, strip - 4, shaded ? "#f4ece0" : "#e8eef4");
    out += text((from + to) / 2, height + strip + 13, "middle", panel.zones[i]);
    i = end;
  }
  return out;
}

std::string curves(const Plot& plot, const PlotPanel& panel, const Axis& x, const Axis& y) {
  std::string out;
  for (std::size_t c = 0; c < panel.curves.size(); ++c) {
    const char* colour = colours[c % colours.size()];
    std::string points, dots;
    const auto end_line = [&] {
      if (!points.empty())
        out += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"{}/>\n", points,
                           colour, c == 0 ? " stroke-dasharray=\"5 4\"" : "");
      points.clear();
    };
    for (std::size_t i = 0; i < plot.x.size(); ++i) {
      if (!(panel.curves[c].values[i] > 0)) {
        end_line();
        continue;
      }
      const double px = x.at(plot.x[i]), py = height - y.at(panel.curves[c].values[i]);
      points += fmt::format("{:.1f},{:.1f} ", px, py);
      dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>\n", px, py, colour);
    }
    end_line();
    if (c != 0) out += dots;
  }
  return out;
}

}  // namespace

std::string svg(const Plot& plot) {
  const std::size_t in_row = plot.panels_of_a_row == 0 ? plot.panels.size() : plot.panels_of_a_row;
  const std::size_t rows = (plot.panels.size() + in_row - 1) / in_row;
  const Axis x{plot.x.front(), plot.x.back(), width};
  const double across = left + static_cast<double>(in_row) * (width + gap), row_height = top + height + 60 + strip;
  const double all_width = across + legend, all_height = static_cast<double>(rows) * row_height;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<title>{2}</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      all_width, all_height, escaped(plot.title));
  out += text(left, 22, "start", plot.title, " font-size=\"15\"");
  for (std::size_t i = 0; i < plot.panels.size(); ++i) {
    const PlotPanel& panel = plot.panels[i];
    const Axis y = y_axis(plot, panel.y_name);
    out += fmt::format("<g transform=\"translate({:.0f} {:.0f})\">\n",
                       left + static_cast<double>(i % in_row) * (width + gap),
                       top + static_cast<double>(i / in_row) * row_height);
    out += text(0, -10, "start", panel.title + ": " + (panel.y_name.empty() ? plot.y_name : panel.y_name));
    out += grid(plot, x, y) + zones(plot, panel, x) + curves(plot, panel, x, y) + "</g>\n";
  }
  double row = top + 10;
  for (std::size_t c = 0; c < plot.panels[0].curves.size(); ++c, row += 20) {
    out += line(across - 30, row - 4, across - 8, row - 4, colours[c % colours.size()]);
    out += text(across, row, "start", plot.panels[0].curves[c].name);
  }
  return out + "</svg>\n";
}

}  // namespace areal::command
