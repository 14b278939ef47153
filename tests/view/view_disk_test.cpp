// What the page of `areal view` asks about a picture beyond memory, against plain counts over its pixels.

#include <gtest/gtest.h>
#include <areal/areal.hpp>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include "plain_counts.hpp"
#include "view/picture_on_disk.hpp"

namespace {

using namespace areal;
using namespace view::plain_counts;
using view::Answer;
using view::Extent;
using view::Grid;
using view::PictureOnDisk;

constexpr unsigned seed = 20261126;

template <class T>
Array random_image(std::int64_t width, std::int64_t height, std::mt19937& random) {
  return image_of<T>(width, height, [&](std::int64_t x, std::int64_t y) {
    if constexpr (!std::is_integral_v<T>)
      return static_cast<T>(std::normal_distribution<double>(3, 1)(random));
    else
      return static_cast<T>(static_cast<std::int64_t>(random() % 251 + 1) * 1021 + x - y);
  });
}

view::ReadPlanes reader_of(const Array& image) {
  return [&image](std::int64_t x, std::int64_t y, const View& planes) {
    const ConstView part = view::part_of(image.view(), {x, y, planes.shape.width, planes.shape.height});
    for (std::int64_t row = 0; row < part.shape.height; ++row)
      std::memcpy(planes.row(row), part.row(row), static_cast<std::size_t>(part.shape.width) * size_of(image.type()));
  };
}

view::PictureSource source_of(const Array& image, Extent block) {
  view::PictureSource source;
  source.type = image.type();
  source.names = {"gray"};
  source.levels.push_back({{image.shape().width, image.shape().height}, block, reader_of(image)});
  source.survey = reader_of(image);
  return source;
}

void wait_for_survey(const PictureOnDisk& picture) {
  while (picture.surveyed().rows < picture.surveyed().of && picture.surveyed().problem.empty())
    std::this_thread::yield();
}

/// Lets a survey read one block after another.
class Gate {
 public:
  /// Opens for good at the end of a block, so that a picture can end.
  struct Open {
    Gate& gate;
    ~Open() { gate.allow(1 << 20); }
  };
  view::ReadPlanes guard(view::ReadPlanes read) {
    return [this, read = std::move(read)](std::int64_t x, std::int64_t y, const View& planes) {
      std::unique_lock held(lock_);
      changed_.wait(held, [&] { return allowed_ > 0; });
      --allowed_;
      read(x, y, planes);
    };
  }
  void allow(int blocks) {
    const std::lock_guard held(lock_);
    allowed_ += blocks;
    changed_.notify_all();
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  int allowed_ = 0;
};

template <class T>
class OnDisk : public ::testing::Test {};
using Types = ::testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int32_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(OnDisk, Types);

TYPED_TEST(OnDisk, CellsAndEdgesEqualPlainCountsForEachSide) {
  using T = TypeParam;
  std::mt19937 random(seed);
  const bool is_short = std::getenv("AREAL_TEST_SHORT") != nullptr;
  for (const auto& [width, height] : {std::pair(1, 1), {64, 64}, {1, 700}, {331, 517}}) {
    const Array image = random_image<T>(width, height, random);
    const auto range = view::default_range({image.view()});
    for (const std::int64_t side : {64, 128, 4096}) {
      const auto grid = Grid::make({width, height}, 256, range, side, image.view());
      // Blocks that cut cells.
      for (std::int64_t y = 0; y < height; y += 70) {
        const std::int64_t high = std::min<std::int64_t>(70, height - y);
        for (std::int64_t x = 0; x < width; x += 90)
          grid->add(x, y, view::part_of(image.view(), {x, y, std::min<std::int64_t>(90, width - x), high}), 1);
        grid->complete(y + high);
      }
      const std::int64_t columns = (width + side - 1) / side, rows = (height + side - 1) / side;
      ASSERT_EQ(grid->rows(), rows);
      for (int i = 0; i < (is_short ? 4 : 30); ++i) {
        const auto between = [&](std::int64_t least, std::int64_t most) {
          return std::uniform_int_distribution<std::int64_t>(least, most)(random);
        };
        view::CellRange cells{between(0, columns - 1), between(0, rows - 1), 0, 0};
        cells.right = between(cells.left + 1, columns), cells.bottom = between(cells.top + 1, rows);
        if (i == 0) cells = {0, 0, columns, rows};
        Region region{cells.left * side, cells.top * side, 0, 0};
        region.width = std::min<std::int64_t>(width, cells.right * side) - region.x;
        region.height = std::min<std::int64_t>(height, cells.bottom * side) - region.y;
        const Answer answer = grid->answer(cells, [](const Grid::Pixels&) {});
        ASSERT_EQ(difference(answer, plain<T>(image, region, 256, range), !std::is_integral_v<T>), "")
            << "seed " << seed << ", " << width << "x" << height << ", side " << side << ", region " << region.x << ","
            << region.y << "," << region.width << "," << region.height;
      }
    }
  }
}

TYPED_TEST(OnDisk, AnswersAreAboutTheNewestRangeAtEachStopOfTheSurvey) {
  using T = TypeParam;
  std::mt19937 random(seed);
  const Array image = random_image<T>(300, 431, random);
  const Region region{7, 70, 280, 350};
  const auto [lo, hi] = view::default_range({image.view()});
  const std::array<std::pair<double, double>, 3> ranges{{{lo, hi}, {lo + (hi - lo) / 3, hi}, {lo, lo + (hi - lo) / 5}}};
  Gate gate;
  view::PictureSource source = source_of(image, {64, 64});
  source.survey = gate.guard(source.survey);
  PictureOnDisk picture(std::move(source), {.bins = 32, .range = ranges[0], .memory = 1 << 26});
  const Gate::Open open{gate};
  const auto expect_range = [&](const std::pair<double, double>& range) {
    const Answer answer = picture.answer(0, region);
    ASSERT_EQ(difference(answer, plain<T>(image, region, 32, range), !std::is_integral_v<T>), "") << "seed " << seed;
  };
  expect_range(ranges[0]);
  gate.allow(1);
  for (std::size_t i = 0; i < 4; ++i) {
    std::atomic<bool> is_set = false;
    std::thread feeder([&] {  // a survey ends with its block
      for (; !is_set; std::this_thread::yield()) gate.allow(1);
    });
    picture.set_range(ranges[i % 3]);
    is_set = true;
    feeder.join();
    expect_range(ranges[i % 3]);
  }
  gate.allow(1 << 20);
  wait_for_survey(picture);
  expect_range(ranges[0]);
  picture.set_range(ranges[1]);  // of bytes, without another survey
  if (sizeof(T) == 1) {
    EXPECT_EQ(picture.surveyed().rows, 431);
  }
  expect_range(ranges[1]);
  wait_for_survey(picture);
  expect_range(ranges[1]);
  EXPECT_THROW(picture.set_range({hi, lo}), InvalidArgument);
  expect_range(ranges[1]);
}

TYPED_TEST(OnDisk, AnswersEqualPlainCountsAtEachStopOfTheSurvey) {
  using T = TypeParam;
  std::mt19937 random(seed);
  const Array image = random_image<T>(700, 531, random);
  Gate gate;
  view::PictureSource source = source_of(image, {700, 64});
  source.survey = gate.guard(reader_of(image));
  PictureOnDisk picture(std::move(source), {.memory = 1 << 26, .threads = 1});
  const Gate::Open opens{gate};
  ASSERT_EQ(picture.grid_side(), 64);
  const std::int64_t stops = (531 + 63) / 64;
  for (std::int64_t stop = 0; stop <= stops; ++stop) {
    while (picture.surveyed().rows < std::min<std::int64_t>(531, stop * 64)) std::this_thread::yield();
    for (const Region& region : regions_of(700, 531, random, 3)) {
      const Answer answer = picture.answer(0, region, false);
      ASSERT_EQ(answer.standing, Answer::Standing::exact);
      ASSERT_EQ(difference(answer, plain<T>(image, region, 256, picture.range()), !std::is_integral_v<T>), "")
          << "seed " << seed << ", stop " << stop << ", region " << region.x << "," << region.y << "," << region.width
          << "," << region.height;
    }
    gate.allow(1);
  }
  EXPECT_THROW(picture.answer(0, {0, 0, 701, 1}), InvalidArgument);
  EXPECT_EQ(picture.surveyed().rows, 531);
}

TEST(PictureOnDisk, RoundedAnswersAreOfWholeCellsAndFinalOnesExact) {
  std::mt19937 random(seed);
  const Array image = random_image<std::uint16_t>(3000, 2000, random);
  view::PictureSource source = source_of(image, {256, 256});
  source.decodes = true;
  PictureOnDisk picture(std::move(source), {.memory = 1 << 26});
  wait_for_survey(picture);
  const std::int64_t side = picture.grid_side();
  int rounded = 0;
  for (const Region& region : regions_of(3000, 2000, random, 20)) {
    const auto exact = plain<std::uint16_t>(image, region, 256, picture.range());
    const Answer quick = picture.answer(0, region, false);
    if (quick.standing == Answer::Standing::rounded) {
      ++rounded;
      const Region& box = quick.box;
      EXPECT_LE(std::abs(box.x - region.x), side);
      EXPECT_LE(std::abs(box.y + box.height - region.y - region.height), side);
      EXPECT_TRUE(box.x % side == 0 && box.y % side == 0);
      EXPECT_EQ(difference(quick, plain<std::uint16_t>(image, box, 256, picture.range()), false), "");
      EXPECT_NE(difference(quick, exact, false), "") << "the comparison finds a wrong answer";
    }
    const Answer final = picture.answer(0, region, true);
    EXPECT_EQ(final.standing, Answer::Standing::exact);
    EXPECT_EQ(difference(final, exact, false), "") << "seed " << seed;
  }
  EXPECT_GT(rounded, 5);
  EXPECT_EQ(picture.answer(0, {17, 19, 200, 200}, false).standing, Answer::Standing::exact);
  EXPECT_EQ(picture.answer(0, {0, 0, 3000, 2000}, false).standing, Answer::Standing::exact);
}

TEST(PictureOnDisk, LargeRegionsWaitForTheSurvey) {
  const Array image = image_of<std::uint8_t>(5000, 4000, [](std::int64_t x, std::int64_t y) { return x * y; });
  Gate gate;
  view::PictureSource source = source_of(image, {5000, 64});
  source.survey = gate.guard(reader_of(image));
  PictureOnDisk picture(std::move(source), {.memory = 1 << 26});
  const Gate::Open opens{gate};
  EXPECT_EQ(picture.answer(0, {0, 0, 5000, 4000}).standing, Answer::Standing::pending);
  EXPECT_EQ(picture.answer(0, {0, 0, 4096, 4000}).standing, Answer::Standing::exact);
  int calls = 0;
  picture.on_survey([&] { ++calls; });
  gate.allow(1 << 20);
  wait_for_survey(picture);
  const Answer all = picture.answer(0, {0, 0, 5000, 4000});
  EXPECT_EQ(difference(all, plain<std::uint8_t>(image, {0, 0, 5000, 4000}, 256, picture.range()), false), "");
  picture.on_survey({});
  EXPECT_GT(calls, 5);
}

TEST(PictureOnDisk, DragsDecodeFewPixelsThatAreNotSurveyed) {
  const Array image = image_of<std::uint8_t>(2100, 2100, [](std::int64_t x, std::int64_t y) { return x * y; });
  for (const bool decodes : {false, true}) {
    Gate gate;
    view::PictureSource source = source_of(image, {2100, 64});
    source.survey = gate.guard(reader_of(image));
    source.decodes = decodes;
    PictureOnDisk picture(std::move(source), {.memory = 1 << 26});
    const Gate::Open opens{gate};
    const Region most{0, 0, 2048, 2048}, more{0, 0, 2049, 2048};
    EXPECT_EQ(picture.answer(0, most, false).standing, Answer::Standing::exact);
    EXPECT_EQ(picture.answer(0, more, false).standing, decodes ? Answer::Standing::pending : Answer::Standing::exact);
    const Answer final = picture.answer(0, more, true);
    EXPECT_EQ(difference(final, plain<std::uint8_t>(image, more, 256, picture.range()), false), "");
  }
}

TEST(PictureOnDisk, EndsDuringItsSurvey) {
  const Array image = image_of<std::uint8_t>(3000, 3000, [](std::int64_t x, std::int64_t) { return x; });
  for (int i = 0; i < 20; ++i) PictureOnDisk(source_of(image, {3000, 64}), {.memory = 1 << 26});
}

TEST(PictureOnDisk, TilesAreMeansOfThePixels) {
  std::mt19937 random(seed);
  const Array image = random_image<std::uint8_t>(2300, 1900, random);
  // A level of the file is of other pixels, to tell it from means.
  const Array quarter = image_of<std::uint8_t>(575, 475, [](std::int64_t, std::int64_t) { return 77; });
  view::PictureSource source = source_of(image, {256, 256});
  source.levels.push_back({{575, 475}, {256, 256}, reader_of(quarter)});
  PictureOnDisk picture(std::move(source), {.memory = 1 << 26});
  wait_for_survey(picture);
  ASSERT_EQ(picture.reduced_level(), 3U);
  const auto entry = [&](std::size_t level, std::int64_t x, std::int64_t y) {
    const std::string tile = picture.tile(0, level, x / 256, y / 256);
    const std::int64_t wide = std::min<std::int64_t>(256, picture.levels()[level].width - x / 256 * 256);
    return static_cast<std::uint8_t>(tile.at(static_cast<std::size_t>(20 + y % 256 * wide + x % 256)));
  };
  const auto mean = [&](std::size_t level, std::int64_t x, std::int64_t y) {
    const std::int64_t side = std::int64_t{1} << level;
    const std::int64_t right = std::min<std::int64_t>(2300, (x + 1) * side),
                       bottom = std::min<std::int64_t>(1900, (y + 1) * side);
    std::int64_t sum = 0, count = 0;
    for (std::int64_t v = y * side; v < bottom; ++v)
      for (std::int64_t u = x * side; u < right; ++u, ++count) sum += image.as<std::uint8_t>()[v * 2300 + u];
    return (sum + count / 2) / count;
  };
  for (const auto& [x, y] : {std::pair(0, 0), {255, 3}, {256, 200}, {287, 237}}) {
    EXPECT_EQ(entry(0, x, y), image.as<std::uint8_t>()[y * 2300 + x]);
    EXPECT_EQ(entry(1, x, y), mean(1, x, y));
    EXPECT_EQ(entry(2, x, y), 77);
    EXPECT_EQ(entry(3, x, y), mean(3, x, y));
  }
  EXPECT_EQ(entry(1, 1149, 949), mean(1, 1149, 949));
  EXPECT_NEAR(entry(4, 140, 100), static_cast<double>(mean(4, 140, 100)), 1);
  const auto [drawing, level] = picture.drawing(0, {0, 255});
  EXPECT_EQ(level, 1U);
  EXPECT_EQ(drawing.as<std::uint8_t>()[949 * 1150 + 1149], mean(1, 1149, 949));
}

TEST(PictureOnDisk, DamageEndsTheSurveyWithASentence) {
  const Array image = image_of<std::uint8_t>(1000, 5000, [](std::int64_t x, std::int64_t y) { return x + y; });
  view::PictureSource source = source_of(image, {1000, 64});
  source.survey = [read = reader_of(image)](std::int64_t x, std::int64_t y, const View& planes) {
    if (y + planes.shape.height > 2000) throw IoError("slide.tif: tile 7 is damaged");
    read(x, y, planes);
  };
  PictureOnDisk picture(std::move(source), {.memory = 1 << 26});
  wait_for_survey(picture);
  EXPECT_EQ(picture.surveyed().problem, "slide.tif: tile 7 is damaged");
  EXPECT_LT(picture.surveyed().rows, 2000);
  const Region above{3, 5, 900, 1800};
  EXPECT_EQ(difference(picture.answer(0, above), plain<std::uint8_t>(image, above, 256, picture.range()), false), "");
}

TEST(PictureOnDisk, MemoryFixesTheCellsAndTheReducedPicture) {
  const Extent gigapixel{32768, 32768};
  EXPECT_EQ(Grid::side_for(gigapixel, Type::u8, 256, std::uint64_t{300} << 20), 64);
  EXPECT_EQ(Grid::side_for(gigapixel, Type::u8, 256, std::uint64_t{70} << 20), 128);
  EXPECT_EQ(Grid::side_for(gigapixel, Type::u8, 256, 1), Grid::most_side);
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (std::uint64_t memory = 1 << 20; memory < std::uint64_t{1} << 32; memory *= 3) {
      const std::int64_t side = Grid::side_for(gigapixel, type, 256, memory);
      EXPECT_TRUE(side == Grid::most_side || Grid::bytes(gigapixel, type, 256, side) <= memory);
      EXPECT_TRUE(side == Grid::least_side || Grid::bytes(gigapixel, type, 256, side / 2) > memory);
    }
  const Array image = image_of<std::uint8_t>(5000, 5000, [](std::int64_t, std::int64_t) { return 1; });
  EXPECT_THROW(PictureOnDisk(source_of(image, {5000, 64}), {.memory = 1 << 20}), OutOfMemory);
  EXPECT_GT(PictureOnDisk(source_of(image, {5000, 64}), {.memory = 6 << 20}).grid_side(), 64);
}

}  // namespace
