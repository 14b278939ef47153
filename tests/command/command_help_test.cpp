// --help: every option in its group, with the common options; and the message for an unknown option.

#include <set>
#include "command_answers.hpp"

namespace areal::test {
namespace {

class CommandHelp : public CommandOnOneImage {
 protected:
  /// The lines of each group, under its title.
  static std::vector<std::pair<std::string, std::string>> groups(const std::string& help) {
    std::vector<std::pair<std::string, std::string>> found;
    for (const std::string& line : lines(help)) {
      if (line.empty()) continue;
      if (line[0] != ' ')
        found.emplace_back(line.ends_with(":") ? line.substr(0, line.size() - 1) : "", "");
      else if (line[0] == ' ' && !found.empty())
        found.back().second += line + "\n";
    }
    return found;
  }
  static std::string group(const std::string& help, const std::string& title) {
    for (const auto& [name, text] : groups(help))
      if (name == title) return text;
    return {};
  }
};

constexpr const char* verbs[] = {"sat",   "hist", "query", "window",     "filter", "match", "detect", "scan",
                                 "track", "view", "info",  "algorithms", "model",  "bench", "help",   "completion"};

TEST_F(CommandHelp, OptionsAreInGroupsThoseOfEveryVerbAmongThem) {
  const std::vector<std::string> order{"Input", "What to compute", "Where and how", "Output", "Options"};
  for (const char* verb : verbs) {
    SCOPED_TRACE(verb);
    const std::string help = answer({verb, "--help"});
    auto next = order.begin();
    for (const auto& [title, text] : groups(help)) {
      const auto at = std::find(order.begin(), order.end(), title);
      if (at == order.end()) continue;  // Subcommands, Example
      EXPECT_GE(at, next) << title;
      next = at + 1;
    }
    for (const char* option : {"--threads", "--backend", "--device "})
      EXPECT_NE(group(help, "Where and how").find(option), std::string::npos) << option;
    for (const char* option : {"--quiet", "--verbose", "--json"})
      EXPECT_NE(group(help, "Output").find(option), std::string::npos) << option;
    EXPECT_EQ(lines(group(help, "Options")).size(), 2u) << help;  // --help and --version: all others have a group
  }
  const std::string sat = answer({"sat", "--help"});
  EXPECT_NE(group(sat, "Input").find("INPUT"), std::string::npos);
  EXPECT_NE(group(sat, "Input").find("--channel"), std::string::npos);
  EXPECT_NE(group(sat, "What to compute").find("--region"), std::string::npos);
  EXPECT_NE(group(sat, "Where and how").find("--devices"), std::string::npos);
  EXPECT_NE(group(sat, "Output").find("--output"), std::string::npos);
}

TEST_F(CommandHelp, HelpIsAVerb) {
  EXPECT_EQ(answer({"help"}), answer({"--help"}));
  for (const char* verb : verbs) EXPECT_EQ(answer({"help", verb}), answer({verb, "--help"}));
  EXPECT_EQ(run({"help", "frobnicate"}).err, "areal: frobnicate is not a verb; areal --help lists them\n");
  EXPECT_EQ(run({"help", "filter", "mean"}).err,
            "areal: mean: filter has no sub-commands; areal help filter shows its options\n");
  if (!has_laboratory()) return;
  EXPECT_EQ(answer({"help", "model", "nakano"}), answer({"model", "nakano", "--help"}));
  EXPECT_EQ(run({"help", "model", "x"}).err, "areal: x is not a sub-command; areal help model lists them\n");
}

// An option that two verbs have means the same to both, or at least takes the same.
TEST_F(CommandHelp, CountMeansOneThing) {
  std::set<std::string> said;
  for (const char* verb : verbs)
    for (const std::string& line : lines(answer({verb, "--help"})))
      if (line.find("--count ") != std::string::npos) said.insert(line);
  EXPECT_EQ(said.size(), 1u);
}

TEST_F(CommandHelp, AnOptionThatIsNoneIsAnsweredWithTheNearestOne) {
  const auto said = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  EXPECT_EQ(said({"hist", "a.npy", "--normalize"}),
            "areal: --normalize: no option of hist; did you mean --normalise?\n");
  EXPECT_EQ(said({"sat", "a.npy", "--stats", "mean"}), "areal: --stats: no option of sat; did you mean --stat?\n");
  EXPECT_EQ(said({"sat", "a.npy", "--regoin=0,0,1,1"}), "areal: --regoin: no option of sat; did you mean --region?\n");
  EXPECT_EQ(said({"sat", "a.npy", "--treads", "2"}), "areal: --treads: no option of sat; did you mean --threads?\n");
  if (has_laboratory()) {
    EXPECT_EQ(said({"model", "chen", "--mesured", "x"}),
              "areal: --mesured: no option of chen; did you mean --measured?\n");
  }
  // Where something else is missing, too.
  EXPECT_EQ(said({"filter", "mean", "a.npy", "--sise", "3"}),
            "areal: --sise: no option of filter; did you mean --size?\n");
  EXPECT_EQ(said({"view", "--opne"}), "areal: --opne: no option of view; did you mean --open?\n");
  EXPECT_EQ(said({"filter", "mean", "a.npy", "--size", "3"}), "areal: --output is required\n");
  EXPECT_EQ(said({"sat", "a.npy", "--frobnicate"}), "areal: --frobnicate: no option of sat; --help lists them\n");
  EXPECT_EQ(said({"sat", "a.npy", "b.npy"}), "areal: b.npy: sat takes no further argument\n");
  EXPECT_EQ(said({"sat", "a.npy", "-"}), "areal: -: sat takes no further argument\n");
  EXPECT_EQ(said({"sat", "a.npy", "--region", "10", "20", "7", "5"}),
            "areal: --region 10 20 7 5: separate the numbers by commas: --region 10,20,7,5\n");
  EXPECT_EQ(said({"sat", "--region", "10", "20", "7", "5", "a.npy"}),
            "areal: --region 10 20 7 5: separate the numbers by commas: --region 10,20,7,5\n");
  EXPECT_NE(said({"hist", "a.npy", "--region", "10", "20", "7", "5"}).find("separated by commas"), std::string::npos);
}

}  // namespace
}  // namespace areal::test
