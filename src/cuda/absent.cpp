// Stands in for the CUDA backend in a build without it: no device is there, and nothing runs.
#include <areal/error.hpp>
#include "cuda/device.hpp"
#include "cuda/histogram.hpp"
#include "cuda/memory.hpp"
#include "cuda/query.hpp"
#include "cuda/sat.hpp"
#include "cuda/scan.hpp"

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
DeviceScope::DeviceScope(int) { absent(); }
DeviceScope::~DeviceScope() = default;
Memory::Memory(std::size_t) : data_(nullptr, [](void*) {}) { absent(); }
StreamMemory::StreamMemory(std::size_t, Stream stream) : data_(nullptr, Release{stream, true}) { absent(); }
void StreamMemory::Release::operator()(void*) const noexcept {}
OwnedStream::OwnedStream() { absent(); }
OwnedStream::~OwnedStream() = default;
void OwnedStream::synchronize() const { absent(); }
bool is_capturing(Stream) { absent(); }
void synchronize(Stream) { absent(); }
void clear(void*, std::size_t, Stream) { absent(); }
void copy_in(void*, const void*, std::size_t, Stream) { absent(); }
void copy_out(void*, const void*, std::size_t, Stream) { absent(); }
void copy(void*, const void*, std::size_t, Stream) { absent(); }
Sat::Sat(std::string_view, const kernels::SatRequest&, int) { absent(); }
std::size_t Sat::workspace_bytes() const { absent(); }
void Sat::execute(const SatArguments&, void*, Stream, const LaunchReport&) const { absent(); }
Histogram::Histogram(std::string_view, Type, int) { absent(); }
std::size_t Histogram::workspace_bytes(const kernels::HistogramRequest&) const { absent(); }
void Histogram::execute(const kernels::HistogramRequest&, const HistogramArguments&, void*, Stream,
                        const LaunchReport&) const {
  absent();
}
std::size_t scan_workspace_bytes(const kernels::ScanRequest&) { absent(); }
void scan(const kernels::ScanRequest&, const ConstView&, const View&, void*, Stream, const LaunchReport&) { absent(); }
void answer(const kernels::RegionRequest&, Stream) { absent(); }

}  // namespace areal::cuda
