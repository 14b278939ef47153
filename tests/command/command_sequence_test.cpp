// areal hist of video, folders and raw frames: the rows of a run frame by frame, boxes, several inputs, workers,
// damage, interrupts.
#include <fcntl.h>
#include <signal.h>
#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include "command_runner.hpp"

namespace areal::test {
namespace {

using Rows = std::vector<std::vector<std::string>>;

class CommandSequence : public CommandTest {
 protected:
  Rows rows_of(const std::string& csv) const {
    Rows rows;
    std::istringstream lines(csv);
    for (std::string line; std::getline(lines, line);) {
      std::vector<std::string>& row = rows.emplace_back();
      std::istringstream cells(line);
      for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
    }
    return rows;
  }
  /// 8u pixels of `frames` frames of 20 x 16.
  static std::string raw_frames(int frames) {
    std::string bytes;
    for (int i = 0; i < frames * 20 * 16; ++i) bytes += static_cast<char>(i * 37 + i / 320 * 11);
    return bytes;
  }
  static std::string counted(const std::string& raw, int frame, int x, int y, int width, int height, int bins) {
    std::vector<int> counts(static_cast<std::size_t>(bins));
    for (int row = y; row < y + height; ++row)
      for (int column = x; column < x + width; ++column) {
        const auto v = static_cast<unsigned char>(raw[static_cast<std::size_t>(frame * 320 + row * 20 + column)]);
        ++counts[static_cast<std::size_t>(v * bins / 256)];
      }
    std::string text;
    for (const int count : counts) text += "," + std::to_string(count);
    return text;
  }
};

TEST_F(CommandSequence, TheRowsOfARunFrameByFrame) {
  const std::vector<std::string> regions{"--region", "10,10,100,100", "--region", "300,20,40,80", "--bins", "8"};
  const auto rows_with = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"hist", "data/vtest.avi"};
    words.insert(words.end(), regions.begin(), regions.end());
    words.insert(words.end(), more.begin(), more.end());
    const Outcome done = run(words);
    EXPECT_EQ(done.code, 0) << done.err;
    return done.out;
  };
  const std::string frame_by_frame = rows_with({"--counter", "32u"});
  EXPECT_GT(frame_by_frame.size(), 10000u);
  EXPECT_EQ(rows_with({}), frame_by_frame);
  EXPECT_EQ(rows_with({"--devices", "cpu:2", "--slots", "1"}), frame_by_frame);
  EXPECT_NE(rows_with({"--clamp", "--range", "0,200"}), frame_by_frame);
}

TEST_F(CommandSequence, RawFramesOfAFileAndOfAPipe) {
  const std::string raw = raw_frames(7);
  write_file(work / "f.raw", raw);
  std::string expected = "frame,region,x,y,width,height,bin0,bin1,bin2\n";
  for (int frame = 0; frame < 7; ++frame)
    expected += std::to_string(frame) + ",0,3,2,11,9" + counted(raw, frame, 3, 2, 11, 9, 3) + "\n";
  const std::vector<std::string> options{"--raw", "20x16x8u", "--bins", "3", "--region", "3,2,11,9"};
  const auto with = [&](const std::string& input) {
    std::vector<std::string> words{"hist", input};
    words.insert(words.end(), options.begin(), options.end());
    return words;
  };
  EXPECT_EQ(run(with("f.raw")).out, expected);
  EXPECT_EQ(run(with("-"), raw).out, expected);
  // The last frame is cut: the rows before it, one line, exit code 1.
  const Outcome cut = run(with("-"), raw.substr(0, raw.size() - 5));
  EXPECT_EQ(cut.out, expected.substr(0, expected.rfind("6,0,3,2")));
  EXPECT_EQ(cut.code, 1);
  EXPECT_NE(cut.err.find("standard input: is damaged or truncated after 6 frames"), std::string::npos) << cut.err;
  // One image is a picture, without a frame's number.
  write_file(work / "one.raw", raw.substr(0, 320));
  EXPECT_EQ(run(with("one.raw")).out.substr(0, 8), "region,x");
}

TEST_F(CommandSequence, TheLumaOfNv12) {
  const std::string luma = raw_frames(1);
  const std::string raw = luma + std::string(160, 'c') + luma + std::string(160, 'd');
  const std::vector<std::string> words{"hist", "-", "--raw", "20x16xnv12", "--bins", "4"};
  EXPECT_EQ(run(words, raw).out, "frame,region,x,y,width,height,bin0,bin1,bin2,bin3\n0,0,0,0,20,16" +
                                     counted(luma, 0, 0, 0, 20, 16, 4) + "\n1,0,0,0,20,16" +
                                     counted(luma, 0, 0, 0, 20, 16, 4) + "\n");
  std::vector<std::string> limited = words;
  limited.insert(limited.end(), {"--luma", "limited"});
  EXPECT_NE(run(limited, raw).out, run(words, raw).out);
}

TEST_F(CommandSequence, BoxesThatMove) {
  const std::string raw = raw_frames(4);
  write_file(work / "f.raw", raw);
  write_file(work / "b.csv", "id,frame,x,y,width,height\nb,2,0,0,5,4\na,0,15,10,9,9\nb,0,1,1,3,3\nz,9,0,0,1,1\n");
  const std::vector<std::string> words{"hist", "f.raw", "--raw", "20x16x8u", "--bins", "2", "--boxes", "b.csv"};
  std::vector<std::string> clipped = words;
  clipped.insert(clipped.end(), {"--outside", "clip"});
  const Outcome done = run(clipped);
  EXPECT_EQ(done.code, 0);
  // The row shows the part that was counted.
  EXPECT_EQ(done.out, "frame,region,x,y,width,height,bin0,bin1\n0,a,15,10,5,6" + counted(raw, 0, 15, 10, 5, 6, 2) +
                          "\n0,b,1,1,3,3" + counted(raw, 0, 1, 1, 3, 3, 2) + "\n2,b,0,0,5,4" +
                          counted(raw, 2, 0, 0, 5, 4, 2) + "\n");
  EXPECT_EQ(done.err, "areal: note: b.csv: 1 box is of a frame after the last, 3\n");
  const Outcome refused = run(words);
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("frame 0: region 0 (x 15, y 10, width 9, height 9) reaches outside"), std::string::npos);
  // MOT counts from 1.
  write_file(work / "mot.txt", "1,7,2,2,3,3,1,-1,-1,-1\n3,7,1,1,5,4,0,-1,-1,-1\n");
  EXPECT_EQ(run({"hist", "f.raw", "--raw", "20x16x8u", "--bins", "2", "--boxes", "mot.txt"}).out,
            "frame,region,x,y,width,height,bin0,bin1\n0,7,1,1,3,3" + counted(raw, 0, 1, 1, 3, 3, 2) + "\n");
}

TEST_F(CommandSequence, QuantilesOfBoxesThatMove) {
  const std::string raw = raw_frames(3);
  write_file(work / "b.csv", "frame,id,x,y,width,height\n0,p,2,3,5,4\n2,q,4,4,3,2\n2,r,19,15,9,9\n7,s,0,0,1,1\n");
  const auto lower = [&](int frame, int x, int y, int width, int height) {
    std::string values;
    for (int row = y; row < y + height; ++row)
      values += raw.substr(static_cast<std::size_t>((frame * 16 + row) * 20 + x), static_cast<std::size_t>(width));
    std::sort(values.begin(), values.end(),
              [](char a, char b) { return static_cast<unsigned char>(a) < static_cast<unsigned char>(b); });
    return std::to_string(static_cast<unsigned char>(values[(values.size() - 1) / 2]));
  };
  const std::vector<std::string> words{
      "hist", "-", "--raw", "20x16x8u", "--quantile", "0.5", "--quantile-method", "lower", "--boxes", "b.csv"};
  std::vector<std::string> clipped = words;
  clipped.insert(clipped.end(), {"--outside", "clip"});
  const Outcome done = run(clipped, raw);
  EXPECT_EQ(done.out, "frame,region,x,y,width,height,quantile_0.5\n0,p,2,3,5,4," + lower(0, 2, 3, 5, 4) +
                          "\n2,q,4,4,3,2," + lower(2, 4, 4, 3, 2) + "\n2,r,19,15,1,1," + lower(2, 19, 15, 1, 1) + "\n");
  EXPECT_EQ(done.err, "areal: note: b.csv: 1 box is of a frame after the last, 2\n");
  const Outcome refused = run(words, raw);
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("frame 2: region 1 (x 19, y 15, width 9, height 9) reaches outside"), std::string::npos)
      << refused.err;
  std::vector<std::string> twice = words;
  twice.insert(twice.end(), {"--boxes", "b.csv"});
  EXPECT_NE(run(twice, raw).err.find("--boxes: given 2 times for 1 input"), std::string::npos);
}

TEST_F(CommandSequence, SeveralInputsWithTheirBoxes) {
  write_file(work / "a.raw", raw_frames(5));
  write_file(work / "b.raw", raw_frames(3));
  write_file(work / "a.csv", "frame,id,x,y,width,height\n0,p,0,0,4,4\n4,p,1,1,4,4\n");
  write_file(work / "b.csv", "frame,id,x,y,width,height\n0,q,2,2,4,4\n2,q,3,3,4,4\n");
  const Outcome done = run({"hist", "a.raw", "b.raw", "--raw", "20x16x8u", "--bins", "2", "--boxes", "a.csv", "--boxes",
                            "b.csv", "--devices", "cpu:2"});
  EXPECT_EQ(done.code, 0) << done.err;
  std::map<std::string, std::string> of_streams;  // in the order of rows
  const Rows rows = rows_of(done.out);
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0][0], "stream");
  for (std::size_t i = 1; i < rows.size(); ++i) of_streams[rows[i][0]] += rows[i][1] + rows[i][2] + rows[i][3] + " ";
  EXPECT_EQ(of_streams["0"], "0p0 4p1 ");
  EXPECT_EQ(of_streams["1"], "0q2 2q3 ");
  const Outcome one = run({"hist", "a.raw", "b.raw", "--raw", "20x16x8u", "--boxes", "a.csv"});
  EXPECT_EQ(one.code, 2);
  EXPECT_NE(one.err.find("--boxes: given 1 time for 2 inputs"), std::string::npos) << one.err;
  // After damage in one stream, the others continue.
  write_file(work / "a.raw", raw_frames(2).substr(0, 400));
  const Outcome damaged = run({"hist", "a.raw", "b.raw", "--raw", "20x16x8u", "--bins", "1"});
  EXPECT_EQ(damaged.code, 1);
  EXPECT_EQ(rows_of(damaged.out).size(), 1u + 1u + 3u);
  EXPECT_NE(damaged.err.find("a.raw: is damaged or truncated after 1 frame"), std::string::npos) << damaged.err;
}

TEST_F(CommandSequence, ATimelineAsDataAndAsAPicture) {
  write_file(work / "f.raw", raw_frames(6));
  const Outcome done =
      run({"hist", "f.raw", "--raw", "20x16x8u", "--devices", "cpu:1", "--timeline", "t.json", "--slots", "2"});
  ASSERT_EQ(done.code, 0) << done.err;
  std::map<std::string, int> stages;
  for (const auto& stage : nlohmann::json::parse(contents(work / "t.json"))) {
    ++stages[stage.at("stage").get<std::string>()];
    EXPECT_LE(stage.at("begin").get<double>(), stage.at("end").get<double>());
  }
  EXPECT_EQ(stages, (std::map<std::string, int>{{"compute", 6}, {"read", 6}, {"sink", 6}}));
  ASSERT_EQ(run({"hist", "f.raw", "--raw", "20x16x8u", "--timeline", "t.svg"}).code, 0);
  const std::string svg = contents(work / "t.svg");
  EXPECT_TRUE(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find(">source<"), std::string::npos);
}

TEST_F(CommandSequence, WrongUseIsSaid) {
  write_file(work / "f.raw", raw_frames(2));
  const auto refused = [&](const std::vector<std::string>& words, const std::string& sentence) {
    const Outcome done = run(words);
    EXPECT_EQ(done.code, 2) << sentence;
    EXPECT_NE(done.err.find(sentence), std::string::npos) << done.err;
  };
  refused({"hist", "data/vtest.avi", "--devices", "gpu"}, "workers gpu: `gpu` is none");
  refused({"hist", "data/vtest.avi", "--devices", "cpu", "--backend", "cpu"}, "--devices and --backend");
  refused({"hist", "data/vtest.avi", "--slots", "0"}, "--slots 0");
  refused({"hist", "data/vtest.avi", "--damaged", "mend"}, "--damaged mend: may be stop or skip");
  refused({"hist", "data/vtest.avi", "--timeline", "t.png"}, "--timeline t.png: its name must end in .svg or .json");
  refused({"hist", "data/vtest.avi", "--live", "--counter", "64u"}, "--counter 64u: not with --live; ");
  refused({"hist", "data/home.jpg", "--live"}, "--live: data/home.jpg is no video");
  refused({"hist", "data/home.jpg", "data/vtest.avi"}, "data/home.jpg: is no video");
  refused({"hist", "data/vtest.avi", "--luma", "full"}, "--luma full: is for --raw WxHxnv12");
  refused({"hist", "f.raw", "--raw", "20x16xnv12", "--luma", "half"}, "--luma half: may be limited or full");
  refused({"hist", "f.raw", "data/vtest.avi", "--raw", "20x16xnv21"}, "--raw");
}

TEST_F(CommandSequence, WhatDecodesIsChosen) {
  const std::vector<std::string> words{"hist", "data/vtest.avi", "--bins", "2", "--region", "1,2,30,40"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  const Outcome plain = with({});
  EXPECT_GT(plain.out.size(), 5000u);
  for (const std::string what : {"auto", "cpu"}) {
    const Outcome done = with({"--decode", what, "-v"});
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_EQ(done.out, plain.out);
    EXPECT_EQ(done.err.find("decoded"), std::string::npos) << done.err;
  }
  const auto refused = [&](const std::vector<std::string>& more, const std::string& sentence) {
    const Outcome done = with(more);
    EXPECT_EQ(done.code, 2) << sentence;
    EXPECT_EQ(done.err, "areal: " + sentence + "\n");
    EXPECT_EQ(done.out, "");
  };
  refused({"--decode", "nvdec"}, "--decode nvdec: may be auto, cpu or gpu");
  for (const std::string workers : {"cpu", "0,1", "0,cpu:2", "simt"})
    refused({"--decode", "gpu", "--devices", workers},
            "--decode gpu: needs one CUDA device and no other worker, e.g. --devices 0");
  refused({"--decode", "gpu"}, "--decode gpu: needs one CUDA device and no other worker, e.g. --devices 0");
  refused({"--decode", "gpu", "--devices", "0", "--damaged", "skip"},
          "--decode gpu and --damaged skip: only one of the two, NVDEC does not tell which pictures are damaged");
  refused({"--decode", "gpu", "--devices", "0", "--draw", "d.png"},
          "--decode gpu and --draw: only one of the two, NVDEC leaves frames in the device's memory");
  refused({"--decode", "gpu", "--all-channels"},
          "--all-channels: not with --decode gpu; it is for single images, or frames one by one");
  // Found before a device is looked for.
  const Outcome codec = with({"--decode", "gpu", "--devices", "0"});
  EXPECT_EQ(codec.code, 1);
  EXPECT_EQ(codec.err,
            "areal: data/vtest.avi: --decode gpu: it is coded as msmpeg4v3, and NVDEC is used for h264 and hevc\n");
  const Outcome raw = run({"hist", "f.raw", "--raw", "20x16x8u", "--decode", "gpu", "--devices", "0"});
  EXPECT_EQ(raw.code, 1);
  write_file(work / "f.raw", raw_frames(2));
  EXPECT_EQ(run({"hist", "f.raw", "--raw", "20x16x8u", "--decode", "gpu", "--devices", "0"}).err,
            "areal: f.raw: --decode gpu: it is no video file\n");
  // With auto it is a detail.
  EXPECT_NE(with({"--devices", "0", "-v"}).err.find("areal: data/vtest.avi: decoded on the CPU: it is coded as "),
            std::string::npos);
  EXPECT_EQ(with({"--devices", "0"}).err.find("decoded"), std::string::npos);
}

TEST_F(CommandSequence, TheFirstInterruptLetsFramesEndTheSecondDoesNot) {
  // A pipe that stays open: the first frame comes, and then one more after the interrupt.
  const fs::path pipe = work / "camera";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string raw = raw_frames(3);
  for (const bool twice : {false, true}) {
    const pid_t pid =
        start({areal_command(), "hist", "camera", "--raw", "20x16x8u", "--bins", "1", "--timeline", "t.json"});
    const int writer = open(pipe.c_str(), O_WRONLY);
    ASSERT_GE(writer, 0);
    ASSERT_EQ(write(writer, raw.data(), 640), 640);
    while (rows_of(contents(folder / "io" / "out")).size() < 3)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    kill(pid, SIGINT);
    if (twice) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      kill(pid, SIGINT);
    } else {
      ASSERT_EQ(write(writer, raw.data() + 640, 320), 320);  // what the source waits for
    }
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
    close(writer);
    EXPECT_EQ(fs::exists(work / "t.json"), !twice);
    if (!twice) {
      EXPECT_TRUE(nlohmann::json::accept(contents(work / "t.json")));
    }
    fs::remove(work / "t.json");
  }
}

TEST_F(CommandSequence, AnInterruptDoesNotWaitForOneOfSeveralPipes) {
  const fs::path pipes[] = {work / "left", work / "right"};
  for (const fs::path& pipe : pipes) ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string raw = raw_frames(3);
  const pid_t pid = start({areal_command(), "hist", "left", "right", "--raw", "20x16x8u", "--bins", "1"});
  int writers[2];
  for (const int i : {0, 1}) {
    writers[i] = open(pipes[i].c_str(), O_WRONLY);
    ASSERT_GE(writers[i], 0);
    const std::size_t bytes = i == 0 ? 640 : 320;  // two frames, and one: the next is the second pipe's turn
    ASSERT_EQ(write(writers[i], raw.data(), bytes), static_cast<ssize_t>(bytes));
  }
  while (rows_of(contents(folder / "io" / "out")).size() < 4) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(pid, SIGINT);  // nothing is written any more
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
  EXPECT_EQ(rows_of(contents(folder / "io" / "out")).size(), 4u);
  for (const int writer : writers) close(writer);
}

TEST_F(CommandSequence, AFullDiskAndAReaderThatLeaves) {
  write_file(work / "f.raw", raw_frames(50));
  const pid_t pid = start({areal_command(), "hist", "f.raw", "--raw", "20x16x8u"}, {}, {}, "/dev/full");
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(contents(folder / "io" / "err").find("areal: "), 0u);
  EXPECT_EQ(shell("areal hist f.raw --raw 20x16x8u | head -1 > first; echo ${PIPESTATUS[0]}").out, "0\n");
}

}  // namespace
}  // namespace areal::test
