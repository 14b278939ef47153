// Doors of chunked tables: written to disk, opened, asked.

#include <areal/chunked_table.hpp>
#include <filesystem>

#include "door.hpp"
#include "strips.hpp"
#include "tables.hpp"

namespace doors {
namespace {

/// A folder that goes when the question has been answered.
struct Folder {
  explicit Folder(std::filesystem::path path_) : path(std::move(path_)) { std::filesystem::remove_all(path); }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path path;
};

Json chunked(const Question& q) {
  if (!q.has("out")) throw BadQuestion("out: none is given");
  if (q.has("stats") && q["stats"] != Json::array({"sum"})) throw BadQuestion("stats: chunked tables have sums alone");
  if (q.has("mask") || q.flag("volume") || q.flag("ignore_nan"))
    throw BadQuestion("chunked tables: of one plain image");
  Inputs inputs(q.with_param("memory", "host"));
  const areal::ConstView image = inputs.image_view();
  const Folder folder(q.text("out") + ".zarr");
  areal::ChunkedWriteOptions writing;
  writing.tile = q.number("chunk_tile");
  writing.memory = static_cast<std::uint64_t>(q.number("write_memory"));
  writing.progress = q.progress();
  writing.threads = execution_of(q).threads;
  areal::write_chunked_table(folder.path, image.shape, image.type, reader_of(image), writing);
  if (q.has_param("chunk_again")) {
    writing.resume = q.word("chunk_again") == "resume";
    writing.overwrite = q.word("chunk_again") == "overwrite";
    areal::write_chunked_table(folder.path, image.shape, image.type, reader_of(image), writing);
  }
  inputs.expect_unchanged();

  const areal::ChunkedTable table(folder.path);
  if (table.shape().width != image.shape.width || table.shape().height != image.shape.height)
    throw Failed("the chunked table has another shape than its image");
  if (const auto findings = table.verify(); !findings.empty()) throw Failed("verify: " + findings.front());
  areal::ChunkedReadOptions reading;
  reading.outside = query_options(q).outside;
  reading.threads = execution_of(q).threads;
  reading.memory = static_cast<std::uint64_t>(q.number("chunk_memory"));
  reading.checked = !q.flag_param("unchecked");
  const std::vector<areal::Region> regions = regions_of(q);
  Room out({static_cast<std::int64_t>(regions.size()), 1}, areal::Type::u64);
  table.sums(regions, out.span<std::uint64_t>(), reading);
  Json one = Json::array();
  for (const std::uint64_t sum : out.span<std::uint64_t>()) one.push_back(text_of(sum));
  (void)out.take("the sums");
  Json answer = q.answer();
  answer["answers"]["sum"] = Json::array({Json::array({one})});
  return answer;
}

const std::vector<Door> doors = {{"chunked", {"regions"}, chunked}};

}  // namespace

std::span<const Door> chunked_doors() { return doors; }

}  // namespace doors
