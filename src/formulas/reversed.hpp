#pragma once
// A reversed table is the table of the image rotated by 180 degrees, rotated back. Nothing is copied: negative pitches
// walk rows, and a volume's slices, from the last to the first; the code that moves columns reverses them.

#include <areal/view.hpp>

namespace areal::formulas {

/// The view from its last row on; with `volume`, also from its last image on.
template <class Void>
BasicView<Void> upside_down(BasicView<Void> view, bool volume) {
  if (view.data == nullptr || view.shape.empty()) return view;
  view.data = view.row(view.shape.height - 1, 0, volume ? view.shape.batch - 1 : 0);
  view.row_pitch = -view.row_pitch;
  if (volume) view.batch_pitch = -view.batch_pitch;
  return view;
}

}  // namespace areal::formulas
