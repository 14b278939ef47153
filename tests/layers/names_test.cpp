// Types and names: types, type pairs, borders, halves, the catalogue, owned memory.
#include <gtest/gtest.h>
#include <areal/array.hpp>
#include <areal/border.hpp>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <areal/execution.hpp>
#include <areal/research/warp_scan.hpp>
#include <areal/type.hpp>
#include <areal/type_pair.hpp>
#include <areal/version.hpp>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace areal {
namespace {

constexpr Type all_types[] = {Type::u8,  Type::s8,  Type::u16, Type::s16, Type::u32, Type::s32,
                              Type::u64, Type::s64, Type::f16, Type::f32, Type::f64};

// The sentence of the exception that f throws, "" if it throws none.
template <class Exception, class F>
std::string sentence_of(F&& f) {
  try {
    f();
  } catch (const Exception& error) {
    return error.what();
  }
  return "";
}

TEST(Names, TypesReadBack) {
  for (const Type type : all_types) {
    const std::string name(name_of(type));
    SCOPED_TRACE(name);
    EXPECT_EQ(type_named(name), type);
    EXPECT_EQ(size_of(type) * 8, std::stoul(name));  // the name starts with the bits
    EXPECT_EQ(is_float(type), name.back() == 'f');
    EXPECT_EQ(is_signed_integer(type), name.back() == 's');
  }
  for (const char* wrong : {"", "8", "u8", "8U", "8u ", "08u", "128u", "8f"}) EXPECT_FALSE(type_named(wrong)) << wrong;
  EXPECT_EQ(type_of<bool>, Type::u8);
}

TEST(Names, LanesAreThoseOfTheIssue) {
  const std::vector<std::string> wanted = {"8u32u",  "8u32s",  "8u64u",  "8u32f",  "8u64f",  "8s32s",
                                           "16u32u", "16u64u", "16u64f", "16s32s", "16s64s", "16s64f",
                                           "32u32u", "32u64u", "32s32s", "32s64s", "16f32f", "32f32f",
                                           "32f64f", "64f64f", "8s64s",  "64u64u", "64s64s", "16f64f"};
  std::vector<std::string> present;
  for (const TypePair types : type_pairs()) {
    present.push_back(name_of(types));
    EXPECT_EQ(find_type_pair(present.back()), types) << present.back();
  }
  EXPECT_EQ(present, wanted);
  for (const char* wrong : {"", "8u", "32u", "8u8u", "64f32f", "8u32", "8u32ux", "x8u32u"})
    EXPECT_FALSE(find_type_pair(wrong)) << wrong;
}

TEST(Names, DefaultTypes) {
  // 16843009 * 255 is exactly 2^32 - 1.
  EXPECT_EQ(name_of(default_types({16843009, 1}, Type::u8)), "8u32u");
  EXPECT_EQ(name_of(default_types({16843010, 1}, Type::u8)), "8u64u");
  EXPECT_EQ(name_of(default_types({4104, 4104}, Type::u8)), "8u32u");
  EXPECT_EQ(name_of(default_types({4105, 4104}, Type::u8)), "8u64u");
  const std::int64_t far = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(name_of(default_types({far, far}, Type::u8)), "8u64u");  // the product does not fit 64 bits
  EXPECT_EQ(name_of(default_types({0, far}, Type::u8)), "8u32u");
  // A batch that is a depth counts: 257 * 65537 is 16843009.
  EXPECT_EQ(name_of(default_types({257, 65537, 1, 1}, Type::u8, true)), "8u32u");
  EXPECT_EQ(name_of(default_types({257, 257, 1, 255}, Type::u8, true)), "8u32u");
  EXPECT_EQ(name_of(default_types({257, 257, 1, 256}, Type::u8, true)), "8u64u");
  EXPECT_EQ(name_of(default_types({257, 257, 1, 256}, Type::u8)), "8u32u");
  EXPECT_EQ(name_of(default_types({4104, 1026, 1, 4}, Type::u8, true)), "8u32u");
  EXPECT_EQ(name_of(default_types({4104, 1026, 1, 5}, Type::u8, true)), "8u64u");
  EXPECT_EQ(name_of(default_types({4104, 1026, 1, 5}, Type::u8)), "8u32u");
  EXPECT_EQ(name_of(default_types({1, 1, 1, far}, Type::u8, true)), "8u64u");
  EXPECT_EQ(name_of(default_types({far, 1, 1, far}, Type::u8, true)), "8u64u");
  EXPECT_EQ(name_of(default_types({far, far, 1, 0}, Type::u8, true)), "8u32u");
  EXPECT_EQ(name_of(default_types({0, far, 1, far}, Type::u8, true)), "8u32u");
  EXPECT_EQ(name_of(default_types({4096, 4096}, Type::s8)), "8s32s");  // -128 times that is -2^31
  EXPECT_EQ(name_of(default_types({4097, 4096}, Type::s8)), "8s64s");
  const std::pair<Type, const char*> others[] = {{Type::s8, "8s32s"},   {Type::u16, "16u64u"}, {Type::s16, "16s64s"},
                                                 {Type::u32, "32u64u"}, {Type::s32, "32s64s"}, {Type::f16, "16f64f"},
                                                 {Type::f32, "32f64f"}, {Type::f64, "64f64f"}, {Type::u64, "64u64u"},
                                                 {Type::s64, "64s64s"}};
  for (const auto& [type, name] : others) {
    EXPECT_EQ(name_of(default_types({7, 9}, type)), name);
    EXPECT_TRUE(find_type_pair(name));
  }
}

TEST(Names, LargestSafeRegionIsTheLargest) {
  using Wide = __int128;
  for (const TypePair types : type_pairs()) {
    SCOPED_TRACE(name_of(types));
    const std::int64_t pixels = largest_safe_region(types);
    if (is_float(types.input)) {
      EXPECT_EQ(pixels, std::numeric_limits<std::int64_t>::max());
      continue;
    }
    const auto low_and_high = [](Type type) -> std::pair<Wide, Wide> {
      const int bits = static_cast<int>(8 * size_of(type));
      if (type == Type::f32) return {-(Wide{1} << 24), Wide{1} << 24};
      if (type == Type::f64) return {-(Wide{1} << 53), Wide{1} << 53};
      if (is_signed_integer(type)) return {-(Wide{1} << (bits - 1)), (Wide{1} << (bits - 1)) - 1};
      return {0, (Wide{1} << bits) - 1};
    };
    const auto [pixel_low, pixel_high] = low_and_high(types.input);
    const auto [table_low, table_high] = low_and_high(types.table);
    const auto fits = [&, pl = pixel_low, ph = pixel_high, tl = table_low, th = table_high](std::int64_t n) {
      return pl * n >= tl && ph * n <= th;
    };
    EXPECT_TRUE(fits(pixels));
    EXPECT_FALSE(fits(pixels + 1));
  }
}

TEST(Names, BordersBackendsAndWarpScans) {
  for (const Border border : {Border::zero, Border::none, Border::exclusive})
    EXPECT_EQ(border_named(name_of(border)), border);
  for (const Backend backend : {Backend::automatic, Backend::cpu, Backend::cuda, Backend::simt})
    EXPECT_EQ(backend_named(name_of(backend)), backend);
  for (const WarpScan scan : {WarpScan::kogge_stone, WarpScan::ladner_fischer})
    EXPECT_EQ(warp_scan_named(name_of(scan)), scan);
  EXPECT_EQ(name_of(WarpScan::ladner_fischer), "ladner-fischer");
  EXPECT_FALSE(warp_scan_named("ladner_fischer"));
  EXPECT_EQ(name_of(Border::exclusive), "exclusive");
  EXPECT_EQ(name_of(Backend::automatic), "auto");
  EXPECT_FALSE(border_named("Zero"));
  EXPECT_FALSE(backend_named(""));
  EXPECT_STREQ(version(), AREAL_VERSION_STRING);
}

TEST(Catalogue, KeysAreUniqueAndFound) {
  std::set<std::pair<std::string_view, std::string_view>> keys;
  const std::set<std::string_view> families = {"sat", "histogram", "scan", "filter"};
  for (const Algorithm& row : algorithms()) {
    SCOPED_TRACE(std::string(row.family) + " " + std::string(row.id));
    EXPECT_TRUE(keys.emplace(row.family, row.id).second);
    EXPECT_TRUE(families.count(row.family));
    EXPECT_FALSE(row.id.empty() || row.source.empty() || row.reads_per_element.empty() ||
                 row.writes_per_element.empty() || row.barrier_steps.empty());
    EXPECT_TRUE(row.cpu || row.cuda || row.simt);
    EXPECT_NE(row.id, "auto");  // the text for no id
    EXPECT_EQ(find_algorithm(row.family, row.id), &row);
  }
  EXPECT_GE(keys.size(), 7u);
  EXPECT_EQ(find_algorithm("sat", ""), nullptr);
  EXPECT_EQ(find_algorithm("", "serial"), nullptr);
  EXPECT_EQ(find_algorithm("sat", "auto"), nullptr);
}

// The definition of binary16 by its fields, in double, where every value is exact.
double half_by_definition(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = bits >> 15 ? -1.0 : 1.0;
  if (exponent == 31) return fraction ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  return sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24));
}

TEST(Half, EveryValueByItsFields) {
  int wrong = 0;
  for (int i = 0; i < 65536; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const double wanted = half_by_definition(bits);
    const float got = to_float({bits});
    const std::uint16_t back = to_half(got).bits;
    if (std::isnan(wanted))
      wrong += !std::isnan(got) || !std::isnan(half_by_definition(back)) || (back ^ bits) & 0x8000;
    else
      wrong += static_cast<double>(got) != wanted || std::signbit(got) != std::signbit(wanted) || back != bits;
  }
  EXPECT_EQ(wrong, 0);
}

TEST(Half, RoundsToNearestEven) {
  int wrong = 0;
  for (int i = 0; i < 0x7bff; ++i) {  // neighbours among the finite halves >= 0
    const float low = to_float({static_cast<std::uint16_t>(i)}), high = to_float({static_cast<std::uint16_t>(i + 1)});
    const float middle = low + (high - low) / 2;  // exact: one more bit than a half has
    wrong += to_half(middle).bits != (i % 2 ? i + 1 : i);
    wrong += to_half(std::nextafter(middle, low)).bits != i;
    wrong += to_half(std::nextafter(middle, high)).bits != i + 1;
    wrong += to_half(-middle).bits != (0x8000 | (i % 2 ? i + 1 : i));
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(to_half(65519.996f).bits, 0x7bff);  // the largest finite half
  EXPECT_EQ(to_half(65520.0f).bits, 0x7c00);
  EXPECT_EQ(to_half(std::numeric_limits<float>::max()).bits, 0x7c00);
  EXPECT_EQ(to_half(-std::numeric_limits<float>::infinity()).bits, 0xfc00);
  EXPECT_EQ(to_half(std::numeric_limits<float>::denorm_min()).bits, 0);
}

TEST(Array, OwnsAlignedMemory) {
  Array array({5, 4, 3, 2}, Type::u16);
  EXPECT_EQ(array.bytes(), 5u * 4 * 3 * 2 * 2);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % 64, 0u);
  auto* elements = array.as<std::uint16_t>();
  for (int i = 0; i < 120; ++i) elements[i] = static_cast<std::uint16_t>(i);
  EXPECT_EQ(static_cast<const char*>(array.view().row(1)) - static_cast<const char*>(array.data()), 5 * 3 * 2);
  Array moved = std::move(array);
  EXPECT_EQ(moved.as<std::uint16_t>(), elements);
  EXPECT_EQ(std::as_const(moved).as<std::uint16_t>()[119], 119);

  for (const Shape shape : {Shape{0, 0}, Shape{0, 7}, Shape{7, 0}, Shape{7, 7, 0}, Shape{7, 7, 1, 0}}) {
    EXPECT_EQ(Array(shape, Type::f64).bytes(), 0u);
    EXPECT_TRUE(shape.empty());
  }
  EXPECT_EQ(Array().bytes(), 0u);
}

TEST(Array, SaysWhatIsWrong) {
  EXPECT_NE(sentence_of<InvalidArgument>([] { Array({-1, 4}, Type::u8); }).find("-1x4"), std::string::npos);
  EXPECT_NE(sentence_of<InvalidArgument>([] { Array({4, 4, 1, -2}, Type::u8); }).find("batch -2"), std::string::npos);
  const std::int64_t far = std::int64_t{1} << 62;
  EXPECT_NE(sentence_of<InvalidArgument>([&] { Array({far, 2}, Type::u8); }).find("63 bits"), std::string::npos);
  EXPECT_NE(sentence_of<InvalidArgument>([&] { Array({far, 1}, Type::u32); }).find("63 bits"), std::string::npos);
  try {
    Array array({far, 1}, Type::u8);
    ADD_FAILURE() << "4 EiB were allocated";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.bytes(), static_cast<std::uint64_t>(far));
    EXPECT_NE(std::string(error.what()).find(std::to_string(far)), std::string::npos);
  }
  Array bytes({3, 3}, Type::u8);
  EXPECT_EQ(sentence_of<InvalidArgument>([&] { bytes.as<float>(); }), "array holds 8u, not 32f");
  EXPECT_EQ(bytes.as<bool>(), bytes.data());  // bool reads as 8u
}

}  // namespace
}  // namespace areal
