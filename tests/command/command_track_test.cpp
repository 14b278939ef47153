// areal track: its rows in every format, its scores against numbers worked out by hand, its drawings, wrong use.

#include <areal/info.hpp>
#include <nlohmann/json.hpp>
#include <random>
#include "command_runner.hpp"

namespace areal::test {
namespace {

using Json = nlohmann::json;
constexpr int width = 90, height = 70, patch_width = 24, patch_height = 20;

class CommandTrack : public CommandTest {
 protected:
  // Random pixels with a moving patch.
  static std::vector<std::uint8_t> frame(int x0, int y0) {
    std::mt19937 random(20060617);
    std::vector<std::uint8_t> pixels(width * height), patch(patch_width * patch_height);
    for (auto* part : {&pixels, &patch})
      for (std::uint8_t& value : *part) value = static_cast<std::uint8_t>(random() >> 24);
    for (int y = 0; y < patch_height; ++y)
      for (int x = 0; x < patch_width; ++x)
        pixels[static_cast<std::size_t>((y0 + y) * width + x0 + x)] =
            patch[static_cast<std::size_t>(y * patch_width + x)];
    return pixels;
  }
  static std::string stream() {
    std::string bytes;
    for (const auto& [x, y] : {std::pair{30, 20}, {35, 17}, {33, 24}}) bytes += npy("|u1", "70, 90", frame(x, y));
    return bytes;
  }
  // One line on standard error, and nothing else.
  void refused(const std::vector<std::string>& arguments, const std::string& words, int code = 2) {
    const Outcome outcome = run(arguments, stream());
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(lines(outcome.err).size(), 1u) << outcome.err;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
    EXPECT_EQ(lines(outcome.out).size(), 0u) << outcome.out;
  }
};

TEST_F(CommandTrack, WritesRowsOfEveryFormat) {
  const std::vector<std::string> ask{"track", "-", "--box", "30,20,24,20", "--box", "2,45,21,22"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), ask.begin(), ask.end());
    return more;
  };
  const std::string csv =
      "frame,seconds,id,x,y,width,height,distance\n"
      "0,,0,30,20,24,20,0\n0,,1,2,45,21,22,0\n"
      "1,,0,35,17,24,20,0\n1,,1,2,45,21,22,0\n"
      "2,,0,33,24,24,20,0\n2,,1,2,45,21,22,0\n";
  EXPECT_EQ(answer(ask, stream()), csv);
  EXPECT_EQ(answer(with({"--format", "csv"}), stream()), csv);
  EXPECT_EQ(answer(with({"--format", "mot"}), stream()),
            "1,0,31,21,24,20,1,-1,-1,-1\n1,1,3,46,21,22,1,-1,-1,-1\n"
            "2,0,36,18,24,20,1,-1,-1,-1\n2,1,3,46,21,22,1,-1,-1,-1\n"
            "3,0,34,25,24,20,1,-1,-1,-1\n3,1,3,46,21,22,1,-1,-1,-1\n");
  const auto rows = lines(answer(with({"--json"}), stream()));
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(Json::parse(rows[2]), Json::parse(R"({"frame": 1, "seconds": null, "id": 0, "x": 35, "y": 17, "width": 24,
                                                   "height": 20, "distance": 0})"));
  EXPECT_EQ(answer(with({"-o", "t.csv"}), stream()), "");
  EXPECT_EQ(contents(work / "t.csv"), csv);
  EXPECT_EQ(answer({"track", "-", "--box", "35,17,24,20", "--from", "1", "--frames", "1"}, stream()),
            "frame,seconds,id,x,y,width,height,distance\n1,,0,35,17,24,20,0\n");
  EXPECT_EQ(others({"t.csv"}), std::vector<std::string>{});
}

TEST_F(CommandTrack, EveryAlgorithmFollows) {
  for (const char* algorithm : {"fragments", "window", "exhaustive", "mean-shift"}) {
    const auto rows =
        lines(answer({"track", "-", "--box", "30,20,24,20", "--scales", "1", "--algorithm", algorithm}, stream()));
    ASSERT_EQ(rows.size(), 4u) << algorithm;
    EXPECT_EQ(rows[1], "0,,0,30,20,24,20,0");
    const bool climbs = algorithm == std::string("mean-shift");  // it needs a slope, which noise has not
    EXPECT_TRUE(climbs || rows[3] == "2,,0,33,24,24,20,0") << algorithm << ": " << rows[3];
  }
}

TEST_F(CommandTrack, EveryBackendFindsTheSame) {
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"track", "-", "--box", "31,21,22,19", "--box", "2,45,21,22", "--radius", "5"});
    return more;
  };
  const std::string wanted = answer(with({"--backend", "cpu"}), stream());
  EXPECT_EQ(lines(wanted).size(), 7u);
  EXPECT_EQ(answer(with({"--devices", "cpu:1"}), stream()), wanted);
  EXPECT_NE(answer(with({"--devices", "cpu:1", "--scales", "1"}), stream()), "");
  for (const BackendInfo& row : backends()) {
    if (!row.available || row.backend == Backend::cpu) continue;
    const std::string name(name_of(row.backend));
    const Outcome outcome = run(with({"--backend", name, "-v"}), stream());
    EXPECT_EQ(outcome.out, wanted) << name;
    EXPECT_NE(outcome.err.find("searched on " + name), std::string::npos) << outcome.err;
    EXPECT_EQ(answer(with({"--devices", name == "cuda" ? "0" : name}), stream()), wanted) << name;
    const Outcome window = run(with({"--backend", name, "-v", "--algorithm", "window"}), stream());
    EXPECT_NE(window.err.find("searched on cpu"), std::string::npos) << window.err;
    EXPECT_NE(window.out, wanted);
  }
}

TEST_F(CommandTrack, DrawsTheFirstFrameOrAll) {
  write_file(work / "p.pgm", pgm(40, 30));
  EXPECT_EQ(lines(answer({"track", "p.pgm", "--box", "5,6,20,20", "--draw", "first.png"})).size(), 2u);
  fs::create_directory(work / "frames");
  for (const char* name : {"a1.pgm", "a2.pgm", "a10.pgm"}) write_file(work / "frames" / name, pgm(40, 30));
  answer({"track", "frames", "--box", "5,6,20,20", "--draw", "drawn/"});
  std::vector<std::string> drawn;
  for (const auto& entry : fs::directory_iterator(work / "drawn")) drawn.push_back(entry.path().filename().string());
  std::sort(drawn.begin(), drawn.end());
  EXPECT_EQ(drawn, (std::vector<std::string>{"000000.png", "000001.png", "000002.png"}));
  // The same picture with the same box: the outline is there, and the corner of the picture is as it was.
  const auto region_sum = [&](const std::string& file, const std::string& region) {
    return answer({"sat", file, "--channel", "0", "--region", region});
  };
  EXPECT_EQ(region_sum("first.png", "0,0,40,30"), region_sum("drawn/000001.png", "0,0,40,30"));
  // As many frames as there were, of that size, read again.
  answer({"track", "frames", "--box", "5,6,20,20", "--draw", "drawn.mp4"});
  EXPECT_EQ(lines(answer({"hist", "drawn.mp4", "--bins", "2"})).size(), 1u + 3u);
  fs::remove(work / "drawn.mp4");
  EXPECT_EQ(region_sum("first.png", "0,0,4,5"), region_sum("p.pgm", "0,0,4,5"));
  EXPECT_NE(region_sum("first.png", "5,6,20,20"), region_sum("p.pgm", "5,6,20,20"));
  EXPECT_EQ(others({"p.pgm", "first.png", "frames", "drawn"}), std::vector<std::string>{});
}

// Boxes of 20 x 20. IoU 1, 1/3 (moved by 10) and 0 (moved by 25): mean 4/9. Above the 21 thresholds are 20, 7 and 0 of
// them: 27/63. Centres are 0, 10 and 25 pixels apart: 2/3 within 20.
TEST_F(CommandTrack, ScoresAsByHand) {
  write_file(work / "t.csv",
             "frame,seconds,id,x,y,width,height,distance\n0,0,0,10,10,20,20,0\n1,0.1,0,20,10,20,20,1\n"
             "2,0.2,0,10,35,20,20,2\n3,0.3,0,99,99,20,20,3\n");
  const std::string expected =
      "id,frames,missing,mean_iou,success_auc,precision_20px\n0,3,0,0.4444444444444444,"
      "0.42857142857142855,0.6666666666666666\n";
  const char* const truths[] = {"10,10,20,20\n10,10,20,20\n10,10,20,20\n",
                                "10\t10\t20\t20\r\n10\t10\t20\t20\r\n10\t10\t20\t20\r\n",
                                "10 10  20 20\n10 10 20 20\n10 10 20 20\nNaN NaN NaN NaN\n",
                                "frame,x,y,width,height\n0,10,10,20,20\n1,10,10,20,20\n2,10,10,20,20\n"};
  for (const char* truth : truths) {
    write_file(work / "gt.txt", truth);
    EXPECT_EQ(answer({"track", "--score", "t.csv", "--truth", "gt.txt"}), expected) << truth;
  }
  // MOT counts from 1, has other ids, and skips boxes with confidence 0.
  write_file(work / "gt.txt",
             "1,7,11,11,20,20,1,1,1\n2,7,11,11,20,20,1,1,1\n3,7,11,11,20,20,1,1,1\n4,7,11,11,20,20,0,1,1\n");
  std::string of_seven = expected;
  of_seven.replace(of_seven.find("\n0,") + 1, 1, "7");
  EXPECT_EQ(answer({"track", "--score", "t.csv", "--truth", "gt.txt"}), of_seven);
}

TEST_F(CommandTrack, ScoresMissingFramesAndSeveralIds) {
  write_file(work / "t.csv", "frame,id,x,y,width,height\n0,0,10,10,20,20\n0,1,50,50,20,20\n1,1,60,50,20,20\n");
  write_file(work / "gt.csv",
             "frame,id,x,y,width,height\n0,0,10,10,20,20\n1,0,10,10,20,20\n0,1,50,50,20,20\n1,1,50,50,20,20\n");
  const Outcome outcome = run({"track", "--score", "t.csv", "--truth", "gt.csv", "--json"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.err.find("1 frames of gt.csv have no box in t.csv: they count as 0"), std::string::npos);
  const auto rows = lines(outcome.out);
  ASSERT_EQ(rows.size(), 3u) << outcome.out;
  const Json first = Json::parse(rows[0]), second = Json::parse(rows[1]), all = Json::parse(rows[2]);
  EXPECT_EQ(first["id"], "0");
  EXPECT_EQ(first["missing"], 1);
  EXPECT_DOUBLE_EQ(first["mean_iou"], 0.5);
  EXPECT_DOUBLE_EQ(first["success_auc"], 20.0 / 21 / 2);
  EXPECT_DOUBLE_EQ(first["precision_20px"], 0.5);
  EXPECT_DOUBLE_EQ(second["mean_iou"], 2.0 / 3);
  EXPECT_DOUBLE_EQ(second["precision_20px"], 1);
  EXPECT_EQ(all["id"], "all");
  EXPECT_EQ(all["frames"], 4);
  EXPECT_DOUBLE_EQ(all["mean_iou"], (0.5 + 2.0 / 3) / 2);
}

// What the verb writes, it reads: against itself every score is the best that there is.
TEST_F(CommandTrack, ReadsWhatItWrites) {
  answer({"track", "-", "--box", "30,20,24,20", "-o", "t.csv"}, stream());
  answer({"track", "-", "--box", "30,20,24,20", "--format", "mot", "-o", "t.txt"}, stream());
  EXPECT_EQ(answer({"track", "--score", "t.csv", "--truth", "t.txt"}),
            "id,frames,missing,mean_iou,success_auc,precision_20px\n0,3,0,1,0.9523809523809523,1\n");
}

TEST_F(CommandTrack, RefusesWrongUse) {
  const std::string box = "30,20,24,20";
  refused({"track", "-", "--box", "1,1,20,20", "--devices", "cpu:1,simt"}, "a stream that is tracked keeps its worker");
  refused({"track", "-", "--box", "1,1,20,20", "--devices", "cpu", "--backend", "cpu"}, "only one of the two");
  refused({"track"}, "INPUT: needed");
  refused({"track", "-"}, "--box: needed");
  refused({"track", "-", "--box", "1,2,3"}, "1,2,3");
  refused({"track", "-", "--box", "80,20,24,20"}, "box 80,20,24,20: reaches outside the image of 90x70");
  refused({"track", "-", "--box", "8,20,5,20"}, "is too small, this tracker needs 10x10 pixels");
  refused({"track", "-", "--box", box, "--algorithm", "magic"}, "may be fragments, window, exhaustive or mean-shift");
  refused({"track", "-", "--box", box, "--format", "xml"}, "--format xml: may be csv or mot");
  refused({"track", "-", "--box", box, "--format", "mot", "--json"}, "only one of the two");
  refused({"track", "-", "--box", box, "--scales", "2,4"}, "scales: 4");
  refused({"track", "-", "--box", box, "--from", "9"}, "has no frame 9");
  refused({"track", "-", "--box", box, "--draw", "t.gif"}, "--draw t.gif: may be a video, .mp4");
  refused({"track", "-", "--box", box, "--truth", "gt.txt"}, "--truth: needs --score");
  refused({"track", "none.avi", "--box", box}, "none.avi: no such file", 1);
  refused({"track", "--score", "t.csv"}, "--score: needs --truth");
  refused({"track", "--score", "t.csv", "--truth", "gt.txt"}, "t.csv: no such file", 1);
  write_file(work / "t.csv", "frame,id,x,y,width,height\n0,0,1,1,2,2\n");
  const std::pair<const char*, const char*> bad[] = {
      {"1,2,3\n", "line 1: 3 columns"},
      {"1,2,3,4\n1,2,3\n", "line 2: 3 columns"},
      {"1,2,3,four\n", "line 1: the value four: not a number"},
      {"0,1,2,3,4,5\n", "line 1: frame 0, MOT counts from 1"},
      {"frame,x,y\n", "line 1: no column width"},
      {"frame,x,y,width,height\n0.5,1,1,2,2\n", "line 2: 0.5: not a whole"},
      {"1,1,1,1,2,2\n1,1,1,1,2,2\n", "frame 0 has two boxes of id 1"},
      {"5 5 0 0\n", "holds no boxes"}};
  for (const auto& [text, words] : bad) {
    write_file(work / "gt.txt", text);
    const Outcome outcome = run({"track", "--score", "t.csv", "--truth", "gt.txt"});
    EXPECT_NE(outcome.code, 0) << text;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
    EXPECT_EQ(lines(outcome.err).size(), 1u) << outcome.err;
  }
  refused({"track", "--score", "t.csv", "--truth", "gt.txt", "--box", box}, "takes --truth alone");
  // A failure leaves no file.
  refused({"track", "-", "--box", "80,20,24,20", "-o", "rows.csv"}, "reaches outside");
  EXPECT_EQ(others({"t.csv", "gt.txt"}), std::vector<std::string>{});
}

}  // namespace
}  // namespace areal::test
