#pragma once
// The papers' costs of their tables on the memory machines: plain rows that complement the catalogue's. Kasagi 2014 has
// the global memory access cost, C/w + S + (B + 1)(l - 1), which counts coalesced accesses (C), strided ones (S) and
// barrier steps (B, the catalogue's); Nakano 2013 a bound on the time of the UMM. The other papers and areal's own
// algorithms have neither.

#include <string_view>

namespace areal {

/// Formulas as in the catalogue, per element; empty if the paper has none.
struct PaperCost {
  std::string_view family, id;
  std::string_view coalesced, strided;
  /// Accesses of shared memory, w at a time on the DMM. Table I's are too few (4R4W has two transposes) or do not
  /// follow from the text; these are derived. A tile of 1R1W is put, got and put again by its sums along the rows and
  /// down the columns, and got where it goes out: 6. 2R1W puts a tile before, and gets it for the sums of its rows and
  /// columns: 9.
  std::string_view shared;
  std::string_view umm_bound;  ///< on the time of the UMM, inside O(); of n elements, p threads, k in a group
};

inline constexpr PaperCost paper_costs[] = {
    {"sat", "2r2w", "2", "2", "0", ""},                                     // Lemma 2
    {"sat", "4r4w", "8", "0", "4", ""},                                     // Lemma 3
    {"sat", "4r1w", "0", "5", "0", ""},                                     // Lemma 5
    {"sat", "2r1w", "3 + 8/T", "0", "9", ""},                               // Lemma 4
    {"sat", "1r1w", "2", "0", "6", ""},                                     // Theorem 6, which is about 1R1W
    {"sat", "hybrid-1r1w", "2 + r", "0", "6 + 3 r", ""},                    // Theorem 7; Table I leaves out the writes
    {"sat", "umm-optimal", "", "", "", "n/w + nl/p + l log n"},             // Nakano 2013, 8
    {"scan", "naive", "", "", "", "n log n / w + nl log n / p + l log n"},  // Nakano 2013, 6
    {"scan", "optimal", "", "", "", "n/w + nl/p + l log n"},                // Nakano 2013, 7
    {"scan", "sequential-parallel", "", "", "", "n/w + nl/p + (nl log k) / k"},  // Nakano 2013, 7
};

constexpr const PaperCost* find_paper_cost(std::string_view family, std::string_view id) noexcept {
  for (const PaperCost& row : paper_costs)
    if (row.family == family && row.id == id) return &row;
  return nullptr;
}

}  // namespace areal
