#include "sat_chunked.hpp"

#include <CLI/CLI.hpp>
#include <areal/chunked_table.hpp>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include "io/help.hpp"
#include "io/interrupt.hpp"
#include "io/large_image.hpp"
#include "io/memory_limit.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "io/progress.hpp"

namespace areal::command {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The writer's share of --memory, beside what reading holds.
std::uint64_t memory_of_writer(const std::string& option, std::uint64_t memory, const LargeImage& image,
                               std::int64_t tile) {
  if (memory == 0) return 0;
  const std::uint64_t least = least_chunked_memory(image.shape(), image.type(), tile);
  if (memory < least + image.memory()) {
    const std::uint64_t needed = process_bytes + least + image.memory();
    throw OutOfMemory(fmt::format("--memory {}: at least {}M are needed, of which {}M to read the image", option,
                                  (needed >> 20) + 1, (image.memory() >> 20) + 1),
                      needed);
  }
  return memory - image.memory();
}

void report(const InputOptions& input, const std::string& output, double seconds, const Settings& settings) {
  if (!settings.json) return settings.detail("wrote {} in {:.1f} s", output, seconds);
  const ChunkedTable table(output);
  const nlohmann::ordered_json json{
      {"input", input.path},    {"width", table.shape().width}, {"height", table.shape().height},
      {"dtype", table.dtype()}, {"tile", table.tile()},         {"time_ms", seconds * 1e3},
      {"tables", {output}}};
  write_out(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace

void ChunkedRequest::add_to(CLI::App& verb) {
  begin_group(verb, group::where);
  verb.add_option("--memory", memory,
                  "With -o T.zarr, or with regions and no -o: take that much memory, for example 4G")
      ->type_name("BYTES");
  begin_group(verb, group::output);
  verb.add_option("--tile", tile, "With -o T.zarr: pixels along a side of a tile, a power of two (1024; 256 for 16u)")
      ->type_name("N");
  verb.add_flag("--resume", resume, "With -o T.zarr: go on where an interrupted call has stopped");
  verb.add_flag("--overwrite", overwrite, "With -o T.zarr: replace a chunked table that is there");
}

bool sat_chunked(const ChunkedRequest& chunked, const std::string& without, const InputOptions& input,
                 const std::string& output, const Settings& settings) {
  const bool is_chunked = std::filesystem::path(output).extension() == ".zarr";
  if (!is_chunked) {
    for (const auto& [asked, option] : {std::pair<bool, const char*>{!chunked.memory.empty(), "--memory"},
                                        {!chunked.tile.empty(), "--tile"},
                                        {chunked.resume, "--resume"},
                                        {chunked.overwrite, "--overwrite"}})
      if (asked)
        refuse(option, ": is for chunked tables, -o T.zarr",
               option == std::string_view("--memory") ? ", or for regions without -o" : "");
    if (SyntheticImage::is_name(input.path)) refuse(input.path, ": needs -o T.zarr, or --memory with regions");
    return false;
  }
  if (!without.empty())
    refuse(without, ": not with -o ", output, "; a chunked table has the sums of one channel alone");
  if (chunked.resume && chunked.overwrite) refuse("--resume and --overwrite: only one of the two");
  if (settings.backend != Backend::automatic && settings.backend != Backend::cpu)
    refuse("--backend ", name_of(settings.backend), ": chunked tables are made on the cpu");
  const std::int64_t tile = chunked.tile.empty() ? 0 : whole_number("--tile", chunked.tile, 1);
  const std::uint64_t memory = memory_for_work(chunked.memory);
  const LargeImage image(input, memory / 4, settings);

  ChunkedWriteOptions options{.tile = tile,
                              .memory = memory_of_writer(chunked.memory, memory, image, tile),
                              .threads = settings.threads,
                              .resume = chunked.resume,
                              .overwrite = chunked.overwrite};
  const Clock::time_point start = Clock::now();
  const InterruptScope interrupt;
  WorkBar bar("blocks", settings.quiet, true);
  options.progress = [&](std::int64_t done, std::int64_t total) {
    bar.update(done, total);
    return !interrupt.interrupted();
  };
  try {
    write_chunked_table(output, image.shape(), image.type(), image.reader(), options);
  } catch (const Cancelled&) {
    bar.wipe();
    settings.note("{}: interrupted, and not complete; the same call with --resume goes on", output);
    interrupt.end_if_interrupted();
  }
  bar.wipe();
  report(input, output, seconds_since(start), settings);
  return true;
}

}  // namespace areal::command
