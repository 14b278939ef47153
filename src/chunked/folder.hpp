#pragma once
// The folder of a table to be written: its contents, what to keep, and where to continue.

#include <areal/chunked_table.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>
#include "chunked/format.hpp"
#include "chunked/object.hpp"

namespace areal::chunked {

/// A folder locked for this process's writes during its lifetime.
class LockedFolder {
 public:
  /// Creates the folder if it is missing. Throws IoError if it cannot, or if another process writes there.
  explicit LockedFolder(const fs::path& path);

 private:
  FileDescriptor folder_;
};

/// The metadata of the group, which say how far the table is. With `sync`, on the disk on return.
void write_group(const fs::path& folder, const Format& format, Stage stage, bool sync);

/// Where writing begins in a folder.
struct Beginning {
  bool is_complete = false;
  std::int64_t shard_row = 0;           // the first to be written
  std::vector<std::uint64_t> top = {};  // the row of the whole table above it
};

/// The format of the table there, complete or not; none if some of its metadata are missing, or it is being replaced.
/// Throws IoError for a folder with other contents.
std::optional<Format> format_there(const fs::path& folder, bool& exists, bool& complete);

/// Prepares the folder for `format`: removes a table that is to be replaced, writes the metadata, finds where to
/// continue. Every object that stays is read and verified; `row_checked` is called after each row of shards with the
/// number of rows. Rows from the first faulty one on are written again, which options.note reports; of a complete
/// table, only if options.repair is set. Throws IoError for what prevents that.
Beginning begin(const fs::path& folder, const Format& format, const ChunkedWriteOptions& options,
                const std::function<void(std::int64_t rows)>& row_checked);

}  // namespace areal::chunked
