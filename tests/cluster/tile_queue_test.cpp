// What tiles queue on CUDA's streams, on devices that do it as late and in as odd an order as streams and events allow,
// and that fail at any call.
#include "conformance/shapes.hpp"
#include "piece_matrix/table_engines.hpp"
#include "queued_gpus.hpp"

namespace areal::piece_matrix {
namespace {

using queued_gpus::gpus;

const std::uint64_t seed = conformance::base_seed();

class TileQueue : public testing::Test {
 protected:
  void SetUp() override { reset(); }
  void TearDown() override {
    reset();
    EXPECT_EQ(gpus().queued(), 0);
    EXPECT_EQ(gpus().allocations(), 0U);
    EXPECT_EQ(gpus().queues(), 0U);
    EXPECT_EQ(gpus().points, 0);
  }
  static void reset() {
    gpus().calls_left = gpus().allocations_left = -1;
    gpus().random.seed(seed);
  }
};

/// An image in some tiles on one or two devices. Empty, or what is wrong; `tiled` says how it was cut.
std::string fault_of(std::uint64_t number, int devices, TiledGrid* cut = nullptr) {
  std::mt19937_64 random(number);
  const char* const pairs[] = {"8u32u", "32f32f", "16s64s"};
  const Cut image{"", 20 + static_cast<std::int64_t>(random() % 60), 20 + static_cast<std::int64_t>(random() % 60), 0,
                  0};
  TableQuestion q = table_question(all_borders[random() % 3], type_pair(pairs[random() % 3]), image, {});
  q.fill = conformance::Fill::exact, q.seed = number;
  {
    const std::lock_guard lock(gpus().mutex);
    gpus().eager = static_cast<int>(random() % 4);
  }
  PieceOptions how{.memory = random() % 2 ? 900 + random() % 3000 : 4000 + random() % 30000};
  for (int device = 0; device < devices; ++device) how.workers.push_back({.backend = Backend::cuda, .device = device});
  how.piece_bytes = 1 + random() % 4000;
  const TableInputs in(q);
  const TiledSat tiled(q.image, q.types.input, q.options, how);
  if (cut) *cut = tiled.grid();
  const std::string wrong = fault_in(q, in, tables_of(tiled, q, in, random() % 2 != 0));
  return wrong.empty() ? wrong : q.words() + ": " + wrong;
}

TEST_F(TileQueue, TablesAreRightHoweverLateTheirDevicesWork) {
  int with_columns = 0, with_rows = 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    TiledGrid cut;
    ASSERT_EQ(fault_of(seed + i, 1 + static_cast<int>(i % 2), &cut), "") << "seed " << seed + i;
    with_columns += cut.columns > 1, with_rows += cut.rows > 2;
  }
  EXPECT_GT(with_columns, 10);
  EXPECT_GT(with_rows, 10);
}

TEST_F(TileQueue, AFailedCallIsTriedAgain) {
  int failed = 0;
  for (std::uint64_t i = 0; i < 120; ++i) {
    gpus().calls_left = static_cast<std::int64_t>(i);
    ASSERT_EQ(fault_of(seed + i % 7, 2), "") << "seed " << seed + i % 7 << ", call " << i;
    failed += gpus().calls_left < 0 ? 1 : 0;
    reset();
  }
  EXPECT_GT(failed, 60);
}

TEST_F(TileQueue, AnAllocationThatFailsIsTriedAgain) {
  for (std::uint64_t i = 0; i < 40; ++i) {
    gpus().allocations_left = static_cast<std::int64_t>(i);
    ASSERT_EQ(fault_of(seed + i % 7, 2), "") << "seed " << seed + i % 7 << ", allocation " << i;
    reset();
  }
}

}  // namespace
}  // namespace areal::piece_matrix
