#pragma once
// What `areal window` was asked, and its answer for an image or a strip of one.

#include <areal/window.hpp>
#include <string>
#include <vector>
#include "io/input.hpp"
#include "io/table_maker.hpp"

namespace areal::command {

struct WindowRequest {
  InputOptions input;
  std::string output, size, edge = "shrink", value, threshold, memory;
  bool sum = false, mean = false, deviation = false, ignore_nan = false;

  bool to_npy() const { return output.ends_with(".npy"); }

  static const std::vector<std::string> edge_names;  ///< in the order of Edge
  /// Throws InvalidArgument for a name that is none.
  static Edge edge_named(const std::string& name);
};

/// Throws InvalidArgument where no window lies inside and only such ones are asked for.
Window window_for(const WindowRequest& request, const Shape& image);

/// Pictures keep the image's depth, with rounding; .npy keeps the values, as 64f. Sums do not fit a picture's 8 or 16
/// bits. Throws InvalidArgument for what the output's format does not hold.
Type output_type(const WindowRequest& request, Type image, bool is_npy);

/// What the tables of an image need for these windows.
TableRequest tables_for(const WindowRequest& request);
/// All channels of the image, whose tables the maker makes, into `out`.
void answer_windows(const WindowRequest& request, const ConstView& image, TableMaker& maker, const Window& window,
                    const View& out, const Settings& settings);

}  // namespace areal::command
