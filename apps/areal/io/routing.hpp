#pragma once
// Runs a verb by its route, and by the next route if memory runs out.

#include <functional>
#include <string>
#include <vector>
#include "route.hpp"
#include "settings.hpp"

namespace CLI {
class App;
}

namespace areal::command {

/// The options on the command line, without those whose value is "auto". --stat appears once per entry of its list.
std::vector<GivenOption> given_options(const CLI::App& verb, const Settings& settings);

/// --memory, --devices and --device-memory; an empty text is an option that was not given. Throws InvalidArgument if a
/// text is not a size, OutOfMemory if --memory leaves nothing for the work.
Limits limits_of(const std::string& memory, const std::string& devices, const std::string& device_memory,
                 const Settings& settings);

/// Calls `work` with the chosen way; -v prints the way and its reason. If the whole image runs out of memory and
/// `written` is false, calls `work` again with a way that processes the image in parts, if one supports the options.
void run_by_route(const InputFacts& input, RouteRequest request, const Limits& limits, const bool& written,
                  const Settings& settings, const std::function<void(Way)>& work);

/// --memory less `used` bytes; 0 without --memory. Throws OutOfMemory if nothing remains; its message names `what`
/// uses them: "the image and the regions".
std::uint64_t memory_left(const Limits& limits, std::uint64_t used, const std::string& what);

}  // namespace areal::command
