#pragma once
// Times of plain copies and memsets on an Execution's device, by <areal/device.hpp>; on cpu and simt the host's.

#include <areal/execution.hpp>
#include <cstdint>
#include <vector>
#include "bench/harness/measure.hpp"

namespace areal::bench {

/// Microseconds of so many bytes between page-locked memory and the device: each way alone, and both begun together,
/// until the later one ends. More than 256 MiB go through the same memory again and again.
struct LinkFloor {
  Times up, down, both;
};
LinkFloor link_floor(std::uint64_t up_bytes, std::uint64_t down_bytes, const Execution& on, int repetitions);

/// The same of `bytes` bytes down, spread evenly over several devices at once; of one of several copies that follow
/// each other.
Times links_floor(std::uint64_t bytes, const std::vector<Execution>& on, int repetitions);

/// Microseconds of zeros in `bytes` bytes of device memory, `group` bytes at a time in the same memory.
Times memset_floor(std::uint64_t bytes, std::uint64_t group, const Execution& on, int repetitions);

}  // namespace areal::bench
