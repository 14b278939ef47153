#pragma once
// Tests of FragmentTrackers, for any machine: the CPU's FragmentTracker followed frame by frame, bit for bit. A Bed
// puts memory of the test on its machine: in(vector), out(vector), back(), `memory` and `on`, the Execution.

#include <gtest/gtest.h>
#include <areal/histogram.hpp>
#include <areal/track.hpp>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <random>
#include <string>
#include <vector>
#include "scratch.hpp"

namespace areal::device_track_cases {

/// The tensors of some frames, in host memory, as elements of T.
template <class T>
struct Frames {
  Shape shape;  // of a tensor
  Border border;
  std::deque<std::vector<T>> tensors;

  TensorView host(std::size_t frame) const { return {ConstView(tensors[frame].data(), type_of<T>, shape), border}; }
  template <class Bed>
  TensorView there(Bed& bed, std::size_t frame) const {
    const auto values = bed.in(tensors[frame]);
    return {ConstView(values.data(), type_of<T>, shape).in(Bed::memory), border};
  }
};

struct Scene {
  std::int64_t width = 75, height = 64, bins = 16;
  std::uint64_t seed = 1;
  std::size_t frames = 4;
  std::int64_t dx = 3, dy = -2;  // of the picture, from frame to frame
  double grow = 1;               // of the picture, from frame to frame
  int lowest = 0;                // values below are in no bin
};

/// Blocks of 3 x 3 pixels that move and grow, with noise: neighbouring places differ and resemble each other, too.
inline std::vector<std::uint8_t> picture(const Scene& scene, std::size_t frame) {
  const auto n = static_cast<double>(frame);
  const double zoom = std::pow(scene.grow, n);
  std::mt19937_64 noise(scene.seed * 1000 + frame);
  std::vector<std::uint8_t> pixels;
  const auto block = [&](std::int64_t p, std::int64_t size, std::int64_t step) {
    const double centre = static_cast<double>(size) / 2;
    return static_cast<std::uint64_t>(
        1000 + std::floor(((static_cast<double>(p) - centre) / zoom + centre - n * static_cast<double>(step)) / 3));
  };
  for (std::int64_t y = 0; y < scene.height; ++y)
    for (std::int64_t x = 0; x < scene.width; ++x) {
      std::uint64_t value = scene.seed + block(x, scene.width, scene.dx) * 0x9e3779b97f4a7c15u +
                            block(y, scene.height, scene.dy) * 0xd1342543de82ef95u;
      for (int round = 0; round < 3; ++round) value = (value ^ value >> 29) * 0xbf58476d1ce4e5b9u;
      pixels.push_back(static_cast<std::uint8_t>((value >> 56) + (noise() >> 62)));
    }
  return pixels;
}

template <class T>
Frames<T> frames_of(const Scene& scene, Border border) {
  Frames<T> all{{}, border, {}};
  const Binning binning = Binning::uniform(scene.bins, scene.lowest, 256);
  for (std::size_t frame = 0; frame < scene.frames; ++frame) {
    const std::vector<std::uint8_t> pixels = picture(scene, frame);
    const HistogramTensor tensor = integral_histogram(ConstView(pixels.data(), scene.width, scene.height), binning,
                                                      {.border = border}, {.backend = Backend::cpu, .threads = 1});
    all.shape = tensor.tensor().shape;
    const auto* const counts = static_cast<const std::uint32_t*>(tensor.tensor().data);
    all.tensors.emplace_back(counts, counts + bytes_of(all.shape, Type::u32) / sizeof(std::uint32_t));
  }
  return all;
}

inline std::vector<double> numbers(const TrackedBox& box) {
  return {box.x, box.y, box.width, box.height, box.distance};
}

/// How many numbers of all boxes in all frames differ by a bit. `moved`, where given, is told how often a box left its
/// place or changed its size.
template <class Bed, class T>
std::size_t differences(const Frames<T>& frames, const std::vector<Region>& boxes, const TrackerOptions& options,
                        const Frames<T>& followed, int* moved = nullptr, int* scaled = nullptr) {
  Bed bed;
  FragmentTrackers trackers(bed.on, options);
  std::deque<FragmentTracker> on_cpu;
  trackers.start(followed.there(bed, 0), boxes);
  for (const Region& box : boxes) {
    on_cpu.emplace_back(options);
    on_cpu.back().start(frames.host(0), box);
  }
  std::vector<std::vector<TrackedBox>> rows(frames.tensors.size(), std::vector<TrackedBox>(boxes.size()));
  std::size_t wrong = 0;
  const auto compare = [&](const TrackedBox& got, const TrackedBox& want) {
    for (std::size_t k = 0; k < 5; ++k)
      wrong += std::bit_cast<std::uint64_t>(numbers(got)[k]) != std::bit_cast<std::uint64_t>(numbers(want)[k]);
  };
  std::vector<std::vector<TrackedBox>> wanted(1);
  for (std::size_t frame = 1; frame < frames.tensors.size(); ++frame) {
    if (frame % 2 == 0)
      trackers.step(followed.there(bed, frame));
    else
      trackers.step(followed.there(bed, frame), bed.out(rows[frame]));
    wanted.emplace_back();
    for (FragmentTracker& tracker : on_cpu) {
      const TrackedBox before = tracker.box();
      const TrackedBox& after = wanted.back().emplace_back(tracker.step(frames.host(frame)));
      if (moved) *moved += before.region() != after.region();
      if (scaled) *scaled += before.width != after.width;
    }
    const std::vector<TrackedBox> fetched = trackers.fetch();
    for (std::size_t i = 0; i < boxes.size(); ++i) compare(fetched[i], wanted.back()[i]);
  }
  bed.back();
  for (std::size_t frame = 1; frame < frames.tensors.size(); frame += 2)
    for (std::size_t i = 0; i < boxes.size(); ++i) compare(rows[frame][i], wanted[frame][i]);
  return wrong;
}

inline std::vector<Region> some_boxes() { return {{20, 17, 23, 25}, {0, 0, 10, 10}, {46, 33, 29, 31}}; }

/// The check can fail: pixels on the first box's diagonal in another bin, in one frame, and a distance changes.
template <class Bed>
void a_changed_count_is_seen() {
  const Frames<std::uint32_t> frames = frames_of<std::uint32_t>({}, Border::none);
  Frames<std::uint32_t> other = frames;
  const std::int64_t width = frames.shape.width, height = frames.shape.height;
  for (std::int64_t k = 0; k < 23; ++k)
    for (std::int64_t y = 17 + k; y < height; ++y)
      for (std::int64_t x = 20 + k; x < width; ++x) {
        const auto at = static_cast<std::size_t>(y * width + x);
        other.tensors[0][at] -= 1, other.tensors[0][at + static_cast<std::size_t>(9 * width * height)] += 1;
      }
  const TrackerOptions options{.radius = 2};
  EXPECT_EQ((differences<Bed>(frames, some_boxes(), options, frames)), 0u);
  EXPECT_GT((differences<Bed>(frames, some_boxes(), options, other)), 0u);
}

template <class Bed, class T>
void boxes_are_the_cpus(const std::vector<std::int64_t>& bins) {
  for (const Border border : {Border::none, Border::zero})
    for (const std::int64_t n : bins) {
      const auto words = [&] {
        return std::string(name_of(type_of<T>)) + " " + std::string(name_of(border)) + ", " + std::to_string(n) +
               " bins";
      };
      int moved = 0, scaled = 0;
      const Frames<T> moving = frames_of<T>({.bins = n, .seed = 3}, border);
      EXPECT_EQ((differences<Bed>(moving, some_boxes(), {.radius = 4}, moving, &moved)), 0u) << words();
      const Frames<T> growing = frames_of<T>({.bins = n, .seed = 4, .dx = 0, .dy = 0, .grow = 1.08}, border);
      EXPECT_EQ((differences<Bed>(growing, {{20, 15, 36, 34}}, {.radius = 2}, growing, nullptr, &scaled)), 0u)
          << words();
      if (n == 1) continue;  // all pixels are alike
      EXPECT_GT(moved, 4) << words();
      EXPECT_GT(scaled, 0) << words();
    }
}

/// Radii of one place, of more than a block has in a row, and beyond the image.
template <class Bed>
void every_radius() {
  const auto frames = frames_of<std::uint32_t>({.seed = 5, .frames = 2}, Border::none);
  for (const std::int64_t radius : {0, 1, 9, 100})
    EXPECT_EQ((differences<Bed>(frames, {{30, 20, 24, 22}}, {.radius = radius, .scales = {1}}, frames)), 0u) << radius;
}

/// Boxes at every edge, the whole image, and one that what it holds leaves.
template <class Bed>
void boxes_at_the_edges() {
  const std::vector<Region> boxes{{0, 0, 75, 64}, {0, 54, 10, 10}, {65, 0, 10, 10}, {40, 0, 35, 20}, {0, 13, 13, 51}};
  for (const Border border : {Border::none, Border::zero}) {
    const auto frames = frames_of<std::uint32_t>({.seed = 7, .frames = 5, .dx = 6, .dy = -6}, border);
    EXPECT_EQ((differences<Bed>(frames, boxes, {.radius = 3}, frames)), 0u) << name_of(border);
  }
}

template <class Bed>
void every_option() {
  const auto frames = frames_of<std::uint32_t>({.seed = 9, .frames = 3, .grow = 0.93}, Border::zero);
  for (const double quantile : {0.001, 0.25, 0.5, 0.75, 1.0})
    EXPECT_EQ((differences<Bed>(frames, some_boxes(), {.radius = 1, .quantile = quantile}, frames)), 0u) << quantile;
  for (const std::vector<double>& scales : {std::vector<double>{2, 0.5, 1}, {1.01, 1}, {0.9, 0.95, 1, 1.05, 1.1}})
    for (const double cost : {0.0, 0.05, 1e308})
      EXPECT_EQ((differences<Bed>(frames, some_boxes(), {.radius = 1, .scales = scales, .scale_cost = cost}, frames)),
                0u)
          << scales.size() << " scales, " << cost;
}

/// Equally good places: a flat picture, in all scales at no cost; and one whose pattern repeats every two pixels.
template <class Bed>
void ties_are_broken_alike() {
  for (const int pattern : {0, 1}) {
    std::vector<std::uint8_t> pixels;
    for (int y = 0; y < 50; ++y)
      for (int x = 0; x < 60; ++x)
        pixels.push_back(pattern == 0 ? 77 : static_cast<std::uint8_t>((x + pattern * y) % 2 * 90));
    Frames<std::uint32_t> frames{{}, Border::none, {}};
    for (const int shift : {0, 1, 0}) {  // the second frame's pattern is shifted by one pixel
      const HistogramTensor tensor = integral_histogram(ConstView(pixels.data() + shift, 59, 49, 60),
                                                        Binning::of_type(Type::u8, 16), {}, {.backend = Backend::cpu});
      frames.shape = tensor.tensor().shape;
      const auto* const counts = static_cast<const std::uint32_t*>(tensor.tensor().data);
      frames.tensors.emplace_back(counts, counts + bytes_of(frames.shape, Type::u32) / 4);
    }
    for (const Region& box : {Region{20, 15, 20, 20}, {0, 0, 21, 23}, {38, 28, 21, 21}}) {
      EXPECT_EQ((differences<Bed>(frames, {box}, {.radius = 3, .scales = {0.9, 1, 1.1}, .scale_cost = 0}, frames)), 0u)
          << pattern << ", box at " << box.x << "," << box.y;
      if (pattern == 0) {
        Bed bed;
        FragmentTrackers trackers(bed.on);
        trackers.start(frames.there(bed, 0), std::vector{box});
        trackers.step(frames.there(bed, 1));
        EXPECT_EQ(trackers.fetch()[0].region(), box);
      }
    }
  }
}

/// Bins that leave pixels out, so that fragments count less than they have pixels, or nothing.
template <class Bed>
void pixels_in_no_bin() {
  for (const int lowest : {40, 200, 255}) {
    const auto frames = frames_of<std::uint32_t>({.seed = 11, .frames = 3, .lowest = lowest}, Border::none);
    EXPECT_EQ((differences<Bed>(frames, some_boxes(), {.radius = 2}, frames)), 0u) << lowest;
  }
}

/// Counts of 16 bits wrap; floats that are no counts, not finite, or NaN.
template <class Bed>
void tensors_of_anything() {
  auto wrapped = frames_of<std::uint16_t>({.seed = 13, .frames = 3}, Border::zero);
  for (auto& tensor : wrapped.tensors)
    for (auto& count : tensor) count = static_cast<std::uint16_t>(count + 65000);
  EXPECT_EQ((differences<Bed>(wrapped, some_boxes(), {.radius = 1}, wrapped)), 0u);
  auto floats = frames_of<float>({.seed = 15, .frames = 3}, Border::zero);
  for (auto& tensor : floats.tensors)
    for (auto& count : tensor) count *= 0.1f;
  EXPECT_EQ((differences<Bed>(floats, some_boxes(), {.radius = 1}, floats)), 0u);
  floats.tensors[1][2000] = std::numeric_limits<float>::infinity();
  floats.tensors[2][2100] = std::numeric_limits<float>::quiet_NaN();
  floats.tensors[2][9100] = -1e30f;
  EXPECT_EQ((differences<Bed>(floats, some_boxes(), {.radius = 1}, floats)), 0u);
}

/// A tensor at an odd address, with pitches of its own.
template <class Bed>
void tensors_at_any_address() {
  const auto frames = frames_of<std::uint32_t>({.seed = 17, .frames = 3}, Border::none);
  const std::int64_t row = frames.shape.width * 4 + 7, plane = row * frames.shape.height + 13;
  for (const std::int64_t first : {0, 3}) {
    Bed bed;
    FragmentTrackers trackers(bed.on, {.radius = 2});
    std::deque<FragmentTracker> on_cpu;
    for (int i = 0; i < 2; ++i) on_cpu.emplace_back(TrackerOptions{.radius = 2});
    std::deque<std::vector<char>> memory;
    for (std::size_t frame = 0; frame < 3; ++frame) {
      auto& bytes = memory.emplace_back(static_cast<std::size_t>(first + plane * frames.shape.channels), char(0x55));
      const ConstView from = frames.host(frame).view;
      for (std::int64_t bin = 0; bin < frames.shape.channels; ++bin)
        for (std::int64_t y = 0; y < frames.shape.height; ++y)
          std::memcpy(bytes.data() + first + bin * plane + y * row, from.row(y, bin),
                      static_cast<std::size_t>(frames.shape.width * 4));
      const auto there = bed.in(bytes);
      ConstView view(there.data() + first, Type::u32, frames.shape, row);
      view.plane_pitch = plane;
      const TensorView tensor(view.in(Bed::memory), Border::none);
      const std::vector<Region> boxes{{0, 0, 20, 20}, {30, 31, 21, 33}};
      if (frame == 0)
        trackers.start(tensor, boxes);
      else
        trackers.step(tensor);
      for (std::size_t i = 0; i < 2; ++i) {
        if (frame == 0)
          on_cpu[i].start(frames.host(0), boxes[i]);
        else
          EXPECT_EQ(numbers(trackers.fetch()[i]), numbers(on_cpu[i].step(frames.host(frame)))) << first << " " << frame;
      }
    }
  }
}

template <class Bed>
void wrong_use_is_refused() {
  using test::sentence_of;
  const auto frames = frames_of<std::uint32_t>({.seed = 19, .frames = 2}, Border::none);
  const auto other = frames_of<std::uint32_t>({.width = 74, .seed = 19, .frames = 1}, Border::none);
  const auto more = frames_of<std::uint32_t>({.bins = 8, .seed = 19, .frames = 1}, Border::none);
  Bed bed;
  FragmentTrackers trackers(bed.on);
  const TensorView first = frames.there(bed, 0);
  EXPECT_EQ(trackers.size(), 0u);
  EXPECT_TRUE(trackers.boxes().empty());
  EXPECT_EQ(sentence_of<InvalidArgument>([&] { trackers.step(first); }), "step: the trackers have not started");
  EXPECT_EQ(sentence_of<InvalidArgument>([&] { trackers.fetch(); }), "fetch: the trackers have not started");
  const auto refused = [&](const Region& box) {
    return sentence_of<InvalidArgument>([&] { trackers.start(first, std::vector<Region>{{0, 0, 20, 20}, box}); });
  };
  EXPECT_EQ(refused({5, 5, 1, 1}), "box 5,5,1,1: is too small, this tracker needs 10x10 pixels");
  EXPECT_EQ(refused({70, 0, 10, 10}), "box 70,0,10,10: reaches outside the image of 75x64");
  EXPECT_EQ(sentence_of<InvalidArgument>([&] { trackers.start(first, {}); }), "boxes: there is none");
  EXPECT_EQ(trackers.size(), 0u);
  const std::vector<Region> boxes{{0, 0, 20, 20}, {30, 31, 21, 33}};
  trackers.start(first, boxes);
  EXPECT_EQ(trackers.size(), 2u);
  EXPECT_EQ(trackers.boxes().memory(), Bed::memory);
  EXPECT_EQ(trackers.fetch()[1].region(), boxes[1]);
  EXPECT_EQ(sentence_of<InvalidArgument>([&] { trackers.step(other.there(bed, 0)); }),
            "tensor: of an image of 74x64, the first frame had 75x64");
  EXPECT_EQ(sentence_of<InvalidArgument>([&] { trackers.step(more.there(bed, 0)); }),
            "tensor: 8 bins, the first frame had 16");
  std::vector<TrackedBox> row(3);
  EXPECT_EQ(sentence_of<InvalidArgument>([&] { trackers.step(first, bed.out(row)); }), "into: 3 boxes, 2 are followed");
  EXPECT_NE(
      sentence_of<InvalidArgument>([&] { trackers.step(TensorView(first.view, Border::exclusive)); }).find("exclusive"),
      std::string::npos);
  const MemoryPlace elsewhere{MemoryPlace::cuda, 7};
  EXPECT_NE(sentence_of<InvalidArgument>([&] {
              trackers.step(TensorView(first.view.in(elsewhere), first.border));
            }).find("the first frame's was in"),
            std::string::npos);
  EXPECT_EQ(sentence_of<InvalidArgument>([&] { FragmentTrackers(bed.on, {.radius = 5000}); }),
            "radius: 5000, it may be 0 to 4096");
  std::vector<double> scales(2049, 1.5);
  scales[0] = 1;
  FragmentTrackers many(bed.on, {.scales = scales});
  EXPECT_EQ(sentence_of<InvalidArgument>([&] { many.start(first, boxes); }),
            "scales: 2049, on a device there may be 2048");
  scales.resize(2000);
  FragmentTrackers far(bed.on, {.radius = 4096, .scales = scales});
  EXPECT_NE(sentence_of<InvalidArgument>([&] {
              far.start(first, std::vector<Region>(10000, {0, 0, 20, 20}));
            }).find("too many for a device at once"),
            std::string::npos);
}

}  // namespace areal::device_track_cases
