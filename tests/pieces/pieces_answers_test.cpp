// Every engine that answers about regions of an image in parts x options x pixel types x cuts, against the answers of
// the whole image and the definition. See README.md.
#include <gtest/gtest.h>
#include "piece_matrix/counts_engines.hpp"
#include "piece_matrix/matrix.hpp"
#include "piece_matrix/sums_engines.hpp"

namespace areal::piece_matrix {
namespace {

class PiecesSums : public testing::TestWithParam<SumsEngine> {};

TEST_P(PiecesSums, EqualTheWholeAndTheDefinition) {
  Refused refused = Refused::of_repository(GetParam().name);
  Faults faults;
  const auto all = combinations(std::span<const SumsOption>(sums_options), {{"values", "ignore_nan"}});
  each_choice(all, std::size(pixel_types), 2,
              [&](const auto& options, std::size_t type, const Cut& cut, std::uint64_t seed) {
                SumsQuestion q = sums_question(pixel_types[type], cut, options);
                q.seed = seed;
                for (const SumsWay& way : GetParam().ways) faults.add(way.name, q.words(), fault(way, q, refused));
              });
  faults.add(refused);
}

class PiecesCounts : public testing::TestWithParam<CountsEngine> {};

TEST_P(PiecesCounts, EqualTheWholeAndTheDefinition) {
  Refused refused = Refused::of_repository(GetParam().name);
  Faults faults;
  const std::vector<TensorOption> of_counts = tensor_options(options_of_counts);
  const auto all = combinations(std::span(of_counts), {{"rule", "uncut rule"}, {"uncut rule", "groups"}});
  each_choice(all, std::size(pixel_types), 2,
              [&](const auto& options, std::size_t type, const Cut& cut, std::uint64_t seed) {
                TensorQuestion q = tensor_question(pixel_types[type], cut, options);
                q.seed = seed;
                for (const CountsWay& way : GetParam().ways) faults.add(way.name, q.words(), fault(way, q, refused));
              });
  faults.add(refused);
}

const auto engine_name = [](const auto& of) {
  std::string name = of.param.name;
  std::erase(name, ':');
  return name;
};
INSTANTIATE_TEST_SUITE_P(All, PiecesSums, testing::ValuesIn(sums_engines()), engine_name);
INSTANTIATE_TEST_SUITE_P(All, PiecesCounts, testing::ValuesIn(counts_engines()), engine_name);

}  // namespace
}  // namespace areal::piece_matrix
