#pragma once
// The algorithms of the subject `filter`, for one launcher, as functions.

#include <algorithm>
#include "kernels/filter/blocks/blocks.hpp"
#include "kernels/filter/counts/window-counts.hpp"
#include "kernels/filter/extremes/van-herk.hpp"
#include "kernels/filter/gaussian/convolution.hpp"
#include "kernels/filter/gaussian/extended-boxes.hpp"
#include "kernels/filter/guided/guided-walk.hpp"
#include "kernels/filter/network/network.hpp"
#include "kernels/filter/run.hpp"
#include "kernels/filter/walk/direct.hpp"
#include "kernels/filter/walk/walk.hpp"

namespace areal::kernels {

template <class Launcher>
FilterKernels<Launcher> walk_kernels(const FilterRequest& request) {
  FilterKernels<Launcher> kernels;
  kernels.takes = [](const FilterRequest& other) { return walk_takes(other); };
  kernels.execute = [](Launcher& launcher, const FilterRequest& known, const FilterArguments& views, void* workspace) {
    bool launched = false;
    if (direct_fits(views))
      with_direct(known, [&]<int size>() { launch_direct<size>(launcher, known, views), launched = true; });
    if (!launched && bands_fit(views)) {
      FilterKernels<Launcher> tiles;
      if (launcher.multiplies_tiles()) tiles = kernels_of<Launcher, TileFilters, TypeGroup::all>(known);
      if (tiles.execute != nullptr) return tiles.execute(launcher, known, views, workspace);
      with_bands(known, [&]<class C>() { launch_bands<C>(launcher, known, views), launched = true; });
    }
    if (!launched) with_walk(known, [&]<class C>() { launch_walk<C>(launcher, known, views); });
  };
  if (!walk_takes(request).empty()) return kernels;
  with_walk(request, [&]<class C>() { kernels.shared_bytes = sizeof(typename Walk<NoMachine, C>::Shared); });
  with_bands(request, [&]<class C>() {
    kernels.shared_bytes = std::max(kernels.shared_bytes, sizeof(typename BandMeans<NoMachine, C>::Shared));
  });
  return kernels;
}

template <class Launcher>
FilterKernels<Launcher> network_kernels(const FilterRequest&) {
  FilterKernels<Launcher> kernels;
  kernels.takes = [](const FilterRequest& other) { return network_takes(other); };
  kernels.execute = [](Launcher& launcher, const FilterRequest& known, const FilterArguments& views, void*) {
    with_network(known, [&]<class C>() { launch_network<C>(launcher, known, views); });
  };
  return kernels;
}

template <class Launcher>
FilterKernels<Launcher> van_herk_kernels(const FilterRequest& request) {
  FilterKernels<Launcher> kernels;
  kernels.takes = [](const FilterRequest& other) { return van_herk_takes(other); };
  kernels.execute = [](Launcher& launcher, const FilterRequest& known, const FilterArguments& views, void*) {
    with_van_herk(known, [&]<class C>() { launch_van_herk<C>(launcher, known, views); });
  };
  if (van_herk_takes(request).empty())
    with_van_herk(request, [&]<class C>() { kernels.shared_bytes = sizeof(typename Extremes<NoMachine, C>::Shared); });
  return kernels;
}

template <class Launcher>
FilterKernels<Launcher> window_counts_kernels(const FilterRequest& request) {
  FilterKernels<Launcher> kernels;
  kernels.takes = [](const FilterRequest& other) { return window_counts_takes(other); };
  kernels.execute = [](Launcher& launcher, const FilterRequest& known, const FilterArguments& views, void* workspace) {
    with_counts(known, [&]<class C>() { launch_window_counts<C>(launcher, known, views, workspace); });
  };
  if (!window_counts_takes(request).empty()) return kernels;
  with_counts(request, [&]<class C>() { kernels.shared_bytes = sizeof(typename WindowCounts<NoMachine, C>::Shared); });
  if (const auto bytes = static_cast<std::int64_t>(counts_table_bytes(request)); bytes > 0)
    kernels.workspace_bytes = static_cast<std::size_t>(padded(bytes) + workspace_alignment - 1);
  return kernels;
}

template <class Launcher>
FilterKernels<Launcher> blocks_kernels(const FilterRequest& request) {
  FilterKernels<Launcher> kernels;
  kernels.takes = [](const FilterRequest& other) { return blocks_takes(other); };
  kernels.execute = [](Launcher& launcher, const FilterRequest& known, const FilterArguments& views, void* workspace) {
    with_blocks(known, [&]<class C>() { launch_blocks<C>(launcher, known, views, workspace); });
  };
  if (!blocks_takes(request).empty()) return kernels;
  with_blocks(request, [&]<class C>() { kernels.shared_bytes = sizeof(typename Blocks<NoMachine, C>::Shared); });
  kernels.workspace_bytes = blocks_workspace_bytes(request);
  return kernels;
}

template <class Launcher>
FilterKernels<Launcher> guided_kernels(const FilterRequest& request) {
  FilterKernels<Launcher> kernels;
  kernels.takes = [](const FilterRequest& other) { return guided_takes(other); };
  kernels.execute = [](Launcher& launcher, const FilterRequest& known, const FilterArguments& views, void* workspace) {
    launch_guided(launcher, known, views, workspace);
  };
  if (!guided_takes(request).empty()) return kernels;
  kernels.shared_bytes = guided_shared_bytes(request), kernels.workspace_bytes = guided_workspace_bytes(request);
  return kernels;
}

template <class Launcher>
FilterKernels<Launcher> gaussian_kernels(const FilterRequest& request) {
  FilterKernels<Launcher> kernels;
  kernels.takes = request.id == "convolution" ? convolution_takes : extended_boxes_takes;
  kernels.execute = [](Launcher& launcher, const FilterRequest& known, const FilterArguments& views, void* workspace) {
    launch_gaussian(launcher, known, views, workspace);
  };
  if (!kernels.takes(request).empty()) return kernels;
  kernels.shared_bytes = sizeof(GaussianLines<NoMachine, NoConfig>::Shared);
  kernels.workspace_bytes = GaussianWorkspace(request, nullptr).bytes;
  return kernels;
}

template <class Launcher, TypeGroup>
FilterKernels<Launcher> Filters::find(const FilterRequest& request) {
  if (request.id == "walk") return walk_kernels<Launcher>(request);
  if (request.id == "van-herk") return van_herk_kernels<Launcher>(request);
  if (request.id == "network") return network_kernels<Launcher>(request);
  if (request.id == "window-counts") return window_counts_kernels<Launcher>(request);
  if (request.id == "blocks") return blocks_kernels<Launcher>(request);
  if (request.id == "convolution" || request.id == "extended-boxes") return gaussian_kernels<Launcher>(request);
  if (request.id == "guided-walk") return guided_kernels<Launcher>(request);
  return {};
}

}  // namespace areal::kernels
