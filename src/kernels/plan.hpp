#pragma once
// A plan on a device: what is found once for a request, and how each execute reaches the kernels. A Subject (sat,
// histogram, scan, query, filter) has in its request.hpp
//   Request, Arguments                  what is known before the data is there, and the data
//   find<Launcher>(request)             a Found: throws Unavailable if there is no kernel
//   prepare(launcher, request, workspace, bytes)               initialises a new workspace
//   run(launcher, kernels, request, arguments, workspace)      launches
//   memory(request, arguments, workspace, bytes, visit)        calls visit(MemoryRange) for all that a run may touch
//   words(request)                      its name in error messages
// A subject with several algorithms (sat, histogram, filter) finds kernels without throwing; its run returns whether
// the device accepted the launch, and it also has
//   takes(launcher, kernels, request)   what the algorithm needs, if it does not support the request; else empty
//   fits(kernels, request, arguments)   what views it needs, if it does not support these; else empty
// and a Launcher Settings, its constructor from them, a stream and a report, and
//   name, lacks_shared, launch, fill, clear, copy_in; if it checks memory: register_memory.

#include <areal/error.hpp>
#include <areal/execution.hpp>
#include <areal/research/launch_counts.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace areal::kernels {

/// A plan without its backend's types. The caller makes the plan's device current.
template <class Subject>
class AnyDevicePlan {
 public:
  AnyDevicePlan() = default;
  AnyDevicePlan(const AnyDevicePlan&) = delete;
  AnyDevicePlan& operator=(const AnyDevicePlan&) = delete;
  virtual ~AnyDevicePlan() = default;

  /// Bytes of the backend's memory that an execute needs.
  virtual std::size_t workspace_bytes() const noexcept = 0;
  /// Queues the initialisation of a new workspace.
  virtual void prepare(void* workspace, Stream stream) const = 0;
  /// Why the algorithm does not support these arguments, a sentence; empty if it does. Reads no element.
  virtual std::string fits(const typename Subject::Arguments& /*arguments*/) const { return {}; }
  /// True if it supports all views and the device always accepts its launches.
  virtual bool is_certain() const noexcept { return true; }
  /// Queues the work. Arguments and request agree, and fit; all is the backend's memory. `on_launch` may be empty.
  /// False if the device refuses to run all blocks of a launch at once: another plan may then execute the same.
  virtual bool execute(const typename Subject::Arguments& arguments, void* workspace, Stream stream,
                       const LaunchReport& on_launch) const = 0;
};

/// The result of `find`.
template <class Kernels>
struct Found {
  Kernels kernels;
  std::size_t workspace_bytes = 0;
  std::size_t shared_bytes = 0;  ///< of the largest block
  bool is_certain = true;        ///< see AnyDevicePlan
  std::string missing = {};      ///< why there are no kernels; empty if there are
};

/// Why an algorithm does not support a request on a device.
struct Refusal {
  std::string why;          ///< a sentence; empty if it does
  bool is_missing = false;  ///< this build has no such kernel, or the device too little shared memory for it
};

inline std::string refusal_text(const std::string& id, const std::string& what) {
  return what.empty() ? what : "algorithm " + id + ": " + what;
}

/// For a subject with several algorithms. The device is current.
template <class Launcher, class Subject>
Refusal refusal_of(const typename Subject::Request& request, const typename Launcher::Settings& settings) {
  const auto found = Subject::template find<Launcher>(request);
  if (const std::string why = Launcher::lacks_shared(settings, found.shared_bytes); !why.empty())
    return {Subject::words(request) + " " + why, true};
  Launcher launcher(settings, Stream::legacy_default(), nullptr);  // it launches nothing
  if (const std::string what = Subject::takes(launcher, found.kernels, request); !what.empty())
    return {refusal_text(request.id, what)};
  return {found.missing, !found.missing.empty()};
}

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

  /// Throws Unavailable if there is no kernel, or a block needs more shared memory than the device has.
  DevicePlan(Request request, Settings settings)
      : request_(std::move(request)),
        settings_(std::move(settings)),
        found_(Subject::template find<Launcher>(request_)) {
    if (!found_.missing.empty()) throw Unavailable(found_.missing);
    if (const std::string why = Launcher::lacks_shared(settings_, found_.shared_bytes); !why.empty())
      throw Unavailable(Subject::words(request_) + " " + why);
  }

  std::size_t workspace_bytes() const noexcept override { return found_.workspace_bytes; }

  void prepare(void* workspace, Stream stream) const override {
    if (found_.workspace_bytes == 0) return;
    Launcher launcher(settings_, stream, nullptr);
    Subject::prepare(launcher, request_, workspace, found_.workspace_bytes);
  }

  bool is_certain() const noexcept override { return found_.is_certain; }
  std::string fits(const Arguments& arguments) const override {
    if constexpr (requires { Subject::fits(found_.kernels, request_, arguments); })
      return refusal_text(request_.id, Subject::fits(found_.kernels, request_, arguments));
    else
      return {};
  }

  bool execute(const Arguments& arguments, void* workspace, Stream stream,
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
      return true;
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
