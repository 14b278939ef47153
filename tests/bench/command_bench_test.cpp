// areal bench: its records, tables of squares among them, and its notes on missing peers.

#include <nlohmann/json.hpp>
#include "command_runner.hpp"

namespace areal::test {
namespace {

using Json = nlohmann::json;

class CommandBench : public CommandTest {
 protected:
  Json records(std::vector<std::string> arguments, const std::vector<std::string>& environment = {}) {
    arguments.insert(arguments.end(), {"--size", "61x43", "--repetitions", "1", "--threads", "1", "--backend", "cpu",
                                       "--json", "records.json"});
    outcome = run(arguments, {}, environment);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Json::parse(contents(work / "records.json"), nullptr, false);
  }
  void make_python(const std::string& name, const std::string& says) {
    write_file(work / name, "#!/bin/sh\ncat <<'END'\n" + says + "\nEND\n");
    fs::permissions(work / name, fs::perms::owner_all);
  }
  Outcome outcome;
};

TEST_F(CommandBench, Squares) {
  const Json one = records({"bench", "sat", "--squares", "--no-peers"});
  ASSERT_EQ(one.size(), 1U) << one;
  EXPECT_EQ(one[0]["lane"], "8u32u+64u");
  EXPECT_EQ(one[0]["floor"], "widen");
  EXPECT_EQ(one[0]["bytes"], 61 * 43 + 62 * 44 * (4 + 8));
  const Json two = records({"bench", "sat", "--squares=64f", "--types", "8u32s", "--types", "32f64f", "--no-peers"});
  ASSERT_EQ(two.size(), 2U) << two;
  EXPECT_EQ(two[0]["lane"], "8u32s+64f");
  EXPECT_EQ(two[1]["lane"], "32f64f+64f");
}

TEST_F(CommandBench, SquaresWronglyAsked) {
  EXPECT_EQ(run({"bench", "sat", "--squares=8u"}).code, 2);
  EXPECT_EQ(run({"bench", "histogram", "--squares"}).code, 2);
}

TEST_F(CommandBench, Windows) {
  const Json rows = records({"bench", "window", "--no-peers"});
  ASSERT_EQ(rows.size(), 16U) << rows;  // two filters of four sides, with the table and of it
  EXPECT_EQ(rows[0]["what"], "window");
  EXPECT_EQ(rows[0]["algorithm"], "means 3x3");
  EXPECT_EQ(rows[0]["bytes"], 61 * 43 * 2);
  EXPECT_EQ(rows[15]["algorithm"], "squares 101x101 of a table");
  EXPECT_EQ(rows[15]["lane"], "8u32u+32u");
  EXPECT_EQ(run({"bench", "window", "--backend", "simt"}).code, 2);
}

TEST_F(CommandBench, Strips) {
  const Json rows = records({"bench", "strips", "--size", "200x100", "--items", "20"});
  ASSERT_EQ(rows.size(), 4U) << rows;  // sums and tables of two sizes
  EXPECT_EQ(rows[0]["what"], "strips");
  EXPECT_EQ(rows[0]["algorithm"], "sums of 20 regions");
  EXPECT_EQ(rows[0]["floor"], "read");
  EXPECT_EQ(rows[1]["algorithm"], "tables");
  EXPECT_EQ(rows[1]["lane"], "8u32u");
  EXPECT_EQ(rows[1]["bytes"], 200 * 100 * (1 + 4));
  EXPECT_NE(outcome.err.find("ns a pixel over all sizes"), std::string::npos) << outcome.err;
  EXPECT_EQ(run({"bench", "strips", "--backend", "simt"}).code, 2);
}

TEST_F(CommandBench, ATableOverDevices) {
  const Json rows = records({"bench", "spread", "--size", "200x100", "--types", "8u32u", "--cut", "5x2"});
  ASSERT_EQ(rows.size(), 2U + 4) << rows;  // --size 61x43, too; one device, the chosen cut, the other
  EXPECT_EQ(rows[0]["what"], "spread");
  EXPECT_EQ(rows[0]["devices"], "cpu:1");
  EXPECT_EQ(rows[1]["devices"], "cpu:1,cpu:1");
  EXPECT_EQ(rows[1]["part"], "1 bands of 200, 1 parts (chosen)");
  EXPECT_EQ(rows[2]["part"], "5 bands of 40, 2 parts");
  EXPECT_EQ(rows[2]["floor"], "copy");
  EXPECT_EQ(rows[2]["bytes"], 200 * 100 * (1 + 4));
  EXPECT_NE(outcome.err.find("8u32u over 2 devices: "), std::string::npos) << outcome.err;
  const Json tensors = records({"bench", "spread", "--bins", "7"});
  ASSERT_EQ(tensors.size(), 2U) << tensors;
  EXPECT_EQ(tensors[1]["bins"], 7);
  EXPECT_EQ(tensors[1]["part"], "bins");
  EXPECT_NE(outcome.err.find("7 bins over 2 devices: "), std::string::npos) << outcome.err;
  EXPECT_EQ(run({"bench", "spread", "--backend", "simt"}).code, 2);
  EXPECT_EQ(run({"bench", "strips", "--cut", "2x2"}).code, 2);
  EXPECT_EQ(run({"bench", "spread", "--cut", "0x2"}).code, 2);
}

TEST_F(CommandBench, APeerThatIsMissingIsSaidAndNoFailure) {
  const std::string none = (work / "no-python").string();
  const Json rows = records({"bench", "sat", "--types", "8u32u"}, {"AREAL_PEERS_PYTHON=" + none});
  EXPECT_FALSE(rows.empty());
  for (const Json& row : rows) EXPECT_NE(row["lane"], "8u") << row;
  EXPECT_NE(outcome.err.find("note: NumPy and scikit-image were not found by " + none), std::string::npos)
      << outcome.err;
}

TEST_F(CommandBench, ThePythonThatIsNamedIsAsked) {
  make_python("it's python", R"([{"name": "planted", "version": "1", "time_us": [3, 1, 2]}])");
  const Json rows =
      records({"bench", "sat", "--types", "8u32u"}, {"AREAL_PEERS_PYTHON=" + (work / "it's python").string()});
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows.back()["algorithm"], "planted 1") << outcome.err;
  EXPECT_EQ(rows.back()["time_us"]["median"], 2.0);
  // If it is switched off, it is absent.
  for (const Json& row : records({"bench", "sat", "--types", "8u32u", "--no-peers"},
                                 {"AREAL_PEERS_PYTHON=" + (work / "it's python").string()}))
    EXPECT_NE(row["algorithm"], "planted 1");
}

}  // namespace
}  // namespace areal::test
