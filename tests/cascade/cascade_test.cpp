// Cascades: every window and box against walks over the pixels, and every refusal of an XML.
#include <gtest/gtest.h>
#include <algorithm>
#include <areal/cascade.hpp>
#include <areal/error.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>
#include "cascade_oracle.hpp"
#include "cpu/simd.hpp"
#include "refusal.hpp"

namespace {

using areal::Cascade;
using areal::ConstView;
using areal::DetectOptions;
using areal::Execution;
using areal::refusal;
using areal::test::Gray;
using areal::test::inside;
using areal::test::oracle_groups;
using areal::test::oracle_windows;
using areal::test::OracleBox;
using areal::test::OracleCascade;

/// Noise that is smooth enough for features to differ, with a flat corner.
Gray picture(std::mt19937& random, int width, int height) {
  Gray image{width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width * height))};
  std::vector<int> coarse(static_cast<std::size_t>((width / 3 + 2) * (height / 3 + 2)));
  for (int& value : coarse) value = static_cast<int>(random() % 256);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int base = coarse[static_cast<std::size_t>(y / 3 * (width / 3 + 2) + x / 3)];
      const int value = x > width * 3 / 4 && y > height * 3 / 4 ? 90 : base + static_cast<int>(random() % 41) - 20;
      image.pixels[static_cast<std::size_t>(y * width + x)] = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
    }
  return image;
}

/// The picture in memory of that offset and gap between rows, with guard bytes.
struct Held {
  std::vector<std::uint8_t> bytes;
  ConstView view;
  Held(const Gray& image, std::size_t offset, int gap) {
    const std::size_t pitch = static_cast<std::size_t>(image.width + gap);
    bytes.assign(offset + pitch * static_cast<std::size_t>(image.height) + 16, 255);
    for (int y = 0; y < image.height; ++y)
      std::memcpy(bytes.data() + offset + pitch * static_cast<std::size_t>(y),
                  image.pixels.data() + static_cast<std::size_t>(y * image.width),
                  static_cast<std::size_t>(image.width));
    view = ConstView(bytes.data() + offset, image.width, image.height, static_cast<std::int64_t>(pitch));
  }
};

std::vector<OracleBox> boxes_of(const Cascade& cascade, const ConstView& image, const DetectOptions& options = {},
                                int threads = 0) {
  std::vector<OracleBox> boxes;
  for (const areal::Detection& box : areal::detect(cascade, image, options, Execution{.threads = threads}))
    boxes.emplace_back(box.x, box.y, box.width, box.height, box.neighbors);
  return boxes;
}

constexpr int everything = 1 << 30;

TEST(CascadeTest, TheOracleCanFail) {
  std::mt19937 random(4);
  OracleCascade cascade = OracleCascade::random(random, false, true, 3, 1);
  const Gray image = picture(random, 90, 60);
  const Cascade read = Cascade::parse(cascade.xml());
  const Held held(image, 0, 0);
  const auto found = boxes_of(read, held.view, {.min_neighbors = 0});
  EXPECT_EQ(found, inside(oracle_windows(cascade, image, 1.1, 0, everything), image));
  ASSERT_FALSE(found.empty());
  for (float& leaf : cascade.stages[0].trees[0].leaves) leaf = -leaf;
  EXPECT_NE(found, inside(oracle_windows(cascade, image, 1.1, 0, everything), image));
}

struct Kind {
  const char* name;
  bool lbp, tilted;
  int nodes;
};
constexpr Kind kinds[] = {{"Haar stumps", false, false, 1},  {"Haar trees", false, false, 5},
                          {"tilted stumps", false, true, 1}, {"tilted trees", false, true, 9},
                          {"LBP stumps", true, false, 1},    {"LBP trees", true, false, 4}};

TEST(CascadeTest, WindowsAreThoseOfTheWalk) {
  const bool is_short = std::getenv("AREAL_TEST_SHORT") != nullptr;
  std::size_t windows = 0, boxes = 0;
  for (const Kind& kind : kinds)
    for (unsigned seed = 1; seed <= (is_short ? 3 : 10); ++seed) {
      SCOPED_TRACE(testing::Message() << kind.name << ", seed " << seed);
      std::mt19937 random(seed);
      const OracleCascade cascade =
          OracleCascade::random(random, kind.lbp, kind.tilted, kind.nodes, static_cast<int>(seed % 4) + 1);
      const auto width = static_cast<int>(random() % 180 + 5), height = static_cast<int>(random() % 130 + 5);
      const Gray image = picture(random, width, height);
      const Held held(image, seed % 7, static_cast<int>(seed % 5));
      const Cascade read = Cascade::parse(cascade.xml());
      const double factor = seed % 3 == 0 ? 1.1 : seed % 3 == 1 ? 1.37 : 2;
      const auto expected = oracle_windows(cascade, image, factor, 0, everything);
      const auto before = held.bytes;
      EXPECT_EQ(boxes_of(read, held.view, {factor, 0}, 1), inside(expected, image));
      EXPECT_EQ(boxes_of(read, held.view, {factor, 0}, 2), inside(expected, image));
      for (const int least : {1, 3}) {
        const auto groups = oracle_groups(expected, least);
        EXPECT_EQ(boxes_of(read, held.view, {factor, least}), inside(groups, image));
        boxes += groups.size();
      }
      EXPECT_EQ(held.bytes, before);
      windows += expected.size();
    }
  EXPECT_GT(windows, 1000u);
  EXPECT_GT(boxes, 20u);
}

TEST(CascadeTest, EverySimdTargetFindsTheSame) {
  std::mt19937 random(5);
  const Gray image = picture(random, 140, 90);
  const Held held(image, 3, 2);
  for (const Kind& kind : kinds) {
    const OracleCascade cascade = OracleCascade::random(random, kind.lbp, kind.tilted, kind.nodes, 3);
    const Cascade read = Cascade::parse(cascade.xml());
    const auto expected = inside(oracle_windows(cascade, image, 1.2, 0, everything), image);
    for (const std::string& target : areal::cpu::simd_targets()) {
      ASSERT_TRUE(areal::cpu::only_simd_target(target));
      EXPECT_EQ(boxes_of(read, held.view, {1.2, 0}), expected) << kind.name << ' ' << target;
    }
    areal::cpu::only_simd_target("");
  }
}

TEST(CascadeTest, SizesOfWindowsAreLimited) {
  std::mt19937 random(11);
  const OracleCascade cascade = OracleCascade::random(random, false, false, 1, 1);
  const Gray image = picture(random, 120, 100);
  const Held held(image, 0, 0);
  const Cascade read = Cascade::parse(cascade.xml());
  for (const auto& [least, most] : {std::pair(0, 40), std::pair(20, 60), std::pair(30, 1000)})
    EXPECT_EQ(boxes_of(read, held.view, {1.1, 0, {least, least}, {most, most}}),
              inside(oracle_windows(cascade, image, 1.1, least, most), image));
  // No power of 1.5 between: the nearest to the least, 1.5^3.
  const int side = static_cast<int>(std::lround(cascade.width * 3.5));
  const auto found = boxes_of(read, held.view, {1.5, 0, {side, side}, {side, side}});
  std::int64_t widest = 0;  // others lie at the edge
  for (const OracleBox& box : found) widest = std::max(widest, std::get<2>(box));
  EXPECT_EQ(widest, std::lround(cascade.width * 3.375));
}

TEST(CascadeTest, ImagesOfEverySize) {
  std::mt19937 random(3);
  const OracleCascade cascade = OracleCascade::random(random, false, true, 3, 1);
  const Cascade read = Cascade::parse(cascade.xml());
  const int w = cascade.width, h = cascade.height;
  EXPECT_TRUE(areal::detect(read, ConstView(nullptr, areal::Type::u8, {0, 0})).empty());
  EXPECT_TRUE(areal::detect(read, ConstView(nullptr, areal::Type::u8, {0, 50})).empty());
  for (const auto& [width, height] : {std::pair(1, 200), std::pair(200, 1), std::pair(w - 1, h), std::pair(w, h - 1),
                                      std::pair(w, h), std::pair(w + 1, h + 1), std::pair(w, 97), std::pair(101, h)}) {
    const Gray image = picture(random, width, height);
    const Held held(image, 1, 3);
    EXPECT_EQ(boxes_of(read, held.view, {1.05, 0}), inside(oracle_windows(cascade, image, 1.05, 0, everything), image))
        << width << 'x' << height;
  }
}

TEST(CascadeTest, KnowsItself) {
  std::mt19937 random(2);
  const OracleCascade cascade = OracleCascade::random(random, false, true, 2, 3);
  const Cascade read = Cascade::parse(cascade.xml());
  EXPECT_EQ(read.window(), (areal::BoxSize{cascade.width, cascade.height}));
  EXPECT_EQ(read.kind(), areal::CascadeKind::haar);
  EXPECT_EQ(read.stages(), 3);
  EXPECT_EQ(read.features(), 12);
  EXPECT_TRUE(read.has_tilted());
  EXPECT_EQ(areal::name_of(areal::CascadeKind::lbp), "lbp");
}

TEST(CascadeTest, TheOldFormatIsTheSameCascade) {
  const std::string feature =
      "<feature><rects><_>0 0 6 12 -1.</_><_>3 0 3 12 2.</_></rects><tilted>0</tilted></feature>";
  const std::string other = "<feature><rects><_>2 2 8 6 -1.</_><_>2 4 8 2 3.</_></rects><tilted>0</tilted></feature>";
  const Cascade old = Cascade::parse(
      "<opencv_storage><c type_id='opencv-haar-classifier'><size>12 13</size><stages><_><trees><_><_>" + feature +
      "<threshold>0.1</threshold><left_node>1</left_node><right_val>0.7</right_val></_><_>" + other +
      "<threshold>-0.05</threshold><left_val>-0.5</left_val><right_val>0.3</right_val></_></_></trees>"
      "<stage_threshold>0.25</stage_threshold><parent>-1</parent><next>-1</next></_></stages></c></opencv_storage>");
  OracleCascade same;
  same.width = 12, same.height = 13;
  same.features = {{{{0, 0, 6, 12, -1}, {3, 0, 3, 12, 2}}}, {{{2, 2, 8, 6, -1}, {2, 4, 8, 2, 3}}}};
  same.stages = {{{{{{1, 0, 0, 0.1F, {}}, {-1, -2, 1, -0.05F, {}}}, {0.7F, -0.5F, 0.3F}}}, 0.25F}};
  std::mt19937 random(8);
  const Gray image = picture(random, 100, 70);
  const Held held(image, 0, 0);
  const auto expected = inside(oracle_windows(same, image, 1.1, 0, everything), image);
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(boxes_of(old, held.view, {1.1, 0}), expected);
  EXPECT_EQ(boxes_of(Cascade::parse(same.xml()), held.view, {1.1, 0}), expected);
}

/// A cascade of one stump, with the first `from` replaced.
std::string stump_with(const std::string& from = "", const std::string& to = "") {
  std::string text =
      "<?xml version='1.0'?><opencv_storage><cascade><stageType>BOOST</stageType><featureType>HAAR</featureType>"
      "<height>10</height><width>12</width><featureParams><maxCatCount>0</maxCatCount></featureParams>"
      "<stages><_><stageThreshold>0.5</stageThreshold><weakClassifiers><_><internalNodes>0 -1 0 0.25</internalNodes>"
      "<leafValues>1. -1.</leafValues></_></weakClassifiers></_></stages>"
      "<features><_><rects><_>1 2 3 4 1.</_></rects><tilted>0</tilted></_></features></cascade></opencv_storage>";
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(CascadeTest, RefusesBadXml) {
  Cascade::parse(stump_with());
  const std::string tree = "1 -1 0 0.25  -2 0 0 0.5";
  const struct {
    const char *from, *to, *sentence;
  } cases[] = {
      {"</opencv_storage>", "", "no XML at byte"},
      {"opencv_storage>", "storage>", "no XML at byte"},
      {"<stageType>BOOST</stageType>", "", "cascade: has no <stageType>"},
      {"BOOST", "TREE", "stageType TREE: it may be BOOST"},
      {"HAAR", "HOG", "featureType HOG: it may be HAAR or LBP"},
      {"<height>10</height>", "", "cascade: has no <height>"},
      {"<height>10<", "<height>0<", "<height> has 0, it may be a whole number from 1"},
      {"<height>10<", "<height>1.5<", "<height> has 1.5"},
      {"<height>10<", "<height>16000<", "it may have up to 66051 pixels"},
      {"<height>10<", "<height>2<", "window 12x2: it may have 3 or more columns and rows"},
      {"<height>10<", "<height>1e30<", "<height> has 1e+30"},
      {"<maxCatCount>0", "<maxCatCount>9", "maxCatCount 9: for HAAR it may be 0"},
      {"<featureParams><maxCatCount>0</maxCatCount></featureParams>", "", "has no <featureParams>"},
      {"<stages>", "<stages><!-- none --></stages><x>", "no XML at byte"},
      {"0.5</stageThreshold>", "nan</stageThreshold>", "<stageThreshold> has nan where a finite number belongs"},
      {"0.5</stageThreshold>", "1e60</stageThreshold>", "its threshold 1e+60 is no float"},
      {"0.5</stageThreshold>", "1e999</stageThreshold>", "1e999 where a finite number belongs"},
      {"0.5</stageThreshold>", "0.5 1</stageThreshold>", "<stageThreshold> has 2 numbers, it may have 1"},
      {"0.5</stageThreshold>", "</stageThreshold>", "<stageThreshold> has 0 numbers"},
      {"0.5</stageThreshold>", "0x5</stageThreshold>", "has 0x5 where"},
      {"0 -1 0 0.25", "0 -1 0 nan", "stage 0, tree 0: <internalNodes> has nan"},
      {"0 -1 0 0.25", "0 -1 0 -inf", "has -inf where"},
      {"0 -1 0 0.25", "0 -1 1 0.25", "<internalNodes> has 1, it may be a whole number from 0 to 0"},
      {"0 -1 0 0.25", "0 -1 -1 0.25", "<internalNodes> has -1, it may be"},
      {"0 -1 0 0.25", "0 -1 0", "<internalNodes> has 3 numbers, it may have a multiple of 4"},
      {"0 -1 0 0.25", "", "<internalNodes> has 0 numbers"},
      {"0 -1 0 0.25", "-1 0 0 0.25", "its one node has the children -1 and 0, they may be 0 and -1"},
      {"0 -1 0 0.25", "1 -1 0 0.25 0 -2 0 0.5", "<leafValues> has 2 numbers, it may have 3"},
      {"1. -1.", "1. 2. 3.", "<leafValues> has 3 numbers, it may have 2"},
      {"1. -1.", "1. 1e39", "which no float holds"},
      {"1. -1.", "1. x", "has x where"},
      {"<internalNodes>0 -1 0 0.25</internalNodes>", "", "has no <internalNodes>"},
      {"<_>1 2 3 4 1.</_>", "", "feature 0: has no rectangles"},
      {"1 2 3 4 1.", "1 2 3 4", "has 4 numbers, it may have 5"},
      {"1 2 3 4 1.", "-1 2 3 4 1.", "has -1, it may be a whole number from 0"},
      {"1 2 3 4 1.", "1 2 0 4 1.", "has 0, it may be a whole number from 1"},
      {"1 2 3 4 1.", "10 2 3 4 1.", "its rectangle at 10,2 of 3x4 leaves the window of 12x10"},
      {"1 2 3 4 1.", "1 7 3 4 1.", "its rectangle at 1,7 of 3x4 leaves the window"},
      {"1 2 3 4 1.", "1 2 3 4 inf", "has inf where"},
      {"<_>1 2 3 4 1.</_>", "<_>1 2 3 4 1.</_><_>1 2 3 4 1.</_><_>1 2 3 4 1.</_><_>1 2 3 4 1.</_>",
       "more than 3 rectangles"},
      {"<tilted>0", "<tilted>1", "its tilted rectangle at 1,2 of 3x4 leaves the window"},
      {"<_><rects>", "<z><rects>", "no XML at byte"},
  };
  for (const auto& [from, to, sentence] : cases) {
    const std::string said = refusal([&, text = stump_with(from, to)] { Cascade::parse(text); });
    EXPECT_NE(said.find(sentence), std::string::npos) << from << " -> " << to << ": " << said;
    EXPECT_EQ(said.find('\n'), std::string::npos);
  }
  const auto trees = [&](const std::string& nodes) {
    std::string text = stump_with("0 -1 0 0.25", nodes);
    return refusal([&] { Cascade::parse(text.replace(text.find("1. -1."), 6, "1. 2. 3.")); });
  };
  EXPECT_EQ(trees("1 -1 0 0.25  -2 0 0 0.5"), "nothing was refused");
  EXPECT_NE(trees("1 -1 0 0.25  1 0 0 0.5").find("node 1 has the child 1, which must come after it"),
            std::string::npos);
  EXPECT_NE(trees("2 -1 0 0.25  -1 0 0 0.5").find("node 0 has the child 2, but there are 2 nodes"), std::string::npos);
  EXPECT_NE(trees("1 -3 0 0.25  -1 0 0 0.5").find("<internalNodes> has -3"), std::string::npos);
  const auto without = [](const char* element, const char* sentence) {
    std::string text = stump_with();
    const std::string open = std::string("<") + element + ">", close = std::string("</") + element + ">";
    const std::size_t from = text.find(open) + open.size();
    text.erase(from, text.find(close) - from);
    const std::string said = refusal([&] { Cascade::parse(text); });
    EXPECT_NE(said.find(sentence), std::string::npos) << said;
  };
  without("stages", "cascade: has no stages");
  without("weakClassifiers", "stage 0: has no trees");
  without("features", "cascade: <features> is empty");
  without("opencv_storage", "<opencv_storage> is empty");
}

TEST(CascadeTest, RefusesBadLbp) {
  std::mt19937 random(4);
  const OracleCascade cascade = OracleCascade::random(random, true, false, 1, 1);
  const auto said = [&](const std::string& from, const std::string& to) {
    std::string text = cascade.xml();
    return refusal([&] { Cascade::parse(text.replace(text.find(from), from.size(), to)); });
  };
  EXPECT_EQ(said("LBP", "LBP"), "nothing was refused");
  EXPECT_NE(said("<maxCatCount>256", "<maxCatCount>255").find("for LBP it may be 256"), std::string::npos);
  EXPECT_NE(said("<rect>", "<rect>1 ").find("has 5 numbers, it may have 4"), std::string::npos);
  EXPECT_NE(
      said("<features>", "<features><_><rect>8 8 3 3</rect></_>").find("its blocks at 8,8 of 3x3 leave the window"),
      std::string::npos);
}

TEST(CascadeTest, RefusesWhatIsNoXmlAtOnce) {
  std::string deep;
  for (int i = 0; i < 200'000; ++i) deep += "<a>";
  for (const std::string& text :
       {std::string(), std::string("hello"), std::string("<a/>"), deep, std::string(1 << 20, '<'), std::string(3, '\0'),
        std::string("<opencv_storage><_>&x;</_></opencv_storage>")}) {
    const std::string said = refusal([&] { Cascade::parse(text); });
    EXPECT_TRUE(said.starts_with("cascade: ")) << said;
  }
  const std::string large(std::size_t{64 << 20} + 1, ' ');
  EXPECT_EQ(refusal([&] { Cascade::parse(large); }), "cascade of 67108865 bytes: it may have up to 64 MiB");
}

TEST(CascadeTest, LoadsFiles) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("areal-cascade-" + std::to_string(std::random_device()()));
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "a.xml").string();
  std::ofstream(path) << stump_with();
  EXPECT_EQ(Cascade::load(path).stages(), 1);
  std::ofstream(path) << stump_with("BOOST", "x");
  EXPECT_EQ(refusal([&] { Cascade::load(path); }), path + ": stageType x: it may be BOOST");
  EXPECT_THROW(Cascade::load((folder / "none.xml").string()), areal::IoError);
  EXPECT_THROW(Cascade::load(folder.string()), areal::IoError);
  std::filesystem::remove_all(folder);
}

TEST(CascadeTest, RefusesBadArguments) {
  const Cascade read = Cascade::parse(stump_with());
  std::vector<std::uint8_t> bytes(3 * 40 * 30);
  const ConstView image(bytes.data(), 40, 30);
  const auto said = [&](const DetectOptions& options) { return refusal([&] { areal::detect(read, image, options); }); };
  EXPECT_EQ(said({}), "nothing was refused");
  EXPECT_NE(said({.scale_factor = 1}).find("scale_factor 1: it may be any finite number above 1"), std::string::npos);
  EXPECT_NE(said({.scale_factor = std::nan("")}).find("scale_factor nan"), std::string::npos);
  EXPECT_NE(said({.scale_factor = HUGE_VAL}).find("scale_factor inf"), std::string::npos);
  EXPECT_NE(said({.scale_factor = 1.000001}).find("makes more than 65536 sizes"), std::string::npos);
  EXPECT_NE(said({.min_neighbors = -1}).find("min_neighbors -1: it may be 0 or more"), std::string::npos);
  EXPECT_NE(said({.min_size = {-1, 2}}).find("min_size -1x2: it may not be negative"), std::string::npos);
  EXPECT_NE(said({.max_size = {1, -2}}).find("max_size 1x-2"), std::string::npos);
  const auto of = [&](const ConstView& other) { return refusal([&] { areal::detect(read, other); }); };
  EXPECT_NE(of({bytes.data(), areal::Type::u8, {40, 30, 3}}).find("image: 3 channels and 1 images"), std::string::npos);
  EXPECT_NE(of({bytes.data(), areal::Type::u16, {40, 30}}).find("image type 16u: it may be 8u"), std::string::npos);
  // Refused before a pixel is read.
  EXPECT_NE(of({bytes.data(), areal::Type::u8, {std::int64_t{1} << 30, 10}}).find("too wide for a cascade"),
            std::string::npos);
  EXPECT_NE(of(image.in({areal::MemoryPlace::cuda, 0})).find("cascades run on the CPU"), std::string::npos);
  EXPECT_NE(refusal([&] {
              areal::detect(read, image, {}, Execution{.backend = areal::Backend::cuda});
            }).find("backend cuda: cascades run on the CPU"),
            std::string::npos);
}

}  // namespace
