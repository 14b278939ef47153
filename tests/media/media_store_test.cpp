// Stores on disk: the plan and the bytes come back, and files that lie are refused in a sentence.
#include <areal/error.hpp>
#include <areal/region_quantile.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include "deep_json.hpp"
#include "media/media.hpp"
#include "scratch.hpp"

namespace areal::media {
namespace {

using test::bytes_in;
using test::expect_sentence;
using test::Scratch;

Array random_image(const Shape& shape, Type type, unsigned seed) {
  Array image(shape, type);
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < image.bytes(); ++i)
    static_cast<unsigned char*>(image.data())[i] = static_cast<unsigned char>(random());
  return image;
}

bool same(const HistogramStore& a, const HistogramStore& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.data().data(), b.data().data(), a.bytes()) == 0;
}

TEST(StoreFile, CompactStoresComeBackWithTheirRule) {
  const Scratch scratch;
  const Binning rules[] = {
      Binning::uniform(7, 0.1, 256.0 / 3),
      Binning::edges({-INFINITY, 0.1, 100.0 / 3, INFINITY}).clamped(),
      Binning::lookup({3, -1, 0, 300, 2}),
      Binning::labels(9, -4),
      Binning::labels(9),
      Binning::joint({Binning::uniform(3, 0, 256).clamped(), Binning::lookup({1, 0})}),
  };
  for (const Binning& rule : rules) {
    const Shape shape{70, 45, rule.channels(), 2};
    const Array image = random_image(shape, Type::u8, 5), mask = random_image({70, 45, 1, 2}, Type::u8, 6);
    for (const bool masked : {false, true}) {
      const StorePlan plan(shape, Type::u8, rule, {.store = Store::compact, .masked = masked, .block = 64});
      const HistogramStore store = plan.build({image.view(), {}, masked ? ConstView(mask.view()) : ConstView()});
      write_store(scratch / "S.npy", plan, store, "a \"photo\"\n\xff.png");
      EXPECT_TRUE(is_store(scratch / "S.npy"));
      const StoreFile back = read_store(scratch / "S.npy");
      EXPECT_EQ(back.plan.image_shape(), shape);
      EXPECT_EQ(back.plan.image_type(), Type::u8);
      EXPECT_EQ(back.plan.options().block, 64);
      EXPECT_EQ(back.plan.options().masked, masked);
      EXPECT_EQ(back.source, "a \"photo\"\n\xef\xbf\xbd.png");
      EXPECT_TRUE(same(back.store, store));
      const Binning& read = back.store.binning();
      EXPECT_EQ(read.kind(), rule.kind());
      EXPECT_EQ(read.bin_edges(), rule.bin_edges());
      EXPECT_EQ(read.is_clamped(), rule.is_clamped());
      EXPECT_EQ(read.ignored_label(), rule.ignored_label());
      for (double value = -5; rule.channels() == 1 && value < 260; ++value)
        EXPECT_EQ(read.bin_of(value), rule.bin_of(value)) << value;
      // The plan builds the next image's store, with the same bytes.
      EXPECT_TRUE(same(back.plan.build({image.view(), {}, masked ? ConstView(mask.view()) : ConstView()}), store));
    }
  }
  EXPECT_EQ(scratch.names().size(), 2u);
}

TEST(StoreFile, RankStoresComeBack) {
  const Scratch scratch;
  const double half[] = {0.5};
  for (const Type type : {Type::u8, Type::u16, Type::f64}) {
    Array image = random_image({33, 20, 2, 2}, type, 7);
    const int bits = type == Type::u16 ? 12 : 0;
    if (bits != 0)
      for (std::size_t i = 1; i < image.bytes(); i += 2) static_cast<unsigned char*>(image.data())[i] &= 0xf;
    const StorePlan plan(image.shape(), type, {.store = Store::rank, .bits = bits});
    const HistogramStore store = plan.build({image.view()});
    write_store(scratch / "R.npy", plan, store, "a.png");
    const StoreFile back = read_store(scratch / "R.npy");
    EXPECT_TRUE(same(back.store, store));
    EXPECT_EQ(back.plan.options().bits, bits);
    const Region box{3, 2, 20, 11};
    EXPECT_EQ(region_quantiles(back.store.view(1), {box}, half), region_quantiles(store.view(1), {box}, half));
  }
}

TEST(StoreFile, StoresWithoutBytesAndOtherNamesAreRefused) {
  const Scratch scratch;
  const Array image = random_image({33, 20}, Type::u8, 8);
  const Binning bins = Binning::uniform(4, 0, 256);
  const StorePlan none(image.shape(), Type::u8, bins, {.store = Store::none});
  expect_sentence<InvalidArgument>(scratch / "S.npy", "a store none has no bytes to write",
                                   [&] { write_store(scratch / "S.npy", none, none.build({image.view()}), ""); });
  const StorePlan plan(image.shape(), Type::u8, bins, {.store = Store::compact});
  expect_sentence<InvalidArgument>(scratch / "S.tif", "a store's name must end in .npy",
                                   [&] { write_store(scratch / "S.tif", plan, plan.build({image.view()}), ""); });
  scratch.write("S.json", "{}");
  expect_sentence<InvalidArgument>(scratch / "S.npy", "which areal has not written",
                                   [&] { write_store(scratch / "S.npy", plan, plan.build({image.view()}), ""); });
  EXPECT_EQ(scratch.names().size(), 1u);
}

struct Lie {
  const char *from, *to, *words;
  bool of_sidecar = true;
};

void expect_refused(const Scratch& scratch, const std::vector<Lie>& lies) {
  const fs::path path = scratch / "S.npy", json = scratch / "S.json";
  const std::string good = bytes_in(json);
  read_store(path);
  for (const Lie& row : lies) {
    SCOPED_TRACE(std::string(row.from) + " > " + row.to);
    std::string bad = good;
    ASSERT_NE(bad.find(row.from), std::string::npos);
    bad.replace(bad.find(row.from), std::strlen(row.from), row.to);
    scratch.write("S.json", bad);
    expect_sentence<IoError>(row.of_sidecar ? json : path, row.words, [&] { read_store(path); });
  }
  scratch.write("S.json", good);
}

TEST(StoreFile, ASidecarThatLiesIsRefused) {
  const Scratch scratch;
  const Array image = random_image({33, 20}, Type::u8, 9);
  const StorePlan plan(image.shape(), Type::u8, Binning::uniform(4, 0, 256), {.store = Store::compact});
  write_store(scratch / "S.npy", plan, plan.build({image.view()}), "a.png");
  const char* const bytes = "bytes of 8u, but its sidecar describes a compact store of ";
  expect_refused(
      scratch, {{"\"compact\"", "\"compacts\"", "\"kind\" is 'compacts', a store's must be compact or rank"},
                {"\"compact\"", "\"sum\"", "\"kind\" is 'sum', a store's must be compact or rank"},
                {"\"compact\"", "\"rank\"", "lacks \"bits\""},
                {"\"version\": 1", "\"version\": 2", "\"version\" is 2; this areal reads stores of version 1"},
                {"\"type\": \"8u\"", "\"type\": \"8q\"", "\"type\" must be a type such as 32u"},
                {"\"type\": \"8u\"", "\"type\": 8", "\"type\" must be a string"},
                {"\"width\": 33", "\"width\": 330", bytes, false},
                {"\"width\": 33", "\"width\": -33", "\"width\" must be a whole number of at least 0"},
                {"\"width\": 33", "\"width\": 99999999999999999999", "\"width\" must be a whole number of at least 0"},
                {"\"width\": 33", "\"width\": 9223372036854775807", "describes no store: "},
                {"\"height\": 20", "\"height\": 9000000000000000", bytes, false},
                {"\"batch\": 1", "\"batch\": 2", bytes, false},
                {"\"channels\": 1", "\"channels\": 2", "describes no store: "},
                {"\"block\": 32", "\"block\": 64", bytes, false},
                {"\"block\": 32", "\"block\": 33", "describes no store: block 33"},
                {"\"block\": 32", "\"block\": 4294967328", "describes no store: block 1048576"},
                {"\"masked\": false", "\"masked\": 0", "\"masked\" must be true or false"},
                {"\"uniform\"", "\"unform\"", "\"kind\" of the rule is 'unform'"},
                {"\"bins\": 4", "\"bins\": 40", bytes, false},
                {"\"bins\": 4", "\"bins\": 0", "describes no store: bins 0"},
                {"\"bins\": 4", "\"bins\": 70000", "describes no store: bins 70000"},
                {"\"hi\": 256.0", "\"hi\": \"256\"", "\"hi\" must be a number"},
                {"\"hi\": 256.0", "\"hi\": -1", "describes no store: range 0 to -1"},
                {"\"uniform\"", "\"joint\", \"channels\": [{}, {}, {}, {}]", "a joint rule has 2 or 3 channels, not 4"},
                {"\"uniform\"", "\"joint\", \"channels\": 3", "\"channels\" of the rule must be a list"},
                {"\"uniform\"", "\"lookup\", \"table\": [0.5]", "\"table\" must hold whole numbers from -1 to 65534"},
                {"\"uniform\"", "\"edges\", \"edges\": [1, \"nan\"]", "\"edges\" must hold numbers"},
                {"\"uniform\"", "\"labels\", \"ignored\": 1e300", "\"ignored\" must be a whole number of 64 bits"},
                {"\"bytes\": ", "\"bytes\": 1", "is truncated", false},
                {"\"crc32c\": ", "\"crc32c\": 1", "as its checksum tells: make the store again", false},
                {"{", "[", "is not a sidecar of areal"}});
  for (const int levels : {33, 100'000})
    for (const std::string& deep : test::deep_json_texts(levels)) {
      scratch.write("S.json", deep);
      expect_sentence<IoError>(scratch / "S.json", "is not a sidecar of areal: it nests more than 32 levels",
                               [&] { read_store(scratch / "S.npy"); });
    }
}

TEST(StoreFile, ARankStoreOfOtherBytesIsRefused) {
  const Scratch scratch;
  const Array image = random_image({33, 20}, Type::u16, 10);
  const StorePlan plan(image.shape(), Type::u16, {.store = Store::rank});
  write_store(scratch / "S.npy", plan, plan.build({image.view()}), "a.png");
  const char* const bytes = "bytes of 8u, but its sidecar describes a rank store of ";
  expect_refused(scratch, {{"\"bits\": 0", "\"bits\": 12", bytes, false},
                           {"\"bits\": 0", "\"bits\": 17", "describes no store: bits 17"},
                           {"\"bits\": 0", "\"bits\": -1", "\"bits\" must be a whole number of at least 0"},
                           {"\"16u\"", "\"64u\"", "describes no store: "},
                           {"\"rank\"", "\"compact\"", "lacks \"block\""},
                           {"\"width\": 33", "\"width\": 20", bytes, false}});
  // Without the checksum, damage in the bytes is found nevertheless.
  std::string json = bytes_in(scratch / "S.json"), npy = bytes_in(scratch / "S.npy");
  const std::size_t file = json.find("\"file\"");
  json.replace(file, 6, "\"fill\"");
  scratch.write("S.json", json);
  read_store(scratch / "S.npy");
  npy[npy.size() / 2] = static_cast<char>(npy[npy.size() / 2] ^ 16);
  scratch.write("S.npy", npy);
  expect_sentence<IoError>(scratch / "S.npy", "is damaged: data: it is no rank store of 33x20",
                           [&] { read_store(scratch / "S.npy"); });
  fs::remove(scratch / "S.json");
  EXPECT_FALSE(is_store(scratch / "S.npy"));
  expect_sentence<IoError>(scratch / "S.npy", "its sidecar", [&] { read_store(scratch / "S.npy"); });
}

}  // namespace
}  // namespace areal::media
