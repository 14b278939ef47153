// areal model: its output, its JSON and its picture, and its errors for wrong use.

#include <gtest/gtest.h>
#include <areal/info.hpp>
#include <regex>
#include "command_answers.hpp"

namespace areal::test {
namespace {

using CommandModel = CommandTest;

std::int64_t units(const Json& point, const std::string& program) {
  for (const Json& row : point["programs"])
    if (row["program"] == program) return row["time_units"];
  return -1;
}

TEST_F(CommandModel, JsonHasOneObjectForEachMachineAndCombination) {
  const auto points =
      json_lines(answer({"model", "nakano", "--n", "1024", "--p", "8,64,2048", "--w", "8", "--l", "20", "--json"}));
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
    // n/p rounds of p/w + l - 1; all at once if p is larger.
    EXPECT_EQ(units(point, "contiguous"), p == 2048 ? 1024 / 8 + 19 : 1024 / p * (p / 8 + 19));
  }
  // Every second cell: two entries on both machines, one more on the UMM if a stretch begins within a group.
  EXPECT_LT(units(points[1], "optimal"), units(points[4], "optimal"));
}

TEST_F(CommandModel, TextHasTimesAndConstants) {
  const std::string text = answer({"model", "nakano", "--n", "256", "--p", "16", "--w", "4", "--l", "3"});
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(dmm +256 +16 +4 +3 +\d+ +bandwidth +yes +yes +64 )"))) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(umm +sum +n/w \+ nl/p \+ l log n +3 +\d\.\d{3} +-\n)"))) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(dmm +optimal .* 12 +\d)"))) << text;
  // By default p doubles from w to n.
  const auto points = json_lines(answer({"model", "nakano", "--n", "256", "--json"}));
  EXPECT_EQ(points.size(), 2u * 4);
  // It hides the latency if something else varies.
  for (const Json& point : json_lines(answer({"model", "nakano", "--n", "256", "--l", "2,4", "--json"})))
    EXPECT_EQ(point["p"], 32 * point["l"].get<std::int64_t>());
}

TEST_F(CommandModel, AlgorithmsCostIsCounted) {
  if (!has_simt()) GTEST_SKIP() << "no simulated machine";
  const std::string text = answer({"model", "--algorithm", "1r1w", "--n", "4096", "--l", "100"});
  EXPECT_EQ(text.rfind("1r1w (Kasagi 2014, VI), 64 x 64: n = 4096, 32f32f, T = 32\n", 0), 0u) << text;
  // 2 x 2 tiles: each but the first column and row reads 64 sums beside and above it, and one corner.
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(\nreads +1 n +4225 +4096 +129\n)"))) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(\nwrites +1 n +4160 +4096 +64\n)"))) << text;
  EXPECT_TRUE(
      std::regex_search(text, std::regex(R"(\nbarrier steps B +ceil\(h / T\) \+ ceil\(w / T\) - 2 +2 +2 +0\n)")))
      << text;
  // 8385 / 32 + 3 * 99 beside 8192 / 32 + 3 * 99.
  const std::string formula = R"( +2 n/w \+ \(B\+1\)\(l-1\) +)";
  EXPECT_TRUE(
      std::regex_search(text, std::regex(R"(\ncost C/w \+ S \+ \(B\+1\)\(l-1\))" + formula + R"(559\.0 +553 +6\.0\n)")))
      << text;
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(\nDMM, stages +6 n/w +\d+ +768 +\d+\n)"))) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("\nUMM, time units" + formula + R"(\d+ +553 +\d+\n)"))) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("\nHMM, time units" + formula + R"(\d+ +553 +\d+\n)"))) << text;
  EXPECT_NE(text.find("\nw = 32, l = 100; the HMM is d = 16 DMMs of p = 2048 threads, the UMM has all 32768\n"),
            std::string::npos)
      << text;
  EXPECT_NE(
      answer({"model", "--algorithm", "1r1w", "--n", "64", "--w", "8"}).find("w = 8, l = 32 (tiles and blocks stay"),
      std::string::npos);
  const std::string none = answer({"model", "--algorithm", "scanrow-brlt", "--n", "64", "--p", "512"});
  EXPECT_NE(none.find("\nno time on the UMM and the HMM: a block has 1024 threads, a DMM 512\n"), std::string::npos);
  EXPECT_NE(none.find("\nChen 2018 has no formula of what it costs on these machines\n"), std::string::npos);
  EXPECT_TRUE(std::regex_search(none, std::regex(R"(\nHMM, time units +- +- +- +-\n)"))) << none;
}

TEST_F(CommandModel, TheWarpScanIsNamed) {
  if (!has_simt()) GTEST_SKIP() << "no simulated machine";
  for (const char* option : {"--scan", "--warp-scan"}) {
    const std::vector<std::string> asked{"model", "--algorithm", "scanrow-brlt", "--n", "64", option, "ladner-fischer"};
    EXPECT_EQ(answer(asked).rfind("scanrow-brlt (Chen 2018, IV-A), 8 x 8: n = 64, 32f32f, scan ladner-fischer\n", 0),
              0u)
        << option;
  }
  EXPECT_EQ(Json::parse(answer({"model", "--algorithm", "scanrow-column", "--n", "64", "--json"}))["scan"],
            "kogge-stone");
}

TEST_F(CommandModel, AlgorithmsJson) {
  if (!has_simt()) GTEST_SKIP() << "no simulated machine";
  const Json table = Json::parse(answer({"model", "--algorithm", "4r4w", "--size", "96x64", "--types", "8u64u", "--p",
                                         "512", "--d", "4", "--w", "16", "--l", "7", "--json"}));
  EXPECT_EQ(table["family"], "sat");
  EXPECT_EQ(table["lane"], "8u64u");
  EXPECT_EQ(table["bins"], nullptr);
  EXPECT_EQ(table["tile_threads"], nullptr);
  EXPECT_EQ(table["n"], 96 * 64);
  EXPECT_EQ(table["barrier_steps"], 3);
  EXPECT_EQ(table["strided"], 0);
  EXPECT_EQ(table["coalesced"], 8 * 96 * 64 - 64);
  EXPECT_EQ(table["cost"], (8 * 96 * 64 - 64) / 16.0 + 4 * 6);
  EXPECT_EQ(table["formulas"]["writes"],
            Json::parse(R"({"formula": "4", "counted": 24512, "expected": 24576, "difference": -64})"));
  EXPECT_EQ(table["strided_elements"], 0);
  EXPECT_EQ(table["cost_by_formula"], 8 * 96 * 64 / 16.0 + 4 * 6);
  EXPECT_EQ(table["formulas"]["cost"]["formula"], "8 n/w + (B+1)(l-1)");
  EXPECT_EQ(table["formulas"]["cost"]["difference"], -4);
  EXPECT_EQ(table["formulas"]["dmm"]["formula"], "4 n/w");
  EXPECT_EQ(table["formulas"]["dmm"]["expected"], 4 * 96 * 64 / 16);
  EXPECT_EQ(table["formulas"]["hmm"]["counted"], table["time_units"]);
  EXPECT_GE(table["time_units"], table["formulas"]["umm"]["counted"]);
  EXPECT_EQ(table["no_time"], nullptr);
  EXPECT_EQ(table["no_formula"], nullptr);
  EXPECT_GT(table["time_units"], table["cost"]);
  EXPECT_EQ(table["scan"], nullptr);
  EXPECT_EQ(table["shared_reads"], 2 * 96 * 64);
  EXPECT_EQ(table["shared_writes"], 2 * 96 * 64);
  EXPECT_EQ(table["shared"], 4 * 96 * 64);
  const Json tensor =
      Json::parse(answer({"model", "--algorithm", "wf-tis", "--n", "1024", "--bins", "4", "--tile", "16", "--json"}));
  EXPECT_EQ(tensor["n"], 4096);
  EXPECT_EQ(tensor["bins"], 4);
  EXPECT_EQ(tensor["tile"], 16);
  EXPECT_EQ(tensor["tile_threads"], 256);
  EXPECT_EQ(tensor["lane"], nullptr);
  EXPECT_EQ(tensor["formulas"]["steps"]["difference"], 0);
  const Json fewer = Json::parse(answer({"model", "--algorithm", "wf-tis", "--n", "1024", "--bins", "4", "--tile", "16",
                                         "--tile-threads", "64", "--json"}));
  EXPECT_EQ(fewer["tile_threads"], 64);
  EXPECT_EQ(fewer["cost"], tensor["cost"]);
  EXPECT_GT(fewer["time_units"], tensor["time_units"]);  // a warp waits for each of four rounds
  EXPECT_NE(
      answer({"model", "--algorithm", "cw-tis", "--tile-threads", "1024"}).find(", T = 32, blocks of 1024 threads\n"),
      std::string::npos);
  const Json ours = Json::parse(answer({"model", "--algorithm", "lookback", "--n", "64", "--json"}));
  EXPECT_NE(ours["time_units"], nullptr);
  EXPECT_EQ(ours["cost_by_formula"], nullptr);
  EXPECT_EQ(ours["formulas"]["umm"]["formula"], nullptr);
  EXPECT_EQ(ours["formulas"]["umm"]["difference"], nullptr);
  EXPECT_EQ(ours["no_formula"], "no paper has a formula of what it costs on these machines");
}

TEST_F(CommandModel, SumsOfALine) {
  if (!has_simt()) GTEST_SKIP() << "no simulated machine";
  const std::string text =
      answer({"model", "--algorithm", "sequential-parallel", "--n", "4096", "--threads", "512", "--k", "1024"});
  EXPECT_EQ(text.rfind("sequential-parallel (Nakano 2013, 7), a line: n = 4096, 32f32f, 512 threads, k = 1024\n", 0),
            0u)
      << text;
  // Each group of 1024 is one level in global memory and one in a block, three launches, and between groups the carry;
  // before all the copy.
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(\nbarrier steps B +ceil\(n / k\) - 1 .* 15 +15 +0\n)"))) << text;
  // p of the bound is --threads: 4096 / 32 + 32 * 4096 / 512 + 32 * 4096 * 10 / 1024.
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(\nUMM, time units +n/w \+ nl/p \+ \(nl log k\) / k +\d+ +1664 )")))
      << text;
  EXPECT_NE(text.find("\nNakano 2013 has a bound on the UMM alone; its p is 512\n"), std::string::npos) << text;
  // Without a family `harris` is a tensor's.
  const Json tensor = Json::parse(answer({"model", "--algorithm", "harris", "--n", "1024", "--json"}));
  EXPECT_EQ(tensor["family"], "histogram");
  EXPECT_EQ(tensor["threads"], nullptr);
  EXPECT_EQ(tensor["counter"], "32u");
  EXPECT_EQ(tensor["capacity"], 2048);
  const Json wide =
      Json::parse(answer({"model", "--algorithm", "lee-choe", "--n", "64", "--counter", "64u", "--json"}));
  EXPECT_EQ(wide["counter"], "64u");
  EXPECT_EQ(wide["capacity"], 4096);
  const Json line = Json::parse(answer(
      {"model", "--family", "scan", "--algorithm", "harris", "--n", "5000", "--types", "8u32u", "--l", "9", "--json"}));
  EXPECT_EQ(line["family"], "scan");
  EXPECT_EQ(line["n"], 5000);
  EXPECT_EQ(line["height"], 1);
  EXPECT_EQ(line["lane"], "8u32u");
  EXPECT_EQ(line["bins"], nullptr);
  EXPECT_EQ(line["k"], nullptr);
  // The copy, the pieces, their three sums, the addition.
  EXPECT_EQ(line["barrier_steps"], 3);
  EXPECT_EQ(line["formulas"]["reads"]["counted"], 3 * 5000 + 2 * 3);
  EXPECT_EQ(line["formulas"]["writes"]["counted"], 3 * 5000 + 2 * 3);
  EXPECT_EQ(line["cost"], (6 * 5000 + 12) / 32.0 + 4 * 8);
}

constexpr const char* latencies = R"({"device": "H", "sms": 10, "clock_ghz": 1.5,
 "of_sm": {"registers": 65536, "shared_bytes": 233472, "blocks": 32},
 "latency_clocks": {"shared": 30, "shuffle": 24, "add": 4, "and": 4.5},
 "lanes_per_clock": {"shuffle": 32, "add": 128, "and": 64},
 "shared_bytes_per_clock": 128, "shared_gb_per_s": 1920})";

TEST_F(CommandModel, ChensModel) {
  const std::string text = answer({"model", "chen"});
  EXPECT_TRUE(
      std::regex_search(text, std::regex("P100 \\(paper\\), 4 bytes +P100 .*V100 .*V100 \\(paper\\), 8 bytes\n")))
      << text;
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(\n\(4\) +warp scans, latency, clocks +6240 +6240 +6880 +6880\n)")))
      << text;
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(\n\(14\) +\(10\) \+ \(11\) < kogge-stone +yes +yes +yes +yes\n)")))
      << text;
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(\nscanrow-brlt, clocks +577 +705 +577 +705\n)"))) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(\nVI-D 2\) .* +yes +no +yes +no\n)"))) << text;

  write_file(work / "F.json", latencies);
  const auto objects = json_lines(answer({"model", "chen", "--latencies", "F.json", "--size", "64x33", "--json"}));
  ASSERT_EQ(objects.size(), 1u);
  const Json& object = objects[0];
  EXPECT_EQ(object["device"], "H");
  ASSERT_EQ(object["equations"].size(), 15u);
  EXPECT_EQ(
      object["equations"][0],
      Json::parse(R"({"equation": "3", "what": "transpose, latency, clocks", "value": {"4": 1920.0, "8": 1920.0}})"));
  EXPECT_EQ(object["equations"][3]["holds"], Json::parse(R"({"4": true, "8": true})"));
  EXPECT_EQ(object["equations"][5]["value"], Json::parse(R"({"4": 320.0, "8": 160.0})"));
  ASSERT_EQ(object["predictions"].size(), 6u);
  const Json& row = object["predictions"][1];
  EXPECT_EQ(row["by"], "throughput, kogge-stone");
  EXPECT_EQ(row["bytes"], 4);
  EXPECT_EQ(row["passes"]["BrltScanRow"], 64 + 7.75);
  EXPECT_EQ(row["algorithms"]["brlt-scanrow"]["clocks"], 2 * 71.75);
  EXPECT_NEAR(row["algorithms"]["brlt-scanrow"]["us"].get<double>(), 2 * 71.75 * 4 / 10 / 1.5e3, 1e-9);
  EXPECT_EQ(row["claims"].size(), 3u);
  EXPECT_EQ(json_lines(answer({"model", "chen", "--json"})).size(), 2u);
}

TEST_F(CommandModel, FilesOfLatenciesThatAreNone) {
  const std::string good = latencies;
  const auto without = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  const std::pair<std::string, std::string> cases[] = {
      {"", "F.json: is not what areal_latencies writes, one JSON object"},
      {"[1]", "F.json: is not what areal_latencies writes"},
      {good.substr(0, 100), "F.json: is not what areal_latencies writes"},
      {without("\"sms\": 10", "\"sms\": \"many\""), "F.json: needs sms, a number above 0"},
      {without("\"shuffle\": 24", "\"shuffle\": 0"), "F.json: needs latency_clocks.shuffle, a number above 0"},
      {without("of_sm", "of_sn"), "F.json: needs of_sm.registers, a number above 0"},
  };
  for (const auto& [text, sentence] : cases) {
    write_file(work / "F.json", text);
    const Outcome outcome = run({"model", "chen", "--latencies", "F.json"});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
  }
  for (const char* path : {"nowhere.json", "."}) {
    const Outcome outcome = run({"model", "chen", "--latencies", path});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.err.find(": cannot be read"), std::string::npos) << outcome.err;
  }
}

TEST_F(CommandModel, TheExamplesOfTheHelpRun) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"model"}, {"model", "nakano"}, {"model", "chen"}}) {
    if (words.size() == 1 && !has_simt()) continue;
    std::vector<std::string> help = words;
    help.emplace_back("--help");
    const std::string text = answer(help);
    const std::size_t at = text.find("Example:\n  areal ");
    ASSERT_NE(at, std::string::npos) << text;
    const Outcome outcome = shell("set -e\n" + text.substr(at + 9));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
  }
}

TEST_F(CommandModel, WrongUseIsOneSentence) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{}, "model: needs a sub-command; it may be nakano or chen; or --algorithm ID"},
      {{"--n", "64"}, "model: needs a sub-command; it may be nakano or chen; or --algorithm ID"},
      {{"nakano", "--algorithm", "1r1w"}, "nakano excludes --algorithm"},
      {{"--algorithm", "1r1w", "chen"}, "chen excludes --algorithm"},
      {{"chen", "--n", "64"}, "chen excludes --n"},
      {{"chen", "--size", "64"}, "--size 64: may be WxH"},
      {{"--algorithm", "serial"}, "algorithm serial: none that simt runs; it may be 2r2w, 4r4w"},
      {{"--algorithm", "auto"}, "algorithm auto: none that simt runs"},
      {{"--algorithm", "1r1w", "--n", "1000"}, "--n 1000: may be a square; --size WxH takes other images"},
      {{"--algorithm", "1r1w", "--n", "0"}, "--n 0: may not be less than 1"},
      {{"--algorithm", "1r1w", "--n", "4", "--size", "2x2"}, "--n and --size: may not be given together"},
      {{"--algorithm", "1r1w", "--size", "2048x1024"}, "2048 x 1024 elements: may be 1048576 elements together"},
      {{"--algorithm", "cw-b", "--bins", "65535"}, "128 x 128 pixels of 65535 bins: may be 1048576 elements together"},
      {{"--algorithm", "1r1w", "--bins", "4"}, "--bins 4: only an integral histogram has it"},
      {{"--algorithm", "1r1w", "--counter", "64u"}, "--counter 64u: only an integral histogram has it"},
      {{"--algorithm", "cw-b", "--counter", "32f"}, "--counter 32f: may be 16u, 32u or 64u"},
      {{"--algorithm", "cw-b", "--types", "8u32u"}, "--types 8u32u: only a summed-area table or a line has it"},
      {{"--algorithm", "1r1w", "--types", "8u8u"}, "--types 8u8u: no such types"},
      {{"--algorithm", "cw-b", "--tile", "16"}, "--tile 16: only cw-tis or wf-tis has it"},
      {{"--algorithm", "cw-tis", "--tile", "24"}, "--tile 24: may be 16, 32 or 64"},
      {{"--algorithm", "cw-b", "--tile-threads", "512"}, "--tile-threads 512: only cw-tis or wf-tis has it"},
      {{"--algorithm", "cw-tis", "--tile-threads", "64"},
       "--tile-threads 64: may be 128, 256, 512 or 1024 on tiles of 32"},
      {{"--algorithm", "1r1w", "--r", "0.5"}, "--r 0.5: only hybrid-1r1w has it"},
      {{"--algorithm", "hybrid-1r1w", "--r", "1"}, "--r 1: may be above 0 and below 1"},
      {{"--algorithm", "1r1w", "--family", "scan"},
       "algorithm 1r1w: none of scan that simt runs; it may be naive, optimal"},
      {{"--algorithm", "harris", "--family", "lines"}, "--family lines: may be sat, histogram or scan"},
      {{"--algorithm", "naive", "--size", "64x1"}, "--size 64x1: a line has --n"},
      {{"--algorithm", "naive", "--bins", "4"}, "--bins 4: only an integral histogram has it"},
      {{"--algorithm", "naive", "--n", "1048577"}, "--n 1048577: may not be more than 1048576"},
      {{"--algorithm", "naive", "--k", "4"}, "--k 4: only sequential-parallel has it"},
      {{"--algorithm", "sequential-parallel", "--k", "0"}, "--k 0: may not be less than 1"},
      {{"--algorithm", "harris", "--family", "scan", "--threads", "64"},
       "--threads 64: only naive, optimal or sequential-parallel has it"},
      {{"--algorithm", "brlt-scanrow", "--scan", "kogge-stone"},
       "--scan kogge-stone: only scanrow-brlt or scanrow-column has it"},
      {{"--algorithm", "scanrow-brlt", "--scan", "brent-kung"},
       "--scan brent-kung: may be kogge-stone or ladner-fischer"},
      {{"--algorithm", "1r1w", "--w", "12"}, "--w 12: may be 1, 2, 4, 8, 16 or 32"},
      {{"--algorithm", "1r1w", "--w", "64"}, "--w 64: may not be more than 32"},
      {{"--algorithm", "1r1w", "--p", "33"}, "--p 33: may be a multiple of --w 32"},
      {{"--algorithm", "1r1w", "--l", "0"}, "--l 0: may not be less than 1"},
      {{"--algorithm", "1r1w", "--d", "1025"}, "--d 1025: may not be more than 1024"},
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
}

TEST_F(CommandModel, CompletionKnowsTheSubcommand) {
  EXPECT_EQ(shell("source <(areal completion bash); COMP_WORDS=(areal model na); COMP_CWORD=2; _areal; echo "
                  "\"${COMPREPLY[@]}\"")
                .out,
            "nakano\n");
  EXPECT_EQ(shell("source <(areal completion bash); COMP_WORDS=(areal model chen --measu); COMP_CWORD=3; _areal; echo "
                  "\"${COMPREPLY[@]}\"")
                .out,
            "--measured\n");
}

}  // namespace
}  // namespace areal::test
