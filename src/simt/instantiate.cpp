// The kernels of one registry and type group: CMake compiles this file once for each, with
//   AREAL_REGISTRY_HEADER, AREAL_REGISTRY, AREAL_TYPE_GROUP
#include AREAL_REGISTRY_HEADER
#include "simt/launcher.hpp"

namespace areal::kernels {

template <>
AREAL_REGISTRY::Kernels<simt::Launcher> kernels_of<simt::Launcher, AREAL_REGISTRY, TypeGroup::AREAL_TYPE_GROUP>(
    const AREAL_REGISTRY::Key& key) {
  return AREAL_REGISTRY::find<simt::Launcher, TypeGroup::AREAL_TYPE_GROUP>(key);
}

}  // namespace areal::kernels
