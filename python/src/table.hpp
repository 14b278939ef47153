#pragma once
// The tables of one array, as Python holds them.

#include <areal/sat_table.hpp>
#include <areal/table.hpp>
#include <array>
#include <cstdint>
#include <memory>
#include "arrays.hpp"
#include "planned.hpp"

namespace areal::python {

/// The order of a Table's views, of `out` and of pickles.
enum TableKind : std::size_t { sums = 0, squares_of_pixels = 1, tilted_sums_of = 2, counts_of = 3, table_kinds = 4 };

struct Table {
  SatTable owned;                       ///< empty where all views are of `arrays`
  std::array<bool, table_kinds> has{};  ///< was asked for
  std::array<ConstView, table_kinds> views{};
  std::array<nb::object, table_kinds> arrays;  ///< given as `out`, or loaded; else null
  const Axes* axes = nullptr;
  Order order;
  Border border = Border::zero;
  bool reverse = false;
  TypePair types;
  Shape image;  ///< as areal saw it: transposed and folded as `order` says
  std::shared_ptr<const Origin> origin;

  const Axes& axes_of(TableKind kind) const { return kind == counts_of ? axes->without_channels() : *axes; }
  /// What queries read: all planes. Throws InvalidArgument for reversed tables that they cannot read.
  SatView view() const;
};

/// A new areal.Sat.
nb::object sat_object(Table&& table);

}  // namespace areal::python
