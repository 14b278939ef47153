#pragma once
// Percentiles of windows, by one of three structures.
//
// network: medians of 3x3 and 5x5 pixels of up to 32 bits by sorting networks (see rank_network.hpp).
// column-counts: 8-bit pixels by histograms of a panel's columns (see column_counts.hpp).
// classes: any type. The pixels of a tile and of the windows around it are sorted and fall into 256 classes of equally
// many; column counts of the classes find the class of a window's percentile and its rank among the window's pixels in
// that class, and a search through the class, in order, finds the pixel. A tile is about as large as a window, so that
// four pixels are sorted for each output, and a class has a 256th of them.
//
// All three sort keys of the pixels (rank_keys.hpp), so that their bits are the same.

#include <areal/filter.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include "cpu/filter/request.hpp"

namespace areal::cpu {

class Ranks {
 public:
  enum class Structure : std::uint8_t { network, column_counts, classes };

  static Structure structure_named(std::string_view id);
  /// What the structure takes, if it does not take the request; else empty.
  static std::string refusal(Structure structure, const FilterRequest& request);

  /// A checked request for a percentile, that the structure which its algorithm names takes.
  explicit Ranks(const FilterRequest& request);

  std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }
  /// Checked views. The workspace may hold anything.
  void execute(const FilterArguments& arguments, void* workspace, const FilterRows& rows) const;

 private:
  template <class T>
  class Panel;
  template <class T>
  class NetworkPanel;
  template <class T, class C>
  class CountsPanel;
  template <class T, class C>
  class Tile;

  struct Layout {
    std::size_t shown = 0, keys = 0, marks = 0, levels = 0, coarse = 0, fine = 0, n = 0, level = 0, rest = 0;  // counts
    std::size_t rows = 0, row_marks = 0, sorted = 0, out = 0;                               // network
    std::size_t entries = 0, spare = 0, x = 0, y = 0, order = 0, nan = 0, nan_columns = 0;  // classes
    std::size_t bytes = 0;
  };
  void lay_out();
  /// The pixels of a window and the least that it needs.
  bool has_short_counts() const { return columns_.size * rows_.size < 65536; }
  template <class F>
  void with_counts(const F& f) const;

  FilterRequest request_, elements_;  ///< of interleaved channels that the network takes together
  Structure structure_;
  double percent_;
  formulas::WindowAxis columns_, rows_;  ///< cut where nothing is beyond the edge
  std::int64_t panel_, tile_rows_;       ///< outputs of a panel or tile
  Layout layout_;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace areal::cpu
