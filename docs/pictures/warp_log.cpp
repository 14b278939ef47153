#include "warp_log.hpp"

#include <bit>
#include <cstdio>

namespace areal::simt {

void WarpLog::name(const char* name, const void* first, std::int64_t width, std::int64_t rows, int element) {
  arrays_.push_back({name, reinterpret_cast<std::uintptr_t>(first), width, rows, element});
}

Options WarpLog::options() {
  Options options;
  options.checks = false;
  options.witness = this;
  return options;
}

void WarpLog::requested(std::int64_t block, int warp, const Request& request, const Sites::Entry& site) {
  if (is_flag(site.op)) return;
  int array = -1;
  std::uint64_t first = 0, element = site.bytes;
  if (!is_shared(site.op)) {
    const std::uint64_t at = request.at[static_cast<std::size_t>(std::countr_zero(request.mask))];
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      const Array& a = arrays_[i];
      if (at >= a.first && at - a.first < static_cast<std::uint64_t>(a.width * a.rows * a.element))
        array = static_cast<int>(i), first = a.first, element = static_cast<std::uint64_t>(a.element);
    }
    if (array < 0) return;
  }
  Asked asked{launches_.size(), block, warp, met_[block], site.op, array, request.mask, {}};
  for (std::uint32_t mask = request.mask; mask != 0; mask &= mask - 1)
    asked.elements.push_back((request.at[static_cast<std::size_t>(std::countr_zero(mask))] - first) / element);
  asked_.push_back(asked);
}

void WarpLog::launch_ended(const LaunchCounts& launch) {
  launches_.push_back(launch);
  met_.clear();
}

void WarpLog::write(const std::string& name) const {
  std::printf("{\"name\": \"%s\", \"launches\": [", name.c_str());
  const char* comma = "";
  for (const LaunchCounts& launch : launches_) {
    std::printf("%s[\"%s\", %lld, %d, %llu]", comma, launch.kernel.c_str(), static_cast<long long>(launch.blocks),
                launch.threads, static_cast<unsigned long long>(launch.counts.shuffles));
    comma = ", ";
  }
  std::printf("],\n\"arrays\": [");  // name, width, rows
  comma = "";
  for (const Array& a : arrays_) {
    std::printf("%s[\"%s\", %lld, %lld]", comma, a.name.c_str(), static_cast<long long>(a.width),
                static_cast<long long>(a.rows));
    comma = ", ";
  }
  std::printf("],\n\"asked\": [");  // launch, block, warp, met, what, array, lanes, elements
  comma = "";
  for (const Asked& a : asked_) {
    std::printf("%s\n[%zu, %lld, %d, %d, \"%s\", %d, %u, [", comma, a.launch, static_cast<long long>(a.block), a.warp,
                a.met, simt::name(a.op), a.array, a.lanes);
    comma = "";
    for (const std::uint64_t element : a.elements) {
      std::printf("%s%llu", comma, static_cast<unsigned long long>(element));
      comma = ", ";
    }
    std::printf("]]");
    comma = ",";
  }
  std::printf("]}");
}

Logs::Logs(const char* name) { std::printf("{\"case\": \"%s\", \"runs\": [\n", name); }
Logs::~Logs() { std::printf("]}\n"); }

void Logs::add(const WarpLog& log, const std::string& name) {
  if (!first_) std::printf(",\n");
  first_ = false;
  log.write(name);
}

}  // namespace areal::simt
