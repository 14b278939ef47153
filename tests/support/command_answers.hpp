#pragma once
// What the command says of one image: its pixels are `pixels()`, in a.npy of the working folder.

#include <nlohmann/json.hpp>
#include "command_runner.hpp"

namespace areal::test {

using Json = nlohmann::json;

inline std::vector<Json> json_lines(const std::string& text) {
  std::vector<Json> found;
  for (const std::string& line : lines(text)) found.push_back(Json::parse(line));
  return found;
}

class CommandOnOneImage : public CommandTest {
 protected:
  static constexpr int width = 61, height = 43;
  void SetUp() override {
    CommandTest::SetUp();
    write_file(work / "a.npy", npy("|u1", "43, 61", pixels(width, height)));  // a picture would load 260 libraries
  }
};

}  // namespace areal::test
