#pragma once
// A record of a sweep, to which a policy's choices are held.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace areal {

struct Sweep {
  using Json = nlohmann::json;

  double most;                        ///< times the best row's time that a choice may take
  std::string (*place)(const Json&);  ///< names a case

  /// What is wrong with that choice in that case; empty if nothing is. Rows whose intervals meet cannot be told apart.
  std::string complaint(const Json& of, const std::string& chosen) const {
    const Json *best = nullptr, *ours = nullptr;
    for (const Json& row : of.at("rows")) {
      const bool is_auto = row.at("algorithm") == "auto";
      const std::string algorithm = row.at(is_auto ? "chose" : "algorithm");
      // The algorithm that auto chose has two rows; the one under its own name counts.
      if (algorithm == chosen && (ours == nullptr || !is_auto)) ours = &row;
      if (best == nullptr || row.at("median") < best->at("median")) best = &row;
    }
    if (ours == nullptr) return place(of) + ": " + chosen + " is chosen, but was not measured";
    const double time = ours->at("median"), least = best->at("median");
    if (time <= most * least || ours->at("between").at(0) <= best->at("between").at(1)) return "";
    return place(of) + ": " + chosen + " takes " + std::to_string(time / least) + " times as long as " +
           best->at("algorithm").get<std::string>();
  }

  std::vector<std::string> complaints(const Json& record, const std::function<std::string(const Json&)>& choose) const {
    std::vector<std::string> all;
    for (const Json& of : record)
      if (const std::string one = complaint(of, choose(of)); !one.empty()) all.push_back(one);
    return all;
  }
};

}  // namespace areal
