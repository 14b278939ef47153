#pragma once
// Runs a figure of `areal bench` with the stand-in for the GPU plug-in, and reads its output: records, tables, picture.

#include <cctype>
#include <nlohmann/json.hpp>
#include <sstream>
#include "command_runner.hpp"

namespace areal::test {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

inline Words words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}
inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

class FigureTest : public CommandTest {
 protected:
  // The records of a successful `areal bench histogram --figure ..`.
  Json figure(Words arguments, const std::string& refused = {}) {
    arguments.insert(arguments.end(), {"--json", "records.json", "--plot", "picture.svg"});
    outcome = command(arguments, refused);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(others({"records.json", "picture.svg"}), Words{});
    return Json::parse(contents(work / "records.json"), nullptr, false);
  }
  Outcome command(Words arguments, const std::string& refused = {}) {
    arguments.insert(arguments.begin(), {"bench", "histogram"});
    Words environment{std::string("AREAL_BENCH_DIR=") + AREAL_BENCH_STAND_IN};
    if (!refused.empty()) environment.push_back("AREAL_STAND_IN_REFUSES=" + refused);
    return run(arguments, {}, environment);
  }

  // The lines of the table under the heading that begins with this text, each as its words.
  std::vector<Words> table(const std::string& heading) const {
    std::istringstream stream(outcome.out);
    std::vector<Words> lines;
    bool inside = false;
    for (std::string line; std::getline(stream, line);) {
      if (inside && line.empty()) break;
      if (inside) lines.push_back(words_of(line));
      if (line.starts_with(heading)) inside = true;
    }
    EXPECT_FALSE(lines.empty()) << "no table " << heading << " in\n" << outcome.out;
    return lines;
  }
  // The rest of the line that begins with those words.
  Words row(const std::string& heading, const Words& begin) const {
    for (const Words& line : table(heading))
      if (line.size() >= begin.size() && std::equal(begin.begin(), begin.end(), line.begin()))
        return {line.begin() + static_cast<std::ptrdiff_t>(begin.size()), line.end()};
    ADD_FAILURE() << "no line " << Json(begin) << " under " << heading << " in\n" << outcome.out;
    return {};
  }

  // The picture, which is XML.
  std::string picture() {
    const Outcome parsed =
        shell(std::string(AREAL_PYTHON) + " -c 'import xml.dom.minidom as x; x.parse(\"picture.svg\")'");
    EXPECT_EQ(parsed.code, 0) << parsed.err;
    const std::string svg = contents(work / "picture.svg");
    for (const char* word : {"nan", "inf"}) EXPECT_EQ(svg.find(word), std::string::npos);
    return svg;
  }

  Outcome outcome;
};

inline std::string one_decimal(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

}  // namespace areal::test
