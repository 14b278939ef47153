#pragma once
// Curves over one parameter as an SVG picture, with logarithmic axes by default.

#include <cstddef>
#include <string>
#include <vector>

namespace areal::command {

struct PlotCurve {
  std::string name;
  std::vector<double> values;  // one per x; values that are not above 0 leave a gap
  std::vector<double> x = {};  // ascending, a subset of the panel's; empty: all
};

struct PlotPanel {
  std::string title;
  std::vector<PlotCurve> curves;   // adjacent panels with the same names of curves share a legend
  std::vector<std::string> zones;  // a word per x; equal neighbours are written once
  std::vector<double> x = {};      // if they differ from the plot's
  std::string x_name = {};
  std::string y_name = {};  // if it differs from the plot's; panels with the same name share the axis
  bool bound = true;        // the first curve is a bound: dash it
};

struct Plot {
  std::string title, x_name, y_name;
  std::vector<double> x;  // ascending, above 0
  std::vector<PlotPanel> panels;
  bool linear = false;              // a linear y axis, from 0
  std::size_t panels_of_a_row = 0;  // 0: all
};

std::string svg(const Plot& plot);

}  // namespace areal::command
