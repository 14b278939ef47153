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

/// True if a whole row of shards is written.
bool is_row_there(const fs::path& folder, const Format& f, std::int64_t row) {
  for (std::int64_t column = 0; column < f.shard_columns(); ++column)
    if (!is_there(folder / shard_name(row, column))) return false;
  const std::int64_t n = f.tiles_per_shard();
  for (std::int64_t i = row * n; i < std::min((row + 1) * n, f.tile_rows()); ++i)
    if (!is_there(folder / left_name(i)) || !is_there(folder / corner_name(i))) return false;
  return true;
}

/// Removes everything of a table but its group's metadata, which by then say that it is being replaced.
void remove_objects(const fs::path& folder) {
  for (const std::string_view name : array_names) {
    std::error_code error;
    fs::remove_all(folder / name, error);
    if (error) fail(folder / name, "could not be removed (", error.message(), ")");
  }
}

void begin_anew(const fs::path& folder, const Format& f, bool exists) {
  if (exists) {
    write_object(folder / "zarr.json", group_json(f, Stage::replacing));
    remove_objects(folder);
  }
  write_object(folder / "zarr.json", group_json(f, Stage::begun));
  for (const std::string_view name : array_names) write_object(folder / name / "zarr.json", array_json(f, name));
  if (f.width == 0 || f.height == 0) return;
  NumbersWriter top(folder / top_name(0));
  const std::vector<std::uint64_t> zeros(static_cast<std::size_t>(f.width));
  top.append(zeros.data(), zeros.size());
  top.commit();
}

/// The first incomplete row of shards; -1 if the folder does not say.
std::int64_t first_open_row(const fs::path& folder, const Format& f) {
  const std::int64_t n = f.tiles_per_shard();
  if (!is_there(folder / top_name(0))) return -1;
  std::int64_t row = 0;
  while (row + 1 < f.shard_rows() && is_there(folder / top_name((row + 1) * n)) && is_row_there(folder, f, row)) ++row;
  return row;
}

}  // namespace

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

Beginning begin(const fs::path& folder, const Format& format, const ChunkedWriteOptions& options) {
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
    beginning.is_complete = complete;
    if (complete) return beginning;
    beginning.shard_row = first_open_row(folder, format);
  }
  if (!options.resume || !there || beginning.shard_row < 0) {
    begin_anew(folder, format, exists);
    beginning.shard_row = 0;
  }
  if (format.width == 0 || format.height == 0) return beginning;
  beginning.top.resize(static_cast<std::size_t>(format.width));
  const std::int64_t tile_row = beginning.shard_row * format.tiles_per_shard();
  const std::string what = sentence("top of tile row ", tile_row);
  const ObjectReader top(folder / top_name(tile_row), what);
  const std::size_t bytes = 8 * beginning.top.size();
  if (top.bytes() != bytes + crc_bytes)
    fail(top.path(), what, " has ", top.bytes(), " bytes instead of ", bytes + crc_bytes);
  top.read_checked(0, beginning.top.data(), bytes, what);
  return beginning;
}

}  // namespace areal::chunked
