#pragma once
// The folder of a table that is to be written: what is there, what is kept of it, and how far it had come.

#include <areal/chunked_table.hpp>
#include <cstdint>
#include <optional>
#include <vector>
#include "chunked/format.hpp"
#include "chunked/object.hpp"

namespace areal::chunked {

/// A folder in which this process alone writes, as long as it lives.
class LockedFolder {
 public:
  /// Makes the folder where there is nothing. Throws IoError where it cannot be or another process writes.
  explicit LockedFolder(const fs::path& path);

 private:
  FileDescriptor folder_;
};

/// What is to be done in a folder.
struct Beginning {
  bool is_complete = false;
  std::int64_t shard_row = 0;           // the first that is to be written
  std::vector<std::uint64_t> top = {};  // the row of the whole table above it
};

/// The format of the table whose writing has begun or ended there; none where not all of its metadata are there, and
/// where what is there is another's that is being replaced. Throws IoError for a folder that has something else.
std::optional<Format> format_there(const fs::path& folder, bool& exists, bool& complete);

/// Readies the folder for `format`: removes a table that is to be replaced, writes the metadata, finds out where to go
/// on. Throws IoError for what stands in the way.
Beginning begin(const fs::path& folder, const Format& format, const ChunkedWriteOptions& options);

}  // namespace areal::chunked
