#pragma once
// The request of `areal hist`.

#include <areal/histogram_store.hpp>
#include <areal/research/histogram.hpp>
#include <string>
#include <vector>
#include "hist_binning.hpp"
#include "hist_quantile.hpp"
#include "hist_reduce.hpp"
#include "hist_search.hpp"
#include "hist_sequence_options.hpp"
#include "io/input.hpp"
#include "io/launch_table.hpp"
#include "io/regions.hpp"

namespace areal::command {

struct HistRequest {
  InputOptions input;  ///< the first of several
  RegionOptions regions;
  BinningOptions binning;
  Reducers reducers;
  QuantileOptions quantiles;
  SearchOptions search;
  SequenceRequest sequence;
  std::string output, border = "none", algorithm = "auto", counter, weights, tile = "32", tile_threads, memory,
                      store_text = "auto";
  Store store = Store::automatic;
  bool csv = false, chart = false;
  LaunchTable launches;
};

}  // namespace areal::command
