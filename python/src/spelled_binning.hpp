#pragma once
// A binning from the numbers in graphs of PyTorch and JAX (areal/_spelled.py). Used by this module and by JAX's
// handlers, a separate module.

#include <areal/binning.hpp>
#include <areal/error.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace areal::python {

/// Throws InvalidArgument if the numbers are not a binning.
inline Binning spelled_binning(std::string_view kind, std::int64_t bins, std::span<const double> numbers,
                               std::span<const std::int64_t> table, bool clamp, std::optional<std::int64_t> ignored) {
  const auto clamped = [&](Binning made) { return clamp ? made.clamped() : made; };
  if (kind == "uniform") {
    if (numbers.size() != 2) throw InvalidArgument("range: it is two numbers, the lowest and the highest value");
    return clamped(Binning::uniform(bins, numbers[0], numbers[1]));
  }
  if (kind == "edges") return clamped(Binning::edges(std::vector<double>(numbers.begin(), numbers.end())));
  if (kind == "labels") return clamped(Binning::labels(bins, ignored));
  if (kind == "lookup") return clamped(Binning::lookup(std::vector<std::int32_t>(table.begin(), table.end())));
  if (kind != "joint")
    throw InvalidArgument("binning " + std::string(kind) + ": may be uniform, edges, labels, lookup or joint");
  if (numbers.size() != 2 * table.size())
    throw InvalidArgument("range: joint bins need the lowest and the highest value of each channel");
  std::vector<Binning> channels;
  for (std::size_t i = 0; i < table.size(); ++i)
    channels.push_back(clamped(Binning::uniform(table[i], numbers[2 * i], numbers[2 * i + 1])));
  return Binning::joint(std::move(channels));
}

}  // namespace areal::python
