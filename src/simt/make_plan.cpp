// Plans of all subjects. Their kernels are instantiated in instantiate.cpp.
#include "kernels/filter/run.hpp"
#include "kernels/histogram/run.hpp"
#include "kernels/query/run.hpp"
#include "kernels/sat/run.hpp"
#include "kernels/scan/run.hpp"
#include "simt/launcher.hpp"
#include "simt/plan.hpp"

namespace areal::simt {

bool built() noexcept { return true; }

template <class Subject>
std::unique_ptr<const kernels::AnyDevicePlan<Subject>> make_plan(typename Subject::Request request,
                                                                 const Options& options) {
  return std::make_unique<const kernels::DevicePlan<Launcher, Subject>>(std::move(request), options);
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
kernels::Refusal refusal_of(const typename Subject::Request& request, const Options& options) {
  return kernels::refusal_of<Launcher, Subject>(request, options);
}
template kernels::Refusal refusal_of<kernels::Sat>(const kernels::SatRequest&, const Options&);
template kernels::Refusal refusal_of<kernels::Histogram>(const kernels::HistogramRequest&, const Options&);
template kernels::Refusal refusal_of<kernels::FilterSubject>(const kernels::FilterRequest&, const Options&);

}  // namespace areal::simt
