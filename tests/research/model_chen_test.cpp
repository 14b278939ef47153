// The model of Chen 2018 gives the paper's own numbers and conclusions.
#include "bench/papers/model_chen.hpp"
#include <gtest/gtest.h>

namespace areal::command::chen {
namespace {

TEST(ModelChen, CountsOfARegisterMatrix) {
  EXPECT_EQ(transpose_stores, 1024);
  EXPECT_EQ(transpose_loads, 1024);
  EXPECT_EQ(transpose_stages, 64);
  EXPECT_EQ(row_stages, 160);
  EXPECT_EQ(kogge_stone_adds, 4128);
  EXPECT_EQ(ladner_fischer_adds, 2560);
  EXPECT_EQ(ladner_fischer_ands, 5120);
  EXPECT_EQ(column_stages, 31);
  EXPECT_EQ(column_adds, 992);
}

TEST(ModelChen, Latencies) {
  EXPECT_EQ(transpose_latency(p100), 2304);
  EXPECT_EQ(row_latency(p100), 6240);
  EXPECT_EQ(column_latency(p100), 186);
  EXPECT_EQ(transpose_latency(v100), 64 * 27);
  EXPECT_EQ(row_latency(v100), 160 * (39 + 4));
  EXPECT_EQ(column_latency(v100), 31 * 4);
  EXPECT_TRUE(latency_favours_columns(p100));
  EXPECT_TRUE(latency_favours_columns(v100));
  Device slow = p100;
  slow.shared_latency = 95;  // 64 * 95 + 186 > 6240
  EXPECT_FALSE(latency_favours_columns(slow));
}

TEST(ModelChen, WarpsOnTheDevice) {
  // BRLT-ScanRow on sums of 4 bytes: eight buffers and 32 x 32 partial sums.
  constexpr std::int64_t shared = 8 * 32 * 33 * 4 + 32 * 32 * 4;
  EXPECT_EQ(warps_of_block({1024, 32, 0}), 32);
  EXPECT_EQ(warps_of_block({1023, 32, 0}), 31);
  EXPECT_EQ(active_warps(p100, {1024, 64, shared}), 56 * 32);  // registers, and shared memory for one block
  EXPECT_EQ(active_warps(v100, {1024, 64, shared}), 80 * 32);  // registers
  EXPECT_EQ(active_warps(v100, {1024, 32, shared}), 80 * 64);
  EXPECT_EQ(active_warps(v100, {1024, 32, 49 * 1024}), 80 * 32);  // shared memory: one block
  EXPECT_EQ(active_warps(p100, {32, 16, 0}), 56 * 32);            // blocks
  EXPECT_DOUBLE_EQ(warp_bandwidth(p100, {1024, 64, shared}), 9519e9 / 1792);
}

TEST(ModelChen, Throughputs) {
  for (const Device& d : {p100, v100}) {
    EXPECT_DOUBLE_EQ(shared_bytes_per_clock(d), 128);
    EXPECT_DOUBLE_EQ(transpose_time(d, 4), 64);
    EXPECT_DOUBLE_EQ(transpose_time(d, 8), 128);
    EXPECT_DOUBLE_EQ(column_add_time(d), 15.5);
    EXPECT_DOUBLE_EQ(shuffle_time(d), 160);
    EXPECT_DOUBLE_EQ(kogge_stone_add_time(d), 64.5);
    EXPECT_DOUBLE_EQ(ladner_fischer_add_time(d), 40);
    EXPECT_DOUBLE_EQ(ladner_fischer_and_time(d), 80);
    EXPECT_DOUBLE_EQ(brlt_time(d, 4), 79.5);
    EXPECT_DOUBLE_EQ(kogge_stone_time(d), 224.5);
    EXPECT_DOUBLE_EQ(ladner_fischer_time(d), 280);
    for (const int bytes : {4, 8}) {
      EXPECT_TRUE(beats_kogge_stone(d, bytes));
      EXPECT_TRUE(beats_ladner_fischer(d, bytes));
    }
  }
  // The clock of a P100 is 1.328 GHz: the bandwidth that the paper cites is 128 bytes of it.
  EXPECT_NEAR(p100.clock, 1.328e9, 1e5);
  Device narrow = p100;
  narrow.shared_bandwidth /= 4;  // 256 + 15.5 > 224.5
  EXPECT_FALSE(beats_kogge_stone(narrow, 4));
}

TEST(ModelChen, PredictedLaunches) {
  const Times latency = predicted_latency(p100);
  EXPECT_EQ(latency.scan_row, 6240);
  EXPECT_EQ(latency.scan_column, 186);
  EXPECT_EQ(latency.brlt_scan_row, 2304 + 186);
  EXPECT_EQ(latency.scan_row_brlt, 6240 + 2304);
  const Times four = predicted_throughput(v100, 4), eight = predicted_throughput(v100, 8);
  EXPECT_DOUBLE_EQ(four.scan_row, 224.5);
  EXPECT_DOUBLE_EQ(four.scan_column, 15.5);
  EXPECT_DOUBLE_EQ(four.brlt_scan_row, 79.5);
  EXPECT_DOUBLE_EQ(four.scan_row_brlt, 288.5);
  EXPECT_DOUBLE_EQ(eight.brlt_scan_row, 143.5);
  EXPECT_DOUBLE_EQ(predicted_throughput(v100, 4, ladner_fischer_time).scan_row_brlt, 344);
  EXPECT_DOUBLE_EQ(scanrow_brlt(four), 577);
  EXPECT_DOUBLE_EQ(brlt_scanrow(four), 159);
  EXPECT_DOUBLE_EQ(scanrow_column(four), 240);
  // The model confirms three claims, but not the second one for sums of 8 bytes with Kogge-Stone.
  for (const Device& d : {p100, v100}) {
    EXPECT_EQ(claims(predicted_latency(d)), (std::array{true, true, true}));
    EXPECT_EQ(claims(predicted_throughput(d, 4)), (std::array{true, true, true}));
    EXPECT_EQ(claims(predicted_throughput(d, 8)), (std::array{true, false, true}));
    EXPECT_EQ(claims(predicted_throughput(d, 8, ladner_fischer_time)), (std::array{true, true, true}));
  }
}

TEST(ModelChen, BlocksWithBrlt) {
  const Kernel four = brlt_kernel(p100, 4), eight = brlt_kernel(p100, 8);
  EXPECT_EQ(four.threads, 1024);
  EXPECT_EQ(eight.threads, 512);
  EXPECT_EQ(four.registers, 64);
  EXPECT_EQ(eight.registers, 128);
  EXPECT_EQ(four.shared_bytes, 8 * 32 * 33 * 4 + 32 * 32 * 4);
  EXPECT_EQ(eight.shared_bytes, 4 * 32 * 33 * 8 + 16 * 32 * 8);
}

TEST(ModelChen, Claims) {
  EXPECT_EQ(claims({6, 4, 4.5, 5}), (std::array{true, true, true}));
  EXPECT_EQ(claims({6, 5, 4.5, 5}), (std::array{false, true, true}));
  EXPECT_EQ(claims({4, 4, 4.5, 5}), (std::array{true, false, true}));
  EXPECT_EQ(claims({6, 4, 4.5, 4}), (std::array{true, true, false}));
}

}  // namespace
}  // namespace areal::command::chen
