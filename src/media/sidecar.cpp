#include "media/sidecar.hpp"

#include <areal/error.hpp>
#include <cmath>
#include "json/read.hpp"
#include "media/file_error.hpp"
#include "media/input_file.hpp"
#include "media/zarr/zarr.hpp"

namespace areal::media {
namespace {

constexpr std::uint64_t largest_sidecar = 64u << 20;  // 65535 bins of 20 digits are 1.4 MB

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

}  // namespace

fs::path sidecar_of(const fs::path& path) { return fs::path(path).replace_extension(".json"); }

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

Json shape_text(const Shape& s) {
  return {{"width", s.width},
          {"height", s.height},
          {"channels", s.channels},
          {"batch", s.batch},
          {"layout", s.layout == Layout::planar ? "planar" : "interleaved"}};
}

Json edges_text(const std::vector<double>& edges) {
  Json list = Json::array();
  for (const double edge : edges) list.push_back(std::isfinite(edge) ? Json(edge) : Json(edge > 0 ? "inf" : "-inf"));
  return list;
}

std::string text_of(Json json, const std::optional<FileSum>& sum) {
  if (sum) json["file"] = {{"bytes", sum->bytes}, {"crc32c", sum->crc32c}};
  // A file name need not be UTF-8, JSON must be.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void commit_with_sidecar(OutputFile& file, const fs::path& path, Json sidecar) {
  const std::string text = text_of(std::move(sidecar), file.sum());
  OutputFile json(sidecar_of(path), text.size());
  json.write(text.data(), text.size());
  file.flush();
  json.commit(true);
  file.commit();
}

Sidecar::Sidecar(const fs::path& path) : name_(path.string()) {
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_regular_file(path, error))
    fail(name_, "is not a regular file, as a sidecar is");  // opening a pipe would wait for its writer
  const std::string wrong = read_json_object(read_text(path, largest_sidecar), largest_sidecar, json_);
  if (!wrong.empty()) fail(name_, "is not a sidecar of areal: it ", wrong);
}

const Json& Sidecar::at(const Json& in, const char* key) const {
  if (!in.is_object() || !in.contains(key)) fail(name_, "lacks \"", key, "\"");
  return in[key];
}

std::string Sidecar::text(const Json& in, const char* key) const {
  const Json& value = at(in, key);
  if (!value.is_string()) fail(name_, "\"", key, "\" must be a string");
  return value.get<std::string>();
}

std::int64_t Sidecar::extent(const Json& in, const char* key) const {
  const Json& value = at(in, key);
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) ||
      value.get<std::int64_t>() < 0)
    fail(name_, "\"", key, "\" must be a whole number of at least 0");
  return value.get<std::int64_t>();
}

std::int64_t Sidecar::whole(const Json& in, const char* key) const {
  const Json& value = at(in, key);
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX))
    fail(name_, "\"", key, "\" must be a whole number of 64 bits");
  return value.get<std::int64_t>();
}

double Sidecar::real(const Json& in, const char* key) const {
  const Json& value = at(in, key);
  if (!value.is_number()) fail(name_, "\"", key, "\" must be a number");
  return value.get<double>();
}

bool Sidecar::flag(const Json& in, const char* key) const {
  const Json& value = at(in, key);
  if (!value.is_boolean()) fail(name_, "\"", key, "\" must be true or false");
  return value.get<bool>();
}

Type Sidecar::type(const char* key) const {
  const auto type = type_named(text(key));
  if (!type) fail(name_, "\"", key, "\" must be a type such as 32u or 64f");
  return *type;
}

Shape Sidecar::shape() const {
  const Json& s = at("shape");
  const std::string layout = text(s, "layout");
  if (layout != "planar" && layout != "interleaved") fail(name_, "\"layout\" must be planar or interleaved");
  return {extent(s, "width"), extent(s, "height"), extent(s, "channels"), extent(s, "batch"),
          layout == "planar" ? Layout::planar : Layout::interleaved};
}

std::vector<double> Sidecar::edges(const Json& in, const char* key) const {
  const Json& list = at(in, key);
  if (!list.is_array()) fail(name_, "\"", key, "\" must be a list");
  std::vector<double> out;
  for (const Json& edge : list) {
    if (edge == "inf" || edge == "-inf")
      out.push_back(edge == "inf" ? INFINITY : -INFINITY);
    else if (edge.is_number())
      out.push_back(edge.get<double>());
    else
      fail(name_, "\"", key, "\" must hold numbers");
  }
  return out;
}

fs::path Sidecar::table() const {
  return has("table") && json_["table"].is_string() ? json_["table"].get<std::string>() : "";
}

std::vector<std::string> Sidecar::companions() const {
  std::vector<std::string> out;
  if (!has("companions")) return out;
  for (const Json& kind : json_["companions"]) {
    if (!json_["companions"].is_array() || !kind.is_string()) fail(name_, "\"companions\" must be a list of words");
    out.push_back(kind.get<std::string>());
  }
  return out;
}

std::optional<PixelRange> Sidecar::pixels() const {
  if (!has("pixels")) return std::nullopt;
  const Json &least = at(json_["pixels"], "min"), &most = at(json_["pixels"], "max");
  const bool fits = least.is_number_integer() && most.is_number_integer() &&
                    (!least.is_number_unsigned() || least.get<std::uint64_t>() == 0) &&
                    (most.is_number_unsigned() || most.get<std::int64_t>() >= 0);
  if (!fits) fail(name_, "\"pixels\" must hold whole numbers, min at most 0 and max at least 0");
  return PixelRange{least.get<std::int64_t>(), most.get<std::uint64_t>()};
}

void Sidecar::require_file(const fs::path& path, std::string_view what) const {
  if (!has("file")) return;
  const std::int64_t bytes = extent(json_["file"], "bytes"), crc = extent(json_["file"], "crc32c");
  const FileSum written{static_cast<std::uint64_t>(bytes), static_cast<std::uint32_t>(crc)}, found = sum_of(path);
  // The two files appear one after the other, and a failure between leaves the table of another run.
  if (found.bytes < written.bytes)
    fail(path.string(), "is truncated: it has ", found.bytes, " of the ", written.bytes, " bytes of its sidecar ",
         name_);
  if (found.bytes != written.bytes)
    fail(path.string(), "has ", found.bytes, " bytes, and its sidecar ", name_, " is of a ", what, " of ",
         written.bytes, ": make the ", what, " again");
  if (found != written)
    fail(path.string(), "is not the ", what, " that its sidecar ", name_,
         " describes, as its checksum tells: make the ", what, " again");
}

}  // namespace areal::media
