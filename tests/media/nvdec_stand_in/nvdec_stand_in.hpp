#pragma once
// What tests ask of the libraries that stand in for libcuda.so.1 and libnvcuvid.so.1. Their device has two numbers and
// host memory. Its NVDEC paints instead of decoding: the picture that is output as frame n of a group is
// painted(x, y, n). As on a device, the pixels are there when the stream has been waited for, and not before.

#include <atomic>
#include <cstdint>

namespace areal::test {

inline std::uint8_t painted(std::int64_t x, std::int64_t y, std::int64_t frame) {
  return static_cast<std::uint8_t>(x * 7 + y * 13 + x * y % 5 + frame * 31);
}
constexpr std::uint8_t not_written = 0xee, unmapped = 0xdd;

struct NvdecStandIn {
  // How it behaves.
  std::atomic<bool> refuses_decoders = false, never_writes = false;
  std::atomic<int> fails_at_map = -1;  // the so-many-th map, from 0
  // What is alive.
  std::atomic<int> contexts = 0, streams = 0, events = 0, decoders = 0, mapped = 0;
  std::atomic<int> maps = 0, most_mapped = 0, device = -1;  // since the last reset; that was used last
  std::atomic<int> wrong = 0;  // a picture decoded into one that is mapped, a call without its context, ..
};

}  // namespace areal::test

extern "C" areal::test::NvdecStandIn* areal_nvdec_stand_in();
