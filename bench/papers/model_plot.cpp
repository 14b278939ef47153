#include "bench/papers/model_plot.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

namespace areal::command {
namespace {

constexpr double width = 440, height = 340, left = 70, top = 60, gap = 70, legend_width = 170, strip = 22;
// Okabe and Ito's colours, which most eyes tell apart, then three more; the bound is black.
constexpr std::array<const char*, 11> colours{"#000000", "#0072b2", "#e69f00", "#999999", "#d55e00", "#009e73",
                                              "#56b4e9", "#cc79a7", "#8c6d1f", "#882255", "#44aa99"};

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

// Steps of an axis of a panel's own that is shorter than a decade.
constexpr std::array<double, 7> steps{1, 1.2, 1.5, 2, 3, 5, 10};

// Of all panels that have it.
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
  if (most == 0) least = most = 1;  // without a curve
  const bool own = !y_name.empty();
  if (plot.linear && !own) return {0, (std::floor(most / step_of(most)) + 1) * step_of(most), height, true};
  const double first = std::pow(10, std::floor(std::log10(least)));
  for (const double step : steps)
    if (own && most < first * step) return {first, first * step, height};
  return {first, std::pow(10, std::floor(std::log10(most)) + 1), height};
}

std::vector<double> y_ticks(const Axis& y) {
  std::vector<double> ticks;
  if (!y.linear && y.most < y.least * 9.9) {
    for (const double step : steps)
      if (step * y.least <= y.most * 1.001) ticks.push_back(step * y.least);
    return ticks;
  }
  const double step = y.linear ? step_of(y.most) : 0;
  for (double tick = y.least; tick <= y.most * 1.001; tick = y.linear ? tick + step : tick * 10) ticks.push_back(tick);
  return ticks;
}

std::string number_of(double value) {
  return value == std::round(value) || value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

const std::vector<double>& x_of(const Plot& plot, const PlotPanel& panel) { return panel.x.empty() ? plot.x : panel.x; }

// The grid and its numbers; x values in rows that would overlap are left out.
std::string grid(const Plot& plot, const PlotPanel& panel, const Axis& x, const Axis& y) {
  std::string out;
  for (const double tick : y_ticks(y)) {
    out += line(0, height - y.at(tick), width, height - y.at(tick), "#dddddd");
    out += text(-8, height - y.at(tick) + 4, "end", number_of(tick));
  }
  double free = -left;  // the first label may start left of the axis
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
  for (std::size_t c = 0; c < panel.curves.size(); ++c) {
    const std::vector<double>& all = panel.curves[c].x.empty() ? x_of(plot, panel) : panel.curves[c].x;
    const char* colour = colours[c % colours.size()];
    const bool bound = c == 0 && panel.bound;
    std::string points, dots;
    const auto end_line = [&] {
      if (!points.empty())
        out += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"{}/>\n", points,
                           colour, bound ? " stroke-dasharray=\"5 4\"" : "");
      points.clear();
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!(panel.curves[c].values[i] > 0)) {
        end_line();
        continue;
      }
      const double px = x.at(all[i]), py = height - y.at(panel.curves[c].values[i]);
      points += fmt::format("{:.1f},{:.1f} ", px, py);
      dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>\n", px, py, colour);
    }
    end_line();
    if (!bound) out += dots;
  }
  return out;
}

bool same_names(const PlotPanel& a, const PlotPanel& b) {
  return std::equal(a.curves.begin(), a.curves.end(), b.curves.begin(), b.curves.end(),
                    [](const PlotCurve& c, const PlotCurve& d) { return c.name == d.name; });
}

std::string legend(const PlotPanel& panel, double at, double from) {
  std::string out;
  double row = from + 10;
  for (std::size_t c = 0; c < panel.curves.size(); ++c, row += 20) {
    out += line(at - 30, row - 4, at - 8, row - 4, colours[c % colours.size()]);
    out += text(at, row, "start", panel.curves[c].name);
  }
  return out;
}

}  // namespace

std::string svg(const Plot& plot) {
  const std::size_t in_row = plot.panels_of_a_row == 0 ? plot.panels.size() : plot.panels_of_a_row;
  std::string body;
  double across = 0, down = top;
  const PlotPanel* slabelled = nullptr;  // the panel of the last legend
  for (std::size_t first = 0; first < plot.panels.size(); first += in_row) {
    double at = left;
    const std::size_t end = std::min(first + in_row, plot.panels.size());
    for (std::size_t i = first; i < end; ++i) {
      const PlotPanel& panel = plot.panels[i];
      const Axis x{x_of(plot, panel).front(), x_of(plot, panel).back(), width}, y = y_axis(plot, panel.y_name);
      body += fmt::format("<g transform=\"translate({:.0f} {:.0f})\">\n", at, down);
      body += text(0, -10, "start", panel.title + ": " + (panel.y_name.empty() ? plot.y_name : panel.y_name));
      body += grid(plot, panel, x, y) + zones(plot, panel, x) + curves(plot, panel, x, y) + "</g>\n";
      at += width + gap;
      const bool last = i + 1 == end;
      if (!last && same_names(panel, plot.panels[i + 1])) continue;
      if (slabelled == nullptr || !same_names(*slabelled, panel)) body += legend(panel, at, down);
      slabelled = &panel;
      at += legend_width + (last ? 0 : gap);  // room for the next axis's numbers
    }
    across = std::max(across, at);
    down += top + height + 60 + strip;
  }
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
             "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n<title>{2}</title>\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
             across, down - top, escaped(plot.title)) +
         text(left, 22, "start", plot.title, " font-size=\"15\"") + body + "</svg>\n";
}

}  // namespace areal::command
