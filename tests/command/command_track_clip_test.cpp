// Tracking in the shipped clip of a street: boxes of still objects stay; boxes of walkers and of a pasted patch follow.

#include <areal/array.hpp>
#include <areal/histogram.hpp>
#include <areal/track.hpp>
#include <cmath>
#include <map>
#include <sstream>
#include "command_runner.hpp"
#include "extent.hpp"
#include "media/media.hpp"

namespace areal::test {
namespace {

struct Row {
  std::int64_t frame;
  double x, y, width, height;
};

class CommandTrackClip : public CommandTest {
 protected:
  std::vector<Row> track(const std::string& box, std::vector<std::string> more) {
    more.insert(more.begin(), {"track", "data/vtest.avi", "--box", box});
    std::istringstream stream(answer(more));
    std::vector<Row> rows;
    std::string line;
    std::getline(stream, line);
    while (std::getline(stream, line)) {
      std::istringstream cells(line);
      std::vector<double> values;
      for (std::string cell; std::getline(cells, cell, ',');) values.push_back(std::stod(cell));
      rows.push_back({static_cast<std::int64_t>(values.at(0)), values.at(3), values.at(4), values.at(5), values.at(6)});
    }
    return rows;
  }
};

double overlap(const Row& box, double x, double y, double width, double height) {
  const double w = std::min(box.x + box.width, x + width) - std::max(box.x, x);
  const double h = std::min(box.y + box.height, y + height) - std::max(box.y, y);
  const double both = std::max(0.0, w) * std::max(0.0, h);
  return both / (box.width * box.height + width * height - both);
}

TEST_F(CommandTrackClip, WhatIsStillStays) {
  std::vector<std::string> options{"--scales", "1"};
  if (extent() == Extent::few) options.insert(options.end(), {"--frames", "40"});
  const auto rows = track("300,20,40,80", options);
  ASSERT_EQ(rows.size(), extent() == Extent::few ? 40u : 285u);
  EXPECT_GE(overlap(rows.back(), 300, 20, 40, 80), 0.9) << rows.back().x << "," << rows.back().y;
}

// A piece of a photograph moves over the clip, among the walkers.
TEST_F(CommandTrackClip, APatchPastedInIsFollowed) {
  const Array photograph = media::read_picture(work / "data" / "home.jpg").pixels;
  const auto video = media::open_video(work / "data" / "vtest.avi");
  const HistogramPlan plan({video->width(), video->height()}, Type::u8, Binning::of_type(Type::u8, 16), {},
                           {.backend = Backend::cpu});
  Workspace workspace(plan);
  HistogramTensor tensor = plan.allocate();
  FragmentTracker tracker;
  constexpr std::int64_t width = 52, height = 60, x0 = 380, y0 = 90;  // of the piece in the photograph
  media::Frame frame;
  Region truth;
  const std::int64_t frames = extent() == Extent::few ? 30 : 80;
  for (std::int64_t n = 0; n < frames && video->next(frame); ++n) {
    const double turn = 0.05 * static_cast<double>(n);
    truth = {std::lround(360 + 110 * std::sin(turn)), std::lround(250 + 90 * std::cos(turn)), width, height};
    for (std::int64_t y = 0; y < height; ++y)
      std::copy_n(photograph.as<std::uint8_t>() + (y0 + y) * photograph.shape().width + x0, width,
                  frame.pixels.as<std::uint8_t>() + (truth.y + y) * video->width() + truth.x);
    plan.execute(frame.pixels.view(), tensor, workspace);
    if (n == 0)
      tracker.start(tensor, truth);
    else
      tracker.step(tensor);
  }
  const TrackedBox end = tracker.box();
  const Row row{0, end.x, end.y, end.width, end.height};
  EXPECT_GE(overlap(row, static_cast<double>(truth.x), static_cast<double>(truth.y), width, height), 0.9)
      << end.x << "," << end.y << "," << end.width << "," << end.height << ", not " << truth.x << "," << truth.y;
}

// Pixels that differ from the clip's median by more than 25 are foreground.
class Foreground {
 public:
  explicit Foreground(const fs::path& clip) {
    const auto video = media::open_video(clip);
    for (;;) {
      media::Frame frame;  // a new one: the reader writes into the memory of the old
      if (!video->next(frame)) break;
      frames_.push_back(std::move(frame.pixels));
    }
  }
  double share(const Row& box) {
    const auto at = [](double edge) { return static_cast<std::int64_t>(std::lround(edge)); };
    std::int64_t count = 0, all = 0;
    for (std::int64_t y = at(box.y); y < at(box.y + box.height); ++y)
      for (std::int64_t x = at(box.x); x < at(box.x + box.width); ++x, ++all)
        count += std::abs(value(static_cast<std::size_t>(box.frame), x, y) - median(x, y)) > 25;
    return static_cast<double>(count) / static_cast<double>(all);
  }

 private:
  int value(std::size_t frame, std::int64_t x, std::int64_t y) const {
    return frames_[frame].as<std::uint8_t>()[y * frames_[frame].shape().width + x];
  }
  int median(std::int64_t x, std::int64_t y) {
    const auto [place, is_new] = medians_.try_emplace({x, y}, 0);
    if (!is_new) return place->second;
    std::vector<std::uint8_t> values;
    for (std::size_t frame = 0; frame < frames_.size(); frame += 5)  // enough for a median
      values.push_back(static_cast<std::uint8_t>(value(frame, x, y)));
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return place->second = *middle;
  }
  std::vector<Array> frames_;
  std::map<std::pair<std::int64_t, std::int64_t>, int> medians_;
};

TEST_F(CommandTrackClip, WalkersAreFollowed) {
  if (extent() == Extent::few) GTEST_SKIP() << "compares boxes; what is still runs the same code";
  Foreground foreground(work / "data" / "vtest.avi");
  const auto share_of_frames = [&](const std::vector<Row>& rows) {
    int on_walker = 0;
    for (const Row& row : rows) on_walker += foreground.share(row) >= 0.25;
    return static_cast<double>(on_walker) / static_cast<double>(rows.size());
  };
  const std::pair<const char*, const char*> walkers[] = {
      {"254,220,31,89", "0"}, {"651,130,25,74", "120"}, {"676,98,45,58", "200"}};
  for (const auto& [box, from] : walkers) {
    const auto rows = track(box, {"--from", from, "--frames", "60"});
    ASSERT_EQ(rows.size(), 60u);
    EXPECT_GE(share_of_frames({rows.begin() + 1, rows.end()}), 0.85) << box;
    // The check can fail: the first box, standing still, loses its walker.
    std::vector<Row> still(59, rows[0]);
    for (std::size_t i = 0; i < still.size(); ++i) still[i].frame = rows[i + 1].frame;
    EXPECT_LT(share_of_frames(still), 0.85) << box;
  }
}

}  // namespace
}  // namespace areal::test
