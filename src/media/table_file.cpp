// Tables on disk: T.npy or T.tif, and the sidecar T.json, which describes them.
#include <algorithm>
#include <areal/version.hpp>
#include <cmath>
#include <random>
#include "json/read.hpp"
#include "media/file_error.hpp"
#include "media/input_file.hpp"
#include "media/npy.hpp"
#include "media/picture_formats.hpp"
#include "media/plugin.hpp"
#include "media/zarr/zarr.hpp"

namespace areal::media {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kinds[] = {"sum", "squares", "tilted", "count", "histogram"};
constexpr std::uint64_t largest_sidecar = 64u << 20;  // 65535 bins of 20 digits are 1.4 MB

bool is_tiff(const fs::path& path) {
  const std::string extension = extension_of(path);
  return extension == ".tif" || extension == ".tiff";
}
fs::path sidecar_of(const fs::path& path) { return fs::path(path).replace_extension(".json"); }

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
            {"shape",
             {{"width", s.width},
              {"height", s.height},
              {"channels", s.channels},
              {"batch", s.batch},
              {"layout", s.layout == Layout::planar ? "planar" : "interleaved"}}}};
  if (!d.run.empty()) json["run"] = d.run;
  if (!d.companions.empty()) json["companions"] = d.companions;
  if (d.pixels) json["pixels"] = {{"min", d.pixels->least}, {"max", d.pixels->most}};
  if (!d.bin_edges.empty()) {
    // JSON has no infinity; explicit edges may be infinite.
    Json edges = Json::array();
    for (const double edge : d.bin_edges)
      edges.push_back(std::isfinite(edge) ? Json(edge) : Json(edge > 0 ? "inf" : "-inf"));
    json["bin_edges"] = std::move(edges);
  }
  return json;
}

// The sidecar's text, with the length and the checksum of its table, if these are known.
// A file name need not be UTF-8, JSON must be.
std::string text_of(Json json, const std::optional<FileSum>& sum) {
  if (sum) json["file"] = {{"bytes", sum->bytes}, {"crc32c", sum->crc32c}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

FileSum sum_of(const fs::path& path) {
  InputFile file(path);
  FileSum sum;
  std::vector<char> piece(1 << 20);
  while (const std::size_t got = file.read(piece.data(), piece.size())) {
    sum.crc32c = crc32c(piece.data(), got, sum.crc32c);
    sum.bytes += got;
  }
  return sum;
}

// Reads fields of the sidecar; each throws IoError with the sidecar's name.
class Sidecar {
 public:
  explicit Sidecar(const fs::path& path) : name_(path.string()) {
    std::error_code error;
    if (fs::exists(path, error) && !fs::is_regular_file(path, error))
      fail(name_, "is not a regular file, as a sidecar is");  // opening a pipe would wait for its writer
    const std::string wrong = read_json_object(read_text(path, largest_sidecar), largest_sidecar, json_);
    if (!wrong.empty()) fail(name_, "is not a sidecar of areal: it ", wrong);
  }
  const std::string& name() const { return name_; }
  bool is_own() const { return json_.contains("areal") && json_.contains("kind"); }
  const Json& at(const char* key) const { return at(json_, key); }
  const Json& at(const Json& in, const char* key) const {
    if (!in.is_object() || !in.contains(key)) fail(name_, "lacks \"", key, "\"");
    return in[key];
  }
  std::string text(const char* key) const { return text(json_, key); }
  std::string text(const Json& in, const char* key) const {
    const Json& value = at(in, key);
    if (!value.is_string()) fail(name_, "\"", key, "\" must be a string");
    return value.get<std::string>();
  }
  std::int64_t extent(const Json& in, const char* key) const {
    const Json& value = at(in, key);
    if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) ||
        value.get<std::int64_t>() < 0)
      fail(name_, "\"", key, "\" must be a whole number of at least 0");
    return value.get<std::int64_t>();
  }
  fs::path table() const {
    return json_.contains("table") && json_["table"].is_string() ? json_["table"].get<std::string>() : "";
  }
  std::string run() const { return json_.contains("run") ? text("run") : std::string(); }
  std::vector<std::string> companions() const {
    std::vector<std::string> out;
    if (!json_.contains("companions")) return out;
    for (const Json& kind : json_["companions"]) {
      if (!json_["companions"].is_array() || !kind.is_string()) fail(name_, "\"companions\" must be a list of words");
      out.push_back(kind.get<std::string>());
    }
    return out;
  }
  std::optional<PixelRange> pixels() const {
    if (!json_.contains("pixels")) return std::nullopt;
    const Json &least = at(json_["pixels"], "min"), &most = at(json_["pixels"], "max");
    const bool fits = least.is_number_integer() && most.is_number_integer() &&
                      (!least.is_number_unsigned() || least.get<std::uint64_t>() == 0) &&
                      (most.is_number_unsigned() || most.get<std::int64_t>() >= 0);
    if (!fits) fail(name_, "\"pixels\" must hold whole numbers, min at most 0 and max at least 0");
    return PixelRange{least.get<std::int64_t>(), most.get<std::uint64_t>()};
  }
  // Of the table; none in sidecars of earlier versions.
  std::optional<FileSum> file() const {
    if (!json_.contains("file")) return std::nullopt;
    const std::int64_t bytes = extent(json_["file"], "bytes"), crc = extent(json_["file"], "crc32c");
    return FileSum{static_cast<std::uint64_t>(bytes), static_cast<std::uint32_t>(crc)};
  }
  std::vector<double> edges() const {
    std::vector<double> out;
    if (!json_.contains("bin_edges")) return out;
    const Json& list = json_["bin_edges"];
    if (!list.is_array()) fail(name_, "\"bin_edges\" must be a list");
    for (const Json& edge : list) {
      if (edge == "inf" || edge == "-inf")
        out.push_back(edge == "inf" ? INFINITY : -INFINITY);
      else if (edge.is_number())
        out.push_back(edge.get<double>());
      else
        fail(name_, "\"bin_edges\" must hold numbers");
    }
    return out;
  }

 private:
  std::string name_;
  Json json_;
};

Shape shape_in(const Sidecar& in) {
  const Json& s = in.at("shape");
  const std::string layout = in.text(s, "layout");
  if (layout != "planar" && layout != "interleaved") fail(in.name(), "\"layout\" must be planar or interleaved");
  return {in.extent(s, "width"), in.extent(s, "height"), in.extent(s, "channels"), in.extent(s, "batch"),
          layout == "planar" ? Layout::planar : Layout::interleaved};
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

// Refuses to replace a file that is not a sidecar of areal's.
void require_own_sidecar(const fs::path& path) {
  const fs::path place = sidecar_of(path);
  std::error_code error;
  if (!fs::exists(place, error)) return;
  bool own = false;
  try {
    own = Sidecar(place).is_own();
  } catch (const Error&) {
    // Damaged or unreadable: not known to be areal's.
  }
  if (!own)
    refuse(path.string(), "its sidecar would replace ", place.string(),
           ", which areal has not written: move it, or "
           "choose another name");
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
      if (output.empty() || input.empty() || output == "-" || input == "-") continue;
      std::error_code error;
      if (!fs::is_character_file(output, error) && fs::equivalent(output, input, error))
        refuse(output.string(), output == input
                                    ? "is an input, which the output would replace"
                                    : "is the input " + input.string() + ", which the output would replace");
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
  const std::string text = text_of(sidecar(table, description, path.filename().string()), file.sum());
  OutputFile json(sidecar_of(path), text.size());
  json.write(text.data(), text.size());
  // Both are complete. The sidecar appears first, so that a new table always has one.
  file.flush();
  json.commit(true);
  file.commit();
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
  json.commit(true);  // as in write_table
  s.array.finish();
}

bool is_table(const fs::path& path) {
  std::error_code error;
  if ((extension_of(path) != ".npy" && !is_tiff(path)) || !fs::exists(sidecar_of(path), error)) return false;
  // If photo.tif has a table photo.npy, the sidecar photo.json belongs to the latter.
  const fs::path named = Sidecar(sidecar_of(path)).table();
  return named.extension() == path.extension() || !fs::exists(path.parent_path() / named, error);
}

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
  out.bin_edges = in.edges();
  out.run = in.run();
  out.companions = in.companions();
  out.pixels = in.pixels();
  const auto type = type_named(in.text("type"));
  if (!type) fail(in.name(), "\"type\" must be a type such as 32u or 64f");
  const Shape shape = shape_in(in);
  // The two files appear one after the other, and a failure between leaves the table of another run.
  if (const auto written = in.file()) {
    const FileSum found = sum_of(path);
    if (found.bytes < written->bytes)
      fail(path.string(), "is truncated: it has ", found.bytes, " of the ", written->bytes, " bytes of its sidecar ",
           in.name());
    if (found.bytes != written->bytes)
      fail(path.string(), "has ", found.bytes, " bytes, and its sidecar ", in.name(), " is of a table of ",
           written->bytes, ": make the table again");
    if (found != *written)
      fail(path.string(), "is not the table that its sidecar ", in.name(),
           " describes, as its checksum tells: make the table again");
  }

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
  if (found != shape || out.table.type() != *type)
    fail(path.string(), "holds ", shown(found), " of ", name_of(out.table.type()), ", but its sidecar says ",
         shown(shape), " of ", name_of(*type));
  require_consistent(out, path.string());
  return out;
}

}  // namespace areal::media
