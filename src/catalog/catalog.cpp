// The rows, no code. simt_catalogue_test, simt_catalogue_scan_test and catalogue_cpu_test check their costs against
// counts; the conformance suite relies on the other fields.
#include <algorithm>
#include <areal/catalog.hpp>
#include <array>

namespace areal {
namespace {

constexpr AlgorithmOptions share{.r = true}, warp_scan{.scan = true}, tile{.tile = true}, threads{.threads = true},
    threads_and_group{.threads = true, .group = true};

// Lines of more than C elements need two launches for their blocks' sums, and two more if these are more than C.
constexpr std::string_view line_of_blocks = "1 + 2 ceil(log2(n / C) / log2(C))",
                           lines_of_blocks = "4 + 2 ceil(log2(w / C) / log2(C)) + 2 ceil(log2(h / C) / log2(C))";

constexpr Algorithm all[] = {
    // family, id, source, cpu, cuda, simt, plain, reads, writes, barrier steps, deterministic, takes
    {"sat", "serial", "Chen 2018, Algorithm 1", true, false, false, true, "2", "1", "0", true},
    {"sat", "2r2w-cpu", "Kasagi 2014, VIII", true, false, false, true, "4", "2", "1", true},
    {"sat", "4r1w-cpu", "Kasagi 2014, VIII", true, false, false, true, "4", "1", "0", true},
    {"sat", "2r2w", "Kasagi 2014, IV", false, true, true, true, "2", "2", "1", true},
    {"sat", "4r4w", "Kasagi 2014, IV", false, true, true, true, "4", "4", "3", true},
    {"sat", "4r1w", "Kasagi 2014, VI", false, true, true, true, "4", "1", "h + w - 2", true},
    {"sat", "2r1w", "Kasagi 2014, V", false, true, true, true, "2", "1", "2 d + 1 + above(max(h, w), T)", true},
    {"sat", "1r1w", "Kasagi 2014, VI", false, true, true, true, "1", "1", "ceil(h / T) + ceil(w / T) - 2", true},
    {"sat", "hybrid-1r1w", "Kasagi 2014, VII", false, true, true, true, "1 + r", "1",
     "ceil(h / T) + ceil(w / T) - 2 + above(k, 0) (5 - 2 k) + above(k, 1) + 2 d", true, share},
    {"sat", "scanrow-brlt", "Chen 2018, IV-A", false, true, true, true, "2", "2", "1", true, warp_scan},
    {"sat", "brlt-scanrow", "Chen 2018, IV-B", false, true, true, true, "2", "2", "1", true},
    {"sat", "scanrow-column", "Chen 2018, IV-C", false, true, true, true, "2", "2", "1", true, warp_scan},
    {"sat", "umm-optimal", "Nakano 2013, 8", false, true, true, true, "10", "8",
     "2 log2((h + 1) / 514) + 2 log2((w + 1) / 514) + 2 + above(h, 1)", true},
    {"sat", "tiles", "areal", true, false, false, false, "1 + (floor(h / 4) + mod(h, 4) + ceil(h / 64)) / h",
     "1 + ceil(h / 64) / h", "0", true},
    {"sat", "lookback", "areal", false, true, true, false, "1", "1", "0", true},
    {"sat", "lookback-diagonal", "areal", false, true, true, false, "1", "1", "0", true},
    {"sat", "bands", "areal", false, true, true, false, "1", "1", "0", true},
    {"sat", "relay", "areal", false, true, true, false, "1", "1", "0", true},
    {"sat", "all-partials", "areal", false, true, true, false, "1", "1", "0", true},
    {"sat", "thin", "areal", false, true, true, false, "1 + (ceil(min(h, w) / T) - 1) / min(h, w)", "1",
     "ceil(min(h, w) / T) - 1", true},
    {"histogram", "serial", "Poostchi 2017, Algorithm 1", true, false, false, true, "4", "2", "1", true},
    {"histogram", "parallel", "Poostchi 2017, 4.7", true, false, false, true, "4", "2", "1", true},
    {"histogram", "cw-b", "Poostchi 2017, Algorithm 2", false, true, true, true, "4 + 1/b", "5", "b (h + w + 1) + 1",
     true},
    {"histogram", "cw-sts", "Poostchi 2017, Algorithm 3", false, true, true, true, "4 + 1/b", "5", "4", true},
    {"histogram", "cw-tis", "Poostchi 2017, Algorithm 4", false, true, true, true, "2 + 2/T + 1/b", "3",
     "ceil(h / T) + ceil(w / T)", true, tile},
    {"histogram", "wf-tis", "Poostchi 2017, Algorithm 5", false, true, true, true, "1 + 2/T + 1/b", "2 + 1/T",
     "ceil(h / T) + ceil(w / T) - 1", true, tile},
    {"histogram", "harris", "Lee, Choe 2014, 2", false, true, true, true, "4 + above(w, C) + above(h, C) + 1/b",
     "5 + above(w, C) + above(h, C)", lines_of_blocks, true},
    {"histogram", "lee-choe-multiple", "Lee, Choe 2014, 3.1", false, true, true, true,
     "4 + above(w, C) + above(h, C) + 1/b", "5 + above(w, C) + above(h, C)", lines_of_blocks, true},
    {"histogram", "lee-choe-shared", "Lee, Choe 2014, 3.2", false, true, true, true,
     "4 + above(w, C) + above(h, C) + 1/b", "5 + above(w, C) + above(h, C)", lines_of_blocks, true},
    {"histogram", "lee-choe", "Lee, Choe 2014, 3", false, true, true, true, "4 + above(w, C) + above(h, C) + 1/b",
     "5 + above(w, C) + above(h, C)", lines_of_blocks, true},
    {"histogram", "fused", "areal", true, false, false, false,
     "ceil(b / 255) / b + (ceil(h / 64) - 1) / h + (ceil(w / 512) - 1) / w",
     "1 + (ceil(h / 64) - 1) / h + (ceil(w / 512) - 1) / w", "0", true},
    {"histogram", "count-then-write", "areal", false, true, true, false,
     "ceil(b / 127) / b + 1/4 + ceil(h / T) / (8 h) (ceil(h / T) - 1 + (ceil(w / 2048) - 1) (1 + (ceil(h / T) - 1) / "
     "64))",
     "1 + ceil(b / 127) / (4 b)", "1", true},
    {"histogram", "reduce-then-scan", "areal", false, true, true, false,
     "ceil(b / 64) / b + 3/64 + ceil(b / 8) / (4 b)", "1 + 1/32 + ceil(b / 64) / (4 b)", "2", true},
    {"scan", "naive", "Nakano 2013, 6", false, true, true, true,
     "2 log2(n) - (2 - above(n, 256) / 2) 2^log2(n) / n + 3 / n",
     "log2(n) - (1 - above(n, 256) / 2) 2^log2(n) / n + 2 / n", "above(n, 256) (log2(n) - 1)", true, threads},
    {"scan", "optimal", "Nakano 2013, 7", false, true, true, true, "4", "3", "2 log2((n + 1) / 514)", true, threads},
    {"scan", "sequential-parallel", "Nakano 2013, 7", false, true, true, true, "5", "4",
     "ceil(n / k) - 1 + floor(n / k) (above(k, 1) + 2 log2((k + 1) / 514)) + above(mod(n, k), 1) + 2 log2((mod(n, k) + "
     "1) / 514)",
     true, threads_and_group},
    {"scan", "harris", "Lee, Choe 2014, 2", false, true, true, true, "2 + above(n, C)", "2 + above(n, C)",
     line_of_blocks, true},
    {"scan", "lee-choe-multiple", "Lee, Choe 2014, 3.1", false, true, true, true, "2 + above(n, C)", "2 + above(n, C)",
     line_of_blocks, true},
    {"scan", "lee-choe-shared", "Lee, Choe 2014, 3.2", false, true, true, true, "2 + above(n, C)", "2 + above(n, C)",
     line_of_blocks, true},
    {"scan", "lee-choe", "Lee, Choe 2014, 3", false, true, true, true, "2 + above(n, C)", "2 + above(n, C)",
     line_of_blocks, true},
    {"scan", "kogge-stone", "Chen 2018, Algorithm 3", false, true, true, true, "1", "1", "0", true},
    {"scan", "ladner-fischer", "Chen 2018, Algorithm 4", false, true, true, true, "1", "1", "0", true},
    {"filter", "walk", "areal", true, true, true, false, "2", "1", "0", true},
    {"filter", "blocks", "areal", true, true, true, false, "2", "1", "0", true},
    {"filter", "van-herk", "van Herk 1992", true, true, true, false, "1", "1", "0", true},
    {"filter", "guided-walk", "He 2010; areal", true, true, true, false, "2", "1", "0", true},
    {"filter", "convolution", "areal", true, true, true, false, "1", "1", "0", true},
    {"filter", "extended-boxes", "Gwosdek 2011", true, true, true, false, "1", "1", "0", true},
    {"filter", "network", "Batcher 1968; Adams 2021", true, true, true, false, "1", "1", "0", true},
    {"filter", "window-counts", "Huang 1979", false, true, true, false, "2 w", "1", "0", true},
    {"filter", "column-counts", "Perreault 2007", true, false, false, false, "2", "1", "0", true},
    {"filter", "classes", "areal", true, false, false, false, "4", "1", "0", true},
    {"filter", "sliding-counts", "Huang 1979", true, false, false, false, "1", "1", "0", true},
    {"filter", "table", "Crow 1984", true, false, false, false, "5", "2", "0", true},
};

constexpr bool is_built(const Algorithm& row) { return AREAL_HAS_PAPERS || row.cpu || !row.plain_only; }
constexpr auto rows = [] {
  std::array<Algorithm, std::ranges::count_if(all, is_built)> built{};
  std::ranges::copy_if(all, built.begin(), is_built);
  return built;
}();

}  // namespace

std::span<const Algorithm> algorithms() noexcept { return rows; }

const Algorithm* find_algorithm(std::string_view family, std::string_view id) noexcept {
  for (const Algorithm& row : rows)
    if (row.family == family && row.id == id) return &row;
  return nullptr;
}

}  // namespace areal
