#pragma once
// For tests that use files: a temporary folder, and the text of an exception.

#include <gtest/gtest.h>
#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace areal::test {

class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "areal-test-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no scratch folder");
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  // Names in the folder, including hidden ones.
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      out.push_back(entry.path().filename().string());
    return out;
  }
  std::filesystem::path write(std::string_view name, std::string_view bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::string bytes_in(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();  // at once: tests read many megabytes
  return std::move(bytes).str();
}

// The text of an exception of exactly that type; the test fails if there is none.
template <class Exception, class Call>
std::string sentence_of(Call&& call) {
  try {
    call();
  } catch (const Exception& error) {
    EXPECT_EQ(typeid(error), typeid(Exception)) << error.what();
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return {};
  }
  ADD_FAILURE() << "no exception";
  return {};
}

// The exception's text begins with the path, is one line, and contains the words.
template <class Exception, class Call>
void expect_sentence(const std::filesystem::path& path, std::string_view words, Call&& call) {
  const std::string what = sentence_of<Exception>(call);
  EXPECT_TRUE(what.starts_with(path.string() + ": ")) << what;
  EXPECT_EQ(what.find('\n'), std::string::npos) << what;
  EXPECT_NE(what.find(words), std::string::npos) << "\"" << what << "\" lacks \"" << words << "\"";
}

}  // namespace areal::test
