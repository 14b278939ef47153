// The rows. No code: each algorithm is one line, and the tests check its claims.
#include <areal/catalog.hpp>

namespace areal {
namespace {

constexpr AlgorithmOptions share{.r = true}, warp_scan{.scan = true}, tile{.tile = true}, threads{.threads = true},
    threads_and_group{.threads = true, .group = true};

constexpr Algorithm rows[] = {
    // family, id, source, cpu, cuda, simt, plain, reads, writes, barrier steps, deterministic, takes
    {"sat", "serial", "Chen 2018, Algorithm 1", true, false, false, true, "2", "1", "0", true},
    {"sat", "2r2w-cpu", "Kasagi 2014, VIII", true, false, false, true, "4", "2", "1", true},
    {"sat", "4r1w-cpu", "Kasagi 2014, VIII", true, false, false, true, "4", "1", "0", true},
    {"sat", "2r2w", "Kasagi 2014, IV", false, true, true, true, "2", "2", "1", true},
    {"sat", "4r4w", "Kasagi 2014, IV", false, true, true, true, "4", "4", "3", true},
    {"sat", "4r1w", "Kasagi 2014, VI", false, true, true, true, "4", "1", "h + w - 2", true},
    {"sat", "2r1w", "Kasagi 2014, V", false, true, true, true, "2", "1", "2 d + 2", true},
    {"sat", "1r1w", "Kasagi 2014, VI", false, true, true, true, "1", "1", "h / T + w / T - 2", true},
    {"sat", "hybrid-1r1w", "Kasagi 2014, VII", false, true, true, true, "1 + r", "1",
     "h / T + w / T + 5 + 4 d - (1 + 4 r h w / T^2)^0.5", true, share},
    {"sat", "scanrow-brlt", "Chen 2018, IV-A", false, true, true, true, "2", "2", "1", true, warp_scan},
    {"sat", "brlt-scanrow", "Chen 2018, IV-B", false, true, true, true, "2", "2", "1", true},
    {"sat", "scanrow-column", "Chen 2018, IV-C", false, true, true, true, "2", "2", "1", true, warp_scan},
    {"sat", "umm-optimal", "Nakano 2013, 8", false, true, true, true, "10", "8",
     "2 log2((h + 1) / 514) + 2 log2((w + 1) / 514) + 2 + above(h, 1)", true},
    {"sat", "tiles", "areal", true, false, false, false, "1", "1", "0", true},
    {"sat", "lookback", "areal", false, true, true, false, "1", "1", "0", true},
    {"sat", "lookback-diagonal", "areal", false, true, true, false, "1", "1", "0", true},
    {"sat", "all-partials", "areal", false, true, true, false, "1", "1", "0", true},
    {"sat", "thin", "areal", false, true, true, false, "1 + (ceil(min(h, w) / T) - 1) / min(h, w)", "1",
     "min(h, w) / T - 1", true},
    {"histogram", "serial", "Poostchi 2017, Algorithm 1", true, false, false, true, "4", "2", "0", true},
    {"histogram", "parallel", "Poostchi 2017, 4.7", true, false, false, true, "4", "2", "0", true},
    {"histogram", "cw-b", "Poostchi 2017, Algorithm 2", false, true, true, true, "4 + 1/b", "5", "b (h + w + 1) + 1",
     true},
    {"histogram", "cw-sts", "Poostchi 2017, Algorithm 3", false, true, true, true, "4 + 1/b", "5", "4", true},
    {"histogram", "cw-tis", "Poostchi 2017, Algorithm 4", false, true, true, true, "2 + 2/T + 1/b", "3",
     "h / T + w / T", true, tile},
    {"histogram", "wf-tis", "Poostchi 2017, Algorithm 5", false, true, true, true, "1 + 2/T + 1/b", "2 + 1/T",
     "h / T + w / T - 1", true, tile},
    {"histogram", "harris", "Lee, Choe 2014, 2", false, true, true, true, "4 + above(w, 2048) + above(h, 2048) + 1/b",
     "5 + above(w, 2048) + above(h, 2048)", "4 + 2 above(w, 2048) + 2 above(h, 2048)", true},
    {"histogram", "lee-choe-multiple", "Lee, Choe 2014, 3.1", false, true, true, true,
     "4 + above(w, 8192) + above(h, 8192) + 1/b", "5 + above(w, 8192) + above(h, 8192)",
     "4 + 2 above(w, 8192) + 2 above(h, 8192)", true},
    {"histogram", "lee-choe-shared", "Lee, Choe 2014, 3.2", false, true, true, true,
     "4 + above(w, 2048) + above(h, 2048) + 1/b", "5 + above(w, 2048) + above(h, 2048)",
     "4 + 2 above(w, 2048) + 2 above(h, 2048)", true},
    {"histogram", "lee-choe", "Lee, Choe 2014, 3", false, true, true, true, "4 + above(w, 8192) + above(h, 8192) + 1/b",
     "5 + above(w, 8192) + above(h, 8192)", "4 + 2 above(w, 8192) + 2 above(h, 8192)", true},
    {"histogram", "fused", "areal", true, false, false, false, "1/b", "1", "0", true},
    {"histogram", "reduce-then-scan", "areal", false, true, true, false,
     "ceil(b / 64) / b + 3/64 + ceil(b / 8) / (4 b)", "1 + 1/32 + ceil(b / 64) / (4 b)", "2", true},
    {"scan", "naive", "Nakano 2013, 6", false, true, true, true, "2 log2(n) - 1.5", "log2(n) - 0.5", "log2(n) - 1",
     true, threads},
    {"scan", "optimal", "Nakano 2013, 7", false, true, true, true, "4", "3", "2 log2(n / 512)", true, threads},
    {"scan", "sequential-parallel", "Nakano 2013, 7", false, true, true, true, "5", "4",
     "n / k (2 log2(k / 512) + 2) - 1", true, threads_and_group},
    {"scan", "harris", "Lee, Choe 2014, 2", false, true, true, true, "3", "3", "3", true},
    {"scan", "lee-choe-multiple", "Lee, Choe 2014, 3.1", false, true, true, true, "3", "3", "3", true},
    {"scan", "lee-choe-shared", "Lee, Choe 2014, 3.2", false, true, true, true, "3", "3", "3", true},
    {"scan", "lee-choe", "Lee, Choe 2014, 3", false, true, true, true, "3", "3", "3", true},
    {"scan", "kogge-stone", "Chen 2018, Algorithm 3", false, true, true, true, "1", "1", "0", true},
    {"scan", "ladner-fischer", "Chen 2018, Algorithm 4", false, true, true, true, "1", "1", "0", true},
};

}  // namespace

std::span<const Algorithm> algorithms() noexcept { return rows; }

const Algorithm* find_algorithm(std::string_view family, std::string_view id) noexcept {
  for (const Algorithm& row : rows)
    if (row.family == family && row.id == id) return &row;
  return nullptr;
}

}  // namespace areal
