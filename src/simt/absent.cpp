// Stands in for the simulated machine in a build without it.
#include <areal/error.hpp>
#include "simt/histogram.hpp"
#include "simt/query.hpp"
#include "simt/sat.hpp"
#include "simt/scan.hpp"

namespace areal::simt {
namespace {
[[noreturn]] void absent() { throw Unavailable("this build has no simulated machine"); }
}  // namespace

bool built() noexcept { return false; }
std::size_t sat_workspace_bytes(std::string_view, const kernels::SatRequest&) { absent(); }
std::vector<LaunchCounts> sat(std::string_view, const kernels::SatRequest&, const SatArguments&, void*,
                              const Options&) {
  absent();
}
std::size_t histogram_workspace_bytes(std::string_view, const kernels::HistogramRequest&) { absent(); }
std::vector<LaunchCounts> histogram(std::string_view, const kernels::HistogramRequest&, const ConstView&,
                                    const ConstView&, const View&, void*, const Options&) {
  absent();
}
std::size_t scan_workspace_bytes(const kernels::ScanRequest&) { absent(); }
std::vector<LaunchCounts> scan(const kernels::ScanRequest&, const ConstView&, const View&, void*, const Options&) {
  absent();
}
std::vector<LaunchCounts> answer(const kernels::RegionRequest&, const Options&) { absent(); }

}  // namespace areal::simt
