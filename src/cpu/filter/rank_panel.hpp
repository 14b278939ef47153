#pragma once
// A panel of outputs of one channel of an image, for filters that sort or count keys.

#include <algorithm>
#include <areal/filter.hpp>
#include <cstdint>
#include <cstring>
#include <limits>
#include "cpu/filter/cut_axis.hpp"
#include "cpu/filter/element.hpp"
#include "cpu/filter/rank_rows.hpp"
#include "cpu/filter/strips.hpp"

namespace areal::cpu {

template <class T, class Out = T>
class RankPanel {
 protected:
  using Keys = RankKeys<T>;
  using Key = typename Keys::Key;

  /// At most `panel` outputs from column `first` on. `shown` holds an index for each cell.
  RankPanel(const FilterRequest& request, const formulas::WindowAxis& columns, std::int64_t panel,
            const FilterArguments& arguments, const FilterRows& part, std::int64_t plane, std::int64_t first,
            std::int32_t* shown)
      : part_(part),
        first_(first),
        windows_(std::min(panel, columns.outputs - first)),
        cells_(windows_ + columns.size - 1),
        out_(plane_of(arguments.out, plane, false)),
        rows_(request, part, plane_of(arguments.image, plane, false),
              request.mask ? plane_of(arguments.mask, plane / request.image.channels, false) : arguments.mask,
              first - columns.before, cells_, shown),
        fill_(converted<Out>(request.fill)),
        least_(static_cast<std::uint32_t>(
            std::clamp<std::int64_t>(request.min_count, 1, std::numeric_limits<std::uint32_t>::max()))) {}

  /// Writes of(i) for each output i of row y.
  template <class Of>
  void write(std::int64_t y, const Of& of) const {
    const std::int64_t step = out_.column_pitch();
    char* const to = out_row(y);
    if (step == static_cast<std::int64_t>(sizeof(Out))) {
      for (std::int64_t i = 0; i < windows_; ++i) put(to + i * static_cast<std::int64_t>(sizeof(Out)), of(i));
    } else {
      for (std::int64_t i = 0; i < windows_; ++i) put(to + i * step, of(i));
    }
  }
  /// The panel's part of output row y.
  char* out_row(std::int64_t y) const {
    return static_cast<char*>(out_.row(y - part_.begin)) + first_ * out_.column_pitch();
  }
  static void put(char* to, Out value) { std::memcpy(to, &value, sizeof value); }

  const FilterRows& part_;
  std::int64_t first_, windows_, cells_;
  View out_;
  RankRows<T> rows_;
  Out fill_;
  std::uint32_t least_;  ///< valid pixels of a window
};

}  // namespace areal::cpu
