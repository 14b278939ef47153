// areal bench histogram --figure poostchi: its records, its tables and its picture, timed by the stand-in for the GPU
// plug-in, and by the CPU.

#include <cmath>
#include <set>
#include "figure_runner.hpp"

#ifdef AREAL_BENCH_STAND_IN
namespace areal::test {
namespace {

class BenchPoostchi : public FigureTest {
 protected:
  // 48 x 20 with 3 and 5 bins, 70 x 34 with 3.
  const Words asked = {"--figure", "poostchi", "--size", "48x20",         "--size", "70x34",     "--bins",
                       "3",        "--bins",   "5",      "--repetitions", "1",      "--threads", "2"};

  static const Json& one(const Json& records, const Json& like) {
    static const Json none{{"time_us", {{"median", 0}}}, {"launches", Json::array()}};
    for (const Json& r : records) {
      bool same = true;
      for (const auto& [key, value] : like.items()) same = same && r.contains(key) && r[key] == value;
      if (same) return r;
    }
    ADD_FAILURE() << "no record " << like;
    return none;
  }
  static double time(const Json& records, const Json& like) { return one(records, like)["time_us"]["median"]; }
  static Json like(const std::string& algorithm, int width, int bins, int tile = 0, int threads = 0) {
    Json what{{"algorithm", algorithm}, {"width", width}, {"bins", bins}};
    if (tile != 0) what["tile"] = tile, what["tile_threads"] = threads != 0 ? threads : tile == 16 ? 256 : 512;
    return what;
  }
  static double transfers(const Json& records, int width, int bins) {
    return time(records, like("image up", width, bins)) + time(records, like("tensor down", width, bins));
  }

  void expect_complete(const Json& records) const;
  void expect_phases(const Json& records) const;
  void expect_sweep(const Json& records) const;
  void expect_times(const Json& records) const;
  void expect_comparisons(const Json& records) const;
};

void BenchPoostchi::expect_complete(const Json& records) const {
  std::multiset<std::string> found;
  for (const Json& r : records) {
    EXPECT_EQ(r["shown"], "poostchi") << r;
    EXPECT_EQ(r["border"], "none") << r;
    EXPECT_EQ(r["backend"], r["threads"] == 0 ? "cuda" : "cpu") << r;
    EXPECT_GT(r["time_us"]["median"], 0) << r;
    found.insert(r["what"].get<std::string>() + " " + r["algorithm"].get<std::string>() +
                 (r.contains("tile") ? "-" + r["tile"].dump() + "-" + r["tile_threads"].dump() : "") +
                 (r["backend"] == "cpu" ? "x" + r["threads"].dump() : ""));
  }
  std::multiset<std::string> expected;
  for (int cases = 0; cases < 3; ++cases) {
    for (const char* id :
         {"cw-b", "cw-sts", "cw-tis-16-256", "cw-tis-32-512", "cw-tis-64-512", "wf-tis-16-256", "wf-tis-32-512",
          "wf-tis-64-512", "reduce-then-scan", "serialx1", "parallelx1", "parallelx2", "fusedx2"})
      expected.insert(std::string("histogram ") + id);
    for (const char* id : {"image up", "tensor up", "tensor down"}) expected.insert(std::string("transfer ") + id);
    for (const char* id : {"device", "hostx1", "hostx2"}) expected.insert(std::string("initialisation ") + id);
  }
  // Only of 48x20 with 3 bins.
  for (const char* block : {"16-64", "16-128", "32-128", "32-256", "32-1024", "64-128", "64-256", "64-1024"})
    for (const char* id : {"cw-tis", "wf-tis"}) expected.insert(std::string("histogram ") + id + "-" + block);
  EXPECT_EQ(Json(found), Json(expected));
}

// Figures 9 and 10: each tile with each possible block.
void BenchPoostchi::expect_sweep(const Json& records) const {
  const std::string heading = "Figures 9 and 10, 48x20, 3 bins";
  EXPECT_EQ(table(heading).size(), 1U + 2 * (3 + 4 + 4));
  for (const char* id : {"cw-tis", "wf-tis"})
    for (const auto& [tile, threads, occupancy] :
         {std::tuple(16, 64, "0.03"), {16, 256, "0.12"}, {32, 512, "0.25"}, {64, 128, "0.06"}, {64, 1024, "0.50"}}) {
      const Json& record = one(records, like(id, 48, 3, tile, threads));
      double scans = 0;
      for (const Json& l : record["launches"]) {
        if (l["phase"] == "initialisation") continue;
        scans += l["time_us"]["median"].get<double>();
        EXPECT_EQ(l["threads"], threads);
      }
      EXPECT_EQ(row(heading, {id, std::to_string(tile), std::to_string(threads)}),
                (Words{occupancy, one_decimal(scans), one_decimal(record["time_us"]["median"])}))
          << id;
    }
}

// Launches by the algorithms: height 20, width 48, 3 bins.
void BenchPoostchi::expect_phases(const Json& records) const {
  const auto expect = [&](const Json& what, const std::vector<std::pair<std::string, int>>& phases) {
    const Json& record = one(records, what);
    std::vector<std::pair<std::string, int>> found;
    double all = 0;
    for (const Json& l : record["launches"]) {
      found.emplace_back(l["phase"], l["launches"]);
      all += l["time_us"]["median"].get<double>();
      EXPECT_GT(l["occupancy"], 0);
    }
    EXPECT_EQ(found, phases) << what;
    EXPECT_NEAR(all, record["time_us"]["median"], 1e-6) << what;  // the stand-in's events take no time
  };
  expect(
      like("cw-b", 48, 3),
      {{"initialisation", 1}, {"horizontal", 3 * 20}, {"transpose", 3}, {"vertical", 3 * 48}, {"last transpose", 1}});
  expect(like("cw-sts", 48, 3),
         {{"initialisation", 1}, {"horizontal", 1}, {"transpose", 1}, {"vertical", 1}, {"last transpose", 1}});
  expect(like("cw-tis", 48, 3, 16), {{"initialisation", 1}, {"horizontal", 3}, {"vertical", 2}});
  expect(like("wf-tis", 48, 3, 16), {{"initialisation", 1}, {"wave-front", 3 + 2 - 1}});
  expect(like("wf-tis", 48, 3, 64), {{"initialisation", 1}, {"wave-front", 1}});

  const Words head = table("Figure 8, 70x34, 3 bins").at(0);
  EXPECT_EQ(head, words_of("algorithm initialisation horizontal transpose vertical wave-front last transpose own all "
                           "execute"));
  const Json& sts = one(records, like("cw-sts", 70, 3));
  Words expected;
  for (const Json& l : sts["launches"]) expected.push_back(one_decimal(l["time_us"]["median"]));
  expected.insert(expected.begin() + 4, "-");  // no wave-front
  const std::string all = one_decimal(sts["time_us"]["median"]);
  expected.insert(expected.end(), {"-", all, all});
  EXPECT_EQ(row("Figure 8, 70x34, 3 bins", {"cw-sts"}), expected);
  for (const char* line : {"cw-b", "cw-tis", "wf-tis", "reduce-then-scan"}) row("Figure 8, 48x20, 3 bins", {line});

  // Threads of a block: 256 for tiles of 16, 512 for the others.
  const std::string heading = "Blocks, 48x20, 3 bins";
  EXPECT_EQ(row(heading, {"wf-tis", "16", "wave-front", "TiledWavefrontScan", "4"}).at(0), "256");
  EXPECT_EQ(row(heading, {"wf-tis", "64", "wave-front", "TiledWavefrontScan", "1", "512"}).at(0), "0.25");
  EXPECT_EQ(row(heading, {"cw-b", "horizontal", "Prescan", "60"}).at(0), "64");
}

void BenchPoostchi::expect_times(const Json& records) const {
  EXPECT_EQ(table("Figure 7, 3 bins").at(0), (Words{"algorithm", "48x20", "70x34"}));
  EXPECT_EQ(table("48x20: microseconds of an execute by bins").at(0), words_of("algorithm 3 bins 5 bins"));
  for (const auto& [id, tile] :
       {std::pair("cw-b", 0), {"cw-sts", 0}, {"cw-tis", 64}, {"wf-tis", 64}, {"reduce-then-scan", 0}}) {
    const auto at = [&, name = id, side = tile](int width, int bins) {
      return one_decimal(time(records, like(name, width, bins, side)));
    };
    EXPECT_EQ(row("Figure 7, 3 bins", {id}), (Words{at(48, 3), at(70, 3)}));
    EXPECT_EQ(row("48x20: microseconds of an execute by bins", {id}), (Words{at(48, 3), at(48, 5)}));
  }
  for (const int tile : {16, 32, 64})
    EXPECT_EQ(row("4.2.2, 3 bins", {"cw-tis", std::to_string(tile)}),
              (Words{one_decimal(time(records, like("cw-tis", 48, 3, tile))),
                     one_decimal(time(records, like("cw-tis", 70, 3, tile)))}));
}

void BenchPoostchi::expect_comparisons(const Json& records) const {
  const double up = time(records, like("image up", 70, 3)), down = time(records, like("tensor down", 70, 3));
  Words expected{"3", one_decimal(up), one_decimal(down), one_decimal(up + down)};
  for (const auto& what : {like("cw-b", 70, 3), like("cw-sts", 70, 3), like("cw-tis", 70, 3, 64),
                           like("wf-tis", 70, 3, 64), like("reduce-then-scan", 70, 3)})
    expected.push_back(one_decimal(time(records, what)));
  EXPECT_EQ(row("Figure 11", {"70x34"}), expected);

  const auto host = [&](int threads) {
    Json what = like("host", 70, 3);
    what["threads"] = threads;
    return time(records, what);
  };
  const double device = time(records, like("device", 70, 3)), tensor_up = time(records, like("tensor up", 70, 3));
  const Words initialised = row("3.1", {"70x34", "3"});
  ASSERT_EQ(initialised.size(), 6U);
  EXPECT_EQ(initialised[1], one_decimal(device + up));
  EXPECT_EQ(initialised[2], one_decimal(host(1)));
  EXPECT_EQ(initialised[5], one_decimal((std::min(host(1), host(2)) + tensor_up) / (device + up)));

  EXPECT_EQ(table("Figure 19 a: how").at(0), words_of("algorithm size bins serial 1 parallel 1 parallel 2 fused 2"));
  const auto ratios = [&](const std::string& heading, int width, int bins, bool with) {
    const double wave = time(records, like("wf-tis", width, bins, 64));
    const double frame = with ? std::max(wave, transfers(records, width, bins)) : wave;
    Words words;
    for (const auto& [id, threads] : {std::pair("serial", 1), {"parallel", 1}, {"parallel", 2}, {"fused", 2}}) {
      Json what = like(id, width, bins);
      what["threads"] = threads;
      const double ratio = time(records, what) / frame;
      words.push_back(ratio >= 100 ? std::to_string(std::lround(ratio)) : one_decimal(ratio));
    }
    EXPECT_EQ(row(heading, {"wf-tis", width == 48 ? "48x20" : "70x34", std::to_string(bins)}), words) << heading;
  };
  ratios("Figure 19 a: how", 70, 3, true);
  ratios("Figure 19 a: without", 70, 3, false);
  ratios("Figure 19 b: how", 48, 5, true);
  ratios("Figure 19 b: without", 48, 5, false);

  const double wave = time(records, like("wf-tis", 48, 3, 64));
  const Words frames = row("Figure 20, 48x20, 3 bins: frames a second", {"wf-tis"});
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0], std::to_string(std::lround(1e6 / std::max(wave, transfers(records, 48, 3)))));
  EXPECT_EQ(frames[1], std::to_string(std::lround(1e6 / wave)));
  EXPECT_EQ(row("Figure 20", {"parallel", "2"}).size(), 1U);
}

TEST_F(BenchPoostchi, RecordsTablesAndPicture) {
  const Json records = figure(asked);
  EXPECT_NE(outcome.err.find("note: the CPU's parallel version is not timed with 4, 8, 16 threads: only 2 may be used"),
            std::string::npos)
      << outcome.err;
  expect_complete(records);
  expect_phases(records);
  expect_sweep(records);
  expect_times(records);
  expect_comparisons(records);
  const std::string svg = picture();
  EXPECT_EQ(count_of(svg, "<polyline"), 2U * 9 + 6);
  for (const char* name :
       {"cw-b", "cw-sts", "cw-tis", "wf-tis", "reduce-then-scan", "memset", "transfers", "CPU, serial", "CPU, parallel",
        "3 bins", "48x20", "48x20, 3 bins, by blocks", "wf-tis, tile 64", "threads of a block"})
    EXPECT_NE(svg.find(name), std::string::npos) << name;
}

TEST_F(BenchPoostchi, WhatIsRefusedIsSaidAndTheRestGoesOn) {
  const Words small{"--figure", "poostchi", "--size", "20x12", "--bins", "2", "--repetitions", "1", "--threads", "1"};
  figure(small, "wf-tis");
  EXPECT_NE(outcome.err.find("note: 20x12, 2 bins: wf-tis on tiles of 16 did not run: no room for wf-tis"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("note: 20x12, 2 bins: wf-tis on tiles of 64 by 1024 threads did not run: no room"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(row("Figures 9 and 10", {"wf-tis", "64", "1024"}), (Words{"-", "-", "-"}));
  EXPECT_NE(row("Figures 9 and 10", {"cw-tis", "64", "1024"}), (Words{"-", "-", "-"}));
  EXPECT_EQ(row("Figure 7", {"wf-tis"}), (Words{"-"}));
  EXPECT_NE(row("Figure 7", {"cw-tis"}), (Words{"-"}));
  for (const Words& line : table("Figure 8")) EXPECT_NE(line[0], "wf-tis");
  for (const Words& line : table("Blocks")) EXPECT_NE(line[0], "wf-tis");
  EXPECT_NE(row("3.1", {"20x12", "2"}).at(0), "-");  // the other algorithms begin with the same launch
  EXPECT_EQ(row("Figure 19 a: without", {"wf-tis", "20x12", "2"}), (Words{"-", "-", "-"}));
  EXPECT_NE(picture().find("wf-tis"), std::string::npos);

  const Json records = figure(small, "link");
  EXPECT_NE(outcome.err.find("note: 20x12, 2 bins: the transfers were not timed: no room for link"), std::string::npos);
  for (const Json& r : records) EXPECT_NE(r["what"], "transfer");
  EXPECT_EQ(row("Figure 11", {"20x12", "2", "-", "-", "-"}).size(), 5U);
  EXPECT_EQ(row("3.1", {"20x12", "2"}).at(4), "-");
  EXPECT_EQ(row("Figure 19 a: how", {"wf-tis", "20x12", "2"}), (Words{"-", "-", "-"}));
  EXPECT_NE(row("Figure 19 a: without", {"wf-tis", "20x12", "2"}).at(0), "-");

  const Outcome none = command(small, "all");
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.out, "");
  EXPECT_NE(none.err.find("areal: --figure poostchi: nothing ran; the notes say why\n"), std::string::npos) << none.err;
}

TEST_F(BenchPoostchi, WrongUse) {
  for (const Words& arguments :
       {Words{"--figure", "poostchi", "--algorithm", "wf-tis"}, Words{"--figure", "poostchi", "--types", "8u32u"},
        Words{"--figure", "poostchi", "--batch", "2"}, Words{"--figure", "poostchi", "--border", "exclusive"},
        Words{"--figure", "poostchi", "--table", "all"}, Words{"--table", "poostchi"}}) {
    const Outcome wrong = command(arguments);
    EXPECT_EQ(wrong.code, 2) << Json(arguments);
    EXPECT_EQ(count_of(wrong.err, "\n"), 1U) << wrong.err;
    EXPECT_EQ(wrong.out, "");
  }
}

}  // namespace
}  // namespace areal::test
#endif
