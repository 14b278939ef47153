#pragma once
// Filters straight from the pixels on a device: their kernels, and the memory that each touches.

#include <cstddef>
#include <string>
#include <vector>
#include "kernels/filter/gaussian_tables.hpp"
#include "kernels/filter/level_tables.hpp"
#include "kernels/filter/request.hpp"
#include "kernels/primitives/type_groups.hpp"
#include "kernels/primitives/view_bytes.hpp"
#include "kernels/primitives/workspace.hpp"

namespace areal::kernels {

template <class Launcher>
struct FilterKernels {
  void (*execute)(Launcher&, const FilterRequest&, const FilterArguments&, void* workspace) = nullptr;
  /// What the algorithm needs, if it does not support this request; empty if it does.
  std::string (*takes)(const FilterRequest&) = nullptr;
  std::size_t shared_bytes = 0;  ///< of the largest block for this request
  std::size_t workspace_bytes = 0;
};

/// All other filters are compiled together.
struct Filters {
  using Key = FilterRequest;
  template <class Launcher>
  using Kernels = FilterKernels<Launcher>;
  template <class Launcher, TypeGroup group>
  static FilterKernels<Launcher> find(const FilterRequest& request);
};

/// Kernels of `walk` that need multiply_tiles: compiled for the devices that have it alone.
struct TileFilters {
  using Key = FilterRequest;
  template <class Launcher>
  using Kernels = FilterKernels<Launcher>;
  template <class Launcher, TypeGroup group>
  static FilterKernels<Launcher> find(const FilterRequest& request);
};

template <class Launcher>
Found<FilterKernels<Launcher>> FilterSubject::find(const FilterRequest& request) {
  Found<FilterKernels<Launcher>> found;
  found.kernels = kernels_of<Launcher, Filters, TypeGroup::all>(request);
  found.shared_bytes = found.kernels.shared_bytes;
  found.workspace_bytes = found.kernels.workspace_bytes;
  if (found.kernels.execute == nullptr)
    found.missing = "algorithm " + request.id + " has no kernel for filters on " + Launcher::name;
  return found;
}

/// What `prepare` copies to the begin of the workspace.
inline std::vector<char> filter_table(const FilterRequest& request) {
  if (request.id == "window-counts") return counts_table(request);
  return is_gaussian(request) ? gaussian_table(request) : std::vector<char>();
}
inline std::size_t filter_table_bytes(const FilterRequest& request) {
  if (request.id == "window-counts") return counts_table_bytes(request);
  return is_gaussian(request) ? GaussianWorkspace(request, nullptr).table_bytes : 0;
}

template <class Launcher>
void FilterSubject::prepare(Launcher& launcher, const FilterRequest& request, void* workspace, std::size_t) {
  const std::vector<char> table = filter_table(request);
  if (!table.empty()) launcher.copy_in(first_in(workspace), table.data(), table.size());
}

template <class Launcher>
std::string FilterSubject::takes(Launcher&, const FilterKernels<Launcher>& kernels, const FilterRequest& request) {
  return kernels.takes != nullptr ? kernels.takes(request) : std::string();
}

template <class Launcher>
std::string FilterSubject::fits(const FilterKernels<Launcher>&, const FilterRequest&, const FilterArguments&) {
  return {};
}

template <class Launcher>
bool FilterSubject::run(Launcher& launcher, const FilterKernels<Launcher>& kernels, const FilterRequest& request,
                        const FilterArguments& views, void* workspace) {
  if (!views.out.shape.empty() && !views.image.shape.empty()) kernels.execute(launcher, request, views, workspace);
  return true;
}

template <class Visit>
void FilterSubject::memory(const FilterRequest& request, const FilterArguments& views, void* workspace,
                           std::size_t bytes, Visit&& visit) {
  using Use = MemoryRange::Use;
  visit(MemoryRange{"the image", views.image.data, bytes_of_view(views.image), Use::input});
  visit(MemoryRange{"the guide", views.guide.data, bytes_of_view(views.guide), Use::input});
  visit(MemoryRange{"the mask", views.mask.data, bytes_of_view(views.mask), Use::input});
  visit(MemoryRange{"the output", views.out.data, bytes_of_view(views.out), Use::output});
  if (bytes == 0) return;
  char* const first = first_in(workspace);
  const auto table = static_cast<std::size_t>(padded(static_cast<std::int64_t>(filter_table_bytes(request))));
  const std::size_t before = static_cast<std::size_t>(first - static_cast<char*>(workspace)) + table;
  visit(MemoryRange{"the table", first, table, Use::input});
  visit(MemoryRange{"the workspace", first + table, bytes - before, Use::scratch});
}

}  // namespace areal::kernels
