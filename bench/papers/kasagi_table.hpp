#pragma once
// Table II of Kasagi 2014 from records: rows, columns and curves.

#include <string>
#include <vector>
#include "bench/harness/bench.hpp"
#include "bench/papers/model_plot.hpp"

namespace areal::bench {

/// What records are of: a cell of the table, or a point of the curve over r that its best r comes from.
inline constexpr const char *kasagi_cell = "kasagi", *kasagi_curve = "kasagi-r";

/// The paper's rows that a GPU runs with nothing to choose, and those of the CPU: the paper's names and ours.
struct KasagiRow {
  const char *name, *algorithm;
};
inline constexpr KasagiRow kasagi_gpu_rows[] = {
    {"2R2W", "2r2w"}, {"4R4W", "4r4w"}, {"4R1W", "4r1w"}, {"2R1W", "2r1w"}, {"1R1W", "1r1w"}};
inline constexpr KasagiRow kasagi_cpu_rows[] = {{"2R2W(CPU)", "2r2w-cpu"}, {"4R1W(CPU)", "4r1w-cpu"}};

/// "4K", or "WxH".
std::string kasagi_size(const Size& size);
/// The tables, one for each type pair: milliseconds with the paper's rows down and sizes across, areal's own below.
std::string kasagi_table(const std::vector<Record>& records);
/// For each type pair its rows over the side of the matrix, and the curves over r of a few sizes.
command::Plot kasagi_plot(const std::vector<Record>& records);

}  // namespace areal::bench
