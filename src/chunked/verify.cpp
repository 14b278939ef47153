#include "chunked/verify.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include "chunked/object.hpp"
#include "chunked/on_threads.hpp"
#include "chunked/sentence.hpp"
#include "chunked/shard_reader.hpp"

namespace areal::chunked {
namespace {

using Findings = std::vector<std::string>;

/// Calls check(); keeps the sentence if it throws.
template <class Check>
void find(Findings& findings, Check&& check) {
  try {
    check();
  } catch (const IoError& error) {
    findings.push_back(error.what());
  }
}

Findings of_shard(const fs::path& folder, const Format& f, std::int64_t row, std::int64_t column,
                  std::vector<std::uint32_t>& tile) {
  Findings findings;
  find(findings, [&] {
    const ShardReader shard(folder, f, row, column);
    const std::int64_t n = f.tiles_per_shard();
    tile.resize(static_cast<std::size_t>(f.tile * f.tile));
    for (std::int64_t i = row * n; i < std::min((row + 1) * n, f.tile_rows()); ++i)
      for (std::int64_t j = column * n; j < std::min((column + 1) * n, f.tile_columns()); ++j)
        find(findings, [&] { shard.read_tile(i, j, tile.data()); });
  });
  return findings;
}

void require_carry(const fs::path& folder, const fs::path& name, const char* array, std::int64_t row,
                   std::int64_t numbers) {
  const std::string what = carry_words(array, row);
  ObjectReader(folder / name, what).check(static_cast<std::uint64_t>(8 * numbers + crc_bytes), what);
}

Findings of_carries(const fs::path& folder, const Format& f, std::int64_t shard_row) {
  Findings findings;
  const std::int64_t n = f.tiles_per_shard();
  const auto check = [&](const fs::path& name, const char* array, std::int64_t row, std::int64_t numbers) {
    find(findings, [&] { require_carry(folder, name, array, row, numbers); });
  };
  for (std::int64_t i = shard_row * n; i < std::min((shard_row + 1) * n, f.tile_rows()); ++i) {
    check(top_name(i), "top", i, f.width);
    check(left_name(i), "left", i, f.tile_columns() * f.tile);
    check(corner_name(i), "corner", i, f.tile_columns());
  }
  return findings;
}

}  // namespace

void require_row(const fs::path& folder, const Format& f, std::int64_t shard_row) {
  const std::int64_t n = f.tiles_per_shard();
  for (std::int64_t column = 0; column < f.shard_columns(); ++column)
    ShardReader(folder, f, shard_row, column).check_as_written(shard_row, column);
  for (std::int64_t i = shard_row * n; i < std::min((shard_row + 1) * n, f.tile_rows()); ++i) {
    require_carry(folder, left_name(i), "left", i, f.tile_columns() * f.tile);
    require_carry(folder, corner_name(i), "corner", i, f.tile_columns());
    if (i + 1 < f.tile_rows()) require_carry(folder, top_name(i + 1), "top", i + 1, f.width);
  }
}

std::vector<std::string> find_damage(const fs::path& folder, const Format& f, const ChunkedReadOptions& options) {
  if (f.width == 0 || f.height == 0) return {};
  const std::int64_t columns = f.shard_columns(), rows = f.shard_rows();
  // A unit is a shard; the last one of a row of shards includes its carries. Does not multiply rows and columns:
  // hostile metadata may make the product large, but then the first objects are missing already.
  std::mutex mutex;
  std::int64_t row = 0, column = 0, done = 0, started = 0;
  std::size_t found = 0;
  std::map<std::int64_t, Findings> by_unit;
  bool stopped = false;
  on_threads(
      threads_of(options.threads),
      [&](int) {
        std::vector<std::uint32_t> tile;
        while (true) {
          std::int64_t i = 0, j = 0, unit = 0;
          {
            const std::lock_guard lock(mutex);
            if (stopped || row == rows || found >= options.most_findings) return;
            i = row, j = column, unit = started++;
            if (++column == columns) column = 0, ++row;
          }
          Findings findings = of_shard(folder, f, i, j, tile);
          if (j + 1 == columns) {
            Findings more = of_carries(folder, f, i);
            findings.insert(findings.end(), more.begin(), more.end());
          }
          const std::lock_guard lock(mutex);
          found += findings.size();
          if (!findings.empty()) by_unit[unit] = std::move(findings);
          ++done;
          if (options.progress && !options.progress(done, rows * columns))
            throw Cancelled(sentence(folder.string(), ": verifying was cancelled"));
        }
      },
      [&] {
        const std::lock_guard lock(mutex);
        stopped = true;
      });
  Findings all;
  for (const auto& [unit, findings] : by_unit) all.insert(all.end(), findings.begin(), findings.end());
  if (all.size() > options.most_findings) all.resize(options.most_findings);
  return all;
}

}  // namespace areal::chunked
