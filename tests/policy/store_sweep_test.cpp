// Store::automatic beside the newest records of `areal bench region --table stores`: what src/policy/ chooses now takes
// at most 10 % more than the fastest store of each case, or as much as the record cannot tell from it.
#include <gtest/gtest.h>
#include <areal/binning.hpp>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include "formulas/compact.hpp"
#include "formulas/rank.hpp"
#include "policy/store_choice.hpp"
#include "policy/value_store_choice.hpp"

namespace areal::policy {
namespace {

using Json = nlohmann::json;
constexpr double most = 1.1;

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
  question.memory = memory;
  return std::string(name_of(choose_store(question).store));
}

/// What is wrong with that choice in that case; empty where nothing is.
std::string complaint(const Json& of, const std::string& chosen) {
  const Json *best = nullptr, *ours = nullptr;
  for (const Json& row : of.at("rows")) {
    if (row.at("algorithm") == chosen) ours = &row;
    if (best == nullptr || row.at("median") < best->at("median")) best = &row;
  }
  const std::string where = of.at("backend").get<std::string>() + " " + of.at("lane").get<std::string>() + " " +
                            of.at("width").dump() + "x" + of.at("height").dump() + ", " + of.at("bins").dump() +
                            " bins, " + of.at("batch").dump() + " boxes of " + of.at("part").get<std::string>() + ": ";
  if (ours == nullptr) return where + chosen + " is chosen, but was not measured";
  const double time = ours->at("median"), least = best->at("median");
  if (time <= most * least || ours->at("between").at(0) <= best->at("between").at(1)) return "";
  return where + chosen + " takes " + std::to_string(time / least) + " times as long as " +
         best->at("algorithm").get<std::string>();
}

std::vector<std::string> complaints(const Json& record, const std::function<std::string(const Json&)>& choose) {
  std::vector<std::string> all;
  for (const Json& of : record)
    if (const std::string one = complaint(of, choose(of)); !one.empty()) all.push_back(one);
  return all;
}

Json row(const std::string& store, double median, double spread = 0.1) {
  return {{"algorithm", store}, {"median", median}, {"between", {median - spread, median + spread}}};
}
Json planted(const std::vector<Json>& rows) {
  return {{"backend", "cpu"}, {"lane", "8u-64u"}, {"width", 512},  {"height", 512},
          {"bins", 32},       {"batch", 10},      {"part", "9x9"}, {"rows", rows}};
}

TEST(StoreSweep, AChoiceThatIsNotTheBestIsFound) {
  const Json of = planted({row("none", 10), row("compact", 10.9), row("tensor", 11.5)});
  EXPECT_EQ(complaint(of, "none"), "");
  EXPECT_EQ(complaint(of, "compact"), "");  // 9 %
  EXPECT_EQ(complaint(of, "tensor"),
            "cpu 8u-64u 512x512, 32 bins, 10 boxes of 9x9: tensor takes 1.150000 times as long as none");
  EXPECT_EQ(complaint(of, "rank"),
            "cpu 8u-64u 512x512, 32 bins, 10 boxes of 9x9: rank is chosen, but was not measured");
  // Where the medians' intervals meet, the record cannot tell them apart.
  EXPECT_EQ(complaint(planted({row("none", 10, 1), row("compact", 12, 1)}), "compact"), "");
  EXPECT_NE(complaint(planted({row("none", 10, 1), row("compact", 12, 0.9)}), "compact"), "");
  EXPECT_EQ(complaints(Json::array({of, of}), [](const Json&) { return "tensor"; }).size(), 2U);
  EXPECT_EQ(choice(of), "none");
}

class StoreSweepRecord : public ::testing::TestWithParam<const char*> {
 protected:
  Json record = Json::parse(std::ifstream(GetParam()), nullptr, false);
};

TEST_P(StoreSweepRecord, AutomaticIsWithinTenPercentOfTheFastestStore) {
  ASSERT_GE(record.size(), 20U) << GetParam();
  for (const std::string& one : complaints(record, choice)) ADD_FAILURE() << one;
}

TEST_P(StoreSweepRecord, AnotherPolicyWouldNotBe) {
  for (const std::string always : {"none", "compact", "tensor"})
    EXPECT_FALSE(complaints(record, [&](const Json& of) { return of.at("bins") == 0 ? choice(of) : always; }).empty())
        << always;
  for (const std::string always : {"none", "rank"})
    EXPECT_FALSE(record[0].at("backend") == "cpu" &&
                 complaints(record, [&](const Json& of) { return of.at("bins") == 0 ? always : choice(of); }).empty())
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
