// The kernels of one registry and type group: CMake compiles this file once for each, with
//   AREAL_REGISTRY_HEADER, AREAL_REGISTRY, AREAL_TYPE_GROUP
#include "cuda/launcher.cuh"
#include AREAL_REGISTRY_HEADER

namespace areal::kernels {

template <>
AREAL_REGISTRY::Kernels<cuda::Launcher> kernels_of<cuda::Launcher, AREAL_REGISTRY, TypeGroup::AREAL_TYPE_GROUP>(
    const AREAL_REGISTRY::Key& key) {
  return AREAL_REGISTRY::find<cuda::Launcher, TypeGroup::AREAL_TYPE_GROUP>(key);
}

}  // namespace areal::kernels
