// Gaussians on the simulated machine: the CPU's bits, and the reads and writes that the kernel's contract promises.
#include <gtest/gtest.h>
#include <algorithm>
#include <areal/areal.hpp>
#include <cstdint>
#include <string>
#include <vector>
#include "device_filter_cases.hpp"
#include "device_filter_request.hpp"
#include "kernels/filter/gaussian/convolution.hpp"
#include "kernels/filter/gaussian/extended-boxes.hpp"

namespace areal {
namespace {

using device_filters::Case;
using device_filters::Pixels;
using device_filters::Scene;

Case of(const char* algorithm, const filter::Gaussian& filter, const Shape& image, Type in = Type::f32) {
  Case c{image, in, in, filter};
  c.options.algorithm = algorithm, c.options.window.edge = Edge::reflect;
  return c;
}
std::string fault(const Case& c) {
  Scene scene(c);
  device_filters::run(c, scene, c.options.algorithm);
  return scene.fault(c);
}

TEST(SimtFilterGaussian, TheTestCanFail) {
  for (const char* const id : {"convolution", "extended-boxes"}) {
    const Case c = of(id, {3, 3}, {30, 20});
    Scene scene(c);
    const float before = *reinterpret_cast<float*>(scene.image.at(7, 7, 0, 0));
    device_filters::put(Type::f32, before + 1, scene.image.at(7, 7, 0, 0));
    device_filters::run(c, scene, id);
    EXPECT_NE(scene.fault(c), "");
    EXPECT_EQ(fault(c), "");
  }
}

TEST(SimtFilterGaussian, EveryTypeAndEdge) {
  for (const Case& c : device_filters::random_gaussian_cases(5, 120, 24, 20261128)) EXPECT_EQ(fault(c), "");
}

// Every remainder of a box's pixels by the blocks that they are added up in, and boxes inside one block.
TEST(SimtFilterGaussian, EveryBox) {
  for (int i = 0; i <= 18; ++i) {
    Case c = of("extended-boxes", {0.5 + i, 1.0 + i, 4, 1 + i % 3}, {50, 20});
    c.options.window.edge = device_filters::edges[1 + i % 7], c.options.window.value = 0.3;
    c.pixels = i % 2 == 0 ? Pixels::plain : Pixels::wild, c.seed = static_cast<unsigned>(i);
    EXPECT_EQ(fault(c), "");
  }
}

// Lines of 1024, 2048 and 4096 places, in one segment and in several; boxes of up to 512 pixels.
TEST(SimtFilterGaussian, WideGaussians) {
  for (const double sigma : {20., 60., 110., 330.})
    for (const bool across : {true, false}) {
      const std::int64_t length = sigma < 100 ? 1500 : 300;
      const filter::Gaussian filter = across ? filter::Gaussian{sigma, 9} : filter::Gaussian{9, sigma};
      Case c = of("extended-boxes", filter, across ? Shape{length, 2} : Shape{2, length});
      c.options.window.edge = sigma < 100 ? Edge::shrink : Edge::zero;
      EXPECT_EQ(fault(c), "");
    }
  EXPECT_EQ(fault(of("convolution", {100, 1}, {900, 2})), "");
}

TEST(SimtFilterGaussian, ImagesOfOneRowOrColumnOrOfNone) {
  for (const Edge edge : device_filters::edges)
    for (const Shape& shape : {Shape{1, 1}, {1, 40}, {40, 1}, {0, 5}, {5, 0}, {17, 3}})
      for (const char* const id : {"convolution", "extended-boxes"}) {
        Case c = of(id, {1, 2}, shape);
        c.options.window.edge = edge, c.options.window.value = 0.1;
        EXPECT_EQ(fault(c), "");
      }
}

TEST(SimtFilterGaussian, ReadsAndWrites) {
  for (const double sigma : {3., 20.}) {
    const Case c = of(sigma == 3 ? "convolution" : "extended-boxes", {sigma, sigma}, {1024, 24});
    Scene scene(c);
    const std::vector<LaunchCounts> launches = device_filters::run(c, scene, c.options.algorithm);
    ASSERT_EQ(scene.fault(c), "");
    ASSERT_EQ(launches.size(), 2u);
    const auto reach = static_cast<std::uint64_t>((device_filters::window_of(c).width - 1) / 2);
    const Counts &down = launches[0].counts, &along = launches[1].counts;
    const std::uint64_t each = (1024 - 2 * reach - 7) / 8 * 8, segments = (1024 - 1) / each + 1;
    // Of each eight outputs.
    const std::uint64_t weights = sigma == 3 ? 1024 * 24 / 8 * (1 + reach) * 8 : 0;
    EXPECT_EQ(down.reads.bytes, 1024 * (24 + 2 * reach) * 4 + weights);
    EXPECT_EQ(down.writes.bytes, 1024u * 24u * 8u);
    EXPECT_EQ(along.reads.bytes, 24 * (1024 + 2 * reach * segments) * 8 + weights);
    EXPECT_EQ(along.writes.bytes, 1024u * 24u * 4u);
    // Lines come and go across the cells that they lack.
    for (const Counts* one : {&down, &along}) {
      EXPECT_LE(one->shared_reads.conflicts, one->shared_reads.requests / 2);
      EXPECT_LE(one->shared_writes.conflicts, one->shared_writes.requests);
    }
  }
}

TEST(SimtFilterGaussian, APlanChoosesBySigma) {
  for (const double sigma : {2., 9.}) {
    Case c = of("auto", {sigma, sigma}, {60, 9}, Type::u8);
    EXPECT_EQ(FilterPlan(c.image, c.in, c.out, c.filter, c.options, {.backend = Backend::simt}).algorithm(),
              sigma == 2 ? "convolution" : "extended-boxes");
    Scene scene(c);
    apply(c.filter, scene.arguments(c, scene.out.view), c.options, {.backend = Backend::simt});
    EXPECT_EQ(scene.fault(c), "");
  }
}

TEST(SimtFilterGaussian, RefusesInASentence) {
  const auto takes = [](const Case& c) {
    const kernels::FilterRequest request = device_filters::request_of(c, c.options.algorithm);
    return request.id == "convolution" ? kernels::convolution_takes(request) : kernels::extended_boxes_takes(request);
  };
  EXPECT_EQ(takes(of("extended-boxes", {330, 330}, {9, 9})), "");
  EXPECT_EQ(takes(of("extended-boxes", {9, 340}, {9, 9})),
            "it takes boxes of up to 512 pixels; this one has " +
                std::to_string(formulas::GaussianAxis({340, 340}, 340, "extended-boxes").window()));
  EXPECT_EQ(takes(of("convolution", {510, 1}, {9, 9})), "");
  EXPECT_EQ(takes(of("convolution", {511, 1}, {9, 9})),
            "it takes windows of up to 4082 rows and columns; this one has 4089");
  Case c = of("convolution", {1, 1}, {9, 9});
  c.filter = filter::Mean{};
  EXPECT_EQ(takes(c), "it takes Gaussians");
}

}  // namespace
}  // namespace areal
