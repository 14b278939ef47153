// Plans of all subjects. Their kernels are instantiated in instantiate.cu.
#include "cuda/launcher.cuh"
#include "cuda/plan.hpp"
#include "kernels/filter/run.hpp"
#include "kernels/histogram/run.hpp"
#include "kernels/query/run.hpp"
#include "kernels/sat/run.hpp"
#include "kernels/scan/run.hpp"

namespace areal::cuda {

template <class Subject>
std::unique_ptr<const kernels::AnyDevicePlan<Subject>> make_plan(typename Subject::Request request, int device) {
  return std::make_unique<const kernels::DevicePlan<Launcher, Subject>>(std::move(request), device);
}
template std::unique_ptr<const kernels::AnyDevicePlan<kernels::Sat>> make_plan<kernels::Sat>(kernels::SatRequest, int);
template std::unique_ptr<const kernels::AnyDevicePlan<kernels::Histogram>> make_plan<kernels::Histogram>(
    kernels::HistogramRequest, int);
template std::unique_ptr<const kernels::AnyDevicePlan<kernels::CompactBuild>> make_plan<kernels::CompactBuild>(
    kernels::CompactRequest, int);
template std::unique_ptr<const kernels::AnyDevicePlan<kernels::RankBuild>> make_plan<kernels::RankBuild>(
    kernels::RankRequest, int);
template std::unique_ptr<const kernels::AnyDevicePlan<kernels::Scan>> make_plan<kernels::Scan>(kernels::ScanRequest,
                                                                                               int);
template std::unique_ptr<const kernels::AnyDevicePlan<kernels::Query>> make_plan<kernels::Query>(
    kernels::Query::Request, int);
template std::unique_ptr<const kernels::AnyDevicePlan<kernels::FilterSubject>> make_plan<kernels::FilterSubject>(
    kernels::FilterRequest, int);

template <class Subject>
kernels::Refusal refusal_of(const typename Subject::Request& request, int device) {
  return kernels::refusal_of<Launcher, Subject>(request, device);
}
template kernels::Refusal refusal_of<kernels::Sat>(const kernels::SatRequest&, int);
template kernels::Refusal refusal_of<kernels::Histogram>(const kernels::HistogramRequest&, int);
template kernels::Refusal refusal_of<kernels::FilterSubject>(const kernels::FilterRequest&, int);

}  // namespace areal::cuda
