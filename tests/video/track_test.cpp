// Trackers: their distances against histograms counted pixel by pixel, known motions, borders, wrong use.

#include <gtest/gtest.h>
#include <algorithm>
#include <areal/areal.hpp>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>
#include <random>
#include "scratch.hpp"
#include "video/track_emd_row.hpp"

namespace {
std::atomic<std::int64_t> allocations{0};
}
void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace areal::test {
namespace {

constexpr std::int64_t bins = 16;
const Binning& binning() {
  static const Binning rule = Binning::of_type(Type::u8, bins);
  return rule;
}

struct Picture {
  std::int64_t width, height;
  std::vector<std::uint8_t> pixels;
  Picture(std::int64_t w, std::int64_t h) : width(w), height(h), pixels(static_cast<std::size_t>(w * h)) {}
  std::uint8_t& at(std::int64_t x, std::int64_t y) { return pixels[static_cast<std::size_t>(y * width + x)]; }
  std::uint8_t at(std::int64_t x, std::int64_t y) const { return pixels[static_cast<std::size_t>(y * width + x)]; }
  ConstView view() const { return ConstView(pixels.data(), width, height); }
};

// Blocks of 3 x 3 pixels, so that neighbouring places differ and resemble each other, too.
Picture blocks(std::int64_t width, std::int64_t height, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::int64_t columns = width / 3 + 1;
  std::vector<std::uint8_t> values(static_cast<std::size_t>(columns * (height / 3 + 1)));
  for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(random() >> 56);
  Picture picture(width, height);
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      picture.at(x, y) = values[static_cast<std::size_t>(y / 3 * columns + x / 3)];
  return picture;
}

void paste(Picture& onto, const Picture& patch, std::int64_t x0, std::int64_t y0) {
  for (std::int64_t y = 0; y < patch.height; ++y)
    for (std::int64_t x = 0; x < patch.width; ++x) onto.at(x0 + x, y0 + y) = patch.at(x, y);
}

HistogramTensor tensor_of(const Picture& picture, Border border = Border::none, Type counter = Type::u32) {
  return integral_histogram(picture.view(), binning(), {.border = border, .counter = counter},
                            {.backend = Backend::cpu, .threads = 1});
}

// The definition: mass is moved from the left to the right, bin by bin.
double emd(const Picture& a, const Region& in_a, const Picture& b, const Region& in_b) {
  double distance = 0, carried = 0;
  for (std::int64_t bin = 0; bin < bins; ++bin) {
    const auto share = [&](const Picture& picture, const Region& region) {
      std::int64_t count = 0;
      for (std::int64_t y = region.y; y < region.y + region.height; ++y)
        for (std::int64_t x = region.x; x < region.x + region.width; ++x) count += picture.at(x, y) / 16 == bin;
      return static_cast<double>(count) / static_cast<double>(region.width * region.height);
    };
    carried += share(a, in_a) - share(b, in_b);
    distance += std::abs(carried);
  }
  return distance;
}

TEST(TrackEmd, RowsEqualTheDefinition) {
  const Picture first = blocks(40, 30, 1), second = blocks(40, 30, 2);
  for (const Border border : {Border::none, Border::zero}) {
    const HistogramTensor a = tensor_of(first, border), b = tensor_of(second, border);
    video::EmdRow row;
    row.resize(bins, 40);
    std::vector<double> shares(bins), distances(40);
    const Region target{3, 5, 7, 9};
    row.shares(a, target, shares.data());
    double largest = 0;
    for (const std::int64_t y : {0, 1, 21})
      for (const std::int64_t x : {0, 1, 20}) {
        const std::int64_t n = 40 - 7 - x + 1;
        row.distances(b, {x, y, 7, 9}, n, shares.data(), distances.data());
        for (std::int64_t i = 0; i < n; ++i) {
          const double expected = emd(first, target, second, {x + i, y, 7, 9});
          EXPECT_NEAR(distances[static_cast<std::size_t>(i)], expected, 1e-12) << x << "+" << i << "," << y;
          largest = std::max(largest, expected);
        }
      }
    EXPECT_GT(largest, 1);  // the check can fail
  }
}

TEST(TrackEmd, EveryElementTypeGivesTheSame) {
  const Picture picture = blocks(33, 22, 3);
  std::vector<double> expected;
  for (const Type counter : {Type::u32, Type::u64, Type::f32, Type::f64}) {
    Array weights({33, 22}, Type::u8);
    std::fill_n(weights.as<std::uint8_t>(), weights.bytes(), std::uint8_t{1});
    const bool weighted = is_float(counter);
    const HistogramTensor tensor =
        integral_histogram(picture.view(), binning(), {.counter = counter, .weighted = weighted},
                           {.backend = Backend::cpu}, weighted ? ConstView(weights.view()) : ConstView());
    video::EmdRow row;
    row.resize(bins, 20);
    std::vector<double> shares(bins), distances(20);
    row.shares(tensor, {9, 3, 8, 8}, shares.data());
    row.distances(tensor, {0, 0, 8, 8}, 20, shares.data(), distances.data());
    if (expected.empty()) expected = distances;
    EXPECT_EQ(distances, expected) << name_of(counter);
  }
  EXPECT_GT(expected[0], 0);
}

TEST(TrackEmd, NothingCountedIsTheLargestDistanceOrNone) {
  Picture picture = blocks(20, 20, 4);
  const Binning low = Binning::uniform(bins, 0, 128);  // leaves bright pixels out
  for (std::int64_t y = 0; y < 20; ++y)
    for (std::int64_t x = 0; x < 20; ++x) picture.at(x, y) = x < 10 ? 200 : 5;
  const HistogramTensor tensor = integral_histogram(picture.view(), low);
  video::EmdRow row;
  row.resize(bins, 11);
  std::vector<double> shares(bins), distances(11);
  row.shares(tensor, {12, 0, 5, 5}, shares.data());
  row.distances(tensor, {0, 0, 5, 5}, 11, shares.data(), distances.data());
  EXPECT_EQ(distances[0], bins - 1);
  EXPECT_EQ(distances[10], 0);
  row.shares(tensor, {0, 0, 5, 5}, shares.data());
  row.distances(tensor, {0, 0, 5, 5}, 11, shares.data(), distances.data());
  EXPECT_EQ(distances[0], 0);
  EXPECT_EQ(distances[10], bins - 1);
}

// One step done by hand: fragments counted pixel by pixel, sorted votes.
double vote(const Picture& first, const Region& box, const Picture& second, std::int64_t x, std::int64_t y,
            std::int64_t rank) {
  std::vector<double> votes;
  const auto edge = [](std::int64_t side, std::int64_t i, std::int64_t n) { return (2 * side * i + n) / (2 * n); };
  for (const auto& [columns, rows] : {std::pair{10, 2}, std::pair{2, 10}})
    for (int i = 0; i < columns; ++i)
      for (int j = 0; j < rows; ++j) {
        const std::int64_t left = edge(box.width, i, columns), top = edge(box.height, j, rows);
        const Region part{left, top, edge(box.width, i + 1, columns) - left, edge(box.height, j + 1, rows) - top};
        votes.push_back(emd(first, {box.x + part.x, box.y + part.y, part.width, part.height}, second,
                            {x + part.x, y + part.y, part.width, part.height}));
      }
  std::sort(votes.begin(), votes.end());
  return votes[static_cast<std::size_t>(rank - 1)];
}

TEST(FragmentTracker, AStepIsTheBestVoteOfAllPlaces) {
  const Picture first = blocks(70, 60, 5), second = blocks(70, 60, 6);
  const Region box{20, 17, 23, 25};  // halves and tenths that are no whole numbers
  for (const auto& [quantile, rank] :
       {std::pair{0.25, 10}, std::pair{0.5, 20}, std::pair{1.0, 40}, std::pair{0.001, 1}}) {
    FragmentTracker tracker({.radius = 3, .scales = {1}, .quantile = quantile});
    tracker.start(tensor_of(first), box);
    const TrackedBox found = tracker.step(tensor_of(second));
    double best = 1e9;
    for (std::int64_t y = 14; y <= 20; ++y)
      for (std::int64_t x = 17; x <= 23; ++x) best = std::min(best, vote(first, box, second, x, y, rank));
    EXPECT_NEAR(found.distance, best, 1e-12) << quantile;
    EXPECT_NEAR(vote(first, box, second, found.region().x, found.region().y, rank), best, 1e-12);
    EXPECT_EQ(found.width, 23);
  }
}

class EveryTracker : public ::testing::TestWithParam<std::string_view> {
 protected:
  std::unique_ptr<Tracker> make(const TrackerOptions& options = {}) {
    return make_tracker(GetParam(), binning(), options);
  }
};
INSTANTIATE_TEST_SUITE_P(Names, EveryTracker, ::testing::ValuesIn(tracker_names().begin(), tracker_names().end()),
                         [](const auto& of) {
                           std::string name(of.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(EveryTracker, FindsAPatchThatMoves) {
  // The patch is brighter than what is around it: mean-shift needs a slope.
  Picture ground = blocks(160, 120, 7), patch = blocks(36, 42, 8);
  for (std::uint8_t& value : ground.pixels) value = static_cast<std::uint8_t>(value / 2);
  for (std::uint8_t& value : patch.pixels) value = static_cast<std::uint8_t>(96 + value / 2);
  const bool is_exact = GetParam() != "mean-shift";
  const auto tracker = make({.scales = {1}});
  std::int64_t x = 30, y = 40, n = 0;
  const std::int64_t moves[][2] = {{0, 0}, {7, -7}, {-7, 7}, {5, 0}, {0, -6}, {7, 7}, {-1, 2}};
  for (const auto& move : moves) {
    x += move[0], y += move[1];
    Picture frame = ground;
    paste(frame, patch, x, y);
    const HistogramTensor tensor = tensor_of(frame);
    if (n++ == 0) {
      tracker->start({tensor, frame.view()}, {x, y, 36, 42});
      continue;
    }
    const TrackedBox box = tracker->step({tensor, frame.view()});
    if (is_exact) {
      EXPECT_EQ(box.region(), (Region{x, y, 36, 42})) << n;
      EXPECT_EQ(box.distance, 0);
    } else {
      EXPECT_NEAR(box.x, static_cast<double>(x), 2) << n;
      EXPECT_NEAR(box.y, static_cast<double>(y), 2) << n;
    }
    EXPECT_EQ(tracker->box().x, box.x);
  }
}

TEST_P(EveryTracker, IsTheSameEveryTimeAndAllocatesNothing) {
  std::vector<TrackedBox> before;
  for (int round = 0; round < 2; ++round) {
    const auto tracker = make();
    std::vector<TrackedBox> boxes;
    for (std::uint64_t frame = 0; frame < 4; ++frame) {
      const Picture picture = blocks(90, 80, 100 + frame);
      const HistogramTensor tensor = tensor_of(picture, Border::zero);
      const TrackerFrame seen(tensor, picture.view());
      if (frame == 0) {
        tracker->start(seen, {33, 20, 30, 31});
        continue;
      }
      const std::int64_t allocated = allocations;
      const TrackedBox box = tracker->step(seen);
      EXPECT_EQ(allocations, allocated);
      boxes.push_back(box);
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(boxes[i].x, before[i].x);
      EXPECT_EQ(boxes[i].width, before[i].width);
      EXPECT_EQ(boxes[i].distance, before[i].distance);
    }
    before = boxes;
  }
  const std::int64_t allocated = allocations;
  const std::vector<int> made(allocations > 0 ? 1000 : 2000);
  EXPECT_GT(allocations, allocated) << made.size();  // the count counts
}

TEST(FragmentTrackers, AreTheirTrackersAndAllocateNothing) {
  FragmentTrackers trackers;
  FragmentTracker first, second;
  const std::vector<Region> boxes{{33, 20, 30, 31}, {2, 3, 20, 44}};
  std::vector<TrackedBox> row(2);
  for (std::uint64_t frame = 0; frame < 4; ++frame) {
    const HistogramTensor tensor = tensor_of(blocks(90, 80, 100 + frame));
    const TensorView view(tensor);
    if (frame == 0) {
      trackers.start(view, boxes);
      first.start(view, boxes[0]);
      second.start(view, boxes[1]);
      continue;
    }
    const std::int64_t allocated = allocations;
    trackers.step(view, row);
    EXPECT_EQ(allocations, allocated);
    EXPECT_EQ(row[0].x, first.step(view).x);
    EXPECT_EQ(row[1].distance, second.step(view).distance);
    EXPECT_EQ(trackers.boxes()[0].x, row[0].x);
    EXPECT_EQ(trackers.fetch()[1].distance, row[1].distance);
  }
  EXPECT_NE(row[0].distance, 0);
}

TEST_P(EveryTracker, StaysInsideTheImage) {
  for (const Border border : {Border::none, Border::zero})
    for (const Region& box :
         {Region{0, 0, 20, 24}, Region{40, 26, 20, 24}, Region{0, 26, 20, 24}, Region{0, 0, 60, 50}}) {
      const auto tracker = make();
      for (std::uint64_t frame = 0; frame < 5; ++frame) {
        const Picture picture = blocks(60, 50, 200 + frame);
        const HistogramTensor tensor = tensor_of(picture, border);
        if (frame == 0) {
          tracker->start({tensor, picture.view()}, box);
          continue;
        }
        const Region found = tracker->step({tensor, picture.view()}).region();
        EXPECT_TRUE(found.x >= 0 && found.y >= 0 && found.x + found.width <= 60 && found.y + found.height <= 50)
            << found.x << "," << found.y << "," << found.width << "," << found.height;
        EXPECT_GT(found.width * found.height, 0);
      }
    }
}

TEST_P(EveryTracker, StaysWhereNothingTellsPlacesApart) {
  Picture flat(80, 70);
  std::fill(flat.pixels.begin(), flat.pixels.end(), std::uint8_t{77});
  const HistogramTensor tensor = tensor_of(flat);
  const auto tracker = make();
  tracker->start({tensor, flat.view()}, {31, 22, 20, 25});
  EXPECT_EQ(tracker->step({tensor, flat.view()}).region(), (Region{31, 22, 20, 25}));
}

TEST_P(EveryTracker, RefusesWrongUse) {
  const Picture picture = blocks(60, 50, 9), other = blocks(61, 50, 9);
  const HistogramTensor tensor = tensor_of(picture), of_other = tensor_of(other);
  const TrackerFrame frame(tensor, picture.view());
  const auto tracker = make();
  const auto refused = [&](const TrackerFrame& seen, const Region& box) {
    return sentence_of<InvalidArgument>([&] { tracker->start(seen, box); });
  };
  EXPECT_EQ(sentence_of<InvalidArgument>([&] { tracker->step(frame); }), "step: the tracker has not started");
  EXPECT_EQ(refused(frame, {50, 0, 20, 20}), "box 50,0,20,20: reaches outside the image of 60x50");
  EXPECT_EQ(refused(frame, {-1, 0, 20, 20}), "box -1,0,20,20: reaches outside the image of 60x50");
  EXPECT_EQ(refused(frame, {9, 9, 1, 20}), "box 9,9,1,20: is too small, this tracker needs " +
                                               std::string(GetParam() == "fragments" ? "10x10" : "2x2") + " pixels");
  constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();
  EXPECT_NE(refused(frame, {far, far, far, far}), "");
  EXPECT_NE(refused(frame, {0, 0, -20, 20}), "");
  const MemoryPlace device{MemoryPlace::cuda, 1};
  if (tracker->reads_tensor()) {
    EXPECT_EQ(refused(picture.view(), {0, 0, 20, 20}),
              "frame: has no tensor, which the tracker " + std::string(GetParam()) + " reads");
    EXPECT_EQ(refused(TensorView(tensor.tensor().in(device), tensor.border()), {0, 0, 20, 20}),
              "tensor: is in memory of CUDA device 1, the tracker " + std::string(GetParam()) + " reads host memory");
    EXPECT_NE(refused(TensorView(tensor.tensor(), Border::exclusive), {0, 0, 20, 20}).find("exclusive"),
              std::string::npos);
  } else {
    EXPECT_EQ(refused(tensor, {0, 0, 20, 20}), "frame: has no image, which the tracker mean-shift reads");
    EXPECT_EQ(refused(picture.view().in(device), {0, 0, 20, 20}),
              "image: is in memory of CUDA device 1, the tracker mean-shift reads host memory");
  }
  tracker->start(frame, {0, 0, 20, 20});
  EXPECT_NE(sentence_of<InvalidArgument>([&] {
              tracker->step({of_other, other.view()});
            }).find("the first frame had"),
            std::string::npos);
}

TEST(Tracker, RefusesOptionsThatCannotBe) {
  const auto refused = [](const TrackerOptions& options) {
    const std::string what = sentence_of<InvalidArgument>([&] { FragmentTracker{options}; });
    EXPECT_EQ(sentence_of<InvalidArgument>([&] { make_tracker("mean-shift", binning(), options); }), what);
    return what;
  };
  EXPECT_EQ(refused({.radius = -1}), "radius: -1, it may be 0 to 4096");
  EXPECT_EQ(refused({.scales = {1, 3}}), "scales: 3, each may be 0.5 to 2");
  EXPECT_EQ(refused({.scales = {0.9}}), "scales: 1 must be among them, once");
  EXPECT_EQ(refused({.scale_cost = std::nan("")}), "scale_cost: nan, it may be 0 or more");
  EXPECT_EQ(refused({.quantile = 0}), "quantile: 0, it may be above 0 and up to 1");
  EXPECT_EQ(sentence_of<InvalidArgument>([] { make_tracker("magic", binning()); }),
            "tracker magic: may be fragments, window, exhaustive or mean-shift");
}

// Scales multiply: after a patch has grown by 1.05 several times, the box has the patch's size.
TEST(FragmentTracker, FollowsAScale) {
  const Picture ground = blocks(200, 200, 10), patch = blocks(60, 60, 11);
  FragmentTracker tracker;
  double scale = 1;
  for (int frame = 0; frame < 6; ++frame, scale *= 1.05) {
    Picture picture = ground;
    const double side = 60 * scale;
    for (std::int64_t y = 0; y < 200; ++y)
      for (std::int64_t x = 0; x < 200; ++x) {
        const double u = (static_cast<double>(x) + 0.5 - (100 - side / 2)) / scale;
        const double v = (static_cast<double>(y) + 0.5 - (100 - side / 2)) / scale;
        if (u >= 0 && v >= 0 && u < 60 && v < 60)
          picture.at(x, y) = patch.at(static_cast<std::int64_t>(u), static_cast<std::int64_t>(v));
      }
    if (frame == 0)
      tracker.start(tensor_of(picture), {70, 70, 60, 60});
    else
      EXPECT_NEAR(tracker.step(tensor_of(picture)).width, side, 1e-9) << frame;
  }
}

// Of half the patch nothing is left: the other fragments find it all the same, the whole histogram does not.
TEST(FragmentTracker, SeesAPatchThatIsHalfHidden) {
  const Picture ground = blocks(160, 120, 12), patch = blocks(40, 40, 13);
  const auto fragments = make_tracker("fragments", binning()), window = make_tracker("window", binning());
  Picture frame = ground;
  paste(frame, patch, 50, 40);
  for (const auto& tracker : {fragments.get(), window.get()}) tracker->start(tensor_of(frame), {50, 40, 40, 40});
  frame = ground;
  paste(frame, patch, 54, 43);
  for (std::int64_t y = 0; y < 40; ++y)
    for (std::int64_t x = 0; x < 20; ++x) frame.at(54 + x, 43 + y) = 250;
  EXPECT_EQ(fragments->step(tensor_of(frame)).region(), (Region{54, 43, 40, 40}));
  EXPECT_NE(window->step(tensor_of(frame)).region(), (Region{54, 43, 40, 40}));
}

}  // namespace
}  // namespace areal::test
