#pragma once
// The verdict on one answer: against the whole image, the definition and the list of refusals.

#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>
#include "piece_matrix/matrix.hpp"
#include "piece_matrix/refused.hpp"

namespace areal::piece_matrix {

/// An answer, or the sentence of a refusal.
template <class Answer>
struct Outcome {
  std::optional<Answer> answer;
  std::string refusal, failure;
};
template <class Compute>
auto outcome_of(const Compute& compute) -> Outcome<decltype(compute())> {
  try {
    return {compute(), {}, {}};
  } catch (const InvalidArgument& error) {
    return {{}, error.what(), {}};
  } catch (const Unavailable& error) {
    return {{}, error.what(), {}};
  } catch (const std::exception& error) {
    return {{}, {}, std::string("threw: ") + error.what()};
  }
}

/// Empty, or what is wrong. `wrong(answer)` looks at an engine's answer.
template <class Answer, class Wrong>
std::string judge(const char* engine, const std::vector<std::string>& options, const Outcome<Answer>& whole,
                  const Outcome<Answer>& of_engine, Refused& refused, const Wrong& wrong) {
  if (!whole.failure.empty()) return "the whole image " + whole.failure;
  if (!of_engine.failure.empty()) return of_engine.failure;
  if (!whole.answer) return of_engine.answer ? "takes what the whole image refuses: " + whole.refusal : std::string();
  if (!of_engine.answer) {
    if (refused.covers(engine, options, of_engine.refusal)) return {};
    return "refuses what the whole image takes, which tests/pieces/refused.txt does not list: " + of_engine.refusal;
  }
  return wrong(*of_engine.answer);
}

/// Reports faults: of each kind the first question, of at most thirty kinds.
class Faults {
 public:
  void add(const std::string& way, const std::string& question, const std::string& wrong) {
    if (!wrong.empty() && kinds_.insert(way + wrong).second && kinds_.size() <= 30)
      ADD_FAILURE() << way << ": " << question << ": " << wrong;
  }
  /// Entries that nothing met; of few questions not all can.
  void add(const Refused& refused) {
    if (extent() == Extent::few) return;
    for (const std::string& fault : refused.faults()) ADD_FAILURE() << fault;
  }

 private:
  std::set<std::string> kinds_;
};

}  // namespace areal::piece_matrix
