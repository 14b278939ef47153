#pragma once
// Tables of `areal sat -o T.npy` that fit no device, or not what --device-memory leaves: tile by tile, from a mapped
// .npy where the input is one, into a file that is never in memory as a whole.

#include <string>
#include "io/input.hpp"
#include "io/settings.hpp"
#include "io/table_maker.hpp"

namespace CLI {
class App;
}

namespace areal::command {

struct TilesRequest {
  std::string device_memory, devices;

  /// Adds --device-memory and --devices.
  void add_to(CLI::App& verb);
  bool asked() const { return !device_memory.empty() || !devices.empty(); }
};

/// Makes the tables where they are to be made by tiles, else does nothing and returns false: without an option that
/// asks for tiles, where they fit. `without` is the first option that needs whole tables, or an empty text. Throws
/// InvalidArgument for one beside an option that asks for tiles.
bool sat_by_tiles(const TilesRequest& tiles, const std::string& without, const InputOptions& input,
                  const std::string& output, const TableRequest& table, const Settings& settings);

}  // namespace areal::command
