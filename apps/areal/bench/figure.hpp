#pragma once
// What the figures of the papers on integral histograms share.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "bench.hpp"
#include "race.hpp"

namespace areal::bench {

/// Records in the order of a race's racers; none of those that were refused.
using Ranks = std::vector<std::optional<Record>>;

/// Throws InvalidArgument for options that these figures do not take.
void check_figure(const Options& options);
/// Keeps a record of each that ran, and notes why the others did not. `told` says how the launches are kept.
Ranks keep_race(const Race& race, const Options& options, Report& report,
                const std::function<std::vector<LaunchTime>(const std::vector<LaunchTime>&)>& told = {});

std::string text_of(const Size& size);
/// A cell of a table: with one decimal, "-" where there is nothing above 0.
std::string cell(double value);
/// The median; 0 where it did not run.
double median_of(const std::optional<Record>& record);
/// A table under its heading on standard output; the first `words` columns are no numbers.
void write_table(std::string_view heading, const std::vector<std::vector<std::string>>& rows, std::size_t words);
/// The picture under its name when complete.
void write_picture(const std::string& path, const std::string& svg);

}  // namespace areal::bench
