// areal bench sat --table kasagi, with the stand-in for the GPU plug-in; and areal sat --r best.
#include <areal/research/sat.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include "command_runner.hpp"

namespace areal::test {
namespace {

using Json = nlohmann::json;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

// Name -> the numbers after it. Names end where a number, a mark or a bar begins.
std::map<std::string, std::vector<std::string>> rows_of(const std::string& table, std::size_t columns) {
  std::map<std::string, std::vector<std::string>> rows;
  std::istringstream stream(table);
  for (std::string line; std::getline(stream, line);) {
    std::vector<std::string> words = words_of(line);
    if (words.size() < columns) continue;
    std::string name;
    for (std::size_t i = 0; i + columns < words.size(); ++i) name += (i > 0 ? " " : "") + words[i];
    words.erase(words.begin(), words.end() - static_cast<std::ptrdiff_t>(columns));
    rows.emplace(name, words);
  }
  return rows;
}

class CommandBenchKasagi : public CommandTest {
 protected:
  Json records(std::vector<std::string> arguments, std::vector<std::string> environment = {}) {
    arguments.insert(arguments.begin(), {"bench", "sat", "--table", "kasagi"});
    arguments.insert(arguments.end(), {"--repetitions", "2", "--json", "records.json"});
    environment.push_back("AREAL_BENCH_DIR=" AREAL_BENCH_STAND_IN);
    outcome = run(arguments, {}, environment);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Json::parse(contents(work / "records.json"), nullptr, false);
  }
  Outcome outcome;
};

// The table's cells (or the curve) of that size: id -> record; the hybrid's with r.
std::map<std::string, Json> cells(const Json& rows, std::int64_t width, const std::string& shown) {
  std::map<std::string, Json> found;
  for (const Json& row : rows) {
    if (row["width"] != width || row["shown"] != shown) continue;
    const std::string id = row["algorithm"];
    EXPECT_TRUE(found.emplace(row.contains("r") ? id + " " + row["r"].dump() : id, row).second) << row;
  }
  return found;
}

TEST_F(CommandBenchKasagi, RecordsAndTable) {
  const Json rows = records({"--size", "96x96", "--size", "256x160"});
  EXPECT_EQ(outcome.err, "");
  const std::vector<std::string> fixed{"2r2w", "4r4w", "4r1w", "2r1w", "1r1w", "2r2w-cpu", "4r1w-cpu"};
  const auto table = rows_of(outcome.out, 2);
  const auto ms = [&](const std::string& row, std::size_t column) {
    const std::string word = table.at(row).at(column);
    return std::stod(word.substr(word.find_first_not_of('*')));
  };
  const auto expect_cell = [&](const std::string& row, std::size_t column, double microseconds) {
    EXPECT_NEAR(ms(row, column), microseconds / 1000, 0.006 * microseconds / 1000 + 1e-5) << row;
  };
  EXPECT_EQ(table.count("96x96"), 0U);
  EXPECT_NE(outcome.out.find("      96x96    256x160\n"), std::string::npos) << outcome.out;
  for (std::size_t column = 0; column < 2; ++column) {
    const std::int64_t width = column == 0 ? 96 : 256;
    const Shape shape{width, column == 0 ? 96 : 160};
    const auto there = cells(rows, width, "kasagi");
    for (const std::string& id : fixed) {
      ASSERT_EQ(there.count(id), 1U) << id;
      const Json& row = there.at(id);
      EXPECT_EQ(row["lane"], "64f64f");
      EXPECT_EQ(row["backend"], id.ends_with("-cpu") ? "cpu" : "cuda");
      EXPECT_EQ(row["threads"], id.ends_with("-cpu") ? 1 : 0);
      EXPECT_EQ(row["border"], "none");
      EXPECT_EQ(row["bytes"], shape.width * shape.height * 16);
    }
    expect_cell("2R2W", column, there.at("2r2w")["time_us"]["median"]);
    expect_cell("4R4W", column, there.at("4r4w")["time_us"]["median"]);
    expect_cell("4R1W", column, there.at("4r1w")["time_us"]["median"]);
    expect_cell("2R1W", column, there.at("2r1w")["time_us"]["median"]);
    expect_cell("1R1W", column, there.at("1r1w")["time_us"]["median"]);
    expect_cell("2R2W(CPU)", column, there.at("2r2w-cpu")["time_us"]["median"]);
    expect_cell("4R1W(CPU)", column, there.at("4r1w-cpu")["time_us"]["median"]);
    expect_cell("copy", column, there.at("1r1w")["floor_us"]);

    // The curve: all sides, as there are few. The table has the one nearest to 1/4, and the best of the curve.
    const std::vector<double> all = research::hybrid_shares(shape, Border::none, 100);
    const auto curve = cells(rows, width, "kasagi-r");
    ASSERT_EQ(curve.size(), all.size());
    double best = 0, least = std::numeric_limits<double>::infinity();
    std::set<double> shares;
    for (const auto& [name, row] : curve) {
      shares.insert(row["r"].get<double>());
      if (row["time_us"]["median"] < least) best = row["r"], least = row["time_us"]["median"];
    }
    EXPECT_EQ(std::vector<double>(shares.begin(), shares.end()), all);
    expect_cell("fastest (1+r)R1W", column, least);
    EXPECT_NEAR(ms("r", column), best, 0.006 * best);
    const double quarter = research::hybrid_share(shape, 0.25, Border::none);
    expect_cell("1.25R1W", column, there.at("hybrid-1r1w " + Json(quarter).dump())["time_us"]["median"]);
    EXPECT_EQ(there.count("hybrid-1r1w " + Json(best).dump()), 1U);

    // The remaining row is areal's default, under its own name.
    std::vector<std::string> others;
    for (const auto& [name, row] : there)
      if (std::find(fixed.begin(), fixed.end(), name) == fixed.end() && !row.contains("r")) others.push_back(name);
    ASSERT_EQ(others.size(), 1U);
    expect_cell("areal's default", column, there.at(others[0])["time_us"]["median"]);
    const double cpu = std::min(ms("2R2W(CPU)", column), ms("4R1W(CPU)", column));
    EXPECT_NEAR(ms("speed-up", column), cpu / ms("fastest (1+r)R1W", column), 0.02 * ms("speed-up", column));

    // Only the fastest of the paper's GPU rows has a star.
    std::string starred;
    for (const auto& [name, numbers] : table)
      if (numbers[column].starts_with("*")) starred += name + ".";
    double fastest = least;
    std::string name = "fastest (1+r)R1W";
    for (const auto& [row, id] :
         {std::pair{"2R2W", "2r2w"}, {"4R4W", "4r4w"}, {"4R1W", "4r1w"}, {"2R1W", "2r1w"}, {"1R1W", "1r1w"}})
      if (there.at(id)["time_us"]["median"] < fastest) name = row, fastest = there.at(id)["time_us"]["median"];
    EXPECT_EQ(starred, name + ".");
  }
}

TEST_F(CommandBenchKasagi, SizesAscendAndManySharesAreSearched) {
  const Json rows = records({"--size", "416x416", "--size", "64x64", "--types", "8u32u", "-q"});
  EXPECT_NE(outcome.out.find("     64x64    416x416\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("8u32u"), std::string::npos);
  EXPECT_NE(outcome.out.find("widen"), std::string::npos);
  const auto curve = cells(rows, 416, "kasagi-r");
  EXPECT_GE(curve.size(), 10U);  // of 12
  // The shares between the coarse ones around the best have been tried, too.
  double best = 0, least = std::numeric_limits<double>::infinity();
  std::set<double> shares;
  for (const auto& [name, row] : curve) {
    shares.insert(row["r"].get<double>());
    if (row["time_us"]["median"] < least) best = row["r"], least = row["time_us"]["median"];
  }
  const std::vector<double> all = research::hybrid_shares({416, 416}, Border::none, 100);
  const auto at = std::find(all.begin(), all.end(), best);
  ASSERT_NE(at, all.end());
  EXPECT_TRUE(at == all.begin() || shares.count(at[-1]) == 1U);
  EXPECT_TRUE(at + 1 == all.end() || shares.count(at[1]) == 1U);
}

TEST_F(CommandBenchKasagi, ThePlotHasAllCurves) {
  records({"--size", "96x96", "--size", "160x160", "--size", "256x256", "--plot", "p.svg"});
  const Outcome parsed = shell(
      "python3 - p.svg <<'END'\n"
      R"(
import sys, xml.etree.ElementTree as tree
name = "{http://www.w3.org/2000/svg}"
panels = list(tree.parse(sys.argv[1]).getroot().iter(name + "g"))
for panel in panels:
    for line in panel.iter(name + "polyline"):
        points = [tuple(map(float, p.split(","))) for p in line.get("points").split()]
        assert all(0 <= x <= 440.1 and -0.1 <= y <= 340.1 for x, y in points), points
        print(len(points), end=" ")
    print(panel.find(name + "text").text)
print(*(text.text for text in tree.parse(sys.argv[1]).getroot().findall(name + "text")), sep=", ")
END
)");
  // 11 rows at 3 sizes; the shares of 3, 5 and 8 tiles to a side.
  EXPECT_EQ(parsed.out,
            "3 3 3 3 3 3 3 3 3 3 3 64f64f: milliseconds\n2 4 7 (1+r)R1W, 64f64f: time / that of the best r\n"
            "Kasagi 2014, Table II again, copy, 2R2W, 4R4W, 4R1W, 2R1W, 1R1W, 1.25R1W, fastest (1+r)R1W, "
            "2R2W(CPU), 4R1W(CPU), areal's default, 96x96, 160x160, 256x256\n")
      << parsed.err;
}

TEST_F(CommandBenchKasagi, WhatIsLeftOutIsSaid) {
  // One row of tiles has no triangles. An image beyond 63 bits gives no rows, and the rest continues.
  const Json rows = records({"--size", "32x100", "--size", "2147483648x2147483648", "--size", "64x64"});
  EXPECT_NE(outcome.err.find("hybrid-1r1w of 32x100 is left out: its triangles need two rows and two columns of tiles"),
            std::string::npos)
      << outcome.err;
  for (const char* id : {"hybrid-1r1w", "2r2w", "auto"})
    EXPECT_NE(outcome.err.find(std::string(id) + " of 64f64f 2097152K did not run: "), std::string::npos)
        << id << outcome.err;
  EXPECT_NE(outcome.err.find("the CPU's rows end at 18K"), std::string::npos);
  EXPECT_NE(outcome.out.find("     32x100      64x64\n"), std::string::npos) << outcome.out;
  const auto table = rows_of(outcome.out, 2);
  EXPECT_NE(table.at("fastest (1+r)R1W")[1], "-");
  EXPECT_EQ(table.at("fastest (1+r)R1W")[0], "-");
  EXPECT_EQ(table.at("r")[0], "-");
  EXPECT_NE(table.at("1R1W")[0], "-");
  EXPECT_EQ(cells(rows, 2147483648, "kasagi").size(), 0U);
  // Extra words.
  EXPECT_LT(outcome.err.size(), 5000U);
}

TEST_F(CommandBenchKasagi, WhatHasNoRoomIsSaidAndTheRestGoesOn) {
  for (const std::string id : {"4r4w", "hybrid-1r1w", "auto"}) {
    const Json rows = records({"--size", "96x96", "--plot", "p.svg"}, {"AREAL_STAND_IN_REFUSES=" + id});
    EXPECT_EQ(outcome.err, "areal: note: " + id + " of 64f64f 96x96 did not run: no room for " + id + "\n");
    const auto table = rows_of(outcome.out, 1);
    const std::map<std::string, std::string> names{{"4r4w", "4R4W"}, {"hybrid-1r1w", "r"}, {"auto", "areal's default"}};
    for (const auto& [other, name] : names) EXPECT_EQ(table.at(name)[0] == "-", other == id) << name << outcome.out;
    EXPECT_EQ(cells(rows, 96, "kasagi").size(), id == "hybrid-1r1w" ? 8U : 9U) << rows;
    EXPECT_EQ(cells(rows, 96, "kasagi-r").empty(), id == "hybrid-1r1w");
    EXPECT_EQ(contents(work / "p.svg").find("nan"), std::string::npos);
  }
  records({"--size", "96x96", "--plot", "p.svg"}, {"AREAL_STAND_IN_REFUSES=all"});
  EXPECT_NE(outcome.out.find("4R1W(CPU)"), std::string::npos) << outcome.err;
}

TEST_F(CommandBenchKasagi, WronglyAsked) {
  const auto refused = [&](std::vector<std::string> arguments, const std::string& words) {
    arguments.insert(arguments.begin(), {"bench", "sat", "--table", "kasagi"});
    const Outcome wrong = run(arguments, {}, {"AREAL_BENCH_DIR=" AREAL_BENCH_STAND_IN});
    EXPECT_EQ(wrong.code, 2) << wrong.err;
    EXPECT_EQ(wrong.out, "");
    EXPECT_NE(wrong.err.find(words), std::string::npos) << wrong.err;
  };
  for (const auto& [option, value] : {std::pair{"--algorithm", "1r1w"},
                                      {"--bins", "16"},
                                      {"--batch", "2"},
                                      {"--squares=64f", ""},
                                      {"--border", "zero"}}) {
    const std::string text(option), name = text.substr(0, text.find('='));
    std::vector<std::string> arguments{option};
    if (*value != 0) arguments.push_back(value);
    refused(arguments, name + " may not be given with --table kasagi, which takes --size and --types");
  }
  refused({"--backend", "cpu"}, "--backend cpu: --table and --figure are timed on a GPU");
  refused({"--types", "9u"}, "--types 9u: may be 8u32u, ");
}

TEST_F(CommandBenchKasagi, WithoutAGpuNothingIsMeasured) {
  const Outcome none =
      run({"bench", "sat", "--table", "kasagi", "--size", "64x64", "--plot", "p.svg", "--json", "r.json"}, {},
          {"AREAL_BENCH_DIR=" + (work / "nowhere").string(), "CUDA_VISIBLE_DEVICES="});
  EXPECT_EQ(none.code, 1) << none.err;
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(others({}), std::vector<std::string>());
  // A picture that cannot be written is reported before the work.
  const Outcome lost = run({"bench", "sat", "--table", "kasagi", "--size", "64x64", "--plot", "nowhere/p.svg"}, {},
                           {"AREAL_BENCH_DIR=" AREAL_BENCH_STAND_IN});
  EXPECT_EQ(lost.code, 1) << lost.err;
  EXPECT_EQ(lost.out, "");
}

TEST_F(CommandBenchKasagi, SatTakesTheBestR) {
  write_file(work / "a.npy", npy("|u1", "96, 160", pixels(160, 96)));
  const std::vector<std::string> asked{"sat", "a.npy", "--backend", "simt", "--algorithm", "hybrid-1r1w"};
  auto with = [&](const std::string& r) {
    std::vector<std::string> arguments = asked;
    arguments.insert(arguments.end(), {"--r", r, "--border", "none", "--json", "-v"});
    outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Json::parse(outcome.out, nullptr, false);
  };
  const double best = research::best_hybrid_share(
      {160, 96}, Type::u8, {.border = Border::none, .types = type_pair("8u32u"), .algorithm = "hybrid-1r1w"},
      {.backend = Backend::simt});
  const Json json = with("best");
  EXPECT_EQ(json["reason"], with(std::to_string(best))["reason"]);
  EXPECT_EQ(json["sum"], direct_sum(0, 0, 160, 96));
  with("best");
  EXPECT_NE(outcome.err.find("of the shares that were tried, r "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("has the least global memory access cost"), std::string::npos) << outcome.err;
  const Outcome other = run({"sat", "a.npy", "--r", "best", "--algorithm", "1r1w", "--backend", "simt"});
  EXPECT_EQ(other.code, 2);
  EXPECT_EQ(other.err, "areal: --r best: only hybrid-1r1w has it\n");
  EXPECT_EQ(run({"sat", "a.npy", "--r", "best", "--algorithm", "hybrid-1r1w", "--backend", "cpu"}).code, 2);
}

}  // namespace
}  // namespace areal::test
