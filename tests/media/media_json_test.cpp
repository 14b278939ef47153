// The reader of JSON: what it takes, and the depth and the size that it refuses.
#include <gtest/gtest.h>
#include <sstream>
#include "deep_json.hpp"
#include "json/read.hpp"

namespace areal::test {
namespace {

template <class Json>
std::string wrong_in(const std::string& text, std::size_t most = 1 << 24) {
  Json json;
  return read_json_object(text, most, json);
}

template <class Json>
class JsonRead : public testing::Test {};
using Kinds = testing::Types<nlohmann::json, nlohmann::ordered_json>;
TYPED_TEST_SUITE(JsonRead, Kinds);

TYPED_TEST(JsonRead, ValuesAreThoseOfTheText) {
  TypeParam json;
  EXPECT_EQ(read_json_object(R"({"b": [1, -2.5, "x", null, true], "a": {"c": 18446744073709551615}})", 100, json), "");
  EXPECT_EQ(json["b"].size(), 5u);
  EXPECT_EQ(json["b"][1], -2.5);
  EXPECT_EQ(json["a"]["c"], UINT64_MAX);
  EXPECT_EQ(read_json("[1]", 3, json), "");
  EXPECT_TRUE(json.is_array());
}

TYPED_TEST(JsonRead, DepthEndsAt32) {
  for (const std::string& text : deep_json_texts(32)) EXPECT_EQ(wrong_in<TypeParam>(text), "");
  for (const int levels : {33, 34, 1000, 1'000'000})
    for (const std::string& text : deep_json_texts(levels))
      EXPECT_EQ(wrong_in<TypeParam>(text), "nests more than 32 levels, more than any need");
  EXPECT_NE(wrong_in<TypeParam>(std::string(1'000'000, '[')), "");
  EXPECT_NE(wrong_in<TypeParam>("{\"a\":" + std::string(33, '[') + std::string(33, ']')), "");
  // Brackets of strings are none, and neighbours are no levels.
  EXPECT_EQ(wrong_in<TypeParam>("{\"a\": \"" + std::string(1000, '[') + "\"}"), "");
  std::string many = "{\"a\": [[]";
  for (int i = 0; i < 1000; ++i) many += ", [{}]";
  EXPECT_EQ(wrong_in<TypeParam>(many + "]}"), "");
}

TYPED_TEST(JsonRead, SizeEndsWhereItIsToldTo) {
  const std::string text = "{\"a\": 1}";
  EXPECT_EQ(wrong_in<TypeParam>(text, text.size()), "");
  EXPECT_EQ(wrong_in<TypeParam>(text, text.size() - 1), "has more than 7 bytes, more than any need");
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{65536}, std::size_t{200'000}}) {
    std::istringstream fits(std::string(bytes, ' ') + text), larger(std::string(bytes + 1, ' ') + text);
    TypeParam json;
    EXPECT_EQ(read_json(fits, bytes + text.size(), json), "");
    EXPECT_EQ(json["a"], 1);
    EXPECT_NE(read_json(larger, bytes + text.size(), json), "");
  }
}

TYPED_TEST(JsonRead, WhatIsNone) {
  for (const char* text : {"", "{", "}", "{\"a\"}", "{\"a\": 1e999}", "{\"a\": \"\xff\"}", "{} {}", "nul"})
    EXPECT_EQ(wrong_in<TypeParam>(text), "is not JSON") << text;
  EXPECT_EQ(wrong_in<TypeParam>("[1]"), "holds [1] instead of an object");
  const std::string long_one = wrong_in<TypeParam>("\"" + std::string(1000, 'x') + "\"");
  EXPECT_LT(long_one.size(), 140u);
}

}  // namespace
}  // namespace areal::test
