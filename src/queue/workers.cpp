#include "queue/workers.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <areal/sequence.hpp>
#include <charconv>
#include "api/core/device_plan.hpp"
#include "api/core/require.hpp"

namespace areal {
namespace {

constexpr const char* may_be =
    "may be all, cpu, cpu:THREADS, cuda, cuda:DEVICE, a CUDA device's number, simt, or several, separated by commas";

// Parses the whole text as an integer.
std::optional<int> number_in(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::optional<Worker> worker_named(std::string_view text) {
  if (const auto device = number_in(text)) return Worker{.backend = Backend::cuda, .device = *device};
  const std::string_view name = text.substr(0, text.find(':'));
  if (name == "simt" && name == text) return Worker{.backend = Backend::simt};
  if (name != "cpu" && name != "cuda") return std::nullopt;
  Worker worker{.backend = name == "cpu" ? Backend::cpu : Backend::cuda};
  if (name == text) return worker;
  const auto number = number_in(text.substr(name.size() + 1));
  if (!number || (name == "cpu" && *number == 0)) return std::nullopt;
  (name == "cpu" ? worker.threads : worker.device) = *number;
  return worker;
}

}  // namespace

std::string name_of(const Worker& worker) {
  const std::string backend(name_of(worker.backend));
  if (worker.backend == Backend::cuda) return backend + ":" + std::to_string(worker.device);
  if (worker.backend == Backend::cpu && worker.threads > 0) return backend + ":" + std::to_string(worker.threads);
  return backend;
}

std::vector<Worker> workers_named(std::string_view text) {
  std::vector<Worker> workers;
  if (text == "all") {
    for (const DeviceInfo& device : devices()) workers.push_back({.backend = Backend::cuda, .device = device.number});
    if (workers.empty()) workers.emplace_back();
    return workers;
  }
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view name = text.substr(at, end - at);
    const auto worker = worker_named(name);
    require(worker.has_value(), "workers ", text, ": `", name, "` is none; ", may_be);
    for (const Worker& other : workers) {
      if (other.backend != worker->backend || other.device != worker->device) continue;
      require(other.backend != Backend::cpu, "workers ", text, ": the CPU is one worker, and `", name,
              "` would be a second; cpu:N gives it N threads");
      throw InvalidArgument("workers " + std::string(text) + ": `" + std::string(name) + "` is there twice");
    }
    workers.push_back(*worker);
    at = end + 1;
  }
  return workers;
}

void queue::require_workers(const std::vector<Worker>& workers) {
  for (const Worker& worker : workers) {
    require(worker.backend != Backend::automatic, "worker: its backend must be named: cpu, cuda or simt");
    require(worker.threads >= 0, "worker cpu:", worker.threads, ": its threads may be 0 (all) or more");
    if (worker.backend != Backend::cpu) require_backend(worker.backend, worker.device);
  }
}

}  // namespace areal
