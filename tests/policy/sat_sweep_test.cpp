// `auto` beside the newest record of `areal bench sat --table sweep`: what src/policy/sat_choice.hpp chooses now takes
// at most 3 % more than the best row of each case, or as much as the record cannot tell from it.
#include <gtest/gtest.h>
#include <areal/border.hpp>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include "policy/sat_choice.hpp"
#include "sweep_record.hpp"

namespace areal::policy {
namespace {

using Json = nlohmann::json;

/// What is chosen now for that case.
std::string choice(const Json& of) {
  const std::string lane = of.at("lane");
  const std::size_t plus = lane.find('+');
  SatQuestion question{{of.at("width"), of.at("height"), 1, of.at("batch")},
                       type_pair(lane.substr(0, plus)),
                       of.at("border") == "zero" ? Border::zero : Border::none};
  if (plus != std::string::npos) question.squares = Type::u64;
  return std::string(ranked_sats(question).front());
}

std::string place(const Json& of) {
  return of.at("lane").get<std::string>() + " " + of.at("width").dump() + "x" + of.at("height").dump() + "x" +
         of.at("batch").dump() + " border " + of.at("border").get<std::string>();
}
const Sweep sweep{1.03, place};

Json row(const std::string& algorithm, double median, double spread = 0.1) {
  Json made{{"algorithm", algorithm}, {"median", median}, {"between", {median - spread, median + spread}}};
  if (algorithm == "auto") made["chose"] = "lookback";
  return made;
}
Json planted(const std::vector<Json>& rows) {
  return Json{{"lane", "8u32u"}, {"width", 512}, {"height", 256}, {"batch", 2}, {"border", "zero"}, {"rows", rows}};
}

TEST(SatSweep, AChoiceThatIsNotTheBestIsFound) {
  const Json of = planted({row("auto", 10), row("lookback", 10), row("thin", 10.5), row("bands", 9.75)});
  EXPECT_EQ(sweep.complaint(of, "bands"), "");
  EXPECT_EQ(sweep.complaint(of, "lookback"), "");  // 2.6 %
  EXPECT_EQ(sweep.complaint(of, "thin"), "8u32u 512x256x2 border zero: thin takes 1.076923 times as long as bands");
  EXPECT_EQ(sweep.complaint(of, "all-partials"),
            "8u32u 512x256x2 border zero: all-partials is chosen, but was not measured");
  // Where the medians' intervals meet, the record cannot tell them apart.
  EXPECT_EQ(sweep.complaint(planted({row("auto", 10), row("lookback", 10, 0.5), row("bands", 9, 0.5)}), "lookback"),
            "");
  EXPECT_NE(sweep.complaint(planted({row("auto", 10), row("lookback", 10, 0.5), row("bands", 9, 0.4)}), "lookback"),
            "");
  EXPECT_EQ(sweep.complaints(Json::array({of, of}), [](const Json&) { return "thin"; }).size(), 2U);
  // Of squares there is the default alone.
  EXPECT_EQ(sweep.complaint(planted({row("auto", 10)}), "lookback"), "");
  EXPECT_NE(sweep.complaint(planted({row("auto", 10)}), "thin"), "");
}

TEST(SatSweep, TheChoiceIsThatOfThePolicy) {
  Json of = planted({});
  EXPECT_EQ(choice(of), best_sat({512, 256, 1, 2}, type_pair("8u32u"), Border::zero));
  of["lane"] = "8u32u+64u";
  EXPECT_EQ(choice(of), "lookback");
  of["lane"] = "8u32u", of["height"] = 3;
  EXPECT_EQ(choice(of), "thin");
}

// The best first, each once, and behind it algorithms that take what it may not.
TEST(SatSweep, TheListEndsWithAlgorithmsForEveryDevice) {
  using Ids = std::vector<std::string_view>;
  const TypePair bytes = type_pair("8u32u"), floats = type_pair("32f32f");
  EXPECT_EQ(ranked_sats({{4096, 4096}, bytes}), (Ids{"relay", "lookback", "all-partials", "thin"}));
  EXPECT_EQ(ranked_sats({{9008, 9000}, bytes, Border::none}),
            (Ids{"bands", "lookback-diagonal", "lookback", "all-partials", "thin"}));
  EXPECT_EQ(ranked_sats({{128, 64}, floats, Border::none}), (Ids{"bands", "lookback", "all-partials", "thin"}));
  EXPECT_EQ(ranked_sats({{512, 512}, bytes}), (Ids{"all-partials", "lookback", "thin"}));
  EXPECT_EQ(ranked_sats({{512, 3}, bytes}), (Ids{"thin", "lookback", "all-partials"}));
  EXPECT_EQ(ranked_sats({{4096, 4096}, bytes, Border::zero, Type::u64}), Ids{"lookback"});
}

#ifdef AREAL_SAT_SWEEP
class SatSweepRecord : public ::testing::Test {
 protected:
  Json record = Json::parse(std::ifstream(AREAL_SAT_SWEEP));
};

TEST_F(SatSweepRecord, HasEveryCaseOnce) {
  std::map<std::string, std::set<std::string>> cases;
  for (const Json& of : record) {
    const std::string size = of.at("width").dump() + "x" + of.at("height").dump() + "x" + of.at("batch").dump();
    EXPECT_TRUE(cases[of.at("lane").get<std::string>() + " " + of.at("border").get<std::string>()].insert(size).second)
        << of;
  }
  EXPECT_EQ(cases.size(), 20U);  // ten pairs, two borders
  for (const auto& [lane, sizes] : cases)
    EXPECT_EQ(sizes, (std::set<std::string>{"256x256x1", "512x512x1", "640x480x1", "1024x1024x1", "1280x720x1",
                                            "1920x1080x1", "2048x2048x1", "3840x2160x1", "4096x4096x1", "5000x7000x1",
                                            "8192x8192x1", "16384x16384x1", "640x480x64", "1920x1080x8"}))
        << lane;
}

TEST_F(SatSweepRecord, AutoIsWithinThreePercentOfTheBestRow) {
  for (const std::string& one : sweep.complaints(record, choice)) ADD_FAILURE() << one;
}

/// docs/notes/scoreboard.md shows these.
TEST_F(SatSweepRecord, ThePageHasTheseChoices) {
  Json now{{"record", AREAL_SAT_SWEEP_NAME}, {"choices", Json::object()}};
  for (const Json& of : record)
    now["choices"][of.at("lane").get<std::string>() + " " + of.at("border").get<std::string>() + " " +
                   of.at("width").dump() + "x" + of.at("height").dump() + "x" + of.at("batch").dump()] = choice(of);
  const char* const path = AREAL_SOURCE_DIR "/bench/pages/sat_choices.json";
  if (std::getenv("AREAL_WRITE_CHOICES") != nullptr) std::ofstream(path) << now.dump(1) << "\n";
  EXPECT_EQ(Json::parse(std::ifstream(path), nullptr, false), now)
      << "with AREAL_WRITE_CHOICES=1 this test writes the file; then bench/pages/report.py";
}

TEST_F(SatSweepRecord, AnotherPolicyWouldNotBe) {
  for (const std::string always : {"lookback", "lookback-diagonal", "all-partials", "thin"})
    EXPECT_FALSE(sweep.complaints(record, [&](const Json&) { return always; }).empty()) << always;
}
#endif

}  // namespace
}  // namespace areal::policy
