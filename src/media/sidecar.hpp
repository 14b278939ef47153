#pragma once
// The sidecar of a table or a store: NAME.json beside NAME.npy describes what the bytes are.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>
#include "media/media.hpp"

namespace areal::media {

using Json = nlohmann::ordered_json;

fs::path sidecar_of(const fs::path& path);
// Refuses to replace a file that is not a sidecar of areal's.
void require_own_sidecar(const fs::path& path);

// Parts of a sidecar. JSON has no infinity; explicit edges may be infinite.
Json shape_text(const Shape& shape);
Json edges_text(const std::vector<double>& edges);
// The sidecar's text, with the length and the checksum of its file, if these are known.
std::string text_of(Json json, const std::optional<FileSum>& sum);
// Ends a file that has been written, and writes its sidecar. Both are complete before one appears; the sidecar appears
// first, so that a new file always has one.
void commit_with_sidecar(OutputFile& file, const fs::path& path, Json sidecar);

// Reads fields of a sidecar; each throws IoError with the sidecar's name.
class Sidecar {
 public:
  explicit Sidecar(const fs::path& path);
  const std::string& name() const { return name_; }
  bool is_own() const { return json_.contains("areal") && json_.contains("kind"); }
  bool has(const char* key) const { return json_.contains(key); }
  const Json& json() const { return json_; }
  const Json& at(const char* key) const { return at(json_, key); }
  const Json& at(const Json& in, const char* key) const;
  std::string text(const char* key) const { return text(json_, key); }
  std::string text(const Json& in, const char* key) const;
  std::int64_t extent(const Json& in, const char* key) const;  // 0 or more
  std::int64_t whole(const Json& in, const char* key) const;
  double real(const Json& in, const char* key) const;
  bool flag(const Json& in, const char* key) const;
  // A type, such as 32u.
  Type type(const char* key) const;
  Shape shape() const;
  // A list of numbers, infinities among them.
  std::vector<double> edges(const Json& in, const char* key) const;
  std::vector<double> edges(const char* key) const { return edges(json_, key); }
  fs::path table() const;
  std::string run() const { return has("run") ? text("run") : std::string(); }
  std::vector<std::string> companions() const;
  std::optional<PixelRange> pixels() const;
  // Reads the file and compares it with the length and the checksum, which sidecars of earlier versions lack. `what` it
  // is: table.
  void require_file(const fs::path& path, std::string_view what) const;

 private:
  std::string name_;
  Json json_;
};

// The sidecar of an .npy or a .tif, if it has one of its own. Throws IoError for an invalid one.
std::optional<Sidecar> own_sidecar(const fs::path& path);

}  // namespace areal::media
