// Every engine that computes tables in parts x options of SatOptions x borders x type pairs x cuts, against the table
// of the whole image and the definition. See README.md.
#include <gtest/gtest.h>
#include "piece_matrix/table_engines.hpp"

namespace areal::piece_matrix {
namespace {

class PiecesTables : public testing::TestWithParam<TableEngine> {};

TEST_P(PiecesTables, EqualTheWholeAndTheDefinition) {
  Refused refused = Refused::of_repository(GetParam().name);
  Faults faults;
  each_table_question([&](const TableQuestion& q) {
    for (const TableWay& way : GetParam().ways) faults.add(way.name, q.words(), fault(way, q, refused));
  });
  faults.add(refused);
}

const auto engine_name = [](const auto& of) {
  std::string name = of.param.name;
  std::erase(name, ':');
  return name;
};
INSTANTIATE_TEST_SUITE_P(All, PiecesTables, testing::ValuesIn(table_engines()), engine_name);

}  // namespace
}  // namespace areal::piece_matrix
