// Writing a chunked table: one pass over the image, one row of shards after another.

#include <areal/chunked_table.hpp>
#include "chunked/folder.hpp"
#include "chunked/on_threads.hpp"
#include "chunked/sentence.hpp"
#include "chunked/shard_row.hpp"
#include "chunked/write_plan.hpp"

namespace areal {
namespace {

using namespace chunked;

/// A resumed table keeps its tile unless one is requested.
Format format_to_write(const fs::path& path, const Shape& image, Type type, const ChunkedWriteOptions& options) {
  Format format = format_for(image, type, options.tile);
  std::error_code error;
  if (options.tile != 0 || !options.resume || !fs::is_directory(path, error)) return format;
  bool exists = false, complete = false;
  if (const auto there = format_there(path, exists, complete)) format.tile = there->tile;
  require_possible(format);
  return format;
}

std::int64_t blocks_of_rows(const Format& f, std::int64_t block_side, std::int64_t shard_rows) {
  const std::int64_t height = std::min(f.height, shard_rows * shard_side);
  return ceil_div(f.width, block_side) * ceil_div(height, block_side);
}

}  // namespace

std::uint64_t least_chunked_memory(const Shape& image, Type type, std::int64_t tile) {
  return least_write_memory(format_for(image, type, tile));
}

void write_chunked_table(const std::filesystem::path& path, const Shape& image, Type type, const ImageReader& read,
                         const ChunkedWriteOptions& options) {
  if (!read) refuse("read: there is none");
  if (options.resume && options.overwrite) refuse("resume and overwrite: only one of the two");
  if (options.repair && !options.resume) refuse("repair: needs resume");
  const Format format = format_to_write(path, image, type, options);
  const WritePlan plan = plan_write(format, options);
  const LockedFolder lock(path);
  const bool has_pixels = format.width > 0 && format.height > 0;
  const std::int64_t total = has_pixels ? blocks_of_rows(format, plan.block_side, format.shard_rows()) : 0;
  std::int64_t done = 0;
  const auto tell = [&] {
    if (options.progress && !options.progress(done, total))
      throw Cancelled(sentence(path.string(), ": writing the table was cancelled; it can be resumed"));
  };
  Beginning beginning = begin(path, format, options, [&](std::int64_t rows) {
    done = blocks_of_rows(format, plan.block_side, rows);
    tell();
  });
  if (beginning.is_complete) {
    done = total;
    return tell();
  }
  if (has_pixels) {
    done = blocks_of_rows(format, plan.block_side, beginning.shard_row);
    if (done > 0) tell();
    const std::function<void()> block_done = [&] {
      ++done;
      tell();
    };
    const TilePlans plans(format);
    ShardRow row(path, format, plan, plans, read, block_done);
    for (std::int64_t r = beginning.shard_row; r < format.shard_rows(); ++r) row.write(r, beginning.top);
  }
  if (options.sync) flush_all(path, plan.threads);  // `complete` speaks of all of it
  write_group(path, format, Stage::complete, options.sync);
}

}  // namespace areal
