// Tables, tensors and sums by strips on a GPU: uploads, kernels and downloads overlap, so each case is run several
// times. All is skipped without a GPU.
#include <areal/info.hpp>
#include "bench/harness/seeded_image.hpp"
#include "cuda/device.hpp"
#include "strip_cases.hpp"

namespace areal::strip_cases {
namespace {

class CudaStrips : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) GTEST_SKIP() << "no GPU";
  }
};

const std::vector<Worker> gpu{{.backend = Backend::cuda}};

TEST_F(CudaStrips, Tables) {
  for (int turn = 0; turn < 3; ++turn) expect_sat_cases(gpu);
}

TEST_F(CudaStrips, ImagesOfFewRowsOrColumnsOrOfNone) {
  for (const Border border : {Border::zero, Border::none, Border::exclusive})
    for (const Shape& shape : {Shape{0, 0}, {0, 4}, {5, 0}, {1, 1}, {1, 300}, {300, 1}})
      for (const Way way : {Way::read, Way::strips})
        EXPECT_EQ(sat_fault(SatCase(shape, "8u32u", border).with_squares(), {.workers = gpu, .height = 2}, way), "")
            << shape.width << "x" << shape.height << ", " << name_of(border);
}

TEST_F(CudaStrips, Tensors) {
  for (const Border border : {Border::zero, Border::none, Border::exclusive})
    for (const std::int64_t group : {0, 3})
      for (const Way way : {Way::read, Way::strips, Way::tiles}) {
        const PieceOptions how{.workers = gpu, .height = 33, .pushed_width = 100, .pushed_height = 40};
        EXPECT_EQ(tensor_fault({253, 170}, 16, border, how, group, way), "") << static_cast<int>(way);
      }
}

TEST_F(CudaStrips, Sums) {
  for (const Type type : {Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::s32, Type::f32, Type::f64})
    EXPECT_EQ(sums_fault({161, 150}, type, Fill::wild, true, {.workers = gpu, .height = 23}), "") << name_of(type);
  EXPECT_EQ(sums_fault({31, 130, 3, 1}, Type::u8, Fill::wild, true, {.workers = gpu, .height = 13}), "");
}

// Strips as large as memory takes, in page-locked memory, against the image's formula.
TEST_F(CudaStrips, LargeImages) {
  const bench::SeededImage image(30011, 20011, conformance::base_seed());
  const Shape shape{image.width(), image.height()};
  const std::vector<Region> regions = random_regions(shape, 200, conformance::base_seed());
  const auto sums = strip_sums<std::uint64_t>(image.reader(), shape, Type::u8, regions, {}, {.workers = gpu});
  for (std::size_t i = 0; i < regions.size(); ++i) EXPECT_EQ(sums[i], image.sum(regions[i])) << i;

  StripSat strips(shape, Type::u8, {}, {.workers = gpu});
  ASSERT_EQ(strips.types().table, Type::u64);
  std::int64_t rows = 0;
  strips.run(image.reader(), [&](const Piece& strip) {
    EXPECT_EQ(strip.y, rows);
    EXPECT_TRUE(cuda::is_page_locked(strip.values.data));
    rows += strip.values.shape.height;
    const std::int64_t last = strip.values.shape.height - 1;  // its last row, at some columns
    for (std::int64_t x = 0; x <= shape.width; x += 3001) {
      std::uint64_t entry = 0;
      std::memcpy(&entry, static_cast<const char*>(strip.values.row(last)) + 8 * x, sizeof entry);
      EXPECT_EQ(entry, image.sum({0, 0, x, strip.y + last})) << x << ", " << strip.y + last;
    }
    return true;
  });
  EXPECT_EQ(rows, shape.height + 1);
}

TEST_F(CudaStrips, FloatsHaveTheSameBitsEachTime) {
  const SatCase of({700, 900}, "32f32f", Border::zero);
  const PieceOptions how{.workers = gpu, .height = 100};
  const Values first = tables_of(of, how, Way::read).sum.values();
  for (int turn = 0; turn < 5; ++turn)
    EXPECT_TRUE(tables_of(of, how, turn % 2 == 0 ? Way::read : Way::strips).sum.values() == first) << turn;
}

TEST_F(CudaStrips, ASinkThatStopsOrThrowsLeavesTheDeviceUsable) {
  const SatCase of({500, 600}, "8u32u", Border::zero);
  StripSat strips = of.strips({.workers = gpu, .height = 50});
  int calls = 0;
  strips.run(reader_of(of.image), [&](const Piece&) { return ++calls < 3; });
  EXPECT_EQ(calls, 3);
  EXPECT_THROW(strips.run(reader_of(of.image), [](const Piece&) -> bool { throw std::runtime_error("full"); }),
               std::runtime_error);
  EXPECT_EQ(sat_fault(of, {.workers = gpu, .height = 50}, Way::read), "");
}

}  // namespace
}  // namespace areal::strip_cases
