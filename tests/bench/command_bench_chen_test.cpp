// areal bench sat --figure chen, with the stand-in for the GPU plug-in: its records, tables and picture, what it leaves
// out, and areal model chen beside it.

#include <array>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include "command_runner.hpp"

namespace areal::test {
namespace {

using Json = nlohmann::json;
using Key = std::array<std::string, 3>;  // type pair, size, algorithm; with the warp scan if it is Ladner-Fischer

const std::set<std::string> three{"scanrow-brlt", "brlt-scanrow", "scanrow-column"};

std::string fixed(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}
double median(const Json& record) { return record["time_us"]["median"]; }

std::vector<std::vector<std::string>> words_of(const std::string& text) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    lines.emplace_back(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  }
  return lines;
}

/// The words of the rows below the line that begins with this text, up to an empty one.
std::vector<std::vector<std::string>> rows_below(const std::string& text, const std::string& begin) {
  const std::size_t at = text.find(begin), first = text.find('\n', at);
  EXPECT_NE(at, std::string::npos) << begin << " in " << text;
  if (at == std::string::npos) return {};
  return words_of(text.substr(first + 1, text.find("\n\n", first) - first - 1));
}

class CommandBenchChen : public CommandTest {
 protected:
  Outcome bench(const std::vector<std::string>& more, std::vector<std::string> environment = {}) {
    environment.push_back("AREAL_BENCH_DIR=" AREAL_BENCH_STAND_IN);
    std::vector<std::string> words{"bench", "sat", "--figure", "chen", "--repetitions", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words, {}, environment);
  }
  /// Two sizes of those type pairs, whose records are then in `records`.
  Outcome measured(const std::vector<std::string>& pairs, const std::vector<std::string>& more = {},
                   const std::vector<std::string>& environment = {}) {
    std::vector<std::string> words{"--size", "96x80", "--size", "64x64", "--json", "r.json", "--plot", "p.svg"};
    for (const std::string& types : pairs) words.insert(words.end(), {"--types", types});
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = bench(words, environment);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    for (const Json& record : Json::parse(contents(work / "r.json"))) {
      std::string algorithm = record["algorithm"];
      if (record.value("scan", "") == "ladner-fischer") algorithm += " ladner-fischer";
      if (algorithm != "scan-scan" && algorithm.rfind("npp", 0) != 0 && three.count(record["algorithm"]) == 0)
        algorithm = "areal";
      const Key key{record["lane"],
                    std::to_string(record["width"].get<int>()) + "x" + std::to_string(record["height"].get<int>()),
                    algorithm};
      EXPECT_TRUE(records.emplace(key, record).second) << record;
    }
    return outcome;
  }
  std::string cell(const std::string& types, const std::string& size, const std::string& algorithm) const {
    const auto found = records.find({types, size, algorithm});
    return found == records.end() ? "-" : fixed(median(found->second), 1);
  }
  std::string over(const std::string& types, const std::string& size, const std::string& slow,
                   const std::string& fast) const {
    const auto a = records.find({types, size, slow}), b = records.find({types, size, fast});
    return a == records.end() || b == records.end() ? "-" : fixed(median(a->second) / median(b->second), 2);
  }
  std::map<Key, Json> records;
};

constexpr const char* npp = "npp 0.0.0 stand-in";

TEST_F(CommandBenchChen, RecordsAreComplete) {
  measured({"8u32s", "32f32f", "64f64f"});
  std::set<Key> expected;
  for (const char* types : {"8u32s", "32f32f", "64f64f"})
    for (const char* size : {"64x64", "96x80"}) {
      for (const char* algorithm : {"scan-scan", "scanrow-brlt", "brlt-scanrow", "scanrow-column", "areal"})
        expected.insert({types, size, algorithm});
      if (types == std::string("8u32s")) expected.insert({types, size, npp});
      if (types == std::string("32f32f"))
        for (const char* algorithm : {"scanrow-brlt ladner-fischer", "scanrow-column ladner-fischer"})
          expected.insert({types, size, algorithm});
    }
  std::set<Key> found;
  for (const auto& [key, record] : records) {
    found.insert(key);
    EXPECT_EQ(record["shown"], "chen");
    EXPECT_EQ(record["backend"], "cuda");
    EXPECT_EQ(record["border"], key[2] == npp ? "zero" : "none") << record;
    EXPECT_EQ(record.contains("floor"), key[2] != npp) << record;
    const bool launches = key[0] == "32f32f" && three.count(record["algorithm"]) != 0;
    ASSERT_EQ(record.contains("launches"), key[0] == "32f32f" && key[2] != "scan-scan") << record;
    if (launches) {
      EXPECT_EQ(record["launches"].size(), 2U) << record;
    }
  }
  EXPECT_EQ(found, expected);
}

TEST_F(CommandBenchChen, TablesSayWhatTheRecordsSay) {
  const std::string text = measured({"8u32u", "32f32f"}).out;
  for (const std::string types : {"8u32u", "32f32f"}) {
    const auto times = rows_below(text, types + ", us "), speed = rows_below(text, types + ", over scan-scan");
    ASSERT_EQ(times.size(), 2U) << text;
    ASSERT_EQ(speed.size(), 2U) << text;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string size = i == 0 ? "64x64" : "96x80";  // ascending
      const Json& ours = records.at({types, size, "areal"});
      std::vector<std::string> row{size, fixed(ours["floor_us"], 1)};
      for (const char* a : {"scan-scan", npp, "scanrow-brlt", "brlt-scanrow", "scanrow-column", "areal"})
        row.push_back(cell(types, size, a));
      row.push_back(ours["algorithm"]);
      EXPECT_EQ(times[i], row) << text;
      std::string best = "scanrow-brlt";
      for (const char* a : {"brlt-scanrow", "scanrow-column"})
        if (median(records.at({types, size, a})) < median(records.at({types, size, best}))) best = a;
      row = {size};
      for (const char* a : {"scanrow-brlt", "brlt-scanrow", "scanrow-column", "areal"})
        row.push_back(over(types, size, "scan-scan", a));
      row.insert(row.end(), {best, over(types, size, npp, best), over(types, size, npp, "areal"),
                             over(types, size, best, "areal")});
      EXPECT_EQ(speed[i], row) << text;
    }
  }
  EXPECT_NE(text.find("widen  scan-scan"), std::string::npos) << text;
  EXPECT_NE(text.find("copy  scan-scan"), std::string::npos) << text;
}

TEST_F(CommandBenchChen, LaunchesAndTheInequalitiesOfThem) {
  const std::string text = measured({"32f32f"}).out;
  EXPECT_EQ(rows_below(text, "32f32f, us of a scan").size(), 10U) << text;
  const auto claims = rows_below(text, "VI-D, us");
  ASSERT_EQ(claims.size(), 6U) << text;
  const auto launch = [&](const char* size, const char* algorithm, int i) {
    return median(records.at({"32f32f", size, algorithm})["launches"][i]);
  };
  for (std::size_t i = 0; i < 2; ++i) {
    const char* const size = i == 0 ? "64x64" : "96x80";
    const double row = launch(size, "scanrow-column", 0), column = launch(size, "scanrow-column", 1);
    const double brlt_row = (launch(size, "brlt-scanrow", 0) + launch(size, "brlt-scanrow", 1)) / 2;
    const double row_brlt = (launch(size, "scanrow-brlt", 0) + launch(size, "scanrow-brlt", 1)) / 2;
    const std::array<std::array<double, 2>, 3> sides{
        {{column, brlt_row}, {2 * brlt_row, row + column}, {brlt_row, row_brlt}}};
    for (std::size_t k = 0; k < 3; ++k) {
      const auto& line = claims[3 * i + k];
      ASSERT_GE(line.size(), 4U);
      EXPECT_EQ(line[0], size);
      EXPECT_EQ(line[line.size() - 3], fixed(sides[k][0], 1)) << text;
      EXPECT_EQ(line[line.size() - 2], fixed(sides[k][1], 1)) << text;
      EXPECT_EQ(line.back(), sides[k][0] < sides[k][1] ? "yes" : "no") << text;
    }
  }
}

TEST_F(CommandBenchChen, ThePictureHasAllCurves) {
  measured({"8u32u", "32f32f"});
  const auto counted = [&](const std::string& what) {
    return shell("'" AREAL_PYTHON "' -c 'import xml.dom.minidom as m; d = m.parse(\"p.svg\"); print(" + what + ")'")
        .out;
  };
  EXPECT_EQ(counted("len(d.getElementsByTagName(\"g\"))"), "4\n");
  // Seven curves of 8u32u, and six of 32f32f, for which NPP has no function; each in two panels.
  EXPECT_EQ(counted("len(d.getElementsByTagName(\"polyline\"))"), "26\n");
  const std::string picture = contents(work / "p.svg");
  for (const char* name : {"copy or widen", "areal", "scanrow-brlt", "brlt-scanrow", "scanrow-column", "scan-scan",
                           "npp", "8u32u: microseconds", "32f32f: speed-up over scan-scan"})
    EXPECT_NE(picture.find(std::string(">") + name + "<"), std::string::npos) << name;
  EXPECT_EQ(picture.find("nan"), std::string::npos);
  EXPECT_EQ(picture.find("inf"), std::string::npos);
}

TEST_F(CommandBenchChen, WhatIsLeftOutIsSaid) {
  const Outcome outcome = measured({"32f32f"});
  EXPECT_EQ(outcome.err, "areal: note: npp of 32f32f did not run at 64x64 and 1 more: NPP has no integral of 32f32f\n");
}

TEST_F(CommandBenchChen, WithoutNpp) {
  const Outcome outcome = measured({"8u32u"}, {"--no-peers"});
  EXPECT_EQ(records.count({"8u32u", "64x64", npp}), 0U);
  EXPECT_EQ(records.count({"8u32u", "64x64", "scan-scan"}), 1U);
  EXPECT_EQ(outcome.err.find("npp"), std::string::npos) << outcome.err;
  EXPECT_EQ(contents(work / "p.svg").find(">npp<"), std::string::npos);
  EXPECT_NE(outcome.err.find("note: Figure 8 and VI-D are left out: they need 32f32f"), std::string::npos)
      << outcome.err;
}

TEST_F(CommandBenchChen, WhatLacksMemoryIsLeftOutAndTheRestGoesOn) {
  // scanrow-column has no transposed table of 96 x 80, and the one of 64 x 64 is smaller.
  const Outcome outcome = measured({"32f32f"}, {}, {"AREAL_STAND_IN_MEMORY=20000"});
  EXPECT_EQ(records.count({"32f32f", "96x80", "brlt-scanrow"}), 0U);
  EXPECT_EQ(records.count({"32f32f", "64x64", "brlt-scanrow"}), 1U);
  EXPECT_EQ(records.count({"32f32f", "96x80", "scanrow-column"}), 1U);
  EXPECT_NE(outcome.err.find("note: brlt-scanrow of 32f32f did not run at 96x80: out of memory: a workspace of "),
            std::string::npos)
      << outcome.err;
  // The best of the three is unknown there, and so are the inequalities.
  const auto speed = rows_below(outcome.out, "32f32f, over scan-scan");
  ASSERT_EQ(speed.size(), 2U);
  EXPECT_EQ(speed[1][5], "-") << outcome.out;
  EXPECT_EQ(speed[1].back(), "-") << outcome.out;
  EXPECT_EQ(rows_below(outcome.out, "VI-D, us").size(), 3U) << outcome.out;
}

TEST_F(CommandBenchChen, WrongUseIsOneSentence) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"--algorithm", "1r1w"}, "--algorithm may not be given with --figure chen"},
      {{"--squares"}, "--squares may not be given with --figure chen"},
      {{"--border", "zero"}, "--border may not be given with --figure chen"},
      {{"--batch", "2"}, "--batch may not be given with --figure chen"},
      {{"--bins", "2"}, "--bins may not be given with --figure chen"},
      {{"--backend", "cpu"}, "--backend cpu: --table and --figure are timed on a GPU"},
      {{"--table", "kasagi"}, "--table and --figure: may not be given together"},
  };
  for (const auto& [words, sentence] : cases) {
    std::vector<std::string> more{"--size", "64x64", "--json", "r.json"};
    more.insert(more.end(), words.begin(), words.end());
    const Outcome outcome = bench(more);
    EXPECT_EQ(outcome.code, 2) << sentence << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err.find("areal: " + sentence), 0U) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  EXPECT_EQ(run({"bench", "histogram", "--figure", "chen"}).code, 2);
  EXPECT_EQ(run({"bench", "sat", "--plot", "p.svg"}).code, 2);
  EXPECT_TRUE(others({}).empty());
}

TEST_F(CommandBenchChen, WithoutThePlugInThereIsASentenceAndNoFile) {
  const Outcome outcome =
      run({"bench", "sat", "--figure", "chen", "--size", "64x64", "--json", "r.json", "--plot", "p.svg"}, {},
          {"AREAL_BENCH_DIR=" + (work / "nowhere").string()});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_TRUE(others({}).empty());
}

TEST_F(CommandBenchChen, TheModelBesideIt) {
  measured({"8u32u", "32f32f", "64f64f"});
  const Json object = Json::parse(shell("areal model chen --measured r.json --size 64x64 --json | head -1").out);
  const Json& pairs = object["measured"]["lanes"];
  ASSERT_EQ(pairs.size(), 4U) << pairs;  // 32f32f with both warp scans
  for (const Json& types : pairs) {
    EXPECT_EQ(types["bytes"], types["lane"] == "64f64f" ? 8 : 4);
    const bool second = types["scan"] == "ladner-fischer";
    const Json& record = records.at({types["lane"], "64x64", second ? "scanrow-brlt ladner-fischer" : "scanrow-brlt"});
    EXPECT_EQ(types["algorithms_us"]["scanrow-brlt"], record["time_us"]["median"]);
    ASSERT_EQ(types.contains("claims"), types["lane"] == "32f32f") << types;
    if (!types.contains("claims")) continue;
    EXPECT_EQ(types["passes_us"]["ScanRowBrlt"], (median(record["launches"][0]) + median(record["launches"][1])) / 2);
    EXPECT_EQ(types["claims"]["ScanColumn < BrltScanRow"],
              types["passes_us"]["ScanColumn"].get<double>() < types["passes_us"]["BrltScanRow"].get<double>());
  }
  const std::string text = shell("areal model chen --measured r.json --size 64x64").out;
  for (const std::string line : {"kogge-stone, 64 x 64, us", "ladner-fischer, 64 x 64, us"}) {
    const auto rows = rows_below(text, line);
    ASSERT_EQ(rows.size(), 10U) << text;
    EXPECT_EQ(rows[5].back(), cell(line[0] == 'k' ? "64f64f" : "32f32f", "64x64", "brlt-scanrow")) << text;
  }
}

TEST_F(CommandBenchChen, FilesThatTheModelCannotTake) {
  measured({"8u32u"});
  const std::string good = contents(work / "r.json");
  const auto without = [&](const std::string& what) {
    std::string text = good;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos;) text.replace(at, what.size(), "x");
    return text;
  };
  const std::pair<std::string, std::string> cases[] = {
      {good, "F.json: has no times of 4096 x 4096; it has 64 x 64, 96 x 80"},
      {"[]", "F.json: has no times of 4096 x 4096; it has none of --figure chen"},
      {without("chen"), "F.json: has no times of 4096 x 4096; it has none of --figure chen"},
      {without("width"), "F.json: is not what areal bench sat --figure chen --json writes"},
      {"{}", "F.json: is not what"},
      {"[1]", "F.json: is not what"},
      {good.substr(0, 100), "F.json: is not what"},
  };
  for (const auto& [text, sentence] : cases) {
    write_file(work / "F.json", text);
    const Outcome outcome = run({"model", "chen", "--measured", "F.json"});
    EXPECT_EQ(outcome.code, 1) << sentence;
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(run({"model", "chen", "--measured", "nowhere.json"}).code, 1);
}

}  // namespace
}  // namespace areal::test
