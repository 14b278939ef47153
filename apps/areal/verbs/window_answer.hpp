#pragma once
// What `areal window` was asked, and its answer for an image or a strip of one.

#include <areal/window.hpp>
#include <optional>
#include <string>
#include <vector>
#include "io/exact_sums.hpp"
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

/// Whether sums of windows fit their type, as far as the pixels that came say. They are added up in 64 bits from
/// regions of the table.
class ExactWindows {
 public:
  ExactWindows(TypePair types, std::optional<Type> squares, const Window& window, const Shape& image);
  /// Throws InvalidArgument where the sum of a window of these pixels, and of those before, may exceed its type.
  void see(const ConstView& pixels);

 private:
  bool fits() const { return in_table_.fits(inside_) && in_64_bits_.fits(cells_); }

  Window window_;
  SumTypes in_table_, in_64_bits_;
  std::int64_t cells_, inside_;
  bool always_fits_;
  std::optional<PixelRange> range_;
};

/// Bradley and Roth 2007: sums become black where the pixel is `percent` or more below its window's mean, else white.
/// Compared as pixel * count * 100 <= sum * (100 - percent), which is exact for integer pixels: no division rounds.
void apply_threshold(double percent, const std::vector<double>& pixels, const std::vector<double>& counts,
                     std::vector<double>& sums);

/// What the tables of an image need for these windows.
TableRequest tables_for(const WindowRequest& request);
/// All channels of the image, whose tables the maker makes, into `out`.
void answer_windows(const WindowRequest& request, const ConstView& image, TableMaker& maker, const Window& window,
                    const View& out, const Settings& settings);

}  // namespace areal::command
