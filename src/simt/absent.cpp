// The stub of the simulated machine for builds without it.
#include <areal/error.hpp>
#include "kernels/filter/request.hpp"
#include "kernels/histogram/request.hpp"
#include "kernels/query/request.hpp"
#include "kernels/sat/request.hpp"
#include "kernels/scan/request.hpp"
#include "simt/plan.hpp"

namespace areal::simt {

bool built() noexcept { return false; }

template <class Subject>
std::unique_ptr<const kernels::AnyDevicePlan<Subject>> make_plan(typename Subject::Request, const Options&) {
  throw Unavailable("this build has no simulated machine");
}
template std::unique_ptr<const kernels::AnyDevicePlan<kernels::Sat>> make_plan<kernels::Sat>(kernels::SatRequest,
                                                                                             const Options&);
template std::unique_ptr<const kernels::AnyDevicePlan<kernels::Histogram>> make_plan<kernels::Histogram>(
    kernels::HistogramRequest, const Options&);
template std::unique_ptr<const kernels::AnyDevicePlan<kernels::CompactBuild>> make_plan<kernels::CompactBuild>(
    kernels::CompactRequest, const Options&);
template std::unique_ptr<const kernels::AnyDevicePlan<kernels::RankBuild>> make_plan<kernels::RankBuild>(
    kernels::RankRequest, const Options&);
template std::unique_ptr<const kernels::AnyDevicePlan<kernels::Scan>> make_plan<kernels::Scan>(kernels::ScanRequest,
                                                                                               const Options&);
template std::unique_ptr<const kernels::AnyDevicePlan<kernels::Query>> make_plan<kernels::Query>(
    kernels::Query::Request, const Options&);
template std::unique_ptr<const kernels::AnyDevicePlan<kernels::FilterSubject>> make_plan<kernels::FilterSubject>(
    kernels::FilterRequest, const Options&);

template <class Subject>
kernels::Refusal refusal_of(const typename Subject::Request&, const Options&) {
  return {"this build has no simulated machine", true};
}
template kernels::Refusal refusal_of<kernels::Sat>(const kernels::SatRequest&, const Options&);
template kernels::Refusal refusal_of<kernels::Histogram>(const kernels::HistogramRequest&, const Options&);
template kernels::Refusal refusal_of<kernels::FilterSubject>(const kernels::FilterRequest&, const Options&);

}  // namespace areal::simt
