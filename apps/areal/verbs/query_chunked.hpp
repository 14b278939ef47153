#pragma once
// `areal query T.zarr`: answers from a chunked table, or from the formula of a synthetic image.

#include <string>
#include <vector>
#include "io/answers.hpp"
#include "io/regions.hpp"
#include "io/settings.hpp"

namespace CLI {
class App;
}

namespace areal::command {

struct ChunkedQueryRequest {
  std::string memory;
  bool unchecked = false;

  /// Adds --memory and --unchecked.
  void add_to(CLI::App& verb);
};

/// Answers from a chunked table, or from the formula of a synthetic image, as `path` says. `without` is the first
/// option that these do not go with, or an empty text. Throws InvalidArgument for one, and for stats other than sum and
/// mean.
void query_chunked(const ChunkedQueryRequest& chunked, const std::string& without, const std::string& path,
                   RegionOptions& regions, const std::vector<Stat>& stats, const Settings& settings);

}  // namespace areal::command
