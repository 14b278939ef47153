#pragma once
// Shared by the figures of the papers on integral histograms.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "bench/harness/bench.hpp"
#include "bench/harness/race.hpp"

namespace areal::bench {

/// Records in the order of a race's racers; none for a refused racer.
using Ranks = std::vector<std::optional<Record>>;

/// Throws InvalidArgument for options that these figures do not support.
void check_figure(const Options& options);
/// Keeps a record of each racer that ran, and notes why the others did not. `select_launches` maps the launches to
/// those that are kept.
Ranks keep_race(const Race& race, const Options& options, Report& report,
                const std::function<std::vector<LaunchTime>(const std::vector<LaunchTime>&)>& select_launches = {});

std::string text_of(const Size& size);
/// A cell of a table, with one decimal; "-" for 0 and below.
std::string cell(double value);
/// The median; 0 if it did not run.
double median_of(const std::optional<Record>& record);
/// Prints a table with its heading; the first `words` columns are text.
void write_table(std::string_view heading, const std::vector<std::vector<std::string>>& rows, std::size_t words);
/// Writes the picture; the file appears when it is complete.
void write_picture(const std::string& path, const std::string& svg);

}  // namespace areal::bench
