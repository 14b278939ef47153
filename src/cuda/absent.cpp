// The stub of the CUDA backend for builds without it: there is no device, and every call throws.
#include <areal/error.hpp>
#include "cuda/device.hpp"
#include "cuda/memory.hpp"
#include "cuda/plan.hpp"
#include "kernels/filter/request.hpp"
#include "kernels/histogram/request.hpp"
#include "kernels/query/request.hpp"
#include "kernels/sat/request.hpp"
#include "kernels/scan/request.hpp"

namespace areal::cuda {
namespace {
[[noreturn]] void absent() { throw Unavailable("this build has no CUDA backend"); }
}  // namespace

bool built() noexcept { return false; }
int device_count() noexcept { return 0; }
std::vector<Device> devices(std::string* why_not) {
  if (why_not) *why_not = "this build has no CUDA backend";
  return {};
}
std::string why_not(int) { return "this build has no CUDA backend"; }
std::uint64_t free_memory(int) { absent(); }
bool open_access(int, int) { absent(); }
DeviceScope::DeviceScope(int) { absent(); }
DeviceScope::~DeviceScope() = default;
Memory::Memory(std::size_t) : data_(nullptr, [](void*) {}) { absent(); }
StreamMemory::StreamMemory(std::size_t, Stream stream) : data_(nullptr, Release{stream, true}) { absent(); }
void StreamMemory::Release::operator()(void*) const noexcept {}
PinnedMemory::PinnedMemory(std::size_t) : data_(nullptr, [](void*) {}) { absent(); }
bool is_page_locked(const void*) { absent(); }
Event::Event(bool) { absent(); }
Event::~Event() = default;
void Event::record(Stream) { absent(); }
void Event::synchronize() const { absent(); }
bool Event::has_happened() const { absent(); }
void Event::hold_back(Stream) const { absent(); }
double Event::seconds_since(const Event&) const { absent(); }
OwnedStream::OwnedStream() { absent(); }
OwnedStream::~OwnedStream() = default;
void OwnedStream::synchronize() const { absent(); }
bool is_capturing(Stream) { absent(); }
void synchronize(Stream) { absent(); }
void clear(void*, std::size_t, Stream) { absent(); }
void clear_rows(void*, std::int64_t, std::size_t, std::size_t, Stream) { absent(); }
void copy_in(void*, const void*, std::size_t, Stream) { absent(); }
void copy_out(void*, const void*, std::size_t, Stream) { absent(); }
void copy_rows(void*, std::int64_t, const void*, std::int64_t, std::size_t, std::size_t, CopyDirection, Stream) {
  absent();
}
void copy(void*, const void*, std::size_t, Stream) { absent(); }

template <class Subject>
std::unique_ptr<const kernels::AnyDevicePlan<Subject>> make_plan(typename Subject::Request, int) {
  absent();
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
kernels::Refusal refusal_of(const typename Subject::Request&, int) {
  absent();
}
template kernels::Refusal refusal_of<kernels::Sat>(const kernels::SatRequest&, int);
template kernels::Refusal refusal_of<kernels::Histogram>(const kernels::HistogramRequest&, int);
template kernels::Refusal refusal_of<kernels::FilterSubject>(const kernels::FilterRequest&, int);

}  // namespace areal::cuda
