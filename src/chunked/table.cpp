// An opened chunked table: its description, answers, and verify().

#include <areal/chunked_table.hpp>
#include <array>
#include <mutex>
#include <nlohmann/json.hpp>
#include "chunked/answer.hpp"
#include "chunked/format.hpp"
#include "chunked/object.hpp"
#include "chunked/on_threads.hpp"
#include "chunked/sentence.hpp"
#include "chunked/verify.hpp"

namespace areal {

using namespace chunked;

struct ChunkedTable::State {
  std::filesystem::path path;
  Format format;
};

namespace {

constexpr std::size_t usual_regions = std::size_t{1} << 20;  // of a pass
constexpr std::size_t most_regions = std::size_t{1} << 30;   // 4 * region + corner has 32 bits
constexpr std::uint64_t region_bytes = 4 * sizeof(Corner) + sizeof(Region) + 16;

Format opened(const std::filesystem::path& path) {
  const auto read = [&](const std::filesystem::path& where) { return parse_metadata(where, read_metadata(where)); };
  Stage stage{};
  const std::string dtype = group_dtype(path, read(path / "zarr.json"), stage);
  if (stage != Stage::complete)
    fail(path,
         "the table is not complete: it has no attribute complete, as writing it was interrupted or still goes on");
  std::array<nlohmann::json, 4> arrays;
  for (std::size_t i = 0; i < arrays.size(); ++i) arrays[i] = read(path / array_names[i] / "zarr.json");
  return format_of(path, dtype, arrays);
}

}  // namespace

ChunkedTable::ChunkedTable(const std::filesystem::path& path)
    : state_(std::make_unique<State>(State{path, opened(path)})) {}
ChunkedTable::~ChunkedTable() = default;
ChunkedTable::ChunkedTable(ChunkedTable&&) noexcept = default;
ChunkedTable& ChunkedTable::operator=(ChunkedTable&&) noexcept = default;

Shape ChunkedTable::shape() const noexcept { return {state_->format.width, state_->format.height}; }
Type ChunkedTable::type() const noexcept { return state_->format.type(); }
const std::string& ChunkedTable::dtype() const noexcept { return state_->format.dtype; }
std::int64_t ChunkedTable::tile() const noexcept { return state_->format.tile; }
const std::filesystem::path& ChunkedTable::path() const noexcept { return state_->path; }

void ChunkedTable::sums(Span<const Region> regions, Span<std::uint64_t> out, const ChunkedReadOptions& options) const {
  const Format& format = state_->format;
  if (!regions.memory().is_host() || !out.memory().is_host()) refuse("regions and out: must be host memory");
  if (out.size() != regions.size()) refuse("out: ", out.size(), " numbers for ", regions.size(), " regions");
  const auto checked = [&](std::size_t i) {
    return checked_region(regions[i], static_cast<std::int64_t>(i), format.width, format.height, options.outside);
  };
  for (std::size_t i = 0; i < regions.size(); ++i) checked(i);

  const std::uint64_t of_thread = answer_bytes(format, options.checked);
  int threads = threads_of(options.threads);
  std::size_t at_once = usual_regions;
  if (options.memory > 0) {
    const std::uint64_t least = of_thread + region_bytes;
    if (options.memory < least)
      throw OutOfMemory(sentence("memory ", options.memory, " bytes: an answer from ", state_->path.string(),
                                 " takes at least ", least),
                        least);
    // At most half of the memory for threads, the rest for regions.
    threads = static_cast<int>(
        std::clamp<std::uint64_t>(options.memory / 2 / of_thread, 1, static_cast<std::uint64_t>(threads)));
    const std::uint64_t left = options.memory - static_cast<std::uint64_t>(threads) * of_thread;
    at_once = static_cast<std::size_t>(std::clamp<std::uint64_t>(left / region_bytes, 1, most_regions));
  }
  const auto tell = [&](std::int64_t done, std::int64_t total) {
    if (options.progress && !options.progress(done, total))
      throw Cancelled(sentence(state_->path.string(), ": answering was cancelled"));
  };
  std::fill(out.begin(), out.end(), 0);
  for (std::size_t first = 0; first < regions.size(); first += at_once) {
    const std::size_t count = std::min(at_once, regions.size() - first);
    std::vector<Region> part(count);
    for (std::size_t i = 0; i < count; ++i) part[i] = checked(first + i);
    answer(state_->path, format, part, out.data() + first, threads, options.checked, tell);
  }
}

std::vector<std::string> ChunkedTable::verify(const ChunkedReadOptions& options) const {
  return find_damage(state_->path, state_->format, options);
}

}  // namespace areal
