#include "bench/papers/model_chen_measured.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/type_pair.hpp>
#include <filesystem>
#include <fstream>
#include "json/read.hpp"

namespace areal::command {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t most_records = 64 << 20;

MeasuredTypes& of(MeasuredFigure& figure, const std::string& types, const std::string& scan, int bytes) {
  for (MeasuredTypes& known : figure.pairs)
    if (known.types == types && known.scan == scan) return known;
  MeasuredTypes& added = figure.pairs.emplace_back();
  added.types = types, added.scan = scan, added.bytes = bytes;
  return added;
}

}  // namespace

MeasuredFigure read_measured(const std::string& path, const Size& image) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) throw IoError(path + ": cannot be read");
  Json json;
  const bool is_json = read_json(file, most_records, json).empty();
  MeasuredFigure figure;
  std::vector<std::string> sizes;
  try {
    if (!is_json || !json.is_array()) throw IoError("");
    for (const Json& record : json) {
      if (record.value("shown", "") != "chen") continue;
      const Size size{record.at("width"), record.at("height")};
      const std::string words = fmt::format("{} x {}", size.width, size.height);
      if (std::find(sizes.begin(), sizes.end(), words) == sizes.end()) sizes.push_back(words);
      if (size != image) continue;
      const std::string algorithm = record.at("algorithm"), types = record.at("lane");
      const auto known = find_type_pair(types);
      if (!known) throw IoError("");
      figure.device = record.at("device");
      // Algorithms without a warp scan are compared with both.
      const std::string scan = record.value("scan", "");
      for (const char* with : {"kogge-stone", "ladner-fischer"}) {
        if (!scan.empty() && scan != with) continue;
        MeasuredTypes& to = of(figure, types, with, static_cast<int>(size_of(known->table)));
        to.algorithms[algorithm] = record.at("time_us").at("median");
        for (const Json& launch : record.value("launches", Json::array()))
          to.passes.add(launch.at("kernel"), launch.at("time_us").at("median"));
      }
    }
  } catch (const std::exception&) {  // a JSON value is missing or has another type
    throw IoError(path + ": is not what areal bench sat --figure chen --json writes");
  }
  std::erase_if(figure.pairs, [](const MeasuredTypes& types) {
    return types.algorithms.count("scanrow-brlt") + types.algorithms.count("scanrow-column") == 0;
  });
  if (!figure.pairs.empty()) return figure;
  std::string there;
  for (const std::string& size : sizes) there += (there.empty() ? "" : ", ") + size;
  throw IoError(fmt::format("{}: has no times of {} x {}; it has {}", path, image.width, image.height,
                            there.empty() ? "none of --figure chen" : there));
}

}  // namespace areal::command
