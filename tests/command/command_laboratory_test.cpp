// areal bench and areal model run areal-lab, a program beside the command. Here a script stands in for it.

#include <csignal>
#include "command_runner.hpp"

namespace areal::test {
namespace {

class CommandLaboratory : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    fs::create_directory(folder / "bin");
    fs::copy_file(areal_command(), command());
  }
  fs::path command() const { return folder / "bin" / "areal"; }
  void install(const std::string& script) {
    write_file(folder / "bin" / "areal-lab", "#!/bin/bash\n" + script);
    fs::permissions(folder / "bin" / "areal-lab", fs::perms::owner_all);
  }
  Outcome run(std::vector<std::string> words, const std::string& input = {}) {
    words.insert(words.begin(), command());
    return wait(start(words, input));
  }
};

constexpr const char* arguments_in_lines = "printf '%s\\n' \"$@\"\n";

TEST_F(CommandLaboratory, GetsTheArgumentsAsTheyAre) {
  install(arguments_in_lines);
  const std::vector<std::string> cases[] = {
      {"bench"},
      {"bench", "sat", "--size", "8x8", "--json", "a file.json", "--no-peers"},
      {"bench", "filter", "--threads", "2", "--backend", "cpu", "-v"},
      {"model", "nakano", "--n", "64", "hist", "bench"},
      {"model", "--help"},
      {"bench", "-h"},
      {"bench", "--version"},
      {"bench", "-x", ""},
      {"bench", "--frobnicate=*", "$HOME", "a\"b'c"},
      {"--threads", "3", "--quiet", "bench", "sat"},
      {"help", "bench"},
      {"help", "model", "nakano"},
  };
  for (const std::vector<std::string>& words : cases) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(lines(outcome.out), words);
    EXPECT_EQ(outcome.err, "");
  }
}

TEST_F(CommandLaboratory, ItsStreamsExitCodeAndSignalsAreTheCommands) {
  install("cat; echo beware >&2; exit 7\n");
  const Outcome outcome = run({"bench", "sat"}, "words");
  EXPECT_EQ(outcome.code, 7);
  EXPECT_EQ(outcome.out, "words");
  EXPECT_EQ(outcome.err, "beware\n");
  install("kill -TERM $$\n");
  EXPECT_EQ(run({"model"}).signal, SIGTERM);
  // A signal to the command ends it, and so the laboratory, which is the same process.
  install("echo begun; exec sleep 60\n");
  const pid_t pid = start({command(), "bench", "sat"});
  while (contents(folder / "io" / "out") != "begun\n") usleep(1000);
  ASSERT_EQ(kill(pid, SIGINT), 0);
  EXPECT_EQ(wait(pid).signal, SIGINT);
}

TEST_F(CommandLaboratory, WithoutItTheCommandSaysWhatToInstall) {
  for (const std::string verb : {"bench", "model"}) {
    for (const std::vector<std::string>& words : {std::vector<std::string>{verb}, {verb, "sat", "--size", "8x8"}}) {
      const Outcome outcome = run(words);
      EXPECT_EQ(outcome.code, 1);
      EXPECT_EQ(outcome.out, "");
      EXPECT_EQ(outcome.err, "areal: " + verb +
                                 ": needs areal-lab, which is not installed: build and install areal with "
                                 "-DAREAL_BENCH=ON\n");
    }
    for (const std::vector<std::string>& words : {std::vector<std::string>{verb, "--help"}, {"help", verb}}) {
      const Outcome outcome = run(words);
      EXPECT_EQ(outcome.code, 0) << outcome.err;
      EXPECT_NE(outcome.out.find("needs areal-lab"), std::string::npos) << outcome.out;
    }
  }
  EXPECT_EQ(run({"algorithms"}).code, 0);
  // Nor does it take another one's.
  write_file(work / "areal-lab", "#!/bin/bash\necho mine\n");
  fs::permissions(work / "areal-lab", fs::perms::owner_all);
  EXPECT_EQ(run({"bench", "sat"}).code, 1);
}

TEST_F(CommandLaboratory, OneThatCannotBeRunIsOneSentence) {
  install("");
  write_file(folder / "bin" / "areal-lab", "neither a script nor a program");
  const Outcome outcome = run({"bench", "sat"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "areal: " + (folder / "bin" / "areal-lab").string() + ": Exec format error\n");
}

TEST_F(CommandLaboratory, CompletionAsksIt) {
  install("[[ $1 == completion && $3 == --verbs ]] && echo \"lines of $2\"\n");
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const Outcome outcome = run({"completion", shell});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find(shell == "fish" ? "lines of fish\n" : "lines of bash\n"), std::string::npos)
        << outcome.out;
    EXPECT_EQ(outcome.out.find("a bench"), std::string::npos) << outcome.out;  // fish's line of a verb
  }
  fs::remove(folder / "bin" / "areal-lab");
  EXPECT_NE(run({"completion", "bash"}).out.find("    bench) options="), std::string::npos);
  EXPECT_NE(run({"completion", "fish"}).out.find("-f -a bench"), std::string::npos);
}

TEST_F(CommandLaboratory, TheHelpListsItsVerbs) {
  for (const bool installed : {false, true}) {
    if (installed) install("exit 1\n");
    const std::string help = run({"--help"}).out;
    for (const char* verb : {"\n  bench ", "\n  model "}) EXPECT_NE(help.find(verb), std::string::npos) << help;
    EXPECT_EQ(help.find("needs areal-lab") == std::string::npos, installed) << help;
  }
}

}  // namespace
}  // namespace areal::test
