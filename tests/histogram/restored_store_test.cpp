// Stores from their bytes: the same answers, and no bytes of others.
#include <gtest/gtest.h>
#include <areal/areal.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include "histogram_oracle.hpp"
#include "refusal.hpp"

namespace areal {
namespace {

using oracle::Guarded;

std::vector<Region> some_regions(std::int64_t w, std::int64_t h) {
  return {{0, 0, w, h}, {1, 2, w / 2, h / 3}, {w / 3, 0, 1, h}, {0, h - 1, w, 1}, {w - 1, h - 1, 1, 1}, {2, 2, 0, 0}};
}

Array changed(const HistogramStore& store, std::size_t byte, int bit) {
  Array bytes = store.to_host();
  static_cast<unsigned char*>(bytes.data())[byte] ^= static_cast<unsigned char>(1 << bit);
  return bytes;
}

std::vector<Backend> host_backends() {
  std::vector<Backend> out{Backend::cpu};
  for (const BackendInfo& row : backends())
    if (row.backend == Backend::simt && row.available) out.push_back(Backend::simt);
  return out;
}

TEST(RestoredStore, CompactAnswersAsBefore) {
  std::mt19937_64 random(61);
  struct Case {
    Binning binning;
    Type type;
    Shape shape;
  };
  const Case cases[] = {
      {Binning::uniform(32, 0, 256), Type::u8, {131, 97, 1, 2}},
      {Binning::uniform(256, 0, 256), Type::u8, {70, 60}},
      {Binning::labels(300, 4), Type::u16, {60, 70}},
      {Binning::joint({Binning::uniform(4, 0, 256), Binning::uniform(5, 9, 200)}), Type::u8, {60, 70, 2}},
      {Binning::uniform(8, 0, 256), Type::u8, {0, 5}}};
  for (const Case& one : cases) {
    const Guarded image(one.shape, one.type, 1, 3);
    oracle::fill_random(image.view, random, 0, 310);
    for (const Backend backend : host_backends()) {
      const StorePlan plan(one.shape, one.type, one.binning, {.store = Store::compact}, {.backend = backend});
      const HistogramStore built = plan.build({image.view});
      const HistogramStore restored = plan.restore(built.to_host());
      EXPECT_EQ(restored.store(), Store::compact);
      EXPECT_EQ(restored.bytes(), plan.bytes());
      EXPECT_EQ(std::memcmp(restored.data().data(), built.data().data(), built.bytes()), 0);
      if (one.shape.empty()) continue;
      for (std::int64_t n = 0; n < one.shape.batch; ++n)
        EXPECT_EQ(region_histograms(restored.view(n), some_regions(one.shape.width, one.shape.height)),
                  region_histograms(built.view(n), some_regions(one.shape.width, one.shape.height)));
    }
  }
}

TEST(RestoredStore, RankAnswersAsBefore) {
  std::mt19937_64 random(62);
  const double quantiles[] = {0, 0.3, 1};
  for (const Type type : {Type::u8, Type::u16, Type::s16, Type::f32}) {
    const Guarded image({75, 41, 2}, type, 1, 3);
    oracle::fill_random(image.view, random, 0, 120);
    if (type == Type::f32) {
      const float nan = std::nanf("");
      std::memcpy(image.view.row(3), &nan, sizeof nan);
    }
    for (const Backend backend : host_backends()) {
      const StorePlan plan(image.view.shape, type, {.store = Store::rank}, {.backend = backend});
      const HistogramStore built = plan.build({image.view});
      const HistogramStore restored = plan.restore(built.to_host());
      const auto regions = some_regions(75, 41);
      const auto before = region_quantiles(built, regions, quantiles),
                 after = region_quantiles(restored, regions, quantiles);
      EXPECT_EQ(std::memcmp(before.data(), after.data(), before.size() * sizeof(double)), 0) << name_of(type);
    }
  }
}

TEST(RestoredStore, EveryBitOfARankStoreIsChecked) {
  std::mt19937_64 random(63);
  const Guarded image({18, 5}, Type::u8, 0, 0);
  oracle::fill_random(image.view, random, 0, 255);
  const StorePlan plan({18, 5}, Type::u8, {.store = Store::rank});
  const HistogramStore built = plan.build({image.view});
  for (std::size_t byte = 0; byte < built.bytes(); ++byte)
    for (int bit = 0; bit < 8; ++bit)
      EXPECT_NE(refusal([&] {
                  plan.restore(changed(built, byte, bit));
                }).find("its counts of zeros are not those of its bits"),
                std::string::npos)
          << byte << ", " << bit;
}

TEST(RestoredStore, LabelsBeyondTheBinsAreRefused) {
  for (const std::int64_t bins : {10, 300}) {
    const Guarded image({40, 30}, Type::u16, 0, 0);
    std::mt19937_64 random(64);
    oracle::fill_random(image.view, random, 0, 9);
    const StorePlan plan({40, 30}, Type::u16, Binning::labels(bins), {.store = Store::compact});
    const HistogramStore built = plan.build({image.view});
    const std::string refused = refusal([&] { plan.restore(changed(built, built.bytes() - (bins == 10 ? 1 : 2), 5)); });
    EXPECT_NE(refused.find("data: it is no compact store of 40x30: it has a label beyond its bins"), std::string::npos)
        << refused;
  }
}

TEST(RestoredStore, OtherBytesAreRefused) {
  const StorePlan rank({40, 30}, Type::u8, {.store = Store::rank});
  const StorePlan none({40, 30}, Type::u8, Binning::uniform(4, 0, 256), {.store = Store::none});
  EXPECT_EQ(refusal([&] {
              rank.restore(Array({7, 1}, Type::u8));
            }),
            "data: 7 bytes; a rank store of 40x30 has " + std::to_string(rank.bytes()));
  EXPECT_EQ(refusal([&] { none.restore({}); }), "store none: only the stores compact and rank have bytes to restore");
  EXPECT_EQ(HistogramStore().to_host().bytes(), 0u);
}

}  // namespace
}  // namespace areal
