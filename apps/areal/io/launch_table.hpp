#pragma once
// --count: what the simulated machine counted in the launches of each image, as a table or as JSON.

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
  /// For a plan to call; empty unless --count was given. Throws InvalidArgument for a backend that does not count.
  LaunchReport report(const Settings& settings);
  bool asked() const noexcept { return asked_; }

  /// The launches of the last image, once: they are removed here.
  nlohmann::ordered_json take_json();
  /// Writes and removes those that were not taken: as a separate JSON object, or as a table on standard error.
  void write(const Item& item, bool is_sequence, const Settings& settings);

 private:
  std::string text() const;

  bool asked_ = false;
  std::vector<LaunchCounts> launches_;
};

}  // namespace areal::command
