#pragma once
// A plan on a device: what was found once for a request, and the way of each execute to the kernels. A Subject (sat,
// histogram, scan, query) has in its request.hpp
//   Request, Arguments                  what is known before the data is there, and the data
//   find<Launcher>(request)             a Found: throws Unavailable where there is no kernel
//   prepare(launcher, request, workspace, bytes)               makes a new workspace ready
//   run(launcher, kernels, request, arguments, workspace)      launches; may return the id of the algorithm that ran
//   memory(request, arguments, workspace, bytes, visit)        calls visit(MemoryRange) for all that a run may touch
//   words(request)                      what an error calls it
// and a Launcher Settings, its constructor from them, a stream and a report, and
//   name, require_shared, launch, fill, clear, copy_in; where it checks memory: register_memory.

#include <areal/execution.hpp>
#include <areal/research/launch_counts.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace areal::kernels {

/// A plan without its backend's types. Whoever calls it has made the plan's device current.
template <class Subject>
class AnyDevicePlan {
 public:
  AnyDevicePlan() = default;
  AnyDevicePlan(const AnyDevicePlan&) = delete;
  AnyDevicePlan& operator=(const AnyDevicePlan&) = delete;
  virtual ~AnyDevicePlan() = default;

  /// Bytes of the backend's memory that an execute needs.
  virtual std::size_t workspace_bytes() const noexcept = 0;
  /// Queues what makes a new workspace ready.
  virtual void prepare(void* workspace, Stream stream) const = 0;
  /// Queues the work. Arguments and request agree; all is the backend's memory. `on_launch` may be empty. Returns the
  /// id of the algorithm that ran, empty if the subject has but one. Throws InvalidArgument, before anything is queued,
  /// if a named algorithm does not take the arguments.
  virtual std::string_view execute(const typename Subject::Arguments& arguments, void* workspace, Stream stream,
                                   const LaunchReport& on_launch) const = 0;
};

/// What `find` gives.
template <class Kernels>
struct Found {
  Kernels kernels;
  std::size_t workspace_bytes = 0;
  std::size_t shared_bytes = 0;  ///< of the block that has most
};

/// Memory that a run may touch. Inputs may overlap one another.
struct MemoryRange {
  enum class Use : std::uint8_t {
    input,      ///< read
    output,     ///< written before it is read; bytes between its elements may be the caller's
    in_place,   ///< an output that holds the input
    workspace,  ///< written, and read as `prepare` left it
    scratch,    ///< written before it is read, all of it
  };
  const char* name;
  const void* data;
  std::size_t bytes;
  Use use;
};

template <class Launcher, class Subject>
class DevicePlan final : public AnyDevicePlan<Subject> {
 public:
  using Request = typename Subject::Request;
  using Arguments = typename Subject::Arguments;
  using Settings = typename Launcher::Settings;

  /// Throws Unavailable where there is no kernel, or a block needs more shared memory than the device has.
  DevicePlan(Request request, Settings settings)
      : request_(std::move(request)),
        settings_(std::move(settings)),
        found_(Subject::template find<Launcher>(request_)) {
    Launcher::require_shared(settings_, found_.shared_bytes, Subject::words(request_));
  }

  std::size_t workspace_bytes() const noexcept override { return found_.workspace_bytes; }

  void prepare(void* workspace, Stream stream) const override {
    if (found_.workspace_bytes == 0) return;
    Launcher launcher(settings_, stream, nullptr);
    Subject::prepare(launcher, request_, workspace, found_.workspace_bytes);
  }

  std::string_view execute(const Arguments& arguments, void* workspace, Stream stream,
                           const LaunchReport& on_launch) const override {
    Launcher launcher(settings_, stream, &on_launch);
    if constexpr (requires { launcher.register_memory({}); }) {
      std::vector<MemoryRange> ranges;
      Subject::memory(request_, arguments, workspace, found_.workspace_bytes, [&](const MemoryRange& range) {
        if (range.bytes > 0) ranges.push_back(range);
      });
      launcher.register_memory(std::move(ranges));
    }
    if constexpr (std::is_void_v<decltype(Subject::run(launcher, found_.kernels, request_, arguments, workspace))>) {
      Subject::run(launcher, found_.kernels, request_, arguments, workspace);
      return {};
    } else {
      return Subject::run(launcher, found_.kernels, request_, arguments, workspace);
    }
  }

 private:
  Request request_;
  Settings settings_;
  decltype(Subject::template find<Launcher>(std::declval<const Request&>())) found_;
};

}  // namespace areal::kernels
