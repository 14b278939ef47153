#pragma once
// Curves over one parameter as an SVG picture, both axes logarithmic.

#include <cstddef>
#include <string>
#include <vector>

namespace areal::command {

struct PlotCurve {
  std::string name;
  std::vector<double> values;  // one for each x, above 0; what is not leaves a gap
};

struct PlotPanel {
  std::string title;
  std::vector<PlotCurve> curves;   // the same names in every panel; the first one is dashed: a bound
  std::vector<std::string> zones;  // a word for each x, written once where it stays the same
  std::string y_name = {};         // where it is not the plot's: an axis that panels of the same name share
};

struct Plot {
  std::string title, x_name, y_name;
  std::vector<double> x;  // ascending, above 0
  std::vector<PlotPanel> panels;
  std::size_t panels_of_a_row = 0;  // 0: all
};

std::string svg(const Plot& plot);

}  // namespace areal::command
