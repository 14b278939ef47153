#pragma once
// The kernels of `walk` that need multiply_tiles, for one launcher.

#include "kernels/filter/run.hpp"
#include "kernels/filter/walk/tile_bands.hpp"

namespace areal::kernels {

template <class Launcher, TypeGroup>
FilterKernels<Launcher> TileFilters::find(const FilterRequest& request) {
  FilterKernels<Launcher> kernels;
  with_tile_bands(request, [&]<class C>() {
    kernels.execute = [](Launcher& launcher, const FilterRequest& known, const FilterArguments& views, void*) {
      launch_tile_bands<TileBandMeans, C>(launcher, known, views);
    };
  });
  with_tiles_that_decide(request, [&]<class C>() {
    kernels.execute = [](Launcher& launcher, const FilterRequest& known, const FilterArguments& views, void*) {
      launch_tile_bands<TileBandDecide, C>(launcher, known, views);
    };
  });
  return kernels;
}

}  // namespace areal::kernels
