// The kernels of the family `sat`, instantiated for the lanes of one group.
#include "simt/sat_entries.hpp"

namespace areal::simt {

template <>
kernels::SatEntry<Launcher> sat_entry_of<kernels::this_group>(std::string_view id, Lane lane) {
  return kernels::sat_entry_of<Launcher, kernels::this_group>(id, lane);
}

}  // namespace areal::simt
