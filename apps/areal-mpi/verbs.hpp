#pragma once
// The verbs of areal-mpi, and the options that all have.

#include <areal/execution.hpp>
#include <string>
#include "job.hpp"

namespace CLI {
class App;
}

namespace areal::command {

struct MpiSettings {
  bool json = false;
  std::string threads_text = "1", backend_text = "cpu";
  void add_to(CLI::App& app);
  /// Of this rank: with cuda the device of its number among the ranks of its machine. Throws InvalidArgument,
  /// Unavailable.
  Execution execution(const Job& job) const;
};

void add_sat(CLI::App& app, Job& job, MpiSettings& settings);
void add_query(CLI::App& app, Job& job, MpiSettings& settings);
void add_hist(CLI::App& app, Job& job, MpiSettings& settings);
void add_bench(CLI::App& app, Job& job, MpiSettings& settings);

}  // namespace areal::command
