// That the matrix finds what it is for: an element that is wrong or missing, a refusal that the list lacks, one that
// comes too late, and an entry of the list that nothing met.
#include <gtest/gtest.h>
#include <sstream>
#include "piece_matrix/counts_engines.hpp"
#include "piece_matrix/matrix.hpp"
#include "piece_matrix/sums_engines.hpp"
#include "piece_matrix/table_engines.hpp"

namespace areal::piece_matrix {
namespace {

Refused list_of(const char* lines, const char* engine) {
  std::istringstream text(lines);
  return {text, engine};
}
const TableOption& option(std::string_view group, std::string_view name = {}) {
  return *std::ranges::find_if(
      table_options, [&](const TableOption& o) { return o.group == group && (name.empty() || o.name == name); });
}
TableQuestion question(const char* types, const std::vector<const TableOption*>& options) {
  return table_question(Border::none, type_pair(types), cuts[0], options);
}
std::string fault_of(Tables (*compute)(const TableQuestion&, const TableInputs&), const TableQuestion& q) {
  Refused none = list_of("", "Planted");
  return fault(TableWay{"Planted", compute}, q, none);
}
/// Whether a sentence begins so.
bool begins(const std::string& sentence, std::string_view with) { return sentence.rfind(with, 0) == 0; }

TEST(PiecesProof, AWrongElement) {
  const TableQuestion q = question("8u32u", {&option("squares", "64u"), &option("mask")});
  ASSERT_EQ(fault_of(strip_tables<Way::run>, q), "");
  const auto spoilt = [](std::optional<Values> Tables::*table) {
    return [table](Tables tables) {
      (tables.*table)->integer[(tables.*table)->at(22, 16)] ^= 1;
      return tables;
    };
  };
  static std::function<Tables(Tables)> plant;
  const auto planted = [](const TableQuestion& of, const TableInputs& in) {
    return plant(strip_tables<Way::run>(of, in));
  };
  plant = [](Tables tables) { return tables.sum.integer[tables.sum.at(3, 9)] ^= 1u << 31, tables; };
  EXPECT_TRUE(begins(fault_of(planted, q), "sum: element (x 3, y 9")) << fault_of(planted, q);
  plant = spoilt(&Tables::squares);
  EXPECT_TRUE(begins(fault_of(planted, q), "squares: element (x 22, y 16")) << fault_of(planted, q);
  plant = spoilt(&Tables::count);
  EXPECT_TRUE(begins(fault_of(planted, q), "count: element (x 22, y 16")) << fault_of(planted, q);
  plant = [](Tables tables) { return tables.count.reset(), tables; };
  EXPECT_EQ(fault_of(planted, q), "count is missing");
  plant = [](Tables tables) { return tables.types.table = Type::u64, tables; };
  EXPECT_NE(fault_of(planted, q), "");
}

TEST(PiecesProof, ARoundedFloatAndALostNaN) {
  static bool lost;
  const auto planted = [](const TableQuestion& of, const TableInputs& in) {
    Tables tables = tiled_tables<false>(of, in);
    for (long double& value : tables.sum.real)
      if (std::isnan(value)) value = lost ? 0 : value;
    if (!lost) tables.sum.real[tables.sum.at(22, 16)] += 0x1p-10L;
    return tables;
  };
  const TableQuestion exact = question("32f32f", {&option("values", "small")});
  const TableQuestion holes = question("32f64f", {&option("values", "NaN")});
  ASSERT_EQ(fault_of(tiled_tables<false>, exact), "");
  ASSERT_EQ(fault_of(tiled_tables<false>, holes), "");
  lost = false;
  EXPECT_TRUE(begins(fault_of(planted, exact), "sum: element (x 22, y 16")) << fault_of(planted, exact);
  lost = true;
  EXPECT_TRUE(begins(fault_of(planted, holes), "sum: element")) << fault_of(planted, holes);
}

TEST(PiecesProof, APieceThatIsLostOrComesTwice) {
  const Values image = conformance::random_image(Type::u8, {6, 4}, conformance::Fill::wild, 1);
  const Buffer buffer(image, conformance::placements[0]);
  const auto gather = [&](std::initializer_list<Part> parts) {
    Gathered all(Type::u8, image.shape);
    for (const Part& p : parts) all.put(part(ConstView(buffer.view()), p.x, p.y, p.width, p.height), p.x, p.y);
    return all.values();
  };
  EXPECT_EQ(gather({{0, 0, 6, 3}, {0, 3, 2, 1}, {2, 3, 4, 1}}), image);
  EXPECT_THROW(gather({{0, 0, 6, 3}, {0, 3, 2, 1}}), Broken);
  EXPECT_THROW(gather({{0, 0, 6, 4}, {0, 3, 2, 1}}), Broken);
  EXPECT_THROW(gather({{3, 0, 4, 4}}), Broken);
}

TEST(PiecesProof, ARefusal) {
  const TableQuestion q = question("8u32u", {&option("mask")});
  const auto refuses = [](const TableQuestion&, const TableInputs&) -> Tables {
    throw InvalidArgument("parts take no mask");
  };
  const auto fault_with = [&](const char* lines) {
    Refused list = list_of(lines, "Planted");
    return fault(TableWay{"Planted::run", refuses}, q, list);
  };
  EXPECT_EQ(fault_with("Planted | mask | take no mask | why"), "");
  EXPECT_EQ(fault_with("Planted::run | mask of 8u | ^parts | why"), "");
  const char* const unlisted[] = {"", "Planted | mask | take no squares | why", "Planted | squares | no mask | why",
                                  "Planted::push | mask | no mask | why", "Other | mask | no mask | why"};
  for (const char* const lines : unlisted)
    EXPECT_TRUE(begins(fault_with(lines), "refuses what the whole image takes")) << lines;
  const auto late = [](const TableQuestion&, const TableInputs&) -> Tables {
    running([] { throw InvalidArgument("parts take no mask"); });
    return {};
  };
  Refused list = list_of("Planted | mask | take no mask | why", "Planted");
  EXPECT_TRUE(begins(fault(TableWay{"Planted", late}, q, list), "threw: refuses only when it runs"));
  // An answer where the whole image gives none.
  const auto answers = [](const TableQuestion& of, const TableInputs& in) {
    TableQuestion without = of;
    without.options.ignore_nan = false;
    return whole_tables(without, in);
  };
  EXPECT_TRUE(begins(fault_of(answers, question("8u32u", {&option("ignore_nan")})), "takes what the whole image"));
}

TEST(PiecesProof, AnEntryThatNothingMet) {
  Refused list = list_of(
      "# a comment\n\nPlanted | mask | no mask | why\nPlanted | batch | one image | why\nno fields\n", "Planted");
  EXPECT_EQ(list.faults().size(), 3u);
  EXPECT_TRUE(list.covers("Planted::run", {"mask of 8u", "squares 64u"}, "no mask"));
  EXPECT_EQ(list.faults().size(), 3u);  // the squares may have been why
  EXPECT_TRUE(list.covers("Planted::run", {"mask of 8u"}, "no mask"));
  const std::vector<std::string> faults = list.faults();
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults[0], "not four fields separated by ` | `: no fields");
  EXPECT_EQ(faults[1], "nothing met the entry `Planted | batch`: remove it");
}

TEST(PiecesProof, WrongAnswersAboutRegions) {
  const SumsOption* const deviation =
      std::ranges::find_if(sums_options, [](const SumsOption& o) { return std::string_view(o.name) == "deviation"; });
  for (const Type type : {Type::u8, Type::u32, Type::f32}) {
    const SumsQuestion q = sums_question(type, cuts[0], {deviation});
    const SumsInputs in(q);
    Sums sums = strip_sums<Way::run>(q, in);
    ASSERT_EQ(fault_in(q, in, sums, false), "") << name_of(type);
    sums.reals[3] *= 1 + 1e-9;
    EXPECT_TRUE(begins(fault_in(q, in, sums, false), "region 0,0,11,1, plane 0 is")) << name_of(type);
    sums.reals[3] = 0;
    EXPECT_NE(fault_in(q, in, sums, false), "") << name_of(type);
  }
  const SumsQuestion q = sums_question(Type::s16, cuts[0], {});
  const SumsInputs in(q);
  Sums sums = strip_sums<Way::run>(q, in);
  ASSERT_EQ(fault_in(q, in, sums, false), "");
  ++sums.integers.back();
  EXPECT_NE(fault_in(q, in, sums, false), "");
}

TEST(PiecesProof, AWrongCount) {
  const TensorQuestion q = tensor_question(Type::u8, cuts[0], {});
  Refused none = list_of("", "Planted");
  const auto planted = [](const TensorQuestion& of, const CountsInputs& in) {
    Counts counts = tiled_counts(of, in);
    return ++counts[2], counts;
  };
  EXPECT_EQ(fault(CountsWay{"Planted", tiled_counts}, q, none), "");
  EXPECT_TRUE(begins(fault(CountsWay{"Planted", planted}, q, none), "count 2 is"));
}

}  // namespace
}  // namespace areal::piece_matrix
