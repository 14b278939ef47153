#pragma once
// Shared by the papers' figures.

#include <functional>
#include <optional>
#include <string>
#include <vector>
#include "bench/harness/bench.hpp"
#include "bench/harness/race.hpp"

namespace areal::bench {

/// Records in the order of a race's racers; none for a refused racer.
using Ranks = std::vector<std::optional<Record>>;

/// Throws InvalidArgument for options that these figures do not support.
void check_figure(const Options& options);
/// Adds a record of each racer that ran, and notes why the others did not. `select_launches` maps the launches to
/// those that are kept.
Ranks keep_race(const Race& race, const Options& options, Report& report,
                const std::function<std::vector<LaunchTime>(const std::vector<LaunchTime>&)>& select_launches = {});

std::string text_of(const Size& size);
}  // namespace areal::bench
