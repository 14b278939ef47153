// areal model: what it prints, its JSON and its picture, and what it says of wrong use.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include "command_runner.hpp"

namespace areal::test {
namespace {

using Json = nlohmann::json;
using CommandModel = CommandTest;

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> objects;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) objects.push_back(Json::parse(line));
  return objects;
}

std::int64_t units(const Json& point, const std::string& program) {
  for (const Json& row : point["programs"])
    if (row["program"] == program) return row["time_units"];
  return -1;
}

TEST_F(CommandModel, JsonHasOneObjectForEachMachineAndCombination) {
  const auto points =
      lines_of(answer({"model", "nakano", "--n", "1024", "--p", "8,64,2048", "--w", "8", "--l", "20", "--json"}));
  ASSERT_EQ(points.size(), 6u);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Json& point = points[i];
    EXPECT_EQ(point["machine"], i < 3 ? "dmm" : "umm");
    const std::int64_t p = std::vector<std::int64_t>{8, 64, 2048}[i % 3];
    EXPECT_EQ(point["p"], p);
    EXPECT_EQ(point["limits"], Json::parse(R"({"bandwidth": 128, "reduction": 200, "latency": )" +
                                           std::to_string(20 * ((1024 + p - 1) / p)) + "}"));
    EXPECT_EQ(point["limit"], p == 2048 ? "reduction" : "latency");
    EXPECT_EQ(point["enough_threads"], p >= 160);
    EXPECT_EQ(point["enough_elements"], false);
    EXPECT_EQ(point["programs"].size(), 8u);
    // n/p rounds of p/w + l - 1; all at once where p is more.
    EXPECT_EQ(units(point, "contiguous"), p == 2048 ? 1024 / 8 + 19 : 1024 / p * (p / 8 + 19));
  }
  // Every second cell: two entries on both, one more on the UMM where a stretch begins within a group.
  EXPECT_LT(units(points[1], "optimal"), units(points[4], "optimal"));
}

TEST_F(CommandModel, TextHasTimesAndConstants) {
  const std::string text = answer({"model", "nakano", "--n", "256", "--p", "16", "--w", "4", "--l", "3"});
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(dmm +256 +16 +4 +3 +\d+ +bandwidth +yes +yes +64 )"))) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(umm +sum +n/w \+ nl/p \+ l log n +3 +\d\.\d{3} +-\n)"))) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(dmm +optimal .* 12 +\d)"))) << text;
  // By default p doubles from w to n.
  const auto points = lines_of(answer({"model", "nakano", "--n", "256", "--json"}));
  EXPECT_EQ(points.size(), 2u * 4);
  // And hides the latency where something else varies.
  for (const Json& point : lines_of(answer({"model", "nakano", "--n", "256", "--l", "2,4", "--json"})))
    EXPECT_EQ(point["p"], 32 * point["l"].get<std::int64_t>());
}

TEST_F(CommandModel, PlotIsDrawn) {
  answer({"model", "nakano", "--n", "512", "--plot", "p.svg"});
  const std::string svg = contents(work / "p.svg");
  EXPECT_EQ(svg.rfind("<svg xmlns=\"http://www.w3.org/2000/svg\"", 0), 0u);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  std::size_t curves = 0;
  for (std::size_t at = 0; (at = svg.find("<polyline", at)) != std::string::npos; ++at) ++curves;
  EXPECT_EQ(curves, 2u * 9);  // eight programs and the lower bound on each machine
  for (const char* word : {"DMM", "UMM", "sequential-parallel", "lower bound", "latency", "n = 512, w = 32, l = 32"})
    EXPECT_NE(svg.find(word), std::string::npos) << word;
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  answer({"model", "nakano", "--n", "64,256", "--l", "5", "--plot", "n.svg"});
  EXPECT_NE(contents(work / "n.svg").find("p = 160, w = 32, l = 5"), std::string::npos);
  answer({"model", "nakano", "--n", "64", "--l", "1,5", "--plot", "l.svg"});
  EXPECT_NE(contents(work / "l.svg").find("n = 64, p = wl, w = 32"), std::string::npos);
}

TEST_F(CommandModel, TheExampleOfTheHelpRuns) {
  const std::string text = answer({"model", "nakano", "--help"});
  const std::size_t at = text.find("Example:\n  areal ");
  ASSERT_NE(at, std::string::npos) << text;
  const Outcome outcome = shell("set -e\n" + text.substr(at + 11, text.find('\n', at + 11) - at - 11));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(fs::exists(work / "nakano.svg"));
}

TEST_F(CommandModel, WrongUseIsOneSentence) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{}, "model: needs a sub-command; it may be nakano"},
      {{"frobnicate"}, "frobnicate"},
      {{"nakano", "--w", "0"}, "--w 0: may not be less than 1"},
      {{"nakano", "--w", "2000"}, "--w 2000: may not be more than 1024"},
      {{"nakano", "--l", "0"}, "--l 0: may not be less than 1"},
      {{"nakano", "--l", "-3"}, "--l -3: may not be less than 1"},
      {{"nakano", "--p", "0"}, "--p 0: may not be less than 1"},
      {{"nakano", "--p", "48"}, "--p 48: may be a multiple of --w 32"},
      {{"nakano", "--p", "2097152"}, "--p 2097152: may not be more than 1048576"},
      {{"nakano", "--n", "1"}, "--n 1: may not be less than 2"},
      {{"nakano", "--n", "1000000000000"}, "--n 1000000000000: may not be more than 1048576"},
      {{"nakano", "--n", "many"}, "--n many: not a whole number"},
      {{"nakano", "--n", "64,,128"}, "--n : not a whole number"},
      {{"nakano", "--n"}, "--n: needs a value"},
      {{"nakano", "--n", "1048576"}, "model nakano: too many values; the elements of all combinations may be 2097152"},
      {{"nakano", "--n", "64", "--p", "32", "--k", "8"}, "--k 8: may not be less than 32"},
      {{"nakano", "--n", "64", "--p", "32", "--k", "65"}, "--k 65: may not be more than 64"},
      {{"nakano", "--n", "64", "--p", "32", "--plot", "a.svg"}, "--plot: needs several values of one of --n, --p"},
      {{"nakano", "--n", "64,128", "--l", "1,2", "--plot", "a.svg"}, "--plot: needs several values of one of"},
      {{"nakano", "--frob"}, "--frob"},
  };
  for (const auto& [words, sentence] : cases) {
    std::vector<std::string> arguments{"model"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    SCOPED_TRACE(sentence);
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err.rfind("areal: ", 0), 0u) << outcome.err;
    EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
    EXPECT_EQ(others({}), std::vector<std::string>());
  }
  const Outcome outcome = run({"model", "nakano", "--n", "64", "--plot", "nowhere/a.svg"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("nowhere"), std::string::npos) << outcome.err;
}

TEST_F(CommandModel, CompletionKnowsTheSubcommand) {
  EXPECT_EQ(shell("source <(areal completion bash); COMP_WORDS=(areal model na); COMP_CWORD=2; _areal; echo "
                  "\"${COMPREPLY[@]}\"")
                .out,
            "nakano\n");
  EXPECT_EQ(shell("source <(areal completion bash); COMP_WORDS=(areal model nakano --plo); COMP_CWORD=3; _areal; echo "
                  "\"${COMPREPLY[@]}\"")
                .out,
            "--plot\n");
}

}  // namespace
}  // namespace areal::test
