#pragma once
// Work on an input by its route: the options of a call as limits, and the second choice where memory runs out.

#include <functional>
#include <string>
#include <vector>
#include "route.hpp"
#include "settings.hpp"

namespace CLI {
class App;
}

namespace areal::command {

/// The options of a verb that were given, but for those that leave the choice ("auto"). Those with lists, as --stat,
/// once for each entry.
std::vector<Given> given_options(const CLI::App& verb, const Settings& settings);

/// --memory, --devices and --device-memory, each empty where it was not given. Throws InvalidArgument for what is no
/// size, OutOfMemory where nothing is left for the work.
Limits limits_of(const std::string& memory, const std::string& devices, const std::string& device_memory,
                 const Settings& settings);

/// Calls `work` with the way, which -v says with its reason. Where the whole image then runs out of memory and
/// `written` is false, it is called again with the way for parts of the image, if there is one.
void by_route(const InputFacts& input, Wanted wanted, const Limits& limits, const bool& written,
              const Settings& settings, const std::function<void(Way)>& work);

/// What --memory leaves beside `taken`; 0 where it was not given. `what` takes that: "the image and the regions".
/// Throws OutOfMemory where nothing is left.
std::uint64_t memory_beside(const Limits& limits, std::uint64_t taken, const std::string& what);

}  // namespace areal::command
