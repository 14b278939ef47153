// Pieces of a larger tensor on a GPU, against the per-pixel oracle: views of device memory between guards, and of host
// memory, which an execute stages. All is skipped without a GPU.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <random>
#include "conformance/guarded_workspace.hpp"
#include "conformance/on_device.hpp"
#include "conformance/shapes.hpp"
#include "histogram_carries.hpp"

namespace areal {
namespace {

using oracle::CarriedPiece;
using oracle::CarryCase;

const Execution on_gpu{.backend = Backend::cuda};

class CudaCarry : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) GTEST_SKIP() << "no GPU";
  }
};

void staged(const HistogramPlan& plan, CarriedPiece& piece) {
  Workspace workspace(plan);
  plan.execute(piece.arguments(), workspace);
}

void in_device_memory(const HistogramPlan& plan, CarriedPiece& piece) {
  conformance::GuardedWorkspace workspace(plan.workspace_bytes(), 0xA5);
  workspace.prepare(plan);
  const Stream stream = workspace.stream();
  conformance::Mirror tensor(piece.tensor.bytes(), stream);
  const conformance::Mirror image(piece.image.bytes(), stream), weights(piece.weights.bytes(), stream),
      above(piece.above.bytes(), stream), left(piece.left.bytes(), stream);
  const auto there = [](const conformance::Mirror& mirror, const View& view) {
    return view.data ? ConstView(mirror.twin(view)) : ConstView();
  };
  HistogramArguments arguments{there(image, piece.image.view), tensor.twin(piece.tensor.view),
                               there(weights, piece.weights.view)};
  arguments.carry = {there(above, piece.above.view), there(left, piece.left.view)};
  for (int i = 0; i < 2; ++i) plan.execute(arguments, workspace.ready());  // on one workspace
  tensor.back();
  EXPECT_EQ(workspace.broken_guard(), "");  // it waits
}

TEST_F(CudaCarry, AFlippedEntryIsFound) {
  const CarryCase c{{40, 30}, Type::u8, oracle::uniform(3, 0, 256)};
  std::mt19937_64 random(1);
  const oracle::WholeTensor whole(c, random);
  for (const auto& execute : {oracle::Execute(staged), oracle::Execute(in_device_memory)}) {
    EXPECT_EQ(oracle::piece_difference(c, whole, 7, 5, 20, 20, 1, 2, on_gpu, execute), "");
    EXPECT_NE(oracle::piece_difference(c, whole, 7, 5, 20, 20, 1, 2, on_gpu, execute, true), "");
  }
}

TEST_F(CudaCarry, RandomGridsAreTheWhole) {
  const std::uint64_t seed = conformance::base_seed();
  std::mt19937_64 random(seed);
  for (int i = 0; i < 120 && !testing::Test::HasFatalFailure(); ++i) {
    const CarryCase c = i % 4 ? oracle::random_case(random, 90, 70, true) : oracle::random_case(random, 700, 300, true);
    oracle::check_grid(c, seed + static_cast<std::uint64_t>(i), on_gpu, i % 3 ? in_device_memory : staged);
  }
}

// Stacks of two and four tiles, and blocks of several.
TEST_F(CudaCarry, SeveralTilesOfAWarp) {
  oracle::check_any_values({{140, 260}, Type::u8, oracle::uniform(1, 0, 256)}, 4, on_gpu, in_device_memory);
  oracle::check_any_values({{70, 260, 1, 260}, Type::u8, oracle::uniform(9, 0, 256), Border::zero}, 5, on_gpu,
                           in_device_memory);
}

TEST_F(CudaCarry, AnyValuesWrap) {
  for (const Border border : {Border::none, Border::zero, Border::exclusive})
    for (const Type counter : {Type::u16, Type::u32, Type::u64})
      for (const Shape& shape :
           {Shape{1, 1}, Shape{70, 130, 1, 2}, Shape{1100, 3}, Shape{256, 192}, Shape{0, 4}, Shape{4, 0}})
        for (const int misalign : {0, 3})
          oracle::check_any_values(
              {shape, Type::u8, oracle::uniform(4, 0, 200), border, counter, false, misalign, misalign}, 9, on_gpu,
              in_device_memory);
}

}  // namespace
}  // namespace areal
