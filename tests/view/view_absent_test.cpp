// A command that was built without the page of `areal view`: the verb is known, and says in one sentence what it needs.

#include <gtest/gtest.h>
#include <CLI/CLI.hpp>
#include <areal/error.hpp>
#include <string>
#include "verbs/verbs.hpp"

namespace areal::test {
namespace {

TEST(ViewAbsent, SaysWhatItNeeds) {
  CLI::App app("areal");
  command::Settings settings;
  command::add_view(app, settings);
  EXPECT_NE(app.get_subcommand("view")->get_description().find("not in this build"), std::string::npos);
  try {
    app.parse("view picture.png --open --port 8765");
    FAIL() << "it went on";
  } catch (const Unavailable& error) {
    const std::string said = error.what();
    EXPECT_EQ(said.find('\n'), std::string::npos);
    for (const std::string package : {"libboost-dev", "libjs-leaflet", "AREAL_LEAFLET"})
      EXPECT_NE(said.find(package), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace areal::test
