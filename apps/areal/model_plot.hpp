#pragma once
// Curves over one parameter as an SVG picture, both axes logarithmic.

#include <string>
#include <vector>

namespace areal::command {

struct PlotCurve {
  std::string name;
  std::vector<double> values;  // one for each x, above 0
};

struct PlotPanel {
  std::string title;
  std::vector<PlotCurve> curves;   // the same names in every panel; the first one is dashed: a bound
  std::vector<std::string> zones;  // a word for each x, written once where it stays the same
};

struct Plot {
  std::string title, x_name, y_name;
  std::vector<double> x;  // ascending, above 0
  std::vector<PlotPanel> panels;
};

std::string svg(const Plot& plot);

}  // namespace areal::command
