// Strips on GPUs, a GPU for each rank where there are as many, else shared: against one rank on the CPU. All is skipped
// without a GPU.
#include <areal/info.hpp>
#include <areal/region.hpp>
#include <cstdlib>
#include "device_strip_cases.hpp"
#include "mpi/device_messages.hpp"

namespace areal::test {
namespace {

class CudaMpi : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) GTEST_SKIP() << "no GPU";
    count = static_cast<int>(devices().size());
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mine = {.backend = Backend::cuda, .device = rank % count};
  }
  int count = 1;
  Execution mine;
};

TEST_F(CudaMpi, TablesAreOneRanks) {
  const mpi::MessageFacts facts = mpi::message_facts();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::printf("%d ranks on %d GPUs; MPI %s device memory\n", world_size(), count,
                facts.has_query && facts.says_yes ? "takes" : "does not take");
  expect_device_tables({.devices = count, .most_columns = 2000, .most_rows = 1500});
}

TEST_F(CudaMpi, TablesAreOneRanksThroughTheHost) {
  setenv("AREAL_MPI_MESSAGES", "host", 1);
  expect_device_tables({.devices = count, .most_columns = 700, .most_rows = 600});
  unsetenv("AREAL_MPI_MESSAGES");
}

TEST_F(CudaMpi, AWrongEntryIsFound) { expect_device_tables({.devices = count, .most_columns = 300, .break_it = true}); }

TEST_F(CudaMpi, Tensors) {
  expect_device_tensors(Backend::cuda, count);
  expect_device_tensors(Backend::cuda, count, true);
}

// Strips in host memory, which the GPUs compute.
TEST_F(CudaMpi, StripsInHostMemory) {
  std::mt19937_64 random(device_seed);
  const Array image = random_image({777, 655}, Type::u8, random);
  const mpi::Rows rows = mpi::even_rows(MPI_COMM_WORLD, 655);
  const SatOptions options{.types = type_pair("8u64u"), .squares = Squares::automatic};
  const mpi::Table table =
      mpi::sat(MPI_COMM_WORLD, ConstView(image.view().row(rows.first), Type::u8, {777, rows.count}), options,
               {.execution = mine});
  EXPECT_TRUE(table.strip.memory().is_host());
  const SatTable whole = sat(image.view(), options, {.backend = Backend::cpu});
  EXPECT_EQ(wrong_row(table.strip.sum(), whole.sum(), rows.first), -1);
  EXPECT_EQ(wrong_row(table.strip.squares(), whole.squares(), rows.first), -1);
}

// Floats that round have the same bits each time, and sums near those of one rank.
TEST_F(CudaMpi, FloatsHaveTheSameBitsEachTime) {
  constexpr std::int64_t width = 1200, height = 900;
  std::mt19937_64 random(device_seed);
  Array image({width, height}, Type::f32);
  for (std::int64_t i = 0; i < width * height; ++i)
    image.as<float>()[i] = static_cast<float>(random() >> 40) / static_cast<float>(1 << 24);
  const mpi::Rows rows = mpi::even_rows(MPI_COMM_WORLD, height);
  const DeviceArray strip = strip_on(image, rows.first, rows.count, mine);
  const SatOptions options{.types = type_pair("32f32f")};
  const auto made = [&] {
    mpi::Table table = mpi::sat(MPI_COMM_WORLD, strip.view(), options, {.execution = mine});
    table.strip = table.strip.copy_to({});
    return table;
  };
  const mpi::Table first = made();
  for (int turn = 0; turn < 3; ++turn) {
    const mpi::Table again = made();
    EXPECT_EQ(wrong_row(again.strip.sum(), first.strip.sum(), 0), -1) << turn;
  }
  std::vector<double> sums(1);
  mpi::region_sums(MPI_COMM_WORLD, first, {{0, 0, width, height}}, Span<double>(sums));
  double right = 0;
  for (std::int64_t i = 0; i < width * height; ++i) right += static_cast<double>(image.as<float>()[i]);
  EXPECT_NEAR(sums[0], right, right * 1e-3);
}

}  // namespace
}  // namespace areal::test
