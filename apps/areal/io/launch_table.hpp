#pragma once
// --count: accesses and waits of each launch on the simulated machine, as a table or as JSON.

#include <areal/research/launch_counts.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>
#include "input.hpp"

namespace CLI {
class App;
}

namespace areal::command {

class LaunchTable {
 public:
  LaunchTable() = default;
  LaunchTable(const LaunchTable&) = delete;  // report() captures this
  LaunchTable& operator=(const LaunchTable&) = delete;

  void add_to(CLI::App& verb);
  /// A callback for a plan; empty without --count. Throws InvalidArgument for a backend that does not count.
  LaunchReport report(const Settings& settings);
  bool enabled() const noexcept { return enabled_; }

  /// Returns and removes the launches of the last image.
  nlohmann::ordered_json take_json();
  /// Writes and removes the launches of the last image: a JSON object, or a table on standard error.
  void write(const Item& item, bool is_sequence, const Settings& settings);

 private:
  std::string text() const;

  bool enabled_ = false;
  std::vector<LaunchCounts> launches_;
};

}  // namespace areal::command
