#include "chunked/folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>
#include "chunked/sentence.hpp"
#include "chunked/verify.hpp"

namespace areal::chunked {
namespace {

bool is_there(const fs::path& object) {
  std::error_code error;
  const auto bytes = fs::file_size(object, error);
  return !error && bytes > 0;
}

std::string described(const Format& f) {
  return sentence(f.width, "x", f.height, " pixels of ", f.dtype, " in tiles of ", f.tile);
}

/// The row of the whole table above a row of tiles. Throws IoError if it is missing or damaged.
void read_top(const fs::path& folder, const Format& f, std::int64_t tile_row, std::vector<std::uint64_t>& numbers) {
  const std::string what = sentence("top of tile row ", tile_row);
  const ObjectReader top(folder / top_name(tile_row), what);
  numbers.resize(static_cast<std::size_t>(f.width));
  const std::size_t bytes = 8 * numbers.size();
  if (top.bytes() != bytes + crc_bytes)
    fail(top.path(), what, " has ", top.bytes(), " bytes instead of ", bytes + crc_bytes);
  top.read_checked(0, numbers.data(), bytes, what);
}

/// Removes everything of a table but its group's metadata, which by then say that it is being replaced.
void remove_objects(const fs::path& folder) {
  for (const std::string_view name : array_names) {
    std::error_code error;
    fs::remove_all(folder / name, error);
    if (error) fail(folder / name, "could not be removed (", error.message(), ")");
  }
}

void write_first_top(const fs::path& folder, const Format& f) {
  NumbersWriter top(folder / top_name(0));
  const std::vector<std::uint64_t> zeros(static_cast<std::size_t>(f.width));
  top.append(zeros.data(), zeros.size());
  top.commit();
}

/// What the group says is on the disk before an object changes, and objects are gone from it before the group says so:
/// otherwise a loss of power could leave objects of the old table to the new one, with checksums that are right.
void begin_anew(const fs::path& folder, const Format& f, bool exists, bool sync) {
  if (exists) {
    write_group(folder, f, Stage::replacing, sync);
    remove_objects(folder);
    if (sync) flush_to_disk(folder);
  }
  // Metadata have no checksum: they are whole under their names, or not there.
  write_group(folder, f, Stage::begun, sync);
  for (const std::string_view name : array_names) write_object(folder / name / "zarr.json", array_json(f, name), sync);
  if (f.width > 0 && f.height > 0) write_first_top(folder, f);
}

/// The first row of shards that is incomplete, or has a fault; -1 if the folder does not say. The number of rows, if
/// the table `is_complete` and has no fault.
std::int64_t first_open_row(const fs::path& folder, const Format& f, bool is_complete,
                            const std::function<void(std::string)>& note,
                            const std::function<void(std::int64_t)>& row_checked) {
  const std::int64_t n = f.tiles_per_shard();
  if (!is_complete && !is_there(folder / top_name(0))) return -1;
  std::vector<std::uint64_t> top;
  try {
    read_top(folder, f, 0, top);
  } catch (const IoError& error) {
    if (note) note(sentence(error.what(), "; it is written again"));
    write_first_top(folder, f);
  }
  for (std::int64_t row = 0; row < f.shard_rows(); ++row) {
    // The last one of an incomplete table is always written: nothing tells that it is complete.
    const bool is_last = row + 1 == f.shard_rows();
    if (!is_complete && (is_last || !is_there(folder / top_name((row + 1) * n)))) return row;
    try {
      require_row(folder, f, row);
    } catch (const IoError& error) {
      if (note) note(sentence(error.what(), "; the table is written again from pixel row ", row * shard_side, " on"));
      return row;
    }
    row_checked(row + 1);
  }
  return f.shard_rows();
}

}  // namespace

void write_group(const fs::path& folder, const Format& format, Stage stage, bool sync) {
  write_object(folder / "zarr.json", group_json(format, stage), sync);
  if (sync) flush_to_disk(folder);
}

LockedFolder::LockedFolder(const fs::path& path) {
  if (path.empty()) refuse("the table's name is empty");
  std::error_code error;
  if (!fs::exists(path, error)) {
    fs::create_directory(path, error);
    if (error) fail(path, "the folder could not be made (", error.message(), ")");
  }
  folder_ = FileDescriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder_.get() < 0 && errno == ENOTDIR) fail(path, "is a file, and a chunked table is a folder");
  if (folder_.get() < 0) fail(path, "cannot be opened (", std::strerror(errno), ")");
  // Ignores file systems without locks.
  if (::flock(folder_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    fail(path, "another process is writing this table");
}

std::optional<Format> format_there(const fs::path& folder, bool& exists, bool& complete) {
  exists = complete = false;
  Stage stage{};
  std::error_code error;
  if (!fs::exists(folder / "zarr.json", error)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
      if (entry.path().extension() != ".partial")
        fail(folder, "is a folder that holds something else than a chunked table");
    if (error) fail(folder, "cannot be read (", error.message(), ")");
    return std::nullopt;
  }
  const std::string dtype =
      group_dtype(folder, parse_metadata(folder / "zarr.json", read_metadata(folder / "zarr.json")), stage);
  exists = true;
  complete = stage == Stage::complete;
  if (stage == Stage::replacing) return std::nullopt;
  std::array<nlohmann::json, 4> arrays;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const fs::path where = folder / array_names[i] / "zarr.json";
    if (!complete && !fs::exists(where, error)) return std::nullopt;
    arrays[i] = parse_metadata(where, read_metadata(where));
  }
  return format_of(folder, dtype, arrays);
}

Beginning begin(const fs::path& folder, const Format& format, const ChunkedWriteOptions& options,
                const std::function<void(std::int64_t)>& row_checked) {
  bool exists = false, complete = false;
  const std::optional<Format> there = format_there(folder, exists, complete);
  if (exists && !options.resume && !options.overwrite)
    fail(folder, complete
                     ? "a chunked table is there; the option overwrite (--overwrite) replaces it"
                     : "a chunked table is there that is not complete: the option resume (--resume) goes on with it, "
                       "overwrite (--overwrite) replaces it");
  Beginning beginning;
  if (options.resume && there) {
    if (*there != format) fail(folder, "is the table of ", described(*there), ", not of ", described(format));
    const bool has_pixels = format.width > 0 && format.height > 0;
    beginning.is_complete = complete;
    if (complete && !(options.repair && has_pixels)) return beginning;
    beginning.shard_row = first_open_row(folder, format, complete, options.note, row_checked);
    if (complete && beginning.shard_row == format.shard_rows()) return beginning;
    beginning.is_complete = false;
    if (complete) write_group(folder, format, Stage::begun, options.sync);  // until it is whole again
  }
  if (!options.resume || !there || beginning.shard_row < 0) {
    begin_anew(folder, format, exists, options.sync);
    beginning.shard_row = 0;
  }
  if (format.width == 0 || format.height == 0) return beginning;
  read_top(folder, format, beginning.shard_row * format.tiles_per_shard(), beginning.top);
  return beginning;
}

}  // namespace areal::chunked
