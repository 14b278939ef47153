// areal model: what the memory machines say of algorithms.

#include "model.hpp"

#include <CLI/CLI.hpp>
#include "verbs/verbs.hpp"

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
      "algorithms (h and w in those of B are rounded up to tiles of T). Then what they cost beside the formulas of\n"
      "their papers, where these have one: the global memory access cost, the stages of shared memory on the DMM, and\n"
      "time: on the UMM of global memory alone, and on the HMM, d DMMs of p threads each, where a thread waits for\n"
      "every request before its next one. Histograms are of images of labels, which need no table of bins. harris and\n"
      "the lee-choe are two families': --family scan takes those that sum up a line.\n\n"
      "Example:\n  areal model --algorithm 1r1w --n 65536 --l 200\n  areal model nakano --n 4096 --w 32 --l 32");
}

}  // namespace areal::command
