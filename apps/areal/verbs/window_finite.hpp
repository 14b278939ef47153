#pragma once
// NaN and infinities under windows. In a table they would spread to every window right and below: they count as 0
// there, and beside it a table counts them, which says what each window holds.

#include <areal/array.hpp>
#include <areal/sat_table.hpp>
#include <areal/window.hpp>
#include <optional>
#include <vector>

namespace areal::command {

/// Are all the pixels of a table of sums finite?
bool is_finite(const SatTable& table);

class FiniteWindows {
 public:
  /// `ignore_nan`: pixels that are NaN in a channel stay as they are, to be left out.
  FiniteWindows(const ConstView& image, bool ignore_nan);

  /// The image with 0 for what is not finite.
  ConstView pixels() const { return pixels_.view(); }
  /// Finds what the windows hold.
  void look(const Window& window, const Execution& execution);
  /// Row y of a channel, from sums or means (or `spread`: standard deviations) of the finite pixels: NaN, or infinity,
  /// where the window holds it.
  void put(std::int64_t y, std::int64_t channel, bool spread, std::vector<double>& row) const;

 private:
  Array pixels_, marks_, counts_;
};

}  // namespace areal::command
