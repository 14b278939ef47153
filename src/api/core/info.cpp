// What this build and this machine can do.
#include <algorithm>
#include <areal/info.hpp>
#include <fstream>
#include <limits>
#include <string>
#include "cpu/simd.hpp"
#include "cpu/threads.hpp"
#include "cuda/device.hpp"
#include "simt/plan.hpp"

namespace areal {
namespace {

// The number after `key` in a file of "key: number" or one bare number; `otherwise` if there is none.
std::uint64_t number_in(const char* path, const std::string& key, std::uint64_t otherwise) {
  std::ifstream file(path);
  std::string word;
  while (file >> word)
    if (key.empty() || word == key) {
      if (!key.empty() && !(file >> word)) break;
      if (word.empty() || word.find_first_not_of("0123456789") != std::string::npos) break;
      return std::stoull(word);
    }
  return otherwise;
}

}  // namespace

std::vector<BackendInfo> backends() {
  std::string why_not;
  const bool has_cuda = !cuda::devices(&why_not).empty();
  return {{Backend::cuda, has_cuda, has_cuda ? "" : why_not},
          {Backend::cpu, true, ""},
          {Backend::simt, simt::built(), simt::built() ? "" : "this build has no simulated machine"}};
}
std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> found;
  for (const cuda::Device& device : cuda::devices())
    found.push_back({device.number, device.name, "sm_" + std::to_string(device.major) + std::to_string(device.minor),
                     device.multiprocessors, device.memory, device.free_memory});
  return found;
}
std::vector<std::string> simd_targets() { return cpu::simd_targets(); }
int default_threads() { return cpu::default_threads(); }

std::uint64_t free_memory() {
  constexpr auto unlimited = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t kib = number_in("/proc/meminfo", "MemAvailable:", unlimited / 1024);
  // Control group, version 2 then 1; "max" means no limit.
  std::uint64_t limit = number_in("/sys/fs/cgroup/memory.max", "", unlimited);
  std::uint64_t used = number_in("/sys/fs/cgroup/memory.current", "", 0);
  if (limit == unlimited) {
    limit = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes", "", unlimited);
    used = number_in("/sys/fs/cgroup/memory/memory.usage_in_bytes", "", 0);
  }
  const std::uint64_t group = limit == unlimited ? unlimited : limit - std::min(limit, used);
  return std::min(kib * 1024, group);
}

}  // namespace areal
