#include "bench/harness/device_floors.hpp"
#include <algorithm>
#include <areal/device.hpp>
#include <chrono>
#include <memory>

namespace areal::bench {
namespace {

constexpr std::uint64_t most_at_once = std::uint64_t{256} << 20;

Shape bytes(std::uint64_t n) { return {static_cast<std::int64_t>(n), 1}; }

/// One direction of the link: memory on both sides, and a stream.
struct Way {
  std::uint64_t all, piece;
  OwnedStream stream;
  Event begin, end;
  PinnedArray here;
  DeviceArray there;

  Way(std::uint64_t n, const Execution& on)
      : all(n),
        piece(std::min(n, most_at_once)),
        stream(on),
        begin(on),
        end(on),
        here(bytes(piece), Type::u8, on),
        there(bytes(piece), Type::u8, on) {}
  void queue(bool up) {
    begin.record(stream);
    for (std::uint64_t at = 0; at < all; at += piece) {
      const auto n = static_cast<std::int64_t>(std::min(piece, all - at));
      const View host(here.data(), Type::u8, {n, 1}),
          device = View(there.view().data, Type::u8, {n, 1}).in(there.memory());
      if (up)
        copy_view(host, device, stream.get());
      else
        copy_view(device, host, stream.get());
    }
    end.record(stream);
  }
  double microseconds() const { return end.seconds_since(begin) * 1e6; }
};

}  // namespace

LinkFloor link_floor(std::uint64_t up_bytes, std::uint64_t down_bytes, const Execution& on, int repetitions) {
  Way up(up_bytes, on), down(down_bytes, on);
  clear_view(up.here.view());
  clear_view(down.there.view());
  std::vector<double> ups, downs, boths;
  for (int i = -1; i < repetitions; ++i) {
    up.queue(true);
    up.stream.wait();
    down.queue(false);
    down.stream.wait();
    const double alone[] = {up.microseconds(), down.microseconds()};
    const auto begin = std::chrono::steady_clock::now();
    up.queue(true);
    down.queue(false);
    up.stream.wait();
    down.stream.wait();
    const double both = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
    if (i < 0) continue;  // warm-up
    ups.push_back(alone[0]), downs.push_back(alone[1]), boths.push_back(both);
  }
  return {times_of(ups), times_of(downs), times_of(boths)};
}

Times links_floor(std::uint64_t bytes, const std::vector<Execution>& on, int repetitions) {
  std::vector<std::unique_ptr<Way>> ways;
  for (const Execution& where : on)
    ways.push_back(std::make_unique<Way>(std::max<std::uint64_t>(1, bytes / on.size()), where));
  // Copies follow each other, as those of a pipeline, up to 4 GiB in a run.
  const auto copies =
      static_cast<int>(std::clamp<std::uint64_t>((std::uint64_t{4} << 30) / std::max<std::uint64_t>(1, bytes), 1, 16));
  std::vector<double> times;
  for (int i = -1; i < repetitions; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    for (int copy = 0; copy < copies; ++copy)
      for (const std::unique_ptr<Way>& way : ways) way->queue(false);
    for (const std::unique_ptr<Way>& way : ways) way->stream.wait();
    if (i < 0) continue;
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() /
                    copies);
  }
  return times_of(times);
}

Times memset_floor(std::uint64_t all, std::uint64_t group, const Execution& on, int repetitions) {
  const std::uint64_t piece = std::min(all, group);
  const OwnedStream stream(on);
  Event begin(on), end(on);
  DeviceArray there(bytes(piece), Type::u8, on);
  std::vector<double> times;
  for (int i = -1; i < repetitions; ++i) {
    begin.record(stream);
    for (std::uint64_t at = 0; at < all; at += piece)
      clear_view(View(there.view().data, Type::u8, bytes(std::min(piece, all - at))).in(there.memory()), stream.get());
    end.record(stream);
    end.wait();
    if (i >= 0) times.push_back(end.seconds_since(begin) * 1e6);
  }
  return times_of(times);
}

}  // namespace areal::bench
