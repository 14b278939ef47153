// areal/research/model.hpp: the programs of src/memory_machines with 64-bit sums, and the paper's bounds.

#include <areal/research/model.hpp>
#include <functional>
#include "api/core/require.hpp"
#include "memory_machines/bounds.hpp"
#include "memory_machines/sat.hpp"

namespace areal {
namespace {

using Words = std::vector<std::uint64_t>;

bool is_power_of_two(std::int64_t value) { return std::has_single_bit(static_cast<std::uint64_t>(value)); }

// The height of the squarest table of n elements.
std::int64_t squarest(std::int64_t n) {
  auto height = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  while (n % height != 0) --height;
  return height;
}

ModelTime row(std::string_view program, const memory::Time& time, double bound, std::optional<double> constant) {
  return {program, time.units, time.requests, time.entries, time.barriers, bound, constant};
}

}  // namespace

std::string_view name_of(MemoryKind kind) { return kind == MemoryKind::dmm ? "dmm" : "umm"; }

NakanoTimes nakano_times(const MemoryMachine& machine, std::int64_t n, std::int64_t workspace) {
  constexpr std::int64_t most = std::int64_t{1} << 20, most_width = std::int64_t{1} << 10;
  require_range("elements", n, 2, most);
  require_range("width", machine.width, 1, most_width);
  require_range("latency", machine.latency, 1, most);
  require_range("threads", machine.threads, 1, most);
  require(machine.threads % machine.width == 0, "threads ", machine.threads, ": may be a multiple of the width, ",
          machine.width);
  const bool is_dmm = machine.kind == MemoryKind::dmm;
  const memory::Shape shape{is_dmm ? memory::Kind::dmm : memory::Kind::umm, machine.threads, machine.width,
                            machine.latency};
  const std::int64_t least_k = std::min(machine.threads, n);
  if (workspace != 0) require_range("workspace", workspace, least_k, n);

  NakanoTimes result;
  result.workspace = workspace != 0 ? workspace : memory::least_workspace(n, shape);
  result.height = squarest(n);
  result.width = n / result.height;
  const memory::Limits limits = memory::limits(n, shape);
  result.bandwidth = limits.bandwidth;
  result.latency = limits.latency;
  result.reduction = limits.reduction;
  result.lower_bound = limits.most();
  result.limit = limits.binding();
  result.enough_threads = memory::enough_threads(shape);
  result.enough_elements = memory::enough_elements(n, shape);

  Words input(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = i * i + 1;
  const std::span<const std::uint64_t> image(input);
  const std::plus<std::uint64_t> op;
  const memory::Terms terms = memory::terms(n, shape);
  const double l = static_cast<double>(machine.latency), log_n = std::log2(static_cast<double>(n));
  const double k = static_cast<double>(result.workspace);
  const bool powers = is_power_of_two(n) && is_power_of_two(machine.threads) && is_power_of_two(machine.width);
  const bool wide = powers && machine.width <= result.height;
  const auto proven = [](bool holds, double constant) { return holds ? std::optional(constant) : std::nullopt; };

  auto& rows = result.programs;
  rows.push_back(row("contiguous", memory::contiguous(shape, image).time, terms.bandwidth + terms.latency + l, 1));
  rows.push_back(row("sum", memory::sum(shape, image, op).time, terms.sum(), proven(powers, 3)));
  rows.push_back(row("ordered-sum", memory::ordered_sum(shape, image, op).time, terms.sum(), proven(powers, 5)));
  rows.push_back(row("naive", memory::naive_prefix_sums(shape, image, op).time,
                     (terms.bandwidth + terms.latency) * log_n + terms.reduction, proven(powers, is_dmm ? 3 : 4)));
  rows.push_back(
      row("optimal", memory::prefix_sums(shape, image, op).time, terms.sum(), proven(powers, is_dmm ? 12 : 14)));
  rows.push_back(row("sequential-parallel", memory::sequential_prefix_sums(shape, image, result.workspace, op).time,
                     terms.bandwidth + terms.latency + static_cast<double>(n) * l * std::log2(k) / k,
                     proven(powers && is_power_of_two(result.workspace), 17)));
  const auto table = [&](memory::Columns columns) {
    return memory::sat(shape, image, result.height, result.width, columns, op).time;
  };
  rows.push_back(row("sat", table(memory::Columns::transposed), terms.sum(),
                     proven(wide && machine.threads * machine.width <= n, 32)));
  rows.push_back(row("sat-direct", table(memory::Columns::direct), terms.sum(), proven(wide, 21)));
  return result;
}

}  // namespace areal
