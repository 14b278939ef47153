// The kernels of one registry and type group: CMake compiles this file once for each, with
//   AREAL_REGISTRY_HEADER, AREAL_REGISTRY, AREAL_TYPE_GROUP
#include AREAL_REGISTRY_HEADER
#include "simt/launcher.hpp"

namespace areal::kernels {

template <class Launcher, class Registry, TypeGroup group>
typename Registry::template Kernels<Launcher> kernels_of(const typename Registry::Key& key) {
  return Registry::template find<Launcher, group>(key);
}
template AREAL_REGISTRY::Kernels<simt::Launcher>
kernels_of<simt::Launcher, AREAL_REGISTRY, TypeGroup::AREAL_TYPE_GROUP>(const AREAL_REGISTRY::Key&);

}  // namespace areal::kernels
