#include "routing.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <limits>
#include "memory_limit.hpp"
#include "numbers.hpp"

namespace areal::command {

std::vector<GivenOption> given_options(const CLI::App& verb, const Settings& settings) {
  std::vector<GivenOption> given;
  for (const CLI::Option* const option : verb.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    const bool is_short = !option->get_snames().empty();
    const std::string name = is_short ? "-" + option->get_snames().front() : "--" + option->get_lnames().front();
    const bool is_flag = option->get_expected_max() == 0;
    for (const std::string& value : option->results()) {
      if (is_flag)
        given.push_back({name});
      else if (name == "--stat")
        for (const std::string_view stat : split(value, ',')) given.push_back({name, std::string(stat)});
      else if (value != "auto")
        given.push_back({name, value});
    }
  }
  if (settings.backend != Backend::automatic) given.push_back({"--backend", std::string(name_of(settings.backend))});
  return given;
}

Limits limits_of(const std::string& memory, const std::string& devices, const std::string& device_memory,
                 const Settings& settings) {
  Limits limits;
  if (!memory.empty()) limits.memory_option = "--memory " + memory;
  limits.memory = memory_for_work(memory);
  if (!device_memory.empty()) {
    limits.tiles_option = "--device-memory " + device_memory;
    limits.device_memory = byte_size("--device-memory", device_memory);
  }
  if (!devices.empty()) {
    limits.tiles_option = "--devices " + devices;
    limits.has_devices = true;
  }
  limits.free = free_memory();
  if (settings.backend != Backend::cuda) return limits;  // listing devices would start the driver
  for (const DeviceInfo& device : areal::devices())
    if (device.number == settings.device) limits.free = std::min(limits.free, device.free_memory);
  return limits;
}

void run_by_route(const InputFacts& input, RouteRequest request, const Limits& limits, const bool& written,
                  const Settings& settings, const std::function<void(Way)>& work) {
  const auto follow = [&](const Route& route) {
    const auto say = [&] {
      settings.detail("{}: {}{}{}", input.name, name_of(route.way), route.why.empty() ? "" : ": ", route.why);
    };
    // Report `whole` last: if it throws, another way follows or the error is the only message.
    if (route.way != Way::whole) say();
    work(route.way);
    if (route.way == Way::whole) say();
  };
  const Route first = route(input, request, limits);
  try {
    follow(first);
  } catch (const OutOfMemory& error) {
    if (first.way != Way::whole || written) throw;
    request.whole_bytes = std::numeric_limits<std::uint64_t>::max();
    const Route second = limits.memory_option.empty() ? route(input, request, limits) : first;
    if (second.way == Way::whole) throw;
    settings.detail("{}", error.what());
    follow(second);
  }
}

std::uint64_t memory_left(const Limits& limits, std::uint64_t used, const std::string& what) {
  if (limits.memory_option.empty()) return 0;
  if (limits.memory <= used)
    throw OutOfMemory(
        fmt::format("{}: {} alone take {}M", limits.memory_option, what, ((process_bytes + used) >> 20) + 1),
        process_bytes + used);
  return limits.memory - used;
}

}  // namespace areal::command
