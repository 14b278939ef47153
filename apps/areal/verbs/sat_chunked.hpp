#pragma once
// `areal sat INPUT -o T.zarr`: a chunked table, of an image that need not fit memory, into a folder that is never in
// memory as a whole.

#include <string>
#include "io/input.hpp"
#include "io/settings.hpp"

namespace CLI {
class App;
}

namespace areal::command {

struct ChunkedRequest {
  std::string memory, tile;
  bool resume = false, overwrite = false;

  /// Adds --memory, --tile, --resume and --overwrite.
  void add_to(CLI::App& verb);
};

/// Makes the table where `output` ends in .zarr; else does nothing and returns false. `without` is the first option
/// that a chunked table does not go with, or an empty text. Throws InvalidArgument for one, and for options of chunked
/// tables where another table is asked for.
bool sat_chunked(const ChunkedRequest& chunked, const std::string& without, const InputOptions& input,
                 const std::string& output, const Settings& settings);

}  // namespace areal::command
