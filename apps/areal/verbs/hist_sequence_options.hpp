#pragma once
// The options of `areal hist` for sequences of frames and for workers.

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace areal::command {

struct SequenceRequest {
  std::vector<std::string> inputs, boxes;
  std::string devices, device_memory, damaged = "stop", timeline, luma, slots, decode = "auto";
  bool live = false;

  void add_to(CLI::App& verb);
  /// Throws InvalidArgument for wrong use.
  void check() const;
  /// The first option that needs a sequence; empty without any.
  std::string first_option() const;
};

}  // namespace areal::command
