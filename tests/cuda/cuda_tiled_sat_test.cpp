// Tables from tiles on a GPU: by rows, by rows and columns, from plain and from page-locked rows, beside the CPU. All
// is skipped without a GPU.
#include <gtest/gtest.h>
#include <areal/info.hpp>
#include <areal/sat.hpp>
#include <areal/tiled.hpp>
#include <cstring>
#include <optional>
#include "conformance/elements.hpp"
#include "conformance/picture.hpp"
#include "conformance/shapes.hpp"
#include "cuda/device.hpp"

namespace areal {
namespace {

class CudaTiledSat : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) GTEST_SKIP() << "no GPU";
  }
};

const Worker gpu{.backend = Backend::cuda};

/// Rows of an image as they lie, or from page-locked memory, or with a gap after each.
enum class Rows { plain, page_locked, with_gaps };

struct Case {
  Shape shape;
  Type type;
  std::optional<cuda::PinnedMemory> locked;
  Array plain;
  std::int64_t pitch;
  char* first;

  Case(const Shape& of, Type t, Rows rows) : shape(of), type(t) {
    pitch = shape.width * static_cast<std::int64_t>(size_of(type)) + (rows == Rows::with_gaps ? 13 : 0);
    const auto bytes = static_cast<std::size_t>(pitch * shape.height);
    if (rows == Rows::page_locked)
      locked.emplace(bytes);
    else
      plain = Array({static_cast<std::int64_t>(bytes), 1}, Type::u8);
    first = static_cast<char*>(locked ? locked->data() : plain.data());
    write(conformance::random_image(type, shape, conformance::Fill::wild, conformance::base_seed()),
          View(first, type, shape, pitch));
  }
  ConstView view() const { return ConstView(first, type, shape, pitch); }
  ImageReader read() const { return image_in_memory(view()); }
};

void expect_same(const ConstView& a, const ConstView& b, const std::string& what) {
  for (std::int64_t y = 0; y < b.shape.height; ++y)
    ASSERT_EQ(std::memcmp(a.row(y), b.row(y), static_cast<std::size_t>(b.shape.width) * size_of(b.type)), 0)
        << what << ", row " << y;
}

TEST_F(CudaTiledSat, EqualsTheUntiledTable) {
  bool has_columns = false, has_rows = false;
  for (const Rows rows : {Rows::plain, Rows::page_locked, Rows::with_gaps})
    for (const Border border : {Border::zero, Border::none, Border::exclusive})
      for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{24} << 20, std::uint64_t{600} << 10}) {
        const Case of({5001, 3003}, Type::u8, rows);
        const SatOptions options{.border = border, .types = type_pair("8u64u"), .squares = Squares::u64};
        const SatTable whole = sat(of.view(), options, {.backend = Backend::cpu});
        const TiledSat tiled(of.shape, of.type, options, {.workers = {gpu}, .memory = bytes});
        has_rows = has_rows || (tiled.grid().columns == 1 && tiled.grid().rows > 3);
        has_columns = has_columns || tiled.grid().columns > 1;
        const Shape shape = tiled.table_shape();
        Array sum({shape.width, shape.height}, Type::u64), squares({shape.width, shape.height}, Type::u64);
        tiled.table(of.read(), sum.view(), squares.view());
        const std::string what = std::string(name_of(border)) + ", " + std::to_string(bytes) + " bytes, rows " +
                                 std::to_string(static_cast<int>(rows));
        expect_same(sum.view(), whole.sum(), what);
        expect_same(squares.view(), whole.squares(), what + ", squares");
      }
  EXPECT_TRUE(has_rows && has_columns) << has_rows << has_columns;
}

TEST_F(CudaTiledSat, BesideTheCpu) {
  const Case of({4000, 6000}, Type::u8, Rows::plain);
  const SatOptions options{.border = Border::zero, .types = type_pair("8u32u")};
  const SatTable whole = sat(of.view(), options, {.backend = Backend::cpu});
  const TiledSat tiled(of.shape, of.type, options, {.workers = {gpu, {.threads = 2}}, .memory = 12 << 20});
  Array sum(Shape{4001, 6001}, Type::u32);
  tiled.table(of.read(), sum.view());
  expect_same(sum.view(), whole.sum(), "together");
}

TEST_F(CudaTiledSat, FloatsHaveTheSameBitsEachTimeForOneGrid) {
  const Case of({3000, 4000}, Type::f32, Rows::plain);
  const SatOptions options{.border = Border::none, .types = type_pair("32f32f")};
  const TiledSat tiled(of.shape, of.type, options, {.workers = {gpu}, .memory = 24 << 20});
  Array first({3000, 4000}, Type::f32), again({3000, 4000}, Type::f32);
  tiled.table(of.read(), first.view());
  for (int i = 0; i < 20; ++i) {
    tiled.table(of.read(), again.view());
    expect_same(again.view(), first.view(), "run " + std::to_string(i));
  }
}

TEST_F(CudaTiledSat, PiecesAreInPageLockedMemory) {
  const Case of({2000, 3000}, Type::u8, Rows::plain);
  const TiledSat tiled(of.shape, of.type, {}, {.workers = {gpu}, .memory = 8 << 20});
  int pieces = 0;
  tiled.pieces(of.read(), [&](const Piece& piece) {
    EXPECT_TRUE(cuda::is_page_locked(piece.values.data));
    ++pieces;
    return true;
  });
  EXPECT_EQ(pieces, tiled.grid().rows * tiled.grid().columns);
}

}  // namespace
}  // namespace areal
