#pragma once
/// \file warp_scan.hpp The ways in which a warp sums up the values of its lanes.

#include <cstdint>
#include <optional>
#include <string_view>

namespace areal {

/// An inclusive scan of 32 values in five steps (Chen 2018, III-C2).
enum class WarpScan : std::uint8_t {
  kogge_stone,    ///< step k adds the value 2^k lanes before: 129 additions. The default
  ladner_fischer  ///< step k adds one value to each upper half of 2^(k+1) lanes: 80 additions, and 160 ands
};

std::string_view name_of(WarpScan scan) noexcept;  ///< "kogge-stone", "ladner-fischer"
std::optional<WarpScan> warp_scan_named(std::string_view name) noexcept;

}  // namespace areal
