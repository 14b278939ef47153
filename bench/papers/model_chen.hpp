#pragma once
// The performance model of Chen 2018 (V): the costs of transposing a warp's 32 x 32 registers, of scanning their rows
// by a warp scan, and of scanning their columns within each thread. Equations 3 to 15, as pure functions of a device's
// measurements.
//
// Where the paper mixes units, everything is in clocks of one SM here, and counts are of type pairs: a shuffle of a
// warp is 32 (equation 12 divides 160 warp instructions by type pairs per clock, equation 10 bytes by bytes per
// second).

#include <algorithm>
#include <array>
#include <cstdint>

namespace areal::command::chen {

/// What the model must know of a device.
struct Device {
  double shared_latency = 0, shuffle_latency = 0, add_latency = 0;  ///< clocks
  double shuffles = 32, adds = 64, ands = 64;                       ///< type pairs per clock of an SM
  double shared_bandwidth = 0;                                      ///< bytes per second of the device
  double clock = 0;                                                 ///< per second
  int sms = 0;
  std::int64_t registers = 65536;  ///< of an SM, of 4 bytes
  std::int64_t shared_bytes = 0;   ///< of an SM
  int most_blocks = 32;            ///< on an SM
};

/// V-A, Table I. The clocks are those at which the bandwidths that the paper cites are 128 bytes a clock and SM.
inline constexpr Device p100{36, 33, 6, 32, 64, 64, 9519e9, 9519e9 / (56 * 128), 56, 65536, 64 * 1024, 32};
inline constexpr Device v100{27, 39, 4, 32, 64, 64, 13800e9, 13800e9 / (80 * 128), 80, 65536, 96 * 1024, 32};

// ---- V-B: counts and latencies of one register matrix

inline constexpr int warp = 32, cached = 32;

inline constexpr int transpose_stores = cached * warp, transpose_loads = cached * warp;
inline constexpr int transpose_stages = cached + cached;
inline constexpr int row_stages = 5 * cached;  ///< and warp shuffles
inline constexpr int row_shuffles = row_stages * warp;
inline constexpr int kogge_stone_adds = (31 + 30 + 28 + 24 + 16) * cached;
inline constexpr int ladner_fischer_adds = 5 * 16 * cached, ladner_fischer_ands = warp * row_stages;
inline constexpr int column_stages = cached - 1;
inline constexpr int column_adds = warp * column_stages;

constexpr double transpose_latency(const Device& d) { return transpose_stages * d.shared_latency; }         // (3)
constexpr double row_latency(const Device& d) { return row_stages * (d.shuffle_latency + d.add_latency); }  // (4)
constexpr double column_latency(const Device& d) { return column_stages * d.add_latency; }                  // (5)
/// (6): transposing and scanning down the columns takes less time than scanning along the rows.
constexpr bool latency_favours_columns(const Device& d) {
  return transpose_latency(d) + column_latency(d) < row_latency(d);
}

// ---- V-C: warps on the device, and throughput

/// What a kernel takes.
struct Kernel {
  int threads = 0;                ///< of a block
  std::int64_t registers = 0;     ///< of a thread
  std::int64_t shared_bytes = 0;  ///< of a block
};

constexpr std::int64_t warps_of_block(const Kernel& k) { return k.threads / warp; }  // (7)
/// (8). Of the registers it asks for whole warps alone, not for whole blocks.
constexpr std::int64_t active_warps(const Device& d, const Kernel& k) {
  const std::int64_t by_registers = d.registers / (k.registers * warp), by_blocks = warps_of_block(k) * d.most_blocks;
  const std::int64_t by_shared = k.shared_bytes == 0 ? by_blocks : d.shared_bytes / k.shared_bytes * warps_of_block(k);
  return d.sms * std::min({by_registers, by_shared, by_blocks});
}
/// (9), bytes per second.
constexpr double warp_bandwidth(const Device& d, const Kernel& k) {
  return d.shared_bandwidth / static_cast<double>(active_warps(d, k));
}

constexpr double shared_bytes_per_clock(const Device& d) { return d.shared_bandwidth / (d.sms * d.clock); }
constexpr double transpose_time(const Device& d, int bytes) {  // (10), sums of so many bytes
  return (transpose_stores + transpose_loads) * bytes / shared_bytes_per_clock(d);
}
constexpr double column_add_time(const Device& d) { return column_adds / d.adds; }            // (11)
constexpr double shuffle_time(const Device& d) { return row_shuffles / d.shuffles; }          // (12)
constexpr double kogge_stone_add_time(const Device& d) { return kogge_stone_adds / d.adds; }  // (13)
constexpr double ladner_fischer_add_time(const Device& d) { return ladner_fischer_adds / d.adds; }
constexpr double ladner_fischer_and_time(const Device& d) { return ladner_fischer_ands / d.ands; }

constexpr double brlt_time(const Device& d, int bytes) { return transpose_time(d, bytes) + column_add_time(d); }
constexpr double kogge_stone_time(const Device& d) { return kogge_stone_add_time(d) + shuffle_time(d); }
constexpr double ladner_fischer_time(const Device& d) {
  return ladner_fischer_add_time(d) + ladner_fischer_and_time(d) + shuffle_time(d);
}
/// (14) and (15): so does throughput.
constexpr bool beats_kogge_stone(const Device& d, int bytes) { return brlt_time(d, bytes) < kogge_stone_time(d); }
constexpr bool beats_ladner_fischer(const Device& d, int bytes) { return brlt_time(d, bytes) < ladner_fischer_time(d); }

// ---- VI-D: what measured times must say if the model is right

/// Of one launch each, in any unit.
struct Times {
  double scan_row = 0, scan_column = 0, brlt_scan_row = 0, scan_row_brlt = 0;
};
/// What the model predicts of the launches, for one 32 x 32 matrix of a warp, in clocks: by latency ...
constexpr Times predicted_latency(const Device& d) {
  return {row_latency(d), column_latency(d), transpose_latency(d) + column_latency(d),
          row_latency(d) + transpose_latency(d)};
}
/// ... and by throughput, for sums of so many bytes; `scan` is kogge_stone_time or ladner_fischer_time.
constexpr Times predicted_throughput(const Device& d, int bytes, double (*scan)(const Device&) = kogge_stone_time) {
  return {scan(d), column_add_time(d), brlt_time(d, bytes), scan(d) + transpose_time(d, bytes)};
}
/// Of the two launches of each algorithm.
constexpr double scanrow_brlt(const Times& t) { return 2 * t.scan_row_brlt; }
constexpr double brlt_scanrow(const Times& t) { return 2 * t.brlt_scan_row; }
constexpr double scanrow_column(const Times& t) { return t.scan_row + t.scan_column; }

/// What a launch with BRLT takes: as many registers as leave one block on an SM, and its buffers and partial sums.
constexpr Kernel brlt_kernel(const Device& d, int bytes) {
  const int threads = bytes == 8 ? 512 : 1024, buffers = 32 / bytes;
  return {threads, d.registers / threads, (std::int64_t{buffers} * 32 * 33 + threads / warp * 32) * bytes};
}

/// The three claims; the third, which the paper prints the wrong way round, as its words have it: the serial scan is
/// the faster one.
constexpr std::array<bool, 3> claims(const Times& t) {
  return {t.scan_column < t.brlt_scan_row, 2 * t.brlt_scan_row < t.scan_row + t.scan_column,
          t.brlt_scan_row < t.scan_row_brlt};
}

}  // namespace areal::command::chen
