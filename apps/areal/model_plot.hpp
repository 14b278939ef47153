#pragma once
// Curves over one parameter as an SVG picture, both axes logarithmic unless asked otherwise.

#include <string>
#include <vector>

namespace areal::command {

struct PlotCurve {
  std::string name;
  std::vector<double> values;  // one for each x, above 0; 0 where there is none
};

struct PlotPanel {
  std::string title;
  std::vector<PlotCurve> curves;   // the same names in every panel; the first one is dashed: a bound
  std::vector<std::string> zones;  // a word for each x, written once where it stays the same
  std::vector<double> x = {};      // where they are not the plot's
  std::string x_name = {};
};

struct Plot {
  std::string title, x_name, y_name;
  std::vector<double> x;  // ascending, above 0
  std::vector<PlotPanel> panels;
  bool linear = false;  // the y axis, which then begins at 0
};

std::string svg(const Plot& plot);

}  // namespace areal::command
