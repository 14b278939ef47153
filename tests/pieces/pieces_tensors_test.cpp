// Every engine that computes integral histograms in parts x options x pixel types x cuts, against the tensor of the
// whole image and the definition. See README.md.
#include <gtest/gtest.h>
#include "piece_matrix/matrix.hpp"
#include "piece_matrix/tensor_engines.hpp"

namespace areal::piece_matrix {
namespace {

/// f(question) for the matrix as far as `extent()` says.
template <class F>
void each_question(const F& f) {
  const std::vector<TensorOption> of_tensors = tensor_options(options_of_tensors);
  const auto all =
      combinations(std::span(of_tensors), {{"algorithm", "paper"}, {"rule", "uncut rule"}, {"uncut rule", "groups"}});
  each_choice(all, std::size(pixel_types), 7,
              [&](const auto& options, std::size_t type, const Cut& cut, std::uint64_t seed) {
                TensorQuestion q = tensor_question(pixel_types[type], cut, options);
                q.seed = seed;
                f(q);
              });
}

class PiecesTensors : public testing::TestWithParam<TensorEngine> {};

TEST_P(PiecesTensors, EqualTheWholeAndTheDefinition) {
  Refused refused = Refused::of_repository(GetParam().name);
  Faults faults;
  each_question([&](const TensorQuestion& q) {
    for (const TensorWay& way : GetParam().ways) faults.add(way.name, q.words(), fault(way, q, refused));
  });
  faults.add(refused);
}

const auto engine_name = [](const auto& of) {
  std::string name = of.param.name;
  std::erase(name, ':');
  return name;
};
INSTANTIATE_TEST_SUITE_P(All, PiecesTensors, testing::ValuesIn(tensor_engines()), engine_name);

}  // namespace
}  // namespace areal::piece_matrix
