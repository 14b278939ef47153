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

// Where a value lies on an axis of that length, a logarithmic one unless said otherwise.
struct Axis {
  double least, most, length;
  bool linear = false;
  double at(double value) const {
    if (linear) return length * (value - least) / (most - least);
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

// 1, 2 or 5 times a power of 10, so that some five of them make the axis.
double step_of(double most) {
  const double power = std::pow(10, std::floor(std::log10(most / 5)));
  return power * (most / 5 < 2 * power ? 1 : most / 5 < 5 * power ? 2 : 5);
}

Axis y_axis(const Plot& plot) {
  double least = 0, most = 0;
  for (const PlotPanel& panel : plot.panels)
    for (const PlotCurve& curve : panel.curves)
      for (const double value : curve.values) {
        if (value <= 0) continue;
        least = least > 0 ? std::min(least, value) : value;
        most = std::max(most, value);
      }
  if (most == 0) least = most = 1;  // no curve at all
  if (plot.linear) return {0, (std::floor(most / step_of(most)) + 1) * step_of(most), height, true};
  return {std::pow(10, std::floor(std::log10(least))), std::pow(10, std::floor(std::log10(most)) + 1), height};
}

std::string number_of(double value) {
  return value == std::round(value) || value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

const std::vector<double>& x_of(const Plot& plot, const PlotPanel& panel) { return panel.x.empty() ? plot.x : panel.x; }

// The grid and its numbers; x values in rows that would overlap are left out.
std::string grid(const Plot& plot, const PlotPanel& panel, const Axis& x, const Axis& y) {
  std::string out;
  const double step = y.linear ? step_of(y.most) : 0;
  for (double tick = y.least; tick <= y.most * 1.001; tick = y.linear ? tick + step : tick * 10) {
    out += line(0, height - y.at(tick), width, height - y.at(tick), "#dddddd");
    out += text(-8, height - y.at(tick) + 4, "end", number_of(tick));
  }
  double free = -left;  // the first one may reach out
  for (const double value : x_of(plot, panel)) {
    const std::string number = number_of(value);
    const double half = 4.0 * static_cast<double>(number.size());
    if (x.at(value) - half < free) continue;
    free = x.at(value) + half + 4;
    out += line(x.at(value), 0, x.at(value), height, "#eeeeee");
    out += text(x.at(value), height + 16, "middle", number);
  }
  return out + text(width / 2, height + 38 + strip, "middle", panel.x_name.empty() ? plot.x_name : panel.x_name);
}

// Below the axis: which word holds where. A zone ends half way to the next x.
std::string zones(const Plot& plot, const PlotPanel& panel, const Axis& x) {
  std::string out;
  const std::vector<double>& all = x_of(plot, panel);
  const auto middle = [&](std::size_t i) { return (x.at(all[i - 1]) + x.at(all[i])) / 2; };
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
  const std::vector<double>& all = x_of(plot, panel);
  for (std::size_t c = 0; c < panel.curves.size(); ++c) {
    const char* colour = colours[c % colours.size()];
    std::string points, dots;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (panel.curves[c].values[i] <= 0) continue;
      const double px = x.at(all[i]), py = height - y.at(panel.curves[c].values[i]);
      points += fmt::format("{:.1f},{:.1f} ", px, py);
      dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>\n", px, py, colour);
    }
    out += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"{}/>\n", points, colour,
                       c == 0 ? " stroke-dasharray=\"5 4\"" : "");
    if (c != 0) out += dots;
  }
  return out;
}

}  // namespace

std::string svg(const Plot& plot) {
  const auto panels = static_cast<double>(plot.panels.size());
  const Axis y = y_axis(plot);
  const double all_width = left + panels * (width + gap) + legend, all_height = top + height + 60 + strip;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<title>{2}</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      all_width, all_height, escaped(plot.title));
  out += text(left, 22, "start", plot.title, " font-size=\"15\"");
  double at = left;
  for (const PlotPanel& panel : plot.panels) {
    out += fmt::format("<g transform=\"translate({:.0f} {:.0f})\">\n", at, top);
    out += text(0, -10, "start", panel.title + ": " + plot.y_name);
    const Axis x{x_of(plot, panel).front(), x_of(plot, panel).back(), width};
    out += grid(plot, panel, x, y) + zones(plot, panel, x) + curves(plot, panel, x, y) + "</g>\n";
    at += width + gap;
  }
  double row = top + 10;
  for (std::size_t c = 0; c < plot.panels[0].curves.size(); ++c, row += 20) {
    out += line(at - 30, row - 4, at - 8, row - 4, colours[c % colours.size()]);
    out += text(at, row, "start", plot.panels[0].curves[c].name);
  }
  return out + "</svg>\n";
}

}  // namespace areal::command
