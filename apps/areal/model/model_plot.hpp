#pragma once
// Curves over one parameter as an SVG picture, both axes logarithmic unless asked otherwise.

#include <cstddef>
#include <string>
#include <vector>

namespace areal::command {

struct PlotCurve {
  std::string name;
  std::vector<double> values;  // one for each x, above 0; what is not leaves a gap
  std::vector<double> x = {};  // some of the panel's, ascending; none: all of them
};

struct PlotPanel {
  std::string title;
  std::vector<PlotCurve> curves;   // panels beside one another whose curves have the same names share a legend
  std::vector<std::string> zones;  // a word for each x, written once where it stays the same
  std::vector<double> x = {};      // where they are not the plot's
  std::string x_name = {};
  std::string y_name = {};  // where it is not the plot's: an axis that all panels of that name share
  bool bound = true;        // the first curve is one, and dashed
};

struct Plot {
  std::string title, x_name, y_name;
  std::vector<double> x;  // ascending, above 0
  std::vector<PlotPanel> panels;
  bool linear = false;              // the plot's y axis, which then begins at 0
  std::size_t panels_of_a_row = 0;  // 0: all
};

std::string svg(const Plot& plot);

}  // namespace areal::command
