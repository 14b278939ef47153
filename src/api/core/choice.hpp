#pragma once
// The choice of a device's algorithm. Policy ranks algorithms; a kernel says which requests it supports, and which
// views fit it. A plan keeps two candidates: the first that supports the request and, unless that fits all views, the
// first after it that does. Each has its own part of the workspace, as the state there counts launches. A named
// algorithm is a list of one.

#include <areal/error.hpp>
#include <areal/execution.hpp>
#include <areal/research/launch_counts.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "api/core/device_plan.hpp"
#include "cuda/device.hpp"

namespace areal {

/// A non-null pointer for views whose memory is checked but not read.
inline void* allocated() { return reinterpret_cast<void*>(std::uintptr_t{1} << 20); }

/// The views as they lie where the plan runs: a plan on CUDA works on contiguous copies of those in host memory.
template <class Arguments, class Views>
Arguments placed(const Execution& execution, const Views& views, Arguments arguments) {
  if (execution.backend != Backend::cuda) return arguments;
  const auto place = [](auto& view) {
    if (view.data != nullptr && view.memory.is_host()) view = {allocated(), view.type, view.shape};
  };
  views.each_input(arguments, [&](const char*, ConstView& view) { place(view); });
  for (const auto& one : views.out) place(arguments.*one.view);
  return arguments;
}

/// The algorithms of one plan on a device.
template <class Subject>
class Choice {
 public:
  using Request = typename Subject::Request;
  using Arguments = typename Subject::Arguments;

  /// `ids`: algorithms of the catalogue, best first. Backend and device are available. Throws InvalidArgument if none
  /// supports the request, Unavailable if this build or the device lacks the kernels; the sentence is the first one's.
  /// `simulated`: options of the simulated machine.
  Choice(const Execution& execution, Request request, const std::vector<std::string_view>& ids,
         const simt::Options& simulated = {}) {
    std::optional<cuda::DeviceScope> scope;
    if (execution.backend == Backend::cuda) scope.emplace(execution.device);
    kernels::Refusal first;
    for (const std::string_view id : ids) {
      request.id = id;
      if (kernels::Refusal refusal = refusal_of(execution, request, simulated); !refusal.why.empty()) {
        if (candidates_.empty() && first.why.empty()) first = std::move(refusal);
        continue;
      }
      auto plan = device_plan<Subject>(execution.backend, execution.device, request, simulated);
      const bool is_certain = plan->is_certain();
      if (candidates_.empty() || is_certain) {
        const std::size_t bytes = plan->workspace_bytes();
        candidates_.push_back({request.id, std::move(plan), workspace_bytes_});
        workspace_bytes_ += bytes;
      }
      if (is_certain) break;
    }
    if (candidates_.empty() && first.is_missing) throw Unavailable(first.why);
    if (candidates_.empty()) throw InvalidArgument(first.why);
    passed_over_ = std::move(first.why);
  }

  /// Why the constructor would throw Unavailable; empty if it would not.
  static std::string lacks(const Execution& execution, Request request, const std::vector<std::string_view>& ids) {
    const kernels::Refusal first = refusal(execution, std::move(request), ids);
    return first.is_missing ? first.why : std::string();
  }
  /// Why the constructor would throw.
  static kernels::Refusal refusal(const Execution& execution, Request request,
                                  const std::vector<std::string_view>& ids) {
    std::optional<cuda::DeviceScope> scope;
    if (execution.backend == Backend::cuda) scope.emplace(execution.device);
    kernels::Refusal first;
    for (const std::string_view id : ids) {
      request.id = id;
      kernels::Refusal one = refusal_of(execution, request, {});
      if (one.why.empty()) return {};
      if (first.why.empty()) first = std::move(one);
    }
    return first;
  }

  std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }
  /// Why the best of the list does not support the request; empty if it does.
  const std::string& passed_over() const noexcept { return passed_over_; }

  void prepare(void* workspace, Stream stream) const {
    for (const Candidate& one : candidates_) one.plan->prepare(part(workspace, one), stream);
  }

  /// The algorithm that runs on these views.
  const std::string& algorithm(const Arguments& arguments) const { return first_that_fits(arguments)->id; }

  /// Throws InvalidArgument for views that no candidate fits, which happens to named algorithms. placed() gives the
  /// views as they lie where the plan runs.
  template <class GetViews>
  void check(const GetViews& placed) const {
    const auto& last = *candidates_.back().plan;
    if (last.is_certain()) return;
    if (const std::string why = last.fits(placed()); !why.empty()) throw InvalidArgument(why);
  }

  /// Queues the work on checked views and returns the id of the launched algorithm. Throws DeviceError if the device
  /// refuses a named algorithm's launch.
  std::string_view execute(const Arguments& arguments, void* workspace, Stream stream,
                           const LaunchReport& on_launch) const {
    for (auto one = first_that_fits(arguments); one != candidates_.end(); ++one)
      if (one->plan->execute(arguments, part(workspace, *one), stream, on_launch)) return one->id;
    throw DeviceError("algorithm " + candidates_.back().id +
                          ": the device does not run all its blocks at once now; auto goes on with another algorithm",
                      false);
  }

 private:
  struct Candidate {
    std::string id;
    std::shared_ptr<const kernels::AnyDevicePlan<Subject>> plan;
    std::size_t workspace;  // offset of its part
  };

  static kernels::Refusal refusal_of(const Execution& execution, const Request& request,
                                     const simt::Options& simulated) {
    return execution.backend == Backend::cuda ? cuda::refusal_of<Subject>(request, execution.device)
                                              : simt::refusal_of<Subject>(request, simulated);
  }
  static void* part(void* workspace, const Candidate& one) { return static_cast<char*>(workspace) + one.workspace; }
  /// The last one if none fits.
  auto first_that_fits(const Arguments& arguments) const {
    auto one = candidates_.begin();
    while (one + 1 != candidates_.end() && !one->plan->fits(arguments).empty()) ++one;
    return one;
  }

  std::vector<Candidate> candidates_;
  std::size_t workspace_bytes_ = 0;
  std::string passed_over_;
};

}  // namespace areal
