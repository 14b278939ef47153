#pragma once
// What <areal/device.hpp> promises on every backend: copies of any pitch in both directions, streams, events.

#include <gtest/gtest.h>
#include <areal/areal.hpp>
#include <chrono>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace areal::test {

template <class F>
std::string refused(const F& f) {
  try {
    f();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

/// Every byte that a view spans, gaps included.
struct Bytes {
  std::vector<unsigned char> all;
  Shape shape;
  Type type;
  std::int64_t row = 0, plane = 0, image = 0;

  /// A gap behind each row, plane and image.
  Bytes(const Shape& of, Type elements, int gap, unsigned char fill) : shape(of), type(elements) {
    const bool planar = of.layout == Layout::planar;
    row = of.width * (planar ? 1 : of.channels) * static_cast<std::int64_t>(size_of(type)) + gap;
    plane = planar ? of.height * row + gap : 0;
    image = (planar ? of.channels * plane : of.height * row) + gap;
    all.assign(static_cast<std::size_t>(of.batch * image), fill);
  }
  View view() { return View(all.data(), type, shape, row, plane, image); }
};

inline void fill_random(const View& view, std::mt19937_64& random) {
  const std::int64_t planes = view.shape.layout == Layout::planar ? view.shape.channels : 1;
  for (std::int64_t n = 0; n < view.shape.batch; ++n)
    for (std::int64_t c = 0; c < planes; ++c)
      for (std::int64_t y = 0; y < view.shape.height; ++y) {
        auto* const row = static_cast<unsigned char*>(view.row(y, c, n));
        for (std::int64_t i = 0; i < view.shape.width * view.column_pitch(); ++i)
          row[i] = static_cast<unsigned char>(random() >> 40);
      }
}
/// Element by element, by the definition of a view; -1 where all are equal, else the first offset that differs.
inline std::int64_t first_difference(const ConstView& a, const ConstView& b) {
  const std::int64_t planes = a.shape.layout == Layout::planar ? a.shape.channels : 1;
  std::int64_t at = 0;
  for (std::int64_t n = 0; n < a.shape.batch; ++n)
    for (std::int64_t c = 0; c < planes; ++c)
      for (std::int64_t y = 0; y < a.shape.height; ++y)
        for (std::int64_t i = 0; i < a.shape.width * a.column_pitch(); ++i, ++at)
          if (static_cast<const unsigned char*>(a.row(y, c, n))[i] !=
              static_cast<const unsigned char*>(b.row(y, c, n))[i])
            return at;
  return -1;
}

inline void copies_of_any_pitch(const Execution& on) {
  constexpr unsigned seed = 20261123;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const OwnedStream stream(on);
  for (const Shape& shape : {Shape{37, 21}, Shape{5, 1}, Shape{1, 40}, Shape{16, 9, 3}, Shape{7, 4, 3, 2},
                             Shape{12, 5, 6, 2, Layout::planar}, Shape{0, 5}, Shape{}})
    for (const Type type : {Type::u8, Type::u32, Type::f64})
      for (const int gap_from : {0, 5})
        for (const int gap_to : {0, 11})
          for (const bool queued : {false, true}) {
            SCOPED_TRACE(std::to_string(shape.width) + "x" + std::to_string(shape.height) + "x" +
                         std::to_string(shape.channels) + " gaps " + std::to_string(gap_from) + " " +
                         std::to_string(gap_to));
            Bytes from(shape, type, gap_from, 0x11), back(shape, type, gap_to, 0x22);
            fill_random(from.view(), random);
            // A device view with gaps: one half of the columns of a wider array.
            Shape wide = shape;
            wide.width *= 2;
            DeviceArray there(gap_from ? wide : shape, type, on), second(gap_to ? wide : shape, type, on);
            const auto part = [&](DeviceArray& of) {
              const View all = of.view();
              return View(all.data, type, shape, all.row_pitch, all.plane_pitch, all.batch_pitch).in(all.memory);
            };
            const std::optional<Stream> at = queued ? std::optional<Stream>(stream.get()) : std::nullopt;
            copy_view(from.view(), part(there), at);
            copy_view(part(there), part(second), at);
            copy_view(part(second), back.view(), at);
            stream.wait();
            ASSERT_EQ(first_difference(from.view(), back.view()), -1);
            // Only the elements were written.
            Bytes expected(shape, type, gap_to, 0x22);
            for (std::int64_t n = 0; n < shape.batch; ++n)
              for (std::int64_t c = 0; c < (shape.layout == Layout::planar ? shape.channels : 1); ++c)
                for (std::int64_t y = 0; y < shape.height; ++y)
                  std::memcpy(expected.view().row(y, c, n), from.view().row(y, c, n),
                              static_cast<std::size_t>(shape.width * from.view().column_pitch()));
            ASSERT_EQ(back.all, expected.all);
            if (shape.empty()) continue;
            // The comparison can fail.
            back.all[0] ^= 1;
            ASSERT_EQ(first_difference(from.view(), back.view()), 0);
          }
}

inline void pinned_arrays_and_clears(const Execution& on) {
  PinnedArray pinned({33, 7}, Type::u32, on);
  ASSERT_EQ(pinned.bytes(), 33u * 7 * 4);
  EXPECT_EQ(pinned.view().memory, MemoryPlace{});
  EXPECT_EQ(pinned.view().shape, (Shape{33, 7}));
  for (int i = 0; i < 33 * 7; ++i) pinned.as<std::uint32_t>()[i] = static_cast<std::uint32_t>(i * 2654435761u);
  EXPECT_NE(refused([&] { pinned.as<float>(); }), "");
  DeviceArray there(pinned.shape(), Type::u32, on);
  copy_view(pinned.view(), there.view());
  const Array back = there.to_host(on);
  EXPECT_EQ(std::memcmp(back.data(), pinned.data(), pinned.bytes()), 0);
  clear_view(there.view());
  const Array zeros = there.to_host(on);
  for (int i = 0; i < 33 * 7; ++i) ASSERT_EQ(zeros.as<std::uint32_t>()[i], 0u);
  const View all = there.view();
  EXPECT_NE(refused([&] { clear_view(View(all.data, Type::u32, {5, 7}, all.row_pitch).in(all.memory)); }), "");
  PinnedArray moved = std::move(pinned);
  EXPECT_EQ(moved.as<std::uint32_t>()[5], static_cast<std::uint32_t>(5 * 2654435761u));
  EXPECT_EQ(PinnedArray({0, 9}, Type::u8, on).data(), nullptr);
  EXPECT_NE(refused([&] { PinnedArray({-1, 9}, Type::u8, on); }), "");
  const DeviceArray image = DeviceArray::copy_of(moved.view(), on);
  EXPECT_EQ(std::memcmp(image.to_host(on).data(), moved.data(), moved.bytes()), 0);
}

inline void streams_and_events(const Execution& on) {
  OwnedStream stream(on), other(on);
  Event first(on), last(on), never(on);
  EXPECT_NE(refused([&] { never.wait(); }), "");
  EXPECT_NE(refused([&] { never.has_happened(); }), "");
  EXPECT_NE(refused([&] { stream.wait_for(never); }), "");
  first.record(stream);
  EXPECT_NE(refused([&] { first.seconds_since(never); }), "");
  first.wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  last.record(stream);
  last.wait();
  EXPECT_TRUE(last.has_happened());
  EXPECT_GE(last.seconds_since(first), 0.0015);
  EXPECT_EQ(last.seconds_since(last), 0);
  first.record(stream);  // again: it stands for the last time
  EXPECT_LE(last.seconds_since(first), 0);
  other.wait_for(last);
  last.hold_back(other.get());
  EXPECT_NE(refused([&] { never.hold_back(other.get()); }), "");
  const bool on_host = other.get().is_host();
  EXPECT_NE(refused([&] { last.hold_back(on_host ? Stream::legacy_default() : Stream::host()); }), "");
  EXPECT_FALSE(is_capturing(other.get()));
  // Moves.
  const Stream handle = stream.get();
  OwnedStream moved = std::move(stream);
  EXPECT_EQ(moved.get(), handle);
  EXPECT_EQ(stream.get(), Stream::host());  // NOLINT: moved from
  Event event = std::move(last);
  EXPECT_TRUE(event.has_happened());
  EXPECT_NE(refused([&] { last.wait(); }), "");  // NOLINT: moved from
  EXPECT_NE(refused([&] { last.record(handle); }), "");
  const Stream wrong = handle.is_host() ? Stream::legacy_default() : Stream::host();
  EXPECT_NE(refused([&] { event.record(wrong); }), "");
}

/// A plan on such a stream, between two copies and two events, with two frames on their way.
inline void a_pipeline_of_two_slots(const Execution& on) {
  const Shape shape{61, 43};
  const Binning binning = Binning::uniform(8, 0, 256);
  std::mt19937_64 random(7);
  struct Slot {
    OwnedStream stream;
    HistogramPlan plan;
    Workspace workspace;
    PinnedArray image, tensor;
    DeviceArray image_there, tensor_there;
    Event begin, end;
    Slot(const Execution& where, const Shape& of, const Binning& rule)
        : stream(where),
          plan(of, Type::u8, rule, {}, stream.execution()),
          workspace(plan),
          image(of, Type::u8, where),
          tensor(plan.tensor_shape(), Type::u32, where),
          image_there(of, Type::u8, where),
          tensor_there(plan.tensor_shape(), Type::u32, where),
          begin(where),
          end(where) {}
  };
  std::vector<Slot> slots;
  slots.reserve(2);
  for (int i = 0; i < 2; ++i) slots.emplace_back(on, shape, binning);
  for (int frame = 0; frame < 6; frame += 2) {
    for (Slot& s : slots) {
      fill_random(s.image.view(), random);
      s.begin.record(s.stream);
      copy_view(s.image.view(), s.image_there.view(), s.stream.get());
    }
    for (Slot& s : slots) s.plan.execute({s.image_there.view(), s.tensor_there.view()}, s.workspace);
    for (Slot& s : slots) {
      copy_view(s.tensor_there.view(), s.tensor.view(), s.stream.get());
      s.end.record(s.stream);
    }
    for (Slot& s : slots) {
      s.end.wait();
      EXPECT_GT(s.end.seconds_since(s.begin), 0);
      std::vector<std::uint32_t> sums(8);
      for (std::int64_t y = 0; y < shape.height; ++y)
        for (std::int64_t x = 0; x < shape.width; ++x) {
          for (std::size_t b = 0; b < 8; ++b) sums[b] = 0;
          for (std::int64_t v = 0; v <= y; ++v)
            for (std::int64_t u = 0; u <= x; ++u) ++sums[s.image.as<std::uint8_t>()[v * shape.width + u] / 32];
          if ((x * 7 + y * 5) % 31 != 0 && (x + 1 != shape.width || y + 1 != shape.height)) continue;
          for (std::int64_t b = 0; b < 8; ++b)
            ASSERT_EQ(s.tensor.as<std::uint32_t>()[(b * shape.height + y) * shape.width + x],
                      sums[static_cast<std::size_t>(b)])
                << "frame " << frame << " bin " << b << " at " << x << "," << y;
        }
    }
  }
}

inline void what_is_refused(const Execution& on) {
  DeviceArray there({8, 8}, Type::u8, on);
  Array small({8, 7}, Type::u8), other({8, 8}, Type::u16), right({8, 8}, Type::u8);
  EXPECT_NE(refused([&] { copy_view(small.view(), there.view()); }).find("shape 8x8"), std::string::npos);
  EXPECT_NE(refused([&] { copy_view(other.view(), there.view()); }).find("16u"), std::string::npos);
  EXPECT_NE(refused([&] { copy_view(there.view(), there.view()); }).find("overlaps"), std::string::npos);
  EXPECT_NE(refused([&] {
              copy_view(ConstView(nullptr, Type::u8, {8, 8}), there.view());
            }).find("null"),
            std::string::npos);
  const Stream wrong = there.memory().is_host() ? Stream::legacy_default() : Stream::host();
  EXPECT_NE(refused([&] { copy_view(right.view(), there.view(), wrong); }).find("stream"), std::string::npos);
  EXPECT_NE(refused([&] { clear_view(there.view(), wrong); }).find("stream"), std::string::npos);
}

}  // namespace areal::test
