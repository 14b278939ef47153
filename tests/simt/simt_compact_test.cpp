// Compact stores on the simulated machine, which checks every access.
#include <areal/array.hpp>
#include "api/core/device_rule.hpp"
#include "api/core/pixel_rule.hpp"
#include "cpu/histogram/compact.hpp"
#include "device_compact_cases.hpp"
#include "host_bed.hpp"
#include "kernels/histogram/request.hpp"
#include "kernels/query/request.hpp"
#include "simt/plan.hpp"

namespace areal {
namespace {

using namespace device_cases;

using Bed = HostBed<Backend::simt>;

TEST(SimtCompact, AWrongPixelIsCaught) { a_wrong_pixel_of_a_store_is_caught<Bed>(); }
TEST(SimtCompact, EverySide) { compact_stores_of_every_side<Bed>(); }
TEST(SimtCompact, EveryNumberOfBins) { compact_stores_of_every_number_of_bins<Bed>(); }
TEST(SimtCompact, EveryTypeAndRule) { compact_stores_of_every_type_and_rule<Bed>(); }
TEST(SimtCompact, Masks) { compact_stores_with_masks<Bed>(); }
TEST(SimtCompact, OutsideIsRefusedOrClipped) { compact_regions_outside_are_refused_or_clipped<Bed>(); }
TEST(SimtCompact, IsBuiltAnew) { a_compact_store_is_built_anew<Bed>(); }

}  // namespace
}  // namespace areal
