#include "route.hpp"

#include <fmt/format.h>
#include <array>
#include <optional>
#include "numbers.hpp"

namespace areal::command {
namespace {

using enum Product;
using enum Way;

template <class... Each>
constexpr unsigned bits(Each... each) {
  return ((1u << static_cast<unsigned>(each)) | ...);
}

constexpr std::string_view a_papers_algorithm = "--algorithm of a paper";

constexpr std::string_view chunks_hold = "a chunked table has the sums of one channel alone";
constexpr std::string_view on_the_cpu = "chunked tables are made on the CPU";
constexpr std::string_view filters_on_the_cpu = "filters by strips run on the CPU";
constexpr std::string_view for_chunks = "it is for chunked tables, -o T.zarr";
constexpr std::string_view query_answers = "areal query answers regions from the file that is written";
constexpr std::string_view tilted = "a tilted sum reaches beyond a part of the image";
constexpr std::string_view volume = "a volume is summed as a whole";
constexpr std::string_view whole_picture = "it takes the whole picture";
constexpr std::string_view of_images = "launches are counted of whole images";
constexpr std::string_view carries = "it takes no carries, which parts of an image hand on";
constexpr std::string_view workers_count = "workers count the pixels of regions, and keep no tensor";
constexpr std::string_view single_frames = "it is for single images, or frames one by one";
constexpr std::string_view no_tensor = "strips count without it";
constexpr std::string_view made_with_it = "it is for a table that areal sat -o T.npy wrote";
constexpr std::string_view of_histograms = "it is for a tensor that areal hist -o wrote";
constexpr std::string_view of_rank_stores = "it is for a store that areal hist --store rank -o wrote";
constexpr std::string_view no_picture = "it is a table, and no picture";
constexpr std::string_view pictures_have = "a picture answers sums, means, variances and std";
constexpr std::string_view chunks_answer = "a chunked table answers sums and means";
constexpr std::string_view no_table = "strips answer without a table";

constexpr Refusal table_of_refusals[] = {
    // areal sat
    {bits(sums), bits(strips), "a line about the table", "it takes the whole table; strips answer a --region"},
    {bits(sums), bits(tiles), "", "tiles are of tables: it needs -o FILE.npy"},
    {bits(sums, table), bits(strips), "--tilted", tilted},
    {bits(sums), bits(strips), "--stat tilted", tilted},
    {bits(sums, table), bits(strips), "--volume", volume},
    {bits(sums, table), bits(strips), "--draw", whole_picture},
    {bits(sums, table), bits(strips), "--count", of_images},
    {bits(sums), bits(strips), "--mask", "strips sum all pixels"},
    {bits(sums), bits(strips), "--ignore-nan", "strips sum all pixels"},
    {bits(sums), bits(strips), "--types", no_table},
    {bits(sums), bits(strips), "--border exclusive", no_table},
    {bits(sums), bits(strips), "--algorithm", no_table},
    {bits(table), bits(tiles), "--tilted", tilted},
    {bits(table), bits(tiles), "--volume", volume},
    {bits(table), bits(tiles), "--draw", whole_picture},
    {bits(table), bits(tiles), "--count", of_images},
    {bits(table), bits(strips, tiles, chunked), "--region", query_answers},
    {bits(table), bits(strips, tiles, chunked), "--regions", query_answers},
    {bits(table), bits(strips, tiles, chunked), "--stat", query_answers},
    {bits(table), bits(strips, tiles), "-o .tif", "a .tif is written as a whole: it needs -o FILE.npy"},
    {bits(table), bits(strips, tiles), a_papers_algorithm, carries},
    {bits(table), bits(chunked), "--types", chunks_hold},
    {bits(table), bits(chunked), "--border exclusive", chunks_hold},
    {bits(table), bits(chunked), "--squares", chunks_hold},
    {bits(table), bits(chunked), "--tilted", chunks_hold},
    {bits(table), bits(chunked), "--mask", chunks_hold},
    {bits(table), bits(chunked), "--ignore-nan", chunks_hold},
    {bits(table), bits(chunked), "--volume", chunks_hold},
    {bits(table), bits(chunked), "--all-channels", chunks_hold},
    {bits(table), bits(chunked), "--draw", whole_picture},
    {bits(table), bits(chunked), "--algorithm", on_the_cpu},
    {bits(table), bits(chunked), "--count", on_the_cpu},
    {bits(table), bits(chunked), "--devices", on_the_cpu},
    {bits(table), bits(chunked), "--device-memory", on_the_cpu},
    {bits(table), bits(chunked), "--backend cuda", on_the_cpu},
    {bits(table), bits(chunked), "--backend simt", on_the_cpu},
    {bits(table), bits(frames), "", "it has a table per frame, and a file holds one; --volume makes one of all"},
    {bits(sums), bits(whole, frames, strips), "--tile", for_chunks},
    {bits(sums), bits(whole, frames, strips), "--resume", for_chunks},
    {bits(sums), bits(whole, frames, strips), "--repair", for_chunks},
    {bits(sums), bits(whole, frames, strips), "--overwrite", for_chunks},
    {bits(table), bits(whole, strips, tiles), "--tile", for_chunks},
    {bits(table), bits(whole, strips, tiles), "--resume", for_chunks},
    {bits(table), bits(whole, strips, tiles), "--repair", for_chunks},
    {bits(table), bits(whole, strips, tiles), "--overwrite", for_chunks},
    {bits(table, histograms), bits(tiles), "--memory", "--device-memory says what a worker takes"},
    // areal hist
    {bits(histograms), bits(strips), "--weights", "strips count regions without weights"},
    {bits(histograms), bits(strips), "--algorithm", no_tensor},
    {bits(histograms), bits(strips), "--store", "strips count each region as its rows pass"},
    {bits(histograms), bits(strips), "--backend cuda", "strips are counted on the CPU"},
    {bits(histograms), bits(strips), "--backend simt", "strips are counted on the CPU"},
    {bits(histograms, tensor), bits(strips), "--draw", whole_picture},
    {bits(histograms, tensor), bits(strips), "--count", of_images},
    {bits(histograms, tensor), bits(strips), "--tile", no_tensor},
    {bits(histograms, tensor), bits(strips), "--tile-threads", no_tensor},
    {bits(histograms), bits(tiles), "--weights", workers_count},
    {bits(histograms), bits(tiles), "--algorithm", workers_count},
    {bits(histograms), bits(tiles), "--counter", workers_count},
    {bits(histograms), bits(tiles), "--store", workers_count},
    {bits(histograms), bits(tiles), "--count", workers_count},
    {bits(histograms), bits(tiles), "--border zero", workers_count},
    {bits(histograms), bits(tiles), "--border exclusive", workers_count},
    {bits(histograms), bits(frames), "--joint", single_frames},
    {bits(histograms), bits(frames), "--channel", single_frames},
    {bits(histograms), bits(frames), "--all-channels", single_frames},
    {bits(histograms), bits(frames), "--weights", single_frames},
    {bits(histograms), bits(frames), "-o", single_frames},
    {bits(histograms), bits(frames), "--map", single_frames},
    {bits(histograms), bits(frames), "--algorithm", single_frames},
    {bits(histograms), bits(frames), "--counter", single_frames},
    {bits(histograms), bits(frames), "--store", single_frames},
    {bits(histograms), bits(frames), "--count", single_frames},
    {bits(histograms), bits(frames), "--border zero", single_frames},
    {bits(histograms), bits(frames), "--border exclusive", single_frames},
    {bits(tensor), bits(strips), "--map", "a map is searched in the whole tensor"},
    {bits(tensor), bits(strips), "--store compact", "a compact store is built of the whole image"},
    {bits(tensor), bits(strips), a_papers_algorithm, carries},
    {bits(tensor), bits(tiles), "", "counts alone leave the workers, and no tensor: it goes without -o and --map"},
    {bits(tensor), bits(frames), "",
     "it has a tensor or store per frame, and a file holds one; ask for regions instead"},
    // areal window
    {bits(windows), bits(frames), "", "window takes one picture"},
    // areal filter
    {bits(filters), bits(strips), "wolf", "it needs the largest deviation of the whole image first"},
    {bits(filters), bits(strips), "equalize 16u", "it needs the largest pixel of the whole image first"},
    {bits(filters), bits(strips), "--sizes", "windows of a size per pixel are not made in parts"},
    {bits(filters), bits(strips), "--backend cuda", filters_on_the_cpu},
    {bits(filters), bits(strips), "--backend simt", filters_on_the_cpu},
    // areal query
    {bits(query), bits(strips, chunked), "--squares", made_with_it},
    {bits(query), bits(strips, chunked), "--count-table", made_with_it},
    {bits(query), bits(strips, chunked), "--chart", of_histograms},
    {bits(query), bits(strips, chunked), "--counts", of_histograms},
    {bits(query), bits(strips, chunked), "--normalise", of_histograms},
    {bits(query), bits(strips, chunked), "--entropy", of_histograms},
    {bits(query), bits(strips, chunked), "--median", of_histograms},
    {bits(query), bits(strips, chunked), "--mode", of_histograms},
    {bits(query), bits(strips, chunked), "--mean", of_histograms},
    {bits(query), bits(strips, chunked), "--percentile", of_histograms},
    {bits(query), bits(strips, chunked), "--quantile", of_rank_stores},
    {bits(query), bits(strips), "--stat count", pictures_have},
    {bits(query), bits(strips), "--stat tilted", pictures_have},
    {bits(query), bits(chunked), "--stat count", chunks_answer},
    {bits(query), bits(chunked), "--stat tilted", chunks_answer},
    {bits(query), bits(chunked), "--stat variance", chunks_answer},
    {bits(query), bits(chunked), "--stat std", chunks_answer},
    {bits(query), bits(whole, chunked), "--channel", no_picture},
    {bits(query), bits(whole, chunked), "--all-channels", no_picture},
    {bits(query), bits(whole, chunked), "--level", no_picture},
    {bits(query), bits(whole, chunked), "--t", no_picture},
    {bits(query), bits(whole, chunked), "--z", no_picture},
    {bits(query), bits(whole, strips), "--unchecked", "it is for chunked tables"},
};

/// "2.5G".
std::string words(std::uint64_t bytes) {
  constexpr std::string_view units = "KMGT";
  auto value = static_cast<double>(bytes);
  std::string unit;
  for (const char next : units)
    if (value >= 1024) value /= 1024, unit = next;
  return fmt::format("{:.{}f}{}", value, unit.empty() || value >= 100 ? 0 : 1, unit);
}

struct Found {
  const GivenOption* option;
  const Refusal* refusal;
};

std::optional<Found> refused(Product product, Way way, const std::vector<GivenOption>& options) {
  for (const Refusal& refusal : table_of_refusals) {
    if (!refusal.covers(product, way)) continue;
    if (refusal.option.empty()) return Found{nullptr, &refusal};
    for (const GivenOption& option : options)
      if (refusal.is_of(option)) return Found{&option, &refusal};
  }
  return std::nullopt;
}

[[noreturn]] void refuse_found(const Found& found, const std::string& cause, const std::string& more = {}) {
  if (found.option == nullptr) command::refuse(cause, ": ", found.refusal->why);
  command::refuse(found.option->text(), ": not with ", cause, "; ", found.refusal->why, more);
}

}  // namespace

std::string_view name_of(Way way) noexcept {
  constexpr std::array<std::string_view, 5> names{"as a whole", "frame by frame", "by strips", "by tiles",
                                                  "with a chunked table"};
  return names[static_cast<std::size_t>(way)];
}

std::string_view name_of(Product product) noexcept {
  constexpr std::array<std::string_view, 7> names{"sums",    "table",   "histograms", "tensor",
                                                  "windows", "filters", "query"};
  return names[static_cast<std::size_t>(product)];
}

GivenOption papers_algorithm(const std::string& id) { return {std::string(a_papers_algorithm), id}; }

std::string GivenOption::text() const {
  const std::string option = name == a_papers_algorithm ? "--algorithm" : name;
  return value.empty() ? option : option + " " + value;
}

bool Refusal::covers(Product product, Way way) const noexcept {
  return (products & bits(product)) != 0 && (ways & bits(way)) != 0;
}

bool Refusal::is_of(const GivenOption& given) const noexcept {
  if (option == given.name) return true;
  if (!option.starts_with(given.name) || option.size() <= given.name.size() || option[given.name.size()] != ' ')
    return false;
  const std::string_view value = option.substr(given.name.size() + 1);
  return value.starts_with('.') ? given.value.ends_with(value) : given.value == value;
}

std::span<const Refusal> refusals() noexcept { return table_of_refusals; }

void require_answered(Product product, Way way, const std::vector<GivenOption>& options, const std::string& cause) {
  if (const auto found = refused(product, way, options)) refuse_found(*found, cause);
}

bool answers(Product product, Way way, const std::vector<GivenOption>& options) {
  return !refused(product, way, options);
}

Route route(const InputFacts& input, const RouteRequest& request, const Limits& limits) {
  const auto first_refused = [&](Way way) {
    const auto no = refused(request.product, way, request.options);
    return no || !request.also ? no : refused(*request.also, way, request.options);
  };
  const auto only = [&](Way way, const std::string& cause, const std::string& why) {
    if (const auto no = first_refused(way)) refuse_found(*no, cause);
    return Route{way, why};
  };
  const auto takes = [&](Way way) { return !first_refused(way); };
  const std::string output = request.output.empty() ? input.name : "-o " + request.output;
  if (input.only_way) return only(*input.only_way, input.name, input.name);
  if (request.output.ends_with(".zarr")) return only(chunked, output, output);

  const std::string bytes = words(request.whole_bytes);
  const bool known = request.whole_bytes > 0;
  if (!limits.tiles_option.empty()) {
    if (known && !limits.has_devices && request.whole_bytes <= limits.device_memory)
      return only(whole, output, bytes + " fit " + limits.tiles_option);
    return only(tiles, limits.tiles_option, limits.tiles_option);
  }
  if (!limits.memory_option.empty()) {
    if (!input.is_stream && takes(strips)) return {strips, limits.memory_option};
    if (request.whole_bytes <= limits.memory) return only(whole, output, limits.memory_option + " holds it");
    refuse_found(*first_refused(strips), limits.memory_option, ", and that takes " + bytes);
  }
  if (request.whole_bytes <= limits.free || input.is_stream)
    return only(whole, output, known ? fmt::format("{} of the {} that are free", bytes, words(limits.free)) : "");
  for (const Way way : {tiles, strips})
    if ((way == strips || request.product == table || input.is_array) && takes(way))
      return {way, fmt::format("{} do not fit the {} that are free", bytes, words(limits.free))};
  return only(whole, output, "no other way takes these options");
}

}  // namespace areal::command
