// Holds Store::automatic to the newest records of `areal bench region --table stores`: in each case the store that
// src/policy/ chooses takes at most 10 % more time than the fastest one, or the record cannot tell the two apart.
#include <gtest/gtest.h>
#include <areal/binning.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include "formulas/compact.hpp"
#include "formulas/rank.hpp"
#include "policy/store_choice.hpp"
#include "policy/value_store_choice.hpp"
#include "sweep_record.hpp"

namespace areal::policy {
namespace {

using Json = nlohmann::json;

/// What is chosen now for that case, with memory for every store.
std::string choice(const Json& of) {
  const std::int64_t width = of.at("width"), height = of.at("height"), bins = of.at("bins"), boxes = of.at("batch");
  const std::int64_t side = std::stoll(of.at("part").get<std::string>());
  const std::string lane = of.at("lane");
  const bool bytes = lane.starts_with("8");
  constexpr std::uint64_t memory = std::uint64_t{1} << 50;
  const double pixels = static_cast<double>(width) * static_cast<double>(height);
  if (bins == 0) {
    ValueStoreQuestion question{pixels, boxes, boxes * side * side, of.at("backend") == "cpu"};
    question.rank_bytes = static_cast<std::uint64_t>(formulas::Rank::of(width, height, 1, bytes ? 8 : 16).bytes());
    question.memory = memory;
    return std::string(name_of(choose_value_store(question).store));
  }
  StoreQuestion question{pixels, boxes, boxes * side * side, bins};
  question.on_cpu = of.at("backend") == "cpu";
  question.counting = bytes ? Counting::bytes : Counting::streamed;
  question.compact_bytes = static_cast<std::uint64_t>(formulas::Compact::of(width, height, bins, 1, false).bytes());
  question.tensor_bytes = 4 * static_cast<std::uint64_t>(width * height * bins);
  question.memory = memory;
  return std::string(name_of(choose_store(question).store));
}

std::string place(const Json& of) {
  return of.at("backend").get<std::string>() + " " + of.at("lane").get<std::string>() + " " + of.at("width").dump() +
         "x" + of.at("height").dump() + ", " + of.at("bins").dump() + " bins, " + of.at("batch").dump() + " boxes of " +
         of.at("part").get<std::string>();
}
const Sweep sweep{1.1, place};

Json row(const std::string& store, double median, double spread = 0.1) {
  return {{"algorithm", store}, {"median", median}, {"between", {median - spread, median + spread}}};
}
Json planted(const std::vector<Json>& rows) {
  return {{"backend", "cpu"}, {"lane", "8u-64u"}, {"width", 512},  {"height", 512},
          {"bins", 32},       {"batch", 10},      {"part", "9x9"}, {"rows", rows}};
}

TEST(StoreSweep, AChoiceThatIsNotTheBestIsFound) {
  const Json of = planted({row("none", 10), row("compact", 10.9), row("tensor", 11.5)});
  EXPECT_EQ(sweep.complaint(of, "none"), "");
  EXPECT_EQ(sweep.complaint(of, "compact"), "");  // 9 %
  EXPECT_EQ(sweep.complaint(of, "tensor"),
            "cpu 8u-64u 512x512, 32 bins, 10 boxes of 9x9: tensor takes 1.150000 times as long as none");
  EXPECT_EQ(sweep.complaint(of, "rank"),
            "cpu 8u-64u 512x512, 32 bins, 10 boxes of 9x9: rank is chosen, but was not measured");
  // Where the medians' intervals meet, the record cannot tell them apart.
  EXPECT_EQ(sweep.complaint(planted({row("none", 10, 1), row("compact", 12, 1)}), "compact"), "");
  EXPECT_NE(sweep.complaint(planted({row("none", 10, 1), row("compact", 12, 0.9)}), "compact"), "");
  EXPECT_EQ(sweep.complaints(Json::array({of, of}), [](const Json&) { return "tensor"; }).size(), 2U);
  EXPECT_EQ(choice(of), "none");
}

class StoreSweepRecord : public ::testing::TestWithParam<const char*> {
 protected:
  Json record = Json::parse(std::ifstream(GetParam()), nullptr, false);
};

TEST_P(StoreSweepRecord, AutomaticIsWithinTenPercentOfTheFastestStore) {
  ASSERT_GE(record.size(), 20U) << GetParam();
  for (const std::string& one : sweep.complaints(record, choice)) ADD_FAILURE() << one;
}

TEST_P(StoreSweepRecord, AnotherPolicyWouldNotBe) {
  for (const std::string always : {"none", "compact", "tensor"})
    EXPECT_FALSE(
        sweep.complaints(record, [&](const Json& of) { return of.at("bins") == 0 ? choice(of) : always; }).empty())
        << always;
  for (const std::string always : {"none", "rank"})
    EXPECT_FALSE(
        record[0].at("backend") == "cpu" &&
        sweep.complaints(record, [&](const Json& of) { return of.at("bins") == 0 ? always : choice(of); }).empty())
        << always;
}

const std::vector<const char*>& records() {
  static const std::vector<const char*> all{AREAL_STORE_SWEEPS};
  return all;
}
INSTANTIATE_TEST_SUITE_P(Newest, StoreSweepRecord, ::testing::ValuesIn(records()),
                         [](const auto& of) { return "Record" + std::to_string(of.index); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoreSweepRecord);

}  // namespace
}  // namespace areal::policy
