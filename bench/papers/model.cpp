// areal model: costs of algorithms on the memory machines.

#include "bench/papers/model.hpp"

#include <CLI/CLI.hpp>
#include "io/laboratory.hpp"
#include "verbs/verbs.hpp"

namespace areal::command {

void add_model(CLI::App& app, Settings& settings) {
  CLI::App* verb = app.add_subcommand("model", model_description);
  verb->require_subcommand(0, 1);
  add_model_nakano(*verb, settings);
  add_model_chen(*verb, settings);
  add_model_algorithm(*verb, settings);
  verb->footer(
      "--algorithm runs an algorithm on the simulated machine and prints its counts next to the formulas of areal\n"
      "algorithms (the formula of B rounds h and w up to tiles of T). Then it prints the costs next to the paper's\n"
      "formulas, where the paper has them: the global memory access cost, the stages of shared memory on the DMM, and\n"
      "the time on the UMM, which counts global memory only, and on the HMM, d DMMs of p threads each, where a thread\n"
      "waits for each request before its next one. Histograms are made of label images, which need no table of bins.\n"
      "harris and the lee-choe algorithms are in two families; --family scan takes those that sum up a line.\n\n"
      "Example:\n  areal model --algorithm 1r1w --n 65536 --l 200\n  areal model nakano --n 4096 --w 32 --l 32");
}

}  // namespace areal::command
