// The video of `areal view`: which frame is shown, what it answers, and trackers, against loops over the frames.

#include <gtest/gtest.h>
#include <algorithm>
#include <areal/areal.hpp>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include "view/film.hpp"

namespace {

using namespace areal;

constexpr std::int64_t width = 64, height = 48, count = 30;

/// A bright square over a gray that both move from frame to frame.
Array pixels_of(std::int64_t number, std::int64_t channels = 1) {
  Array planes(Shape{width, height, channels, 1, Layout::planar}, Type::u8);
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t y = 0; y < height; ++y) {
      auto* row = static_cast<std::uint8_t*>(planes.view().row(y, c));
      for (std::int64_t x = 0; x < width; ++x) {
        const bool inside = x >= 5 + number && x < 25 + number && y >= 10 && y < 34;
        row[x] = static_cast<std::uint8_t>(inside ? 150 + (x - number) * 3 : (x * 7 + y * 13) % 60 + number + c);
      }
    }
  return planes;
}

struct Facts {
  std::atomic<int> opened = 0;
  std::int64_t frames = count;
  std::int64_t channels = 1;
  std::string damage;
};

class Frames final : public view::FrameReader {
 public:
  explicit Frames(Facts& facts) : facts_(facts) { ++facts.opened; }
  bool next(view::DecodedFrame& frame) override {
    if (next_ == facts_.frames) return false;
    frame.planes = pixels_of(next_, facts_.channels);
    frame.seconds = static_cast<double>(next_++) / 1000;
    return true;
  }
  std::string damage() const override { return facts_.damage; }

 private:
  Facts& facts_;
  std::int64_t next_ = 0;
};

view::FilmSource source_of(Facts& facts) {
  return {[&facts] { return std::make_unique<Frames>(facts); },
          facts.channels == 1 ? std::vector<std::string>{"gray"} : std::vector<std::string>{"a", "b"}, 1000, 31};
}

std::uint64_t bytes_of_frames(std::uint64_t frames) {
  return 2 * frames * view::Picture::bytes({width, height}, 1, Type::u8);
}

/// Waits for states of the film.
class Watch {
 public:
  explicit Watch(view::Film& film) : film_(film) {
    film.on_change([this] {
      const std::lock_guard held(lock_);
      ++changes_;
      changed_.notify_one();
    });
  }
  ~Watch() { film_.on_change({}); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  template <class F>
  view::FilmState until(F&& holds) {
    while (true) {
      std::unique_lock held(lock_);
      const std::int64_t changes = changes_;
      held.unlock();
      const view::FilmState state = film_.state();
      if (holds(state)) return state;
      held.lock();
      changed_.wait(held, [&] { return changes_ != changes; });
    }
  }
  view::FilmState at(std::int64_t number) {
    return until([&](const view::FilmState& state) { return state.number == number && !state.seeks; });
  }

 private:
  view::Film& film_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::int64_t changes_ = 0;
};

std::string sum_of(std::int64_t number, const Region& region) {
  const Array planes = pixels_of(number);
  std::int64_t sum = 0;
  for (std::int64_t y = region.y; y < region.y + region.height; ++y)
    for (std::int64_t x = region.x; x < region.x + region.width; ++x)
      sum += static_cast<const std::uint8_t*>(planes.view().row(y))[x];
  return std::to_string(sum);
}

constexpr Region part{3, 5, 40, 30};

TEST(ViewFilm, ARangeIsThatOfAllFrames) {
  Facts facts;
  view::Film film(source_of(facts), {.bins = 8, .memory = bytes_of_frames(6)});
  Watch watch(film);
  const auto expect_range = [&](std::int64_t number) {
    view::Picture picture(pixels_of(number), {"gray"}, {}, {.bins = 8, .range = std::pair(20.0, 60.0)});
    const auto wanted = picture.answer(0, part);
    EXPECT_GT(wanted.moments.under, 0);
    EXPECT_EQ(film.answer(0, part).histogram, wanted.histogram);
    EXPECT_EQ(film.answer(0, part).moments.under, wanted.moments.under);
  };
  film.seek(2);
  watch.at(2);
  film.set_range({20, 60});
  expect_range(2);
  for (const std::int64_t number : {0, 9, 8}) {  // held, decoded later, held since
    film.seek(number);
    watch.at(number);
    expect_range(number);
  }
}

TEST(ViewFilm, ShowsTheFrameThatIsSought) {
  Facts facts;
  view::Film film(source_of(facts), {.memory = bytes_of_frames(6)});
  Watch watch(film);
  EXPECT_EQ(film.answer(0, part).moments.sum, sum_of(0, part));
  EXPECT_NE(sum_of(0, part), sum_of(1, part));  // a wrong frame is found
  EXPECT_EQ(film.state().frames, 31);           // as declared, one too many
  film.seek(9);
  watch.at(9);
  EXPECT_EQ(film.answer(0, part).moments.sum, sum_of(9, part));
  EXPECT_EQ(film.shot()->picture.answer(0, part).moments.sum, sum_of(9, part));
  film.step(-2);  // from memory
  watch.at(7);
  EXPECT_EQ(film.answer(0, part).moments.sum, sum_of(7, part));
  EXPECT_EQ(facts.opened, 1);
  film.step(1), film.step(1), film.step(1);
  watch.at(10);
  EXPECT_EQ(film.answer(0, part).moments.sum, sum_of(10, part));
  EXPECT_EQ(facts.opened, 1);
  film.seek(2);  // decoded again
  watch.at(2);
  EXPECT_EQ(film.answer(0, part).moments.sum, sum_of(2, part));
  EXPECT_EQ(facts.opened, 2);
  film.step(-100);
  watch.at(0);
  film.seek(1000);
  const view::FilmState end = watch.at(count - 1);
  EXPECT_EQ(end.frames, count);
  EXPECT_FALSE(end.plays);
  EXPECT_EQ(film.answer(0, part).moments.sum, sum_of(count - 1, part));
  EXPECT_NE(film.shot(count - 1), nullptr);
  EXPECT_EQ(film.shot(0), nullptr);  // memory is bounded
}

TEST(ViewFilm, PlaysEachFrameToTheEndAndBeginsAgain) {
  Facts facts;
  view::Film film(source_of(facts), {.memory = bytes_of_frames(4)});
  Watch watch(film);
  film.play();
  EXPECT_FALSE(watch.until([](const view::FilmState& s) { return s.number == count - 1 && !s.plays; }).seeks);
  EXPECT_EQ(film.answer(0, part).moments.sum, sum_of(count - 1, part));
  film.play();
  watch.until([](const view::FilmState& s) { return s.number < count - 1; });
  film.pause();
  const std::int64_t number = watch.until([](const view::FilmState& s) { return !s.plays; }).number;
  EXPECT_EQ(film.answer(0, part).moments.sum, sum_of(number, part));
}

TEST(ViewFilm, TracksAreThoseOfALoopOverTheFrames) {
  Facts facts;
  view::Film film(source_of(facts), {.memory = bytes_of_frames(200)});
  Watch watch(film);
  film.seek(4);
  watch.at(4);
  const Region box{9, 10, 20, 24};
  film.track(7, "fragments", box);
  film.track(8, "mean-shift", box);
  watch.until([](const view::FilmState& s) { return s.boxes.size() == 2; });
  film.seek(20);  // steps on the way
  const view::FilmState at_20 = watch.at(20);
  ASSERT_EQ(at_20.boxes.size(), 2U);
  const Binning binning = Binning::of_type(Type::u8, 16);
  const auto fragments = make_tracker("fragments", binning), mean_shift = make_tracker("mean-shift", binning);
  const auto compare = [&](std::int64_t id, Tracker& tracker) {
    std::vector<view::TrackRow> rows;
    for (const view::TrackRow& row : film.rows())
      if (row.id == id) rows.push_back(row);
    ASSERT_GE(rows.size(), 17U);
    for (std::int64_t i = 0; i < 17; ++i) {
      const Array image = pixels_of(4 + i);
      const HistogramTensor tensor = integral_histogram(image.view(), binning);
      const TrackerFrame frame(tensor, image.view());
      if (i == 0) tracker.start(frame, box);
      const TrackedBox wanted = i == 0 ? tracker.box() : tracker.step(frame);
      const view::TrackRow& row = rows[static_cast<std::size_t>(i)];
      EXPECT_EQ(row.frame, 4 + i);
      EXPECT_EQ(row.box.x, wanted.x);
      EXPECT_EQ(row.box.width, wanted.width);
      EXPECT_EQ(row.box.distance, wanted.distance);
    }
  };
  compare(7, *fragments);
  compare(8, *mean_shift);
  EXPECT_NEAR(at_20.boxes[0].box.x, 25, 2);  // it follows the square

  // A new box begins again there, also after steps back; a stopped track keeps its rows.
  film.step(-5);
  watch.at(15);
  film.moved(7, {20, 10, 20, 24});
  film.stop(8);
  film.step(2);
  const view::FilmState at_17 = watch.at(17);
  EXPECT_EQ(at_17.followed, (std::vector<std::int64_t>{7}));
  ASSERT_EQ(at_17.boxes.size(), 1U);
  EXPECT_NEAR(at_17.boxes[0].box.x, 22, 2);
  std::size_t rows_of_7 = 0, rows_of_8 = 0;
  for (const view::TrackRow& row : film.rows()) ++(row.id == 7 ? rows_of_7 : rows_of_8);
  EXPECT_EQ(rows_of_7, 14U);  // 4 to 17
  EXPECT_GE(rows_of_8, 17U);
  film.forget(8);
  EXPECT_EQ(film.rows().size(), 14U);
}

TEST(ViewFilm, FaultsAreSentences) {
  Facts facts;
  EXPECT_THROW(view::Film(source_of(facts), {.memory = bytes_of_frames(3) - 1}), OutOfMemory);
  facts.frames = 0;
  facts.damage = "clip: is damaged";
  EXPECT_THROW(view::Film(source_of(facts), {.memory = bytes_of_frames(4)}), IoError);
  facts.frames = 12;
  view::Film film(source_of(facts), {.memory = bytes_of_frames(4)});
  Watch watch(film);
  film.seek(25);
  const view::FilmState end = watch.at(11);
  EXPECT_EQ(end.problem, "clip: is damaged");
  EXPECT_EQ(end.frames, 12);
  film.track(1, "fragments", {0, 0, 12, 12});  // no memory for a tensor
  const auto has_problem = [](const view::FilmState& s) { return !s.problem.empty() && s.followed.empty(); };
  EXPECT_NE(watch.until(has_problem).problem.find("mean-shift needs none"), std::string::npos);
  film.track(1, "mean-shift", {0, 0, 1, 1});
  EXPECT_NE(watch.until(has_problem).problem.find("2x2"), std::string::npos) << film.state().problem;
  EXPECT_THROW(film.track(1, "none", {0, 0, 12, 12}), InvalidArgument);
  for (std::int64_t id = 1; id <= 8; ++id) film.track(id, "mean-shift", {0, 0, 12, 12});
  EXPECT_THROW(film.track(9, "mean-shift", {0, 0, 12, 12}), InvalidArgument);
}

}  // namespace
