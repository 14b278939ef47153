// areal model: what the memory machines say of algorithms.

#include "model.hpp"

#include <CLI/CLI.hpp>
#include "verbs.hpp"

namespace areal::command {

void add_model(CLI::App& app, Settings& settings) {
  CLI::App* verb =
      app.add_subcommand("model", "What algorithms cost on the memory machines, beside the papers' bounds");
  verb->require_subcommand(0, 1);
  add_model_nakano(*verb, settings);
  add_model_chen(*verb, settings);
  add_model_algorithm(*verb, settings);
  verb->footer(
      "--algorithm runs on the simulated machine, which counts, and prints the counts beside the formulas of areal\n"
      "algorithms (h and w in those of B are rounded up to tiles of T) and the global memory access cost; the cost by\n"
      "formula takes as large a share of strided accesses as was counted. The time is another thing: on the HMM, d "
      "DMMs\n"
      "of p threads each, a thread waits for every request before its next one. Algorithms whose blocks wait for one\n"
      "another have none. Histograms are of images of labels, which need no table of bins. harris and the lee-choe "
      "are\n"
      "two families': --family scan takes those that sum up a line.\n\n"
      "Example:\n  areal model --algorithm 1r1w --n 65536 --l 200\n  areal model nakano --n 4096 --w 32 --l 32");
}

}  // namespace areal::command
