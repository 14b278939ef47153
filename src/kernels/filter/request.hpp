#pragma once
// The request for a filter: everything known before the data is there.

#include <areal/filter.hpp>
#include <areal/type.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include "formulas/window_axis.hpp"
#include "kernels/plan.hpp"

namespace areal::kernels {

struct FilterRequest {
  Filter filter;
  Shape image;
  Type in = Type::u8, out = Type::u8;
  formulas::WindowAxis columns, rows;
  double value = 0;  ///< beyond the edge, with edge `constant`
  Rounding rounding = Rounding::nearest;
  bool omit_nan = false, mask = false;
  std::int64_t guide = 0;  ///< channels; 0: the image guides itself
  Type guide_type = Type::u8;
  std::int64_t min_count = 1;
  double fill = 0;
  std::string id = "walk";  ///< the algorithm
  /// The pixel that output (x, y) belongs to is (x + centre_x, y + centre_y): not (x, y) with edge `valid`.
  std::int64_t centre_x = 0, centre_y = 0;
};

template <class Launcher>
struct FilterKernels;

/// The subject `filter` of a DevicePlan; its members are in run.hpp.
struct FilterSubject {
  using Request = FilterRequest;
  using Arguments = FilterArguments;

  template <class Launcher>
  static Found<FilterKernels<Launcher>> find(const FilterRequest& request);
  template <class Launcher>
  static void prepare(Launcher& launcher, const FilterRequest& request, void* workspace, std::size_t bytes);
  template <class Launcher>
  static std::string takes(Launcher& launcher, const FilterKernels<Launcher>& kernels, const FilterRequest& request);
  template <class Launcher>
  static std::string fits(const FilterKernels<Launcher>& kernels, const FilterRequest& request,
                          const FilterArguments& views);
  template <class Launcher>
  static bool run(Launcher& launcher, const FilterKernels<Launcher>& kernels, const FilterRequest& request,
                  const FilterArguments& views, void* workspace);
  template <class Visit>
  static void memory(const FilterRequest& request, const FilterArguments& views, void* workspace, std::size_t bytes,
                     Visit&& visit);
  static std::string words(const FilterRequest& request) { return "algorithm " + request.id; }
};

}  // namespace areal::kernels
