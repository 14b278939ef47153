// Tables on disk: T.npy or T.tif, and the sidecar T.json, which describes them.
#include <algorithm>
#include <areal/version.hpp>
#include <cmath>
#include <random>
#include "media/file_error.hpp"
#include "media/npy.hpp"
#include "media/picture_formats.hpp"
#include "media/plugin.hpp"
#include "media/sidecar.hpp"
#include "media/zarr/zarr.hpp"

namespace areal::media {
namespace {

constexpr std::string_view kinds[] = {"sum", "squares", "tilted", "count", "histogram"};

bool is_tiff(const fs::path& path) {
  const std::string extension = extension_of(path);
  return extension == ".tif" || extension == ".tiff";
}

void require_table_name(const fs::path& path) {
  const std::string extension = extension_of(path);
  if (extension != ".npy" && !is_tiff(path)) refuse(path.string(), "a table's name must end in .npy, .tif or .tiff");
}

void require_tiff_table(const std::string& name, const ConstView& table) {
  const Shape& s = table.shape;
  if (table.type != Type::u32 && table.type != Type::s32 && table.type != Type::f32 && table.type != Type::f64)
    refuse(name, "a .tif holds tables of 32u, 32s, 32f or 64f, not ", name_of(table.type), ": use .npy");
  if (s.batch != 1 || (s.layout == Layout::planar && s.channels != 1) || s.channels < 1 || s.channels > 4)
    refuse(name, "a .tif holds one table of 1 to 4 interleaved channels: use .npy");
  if (s.empty()) refuse(name, "a .tif cannot hold an empty table: use .npy");
}

Json sidecar(const ConstView& table, const TableFile& d, const std::string& file) {
  const Shape& s = table.shape;
  Json json{{"areal", areal::version()},
            {"table", file},
            {"kind", d.kind},
            {"border", name_of(d.border)},
            {"lane", d.types},
            {"algorithm", d.algorithm},
            {"source", d.source},
            {"image", {{"width", d.image_width}, {"height", d.image_height}}},
            {"type", name_of(table.type)},
            {"shape", shape_text(s)}};
  if (!d.run.empty()) json["run"] = d.run;
  if (!d.companions.empty()) json["companions"] = d.companions;
  if (d.pixels) json["pixels"] = {{"min", d.pixels->least}, {"max", d.pixels->most}};
  if (!d.bin_edges.empty()) json["bin_edges"] = edges_text(d.bin_edges);
  return json;
}

// The axes with which a .npy of that shape was written.
Axes axes_of(const Shape& s) {
  if (s.layout == Layout::planar) return Axes::chw;
  return s.batch != 1 && s.channels == 1 ? Axes::nhw : Axes::hwc;
}

std::string shown(const Shape& s) {
  std::string out = std::to_string(s.width) + "x" + std::to_string(s.height);
  if (s.channels != 1 || s.layout == Layout::planar) out += ", " + std::to_string(s.channels) + " channels";
  return s.batch == 1 ? out : out + ", batch " + std::to_string(s.batch);
}

void require_consistent(const TableFile& t, const std::string& name) {
  const Shape& s = t.table.shape();
  const std::int64_t more = t.border == Border::zero ? 1 : 0;
  if (t.image_width != s.width - more || t.image_height != s.height - more)
    fail(name, "a table of ", s.width, "x", s.height, " with border ", name_of(t.border),
         " does not belong to an image of ", t.image_width, "x", t.image_height);
  if (t.kind == "histogram" && !t.bin_edges.empty() && static_cast<std::int64_t>(t.bin_edges.size()) != s.channels + 1)
    fail(name, t.bin_edges.size(), " bin edges do not belong to ", s.channels, " bins");
}

}  // namespace

std::string new_run() {
  std::random_device random;
  std::string out;
  for (int word = 0; word < 4; ++word)
    for (unsigned bits = random(), digit = 0; digit < 4; ++digit, bits >>= 4) out += "0123456789abcdef"[bits & 15];
  return out;
}

fs::path companion_path(const fs::path& path, const std::string& kind) {
  return path.parent_path() / (path.stem().string() + "." + kind + path.extension().string());
}

std::vector<fs::path> files_of_table(const fs::path& path) {
  if (path.empty()) return {};
  std::vector<fs::path> out{path, sidecar_of(path)};
  for (const std::string_view kind : {"squares", "tilted", "count"}) {
    out.push_back(companion_path(path, std::string(kind)));
    out.push_back(sidecar_of(out.back()));
  }
  return out;
}

void require_other_files(const std::vector<fs::path>& outputs, const std::vector<fs::path>& inputs) {
  for (const fs::path& output : outputs)
    for (const fs::path& input : inputs) {
      std::error_code error;
      if (output.empty() || input.empty() || output == "-" || fs::is_character_file(output, error)) continue;
      const fs::path read = input == "-" ? fs::path("/dev/stdin") : input;
      if (fs::equivalent(output, read, error))
        refuse(output.string(), output == input
                                    ? "is an input, which the output would replace"
                                    : "is the input " + (input == "-" ? "on standard input" : input.string()) +
                                          ", which the output would replace");
      // A frame of a folder of pictures, or an object of a Zarr array.
      if (!fs::is_directory(read, error) || !fs::exists(output, error)) continue;
      const bool is_nested = is_large_format(read);
      if (!is_nested && !is_picture_name(output)) continue;
      fs::path folder = fs::canonical(output, error).parent_path();
      while (is_nested && folder.has_relative_path() && !fs::equivalent(folder, read, error))
        folder = folder.parent_path();
      if (fs::equivalent(folder, read, error))
        refuse(output.string(), "is a file of the input " + input.string() + ", which the output would replace");
    }
}

void require_table_format(const fs::path& path, const ConstView& table) {
  require_table_name(path);
  if (is_tiff(path)) require_tiff_table(path.string(), table);
  require_own_sidecar(path);
}

void write_table(const fs::path& path, const ConstView& table, const TableFile& description) {
  require_table_format(path, table);
  OutputFile file(path, is_tiff(path) ? 0 : npy_file_bytes(table));
  if (is_tiff(path)) {
    const auto rows = picture_plugin().open_rows(file.temporary(), ".tif", path.string(), table.shape, table.type);
    rows->write(table);
    rows->finish();
  } else {
    write_npy_into(file, table);
  }
  commit_with_sidecar(file, path, sidecar(table, description, path.filename().string()));
}

struct TableWriter::State {
  fs::path path;
  Json sidecar;
  ArrayWriter array;
};

TableWriter::TableWriter(const fs::path& path, const Shape& shape, Type type, const TableFile& description,
                         const fs::path& temporary) {
  require_table_name(path);
  require_own_sidecar(path);
  if (is_tiff(path)) refuse(path.string(), "a table that is written in pieces must be .npy");
  state_.reset(new State{path, sidecar({nullptr, type, shape}, description, path.filename().string()),
                         ArrayWriter(path, shape, type, temporary)});
}
TableWriter::~TableWriter() = default;
TableWriter::TableWriter(TableWriter&&) noexcept = default;

void TableWriter::write(std::int64_t x, std::int64_t y, const ConstView& piece, std::int64_t channel) {
  state_->array.write(x, y, piece, channel);
}
std::uint64_t TableWriter::share() { return state_->array.share(); }
const fs::path& TableWriter::temporary() const { return state_->array.temporary(); }

void TableWriter::finish() {
  State& s = *state_;
  const std::string text = text_of(s.sidecar, s.array.sum());
  OutputFile json(sidecar_of(s.path), text.size());
  json.write(text.data(), text.size());
  s.array.flush();
  json.commit(true);  // as commit_with_sidecar
  s.array.finish();
}

std::optional<Sidecar> own_sidecar(const fs::path& path) {
  std::error_code error;
  if ((extension_of(path) != ".npy" && !is_tiff(path)) || !fs::exists(sidecar_of(path), error)) return {};
  // If photo.tif has a table photo.npy, the sidecar photo.json belongs to the latter.
  Sidecar sidecar(sidecar_of(path));
  const fs::path named = sidecar.table();
  if (named.extension() != path.extension() && fs::exists(path.parent_path() / named, error)) return {};
  return sidecar;
}

bool is_table(const fs::path& path) { return own_sidecar(path).has_value(); }

TableFile read_table(const fs::path& path, std::uint64_t memory_limit) {
  require_table_name(path);
  require_readable(path);
  const fs::path sidecar = sidecar_of(path);
  if (std::error_code error; !fs::exists(sidecar, error))
    fail(path.string(), "its sidecar ", sidecar.string(), " is missing, so its border and types are unknown");
  const Sidecar in(sidecar);
  TableFile out;
  out.kind = in.text("kind");
  if (std::find(std::begin(kinds), std::end(kinds), out.kind) == std::end(kinds))
    fail(in.name(), "\"kind\" is '", printable(out.kind, 40), "', it must be sum, squares, tilted, count or histogram");
  const auto border = border_named(in.text("border"));
  if (!border) fail(in.name(), "\"border\" must be zero, none or exclusive");
  out.border = *border;
  out.types = in.text("lane");
  out.algorithm = in.text("algorithm");
  out.source = in.text("source");
  out.image_width = in.extent(in.at("image"), "width");
  out.image_height = in.extent(in.at("image"), "height");
  if (in.has("bin_edges")) out.bin_edges = in.edges("bin_edges");
  out.run = in.run();
  out.companions = in.companions();
  out.pixels = in.pixels();
  const Type type = in.type("type");
  const Shape shape = in.shape();
  in.require_file(path, "table");

  if (is_tiff(path)) {
    ReadOptions raw;
    raw.colour = Colour::all;
    raw.keep_alpha = true;
    raw.memory_limit = memory_limit;
    out.table = picture_plugin().read(path, raw).pixels;
  } else {
    out.table = read_npy(path, axes_of(shape), memory_limit);
  }
  // A planar single channel is the same memory as an interleaved one; a TIFF cannot distinguish them.
  Shape found = out.table.shape();
  if (found.channels == 1 && shape.channels == 1) found.layout = shape.layout;
  if (found != shape || out.table.type() != type)
    fail(path.string(), "holds ", shown(found), " of ", name_of(out.table.type()), ", but its sidecar says ",
         shown(shape), " of ", name_of(type));
  require_consistent(out, path.string());
  return out;
}

}  // namespace areal::media
