// Which memory a query reads, how regions and answers are given, and what is refused, without a GPU: a place on a
// device is but named, its memory is never touched.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/histogram_measures.hpp>
#include <areal/info.hpp>
#include <areal/region.hpp>
#include <areal/region_histogram.hpp>
#include <areal/window.hpp>
#include <array>
#include <cmath>
#include "refusal.hpp"
#include "region_oracle.hpp"

namespace areal {
namespace {

using oracle::Image;
using oracle::Padded;
using oracle::Table;

constexpr MemoryPlace there{MemoryPlace::cuda, 0}, elsewhere{MemoryPlace::cuda, 1};

/// Tables of an image of 6x4 pixels 1, 2, .. 24.
class Queries : public testing::Test {
 protected:
  static Image<std::uint32_t> counting() {
    Image<std::uint32_t> image{6, 4, {}};
    for (std::uint32_t i = 0; i < 24; ++i) image.pixels.push_back(i + 1);
    return image;
  }
  static TableView moved(const TableView& table, MemoryPlace place) { return {table.view.in(place), table.border}; }
  /// The same view, said to lie on a device.
  SatView on_device(MemoryPlace place = there) const { return {moved(view.sum, place), moved(*view.squares, place)}; }

  const Image<std::uint32_t> image = counting();
  const Table<std::uint32_t> sum{image, Border::zero};
  const Table<std::uint64_t> squares{image, Border::none, [](std::uint32_t p) { return std::uint64_t{p} * p; }};
  const SatView view{sum.view(), squares.view()};
  const std::vector<Region> regions{{0, 0, 6, 4}, {1, 1, 2, 2}, {3, 0, 0, 2}};
};

TEST_F(Queries, TakeRegionsOfEveryHostRange) {
  const std::vector<double> want{300, 46, 0};
  const Region plain[] = {{0, 0, 6, 4}, {1, 1, 2, 2}, {3, 0, 0, 2}};
  const std::array<Region, 3> array{plain[0], plain[1], plain[2]};
  EXPECT_EQ(region_sums(view, regions), want);
  EXPECT_EQ(region_sums(view, plain), want);
  EXPECT_EQ(region_sums(view, array), want);
  EXPECT_EQ(region_sums(view, std::span(plain)), want);
  EXPECT_EQ(region_sums(view, {{0, 0, 6, 4}, {1, 1, 2, 2}, {3, 0, 0, 2}}), want);
  EXPECT_EQ(region_sums(view, {plain[1]}), std::vector<double>{46});
  EXPECT_EQ(region_sums(sum.view(), plain), want);  // a table alone is a view
  EXPECT_EQ(region_sums({sum.view().view, Border::zero}, plain), want);
  EXPECT_EQ(region_sum(view, {1, 1, 2, 2}), 46);
  EXPECT_EQ(region_means(view, {{1, 1, 2, 2}})[0], 11.5);
  EXPECT_EQ(region_variances(view, {{1, 1, 2, 2}})[0], 9.25);
  EXPECT_EQ(region_standard_deviations(view, {{1, 1, 2, 2}})[0], std::sqrt(9.25));
  double out[3];
  region_sums(view, plain, out);
  EXPECT_EQ(std::vector<double>(out, out + 3), want);
}

TEST_F(Queries, GiveVectorsOfEachType) {
  EXPECT_EQ(region_sums<std::uint64_t>(view, regions), (std::vector<std::uint64_t>{300, 46, 0}));
  Table<std::int32_t> negative(Image<std::int32_t>{2, 1, {-5, 3}}, Border::none);
  EXPECT_EQ(region_sums<std::int64_t>(negative.view(), {{0, 0, 1, 1}, {0, 0, 2, 1}}),
            (std::vector<std::int64_t>{-5, -2}));
  EXPECT_EQ(region_sums(negative.view(), {{0, 0, 1, 1}}), std::vector<double>{-5});
  EXPECT_THROW(region_sums<std::int64_t>(view, regions), InvalidArgument);  // of a table of 32u
  const auto binning = Binning::uniform(2, 0, 24);
  const ConstView pixels(image.pixels.data(), Type::u32, {6, 4});
  const std::vector<std::uint8_t> bytes(image.pixels.begin(), image.pixels.end());
  const std::vector<float> weights(24, 0.5f);
  const ConstView byte_image(bytes.data(), 6, 4), weight_image(weights.data(), 6, 4);
  EXPECT_EQ(region_histograms(byte_image, binning, {{0, 0, 6, 4}, {0, 3, 6, 1}}),
            (std::vector<std::uint64_t>{11, 13, 0, 6}));
  EXPECT_EQ(region_histograms(byte_image, binning, weight_image, {{0, 0, 6, 4}}), (std::vector<double>{5.5, 6.5}));
}

TEST_F(Queries, OfNothing) {
  const std::vector<Region> none;
  EXPECT_TRUE(region_sums(view, none).empty());
  EXPECT_TRUE(region_variances(view, Span<const Region>()).empty());
  EXPECT_TRUE(region_sums(view, Span<const Region>(), {.execution = {.backend = Backend::cpu}}).empty());
  EXPECT_TRUE(entropies(Span<const double>(), 4).empty());
  EXPECT_TRUE(modes({}, 0, Execution{}).empty());
  std::int64_t first = 77;
  const Span<std::int64_t> first_invalid(&first, 1);
  EXPECT_TRUE(region_sums(view, none, {.first_invalid = first_invalid}).empty());
  EXPECT_EQ(first, -1);
  const Span<const Region> null(nullptr, 2);
  const Span<double> null_out(nullptr, 3);
  EXPECT_EQ(refusal([&] { region_sums(view, null); }), "regions: a null pointer for 2 elements");
  EXPECT_EQ(refusal([&] { region_sums(view, regions, null_out); }), "out: a null pointer for 3 elements");
  EXPECT_EQ(refusal([&] {
              region_sums(view, regions, {.first_invalid = {nullptr, 1}});
            }),
            "first_invalid: a null pointer for 1 elements");
  std::int64_t two[2];
  EXPECT_EQ(refusal([&] { region_sums(view, regions, {.first_invalid = two}); }),
            "first_invalid: 2 elements, it may have one or none");
}

/// The smallest index, for any number of threads; invalid regions give 0 or NaN, the others their usual results.
TEST_F(Queries, TheFirstInvalidRegionIsReported) {
  std::vector<Region> many(50000, Region{1, 1, 2, 2});
  for (const std::size_t i : {31000u, 49000u, 22222u}) many[i] = {5, 3, 2, 2};
  many[23000] = {1, 1, -1, 2};
  for (const int threads : {1, 2, 4})
    for (const Outside outside : {Outside::error, Outside::clip}) {
      SCOPED_TRACE(testing::Message() << threads << " threads, " << (outside == Outside::clip ? "clip" : "error"));
      std::int64_t first = 77;
      const QueryOptions options{outside, {.threads = threads}, Span<std::int64_t>(&first, 1)};
      const std::int64_t want = outside == Outside::clip ? 23000 : 22222;
      const auto sums = region_sums(view, many, options);
      EXPECT_EQ(first, want);
      first = 77;
      const auto integers = region_sums<std::uint64_t>(view, many, options);
      EXPECT_EQ(first, want);
      first = 77;
      const auto deviations = region_standard_deviations(view, many, options);
      EXPECT_EQ(first, want);
      first = 77;
      const auto means = region_means(view, many, options);
      EXPECT_EQ(first, want);
      for (std::size_t i = 0; i < many.size(); ++i) {
        const bool clips = outside == Outside::clip && many[i].x == 5, whole = many[i] == Region{1, 1, 2, 2};
        const bool answered = whole || clips;
        ASSERT_EQ(std::isnan(sums[i]), !answered) << i;
        ASSERT_EQ(std::isnan(means[i]), !answered) << i;
        ASSERT_EQ(std::isnan(deviations[i]), !answered) << i;
        ASSERT_EQ(integers[i], whole ? 46u : clips ? 24u : 0u) << i;
        if (answered) {
          ASSERT_EQ(sums[i], static_cast<double>(integers[i]));
        }
      }
    }
}

TEST_F(Queries, TheFirstInvalidBoxAndHistogramIsReported) {
  std::int64_t first = 77;
  const QueryOptions options{.first_invalid = Span<std::int64_t>(&first, 1)};
  const std::vector<std::uint32_t> volume{1, 2, 3, 4, 5, 6, 7, 8};  // of 2x2x2 pixels, summed to none's border
  const SatView box_view(ConstView(volume.data(), Type::u32, {2, 2, 1, 2}), Border::none);
  const auto boxes = box_sums(box_view, {{0, 0, 0, 1, 1, 1}, {0, 0, 1, 1, 1, 2}, {0, 0, 0, 1, 1, -1}}, options);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(boxes[0], 1);
  EXPECT_TRUE(std::isnan(boxes[1]) && std::isnan(boxes[2]));
  EXPECT_THROW(box_sums(box_view, {{0, 0, 1, 1, 1, 2}}), InvalidArgument);

  const std::vector<std::uint32_t> tensor{1, 2, 0, 1};  // 2 bins of an image of 2x1
  const TensorView tensor_view(ConstView(tensor.data(), Type::u32, {2, 1, 2, 1, Layout::planar}), Border::none);
  first = 77;
  EXPECT_EQ(region_histograms(tensor_view, {{0, 0, 2, 1}, {0, 0, 3, 1}, {1, 0, 1, 1}}, options),
            (std::vector<std::uint64_t>{2, 1, 0, 0, 1, 1}));
  EXPECT_EQ(first, 1);
  const auto reals = region_histograms<double>(tensor_view, {{0, 0, 2, 1}, {0, 0, 3, 1}}, options);
  EXPECT_EQ(reals[1], 1);
  EXPECT_TRUE(std::isnan(reals[2]) && std::isnan(reals[3]));

  const std::vector<std::uint8_t> bytes{0, 1, 1};
  const std::vector<double> weights{4, 2, 1};
  const ConstView pixels(bytes.data(), 3, 1), weight_view(weights.data(), 3, 1);
  first = 77;
  EXPECT_EQ(region_histograms(pixels, Binning::labels(2), {{0, 0, 3, 1}, {1, 0, 2, 1}, {0, 0, 1, 2}}, options),
            (std::vector<std::uint64_t>{1, 2, 0, 2, 0, 0}));
  EXPECT_EQ(first, 2);
  const auto weighed =
      region_histograms(pixels, Binning::labels(2), weight_view, {{3, 0, 1, 1}, {0, 0, 3, 1}}, options);
  EXPECT_EQ(first, 0);
  EXPECT_TRUE(std::isnan(weighed[0]) && std::isnan(weighed[1]));
  EXPECT_EQ(weighed[2] + weighed[3], 7);
  EXPECT_EQ(weighed[2], 4);
}

/// What the simulated machine answers is what the CPU answers, from the same spans and vectors.
TEST_F(Queries, OnTheSimulatedMachine) {
  const QueryOptions simt{.execution = {.backend = Backend::simt}};
  try {
    region_sums(view, regions, simt);
  } catch (const Unavailable&) {
    GTEST_SKIP() << "this build has no simulated machine";
  }
  EXPECT_EQ(region_sums(view, {{1, 1, 2, 2}}, simt), std::vector<double>{46});
  EXPECT_EQ(region_sums<std::uint64_t>(view, regions, simt), region_sums<std::uint64_t>(view, regions));
  EXPECT_EQ(region_variances(view, {{1, 1, 2, 2}}, simt)[0], 9.25);
  std::int64_t first = 77;
  const auto sums = region_sums(view, {{0, 0, 1, 1}, {6, 4, 1, 0}, {6, 4, 1, 1}},
                                {Outside::error, simt.execution, Span<std::int64_t>(&first, 1)});
  EXPECT_EQ(first, 1);
  EXPECT_TRUE(sums[0] == 1 && std::isnan(sums[1]) && std::isnan(sums[2]));
  EXPECT_TRUE(region_sums(view, Span<const Region>(), simt).empty());
  EXPECT_EQ(refusal([&] {
              region_sums(view, {{6, 4, 1, 1}}, simt);
            }),
            refusal([&] {
              region_sums(view, {{6, 4, 1, 1}});
            }));
  EXPECT_EQ(modes({0, 1, 5, 4, 3, 9}, 3, simt.execution), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(modes({0, 1, 5, 4, 3, 9}, 3), (std::vector<std::int64_t>{2, 2}));
}

/// Each sentence begins with the argument that is at fault.
TEST_F(Queries, MemoryThatDoesNotBelongTogetherIsRefused) {
  const auto with = [](const Execution& execution) { return QueryOptions{.execution = execution}; };
  const Execution cuda{.backend = Backend::cuda}, cpu{.backend = Backend::cpu}, simt{.backend = Backend::simt};
  std::vector<double> out(3);
  const Span<const Region> regions_there(regions.data(), 3, there);
  const Span<double> out_there(out.data(), 3, there), out_elsewhere(out.data(), 3, elsewhere);
  std::int64_t first = 0;
  const Span<std::int64_t> first_there(&first, 1, there), first_elsewhere(&first, 1, elsewhere);
  EXPECT_EQ(
      refusal([&] { region_sums(view, regions, out, with(cuda)); }),
      "table: it lies in host memory, which backend cuda does not read: copy it to the device first (copy_to), or "
      "leave the backend automatic");
  EXPECT_EQ(refusal([&] { region_sums(on_device(), regions, out, with(cpu)); }),
            "table: it lies in memory of CUDA device 0, which backend cpu does not read: copy it to the host first "
            "(copy_to), or leave the backend automatic");
  EXPECT_EQ(refusal([&] { region_sums(on_device(), regions, out, with(simt)); }).find("table: it lies in memory"), 0u);
  EXPECT_EQ(refusal([&] { region_sums(on_device(elsewhere), regions, out, with(cuda)); }),
            "table: it lies in memory of CUDA device 1, the execution names device 0");
  EXPECT_EQ(refusal([&] { region_sums(on_device(), regions_there, out_elsewhere); }),
            "out: it lies in memory of CUDA device 1, `table` in memory of CUDA device 0; it may be there or on the "
            "host");
  EXPECT_EQ(refusal([&] { region_sums(view, regions, out_there); }),
            "out: it lies in memory of CUDA device 0, `table` in host memory");
  EXPECT_EQ(refusal([&] { region_sums(view, regions_there, out); }),
            "regions: it lies in memory of CUDA device 0, `table` in host memory");
  EXPECT_EQ(refusal([&] { region_sums(view, regions, out, {.first_invalid = first_there}); }),
            "first_invalid: it lies in memory of CUDA device 0, `table` in host memory");
  EXPECT_EQ(refusal([&] {
              region_means(on_device(), regions_there, out_there, {.first_invalid = first_elsewhere});
            }).find("first_invalid: it lies in memory of CUDA device 1"),
            0u);
  SatView mixed = view;
  mixed.squares = moved(*view.squares, there);
  EXPECT_EQ(refusal([&] { region_variances(mixed, regions, out); }),
            "squares: it lies in memory of CUDA device 0, `sum` in host memory: a query reads one memory");
  mixed = view;
  mixed.count = moved(view.sum, there);
  EXPECT_EQ(refusal([&] { region_means(mixed, regions, out); }).find("count: it lies in memory of CUDA device 0"), 0u);
  EXPECT_EQ(
      refusal([&] { region_sums(view, regions, out, with({.stream = Stream::legacy_default()})); }).find("stream: "),
      0u);
  EXPECT_NO_THROW(region_sums(view, regions, out, with({.stream = Stream::host()})));
  EXPECT_EQ(refusal([&] { region_sums(view, regions, out, with({.threads = -1})); }).find("threads: -1"), 0u);

  Padded map(Type::f64, {6, 4});
  EXPECT_EQ(refusal([&] { window_sums(view, {3, 3}, map.view().in(there)); }).find("out: it lies in memory"), 0u);
  EXPECT_EQ(refusal([&] {
              window_sums(on_device(), {3, 3}, map.view().in(elsewhere));
            }).find("out: it lies in memory"),
            0u);
  EXPECT_EQ(refusal([&] { convert_border(view.sum, map.view().in(there), Border::none); }).find("to: "), 0u);
  EXPECT_EQ(refusal([&] {
              entropies(Span<const double>(out.data(), 3, there), 1, out_elsewhere);
            }).find("out: it lies in memory of CUDA device 1"),
            0u);
  const ConstView image_there = ConstView(image.pixels.data(), Type::u8, {6, 4}).in(there);
  const ConstView image_here(image.pixels.data(), Type::u8, {6, 4});
  EXPECT_EQ(refusal([&] { region_histograms(image_there, Binning::labels(2), image_here, regions); }).find("weights: "),
            0u);
}

/// Without a GPU, queries of a device's tables throw Unavailable.
TEST_F(Queries, OfTablesOnADeviceThatIsNotThere) {
  const MemoryPlace far{MemoryPlace::cuda, 99};
  EXPECT_THROW(region_sums(on_device(far), regions), Unavailable);
  EXPECT_THROW(region_sums(on_device(far), Span<const Region>(regions.data(), 3, far)), Unavailable);
  const ConstView image_there = ConstView(image.pixels.data(), Type::u8, {6, 4}).in(far);
  EXPECT_THROW(region_histograms(image_there, Binning::labels(2), regions), Unavailable);
}

TEST_F(Queries, TablesThatAreMissingAreNamed) {
  EXPECT_EQ(refusal([&] { region_variances(sum.view(), regions); }),
            "squares: variances need the table of squares, which this table lacks: make it with squares");
  Padded map(Type::f64, {6, 4});
  EXPECT_EQ(refusal([&] { window_variances(sum.view(), {3, 3}, map.view()); }).find("squares: "), 0u);
  EXPECT_EQ(refusal([&] { tilted_sums(view, regions); }).find("tilted: "), 0u);
  SatView counted = view;  // windows divide by counts, which lie where the sums do
  counted.count = view.sum;
  EXPECT_NO_THROW(window_means(counted, {3, 3}, map.view()));
  EXPECT_NO_THROW(window_sums(counted, {3, 3}, map.view()));
}

/// The memory's place goes where a view's or a span's parts go.
TEST(Places, AreKept) {
  std::vector<double> values(4);
  const Span<double> span(values.data(), 4, there);
  EXPECT_EQ(Span<double>(span).memory(), there);
  EXPECT_EQ(Span<const double>(span).memory(), there);
  EXPECT_EQ(Span<const double>(values).memory(), MemoryPlace{});
  const View view = View(values.data(), Type::f64, {2, 1, 2, 1, Layout::planar}).in(there);
  EXPECT_EQ(ConstView(view).memory, there);
  EXPECT_EQ(plane(view, 1).memory, there);
  EXPECT_EQ(plane(ConstView(view), 0).memory, there);
}

}  // namespace
}  // namespace areal
