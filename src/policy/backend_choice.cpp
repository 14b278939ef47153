#include "policy/backend_choice.hpp"
#include <algorithm>
#include <cstdio>

namespace areal::policy {
namespace {

std::string milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g ms", seconds * 1e3);
  return text;
}

}  // namespace

double cpu_seconds(const BackendQuestion& question, const BackendCosts& costs) {
  const double bandwidth = std::min(costs.cpu_most, costs.cpu_per_thread * std::max(1, question.threads));
  return costs.cpu_start + static_cast<double>(question.read + question.written) / bandwidth;
}

double cuda_seconds(const BackendQuestion& question, const BackendCosts& costs) {
  const double bytes = static_cast<double>(question.read + question.written);
  return costs.cuda_start + bytes / costs.link + bytes / costs.cuda_kernels;
}

BackendChoice choose_backend(const BackendQuestion& question, const BackendMachine& machine) {
  if (!question.cuda_has_it) return {Backend::cpu, "backend cpu, which alone has it"};
  if (question.has_progress) return {Backend::cpu, "backend cpu, which alone tells of its progress"};
  if (!machine.why_no_cuda.empty()) return {Backend::cpu, "backend cpu, as " + machine.why_no_cuda};
  const std::uint64_t bytes = question.read + question.written + question.workspace;
  if (bytes > machine.device_memory)
    return {Backend::cpu, "backend cpu, as the GPU lacks memory: " + std::to_string(bytes) + " bytes are needed, " +
                              std::to_string(machine.device_memory) + " are free"};
  if (!question.cpu_has_it) return {Backend::cuda, "backend cuda, as the CPU has no such algorithm"};
  if (question.must_launch) return {Backend::cuda, "backend cuda, whose launches are reported"};
  const double cpu = cpu_seconds(question, machine.costs), cuda = cuda_seconds(question, machine.costs);
  const std::string expected = ", of host memory " + milliseconds(cuda) + " expected on cuda, copies counted, and " +
                               milliseconds(cpu) + " on cpu with " + std::to_string(question.threads) + " threads";
  return cuda < cpu ? BackendChoice{Backend::cuda, "backend cuda" + expected}
                    : BackendChoice{Backend::cpu, "backend cpu" + expected};
}

}  // namespace areal::policy
