// areal/research/model.hpp: one algorithm on the simulated machine, its costs against the catalogue's, its time on the
// HMM.

#include <algorithm>
#include <areal/array.hpp>
#include <areal/research/histogram.hpp>
#include <areal/research/model.hpp>
#include <areal/research/sat.hpp>
#include <areal/research/scan.hpp>
#include <cmath>
#include <cstring>
#include <utility>
#include "api/core/device_plan.hpp"
#include "api/core/pixel_rule.hpp"
#include "api/core/require.hpp"
#include "api/histogram/histogram_request.hpp"
#include "kernels/primitives/line/threads.hpp"
#include "kernels/primitives/workspace.hpp"
#include "kernels/sat/request.hpp"
#include "kernels/scan/request.hpp"
#include "research/cost_formula.hpp"
#include "research/cost_names.hpp"
#include "research/hierarchy_clock.hpp"
#include "research/paper_costs.hpp"
#include "simt/plan.hpp"

namespace areal {
namespace {

const Algorithm& row_of(std::string_view family, std::string_view id) {
  std::vector<std::string_view> known;  // ids of several families are listed once
  for (const Algorithm& row : algorithms()) {
    if (!row.simt || row.family == "filter" || (!family.empty() && row.family != family)) continue;
    if (row.id == id) return row;  // the catalogue has histograms before scans
    if (std::find(known.begin(), known.end(), row.id) == known.end()) known.push_back(row.id);
  }
  require(!known.empty(), "family ", family, ": may be sat, histogram or scan");
  std::string list;
  for (const std::string_view one : known) list += (list.empty() ? "" : ", ") + std::string(one);
  throw InvalidArgument(sentence("algorithm ", id, ": none ", family.empty() ? "" : sentence("of ", family, " "),
                                 "that simt runs; it may be ", list));
}

void check(const AlgorithmRequest& request, const HierarchicalMachine& machine, std::string_view family) {
  constexpr std::int64_t most = std::int64_t{1} << 20, most_dmms = 1024;
  require_range("height", request.height, 1, most);
  require_range("width", request.width, 1, most);
  const bool is_tensor = family == "histogram";
  if (is_tensor) require_range("bins", request.bins, 1, 65535);
  const Type counter = request.counter;
  require(!is_tensor || counter == Type::u16 || counter == Type::u32 || counter == Type::u64, "counter ",
          name_of(counter), ": may be 16u, 32u or 64u");
  require(family != "scan" || request.height == 1, "height ", request.height, ": a line's is 1");
  const std::int64_t planes = is_tensor ? request.bins : 1;
  require(request.height <= most / request.width / planes, request.width, " x ", request.height,
          is_tensor ? sentence(" pixels of ", planes, " bins: may be ") : std::string(" elements: may be "), most,
          " elements together");
  require_range("w", machine.width, 1, 32);
  require(32 % machine.width == 0, "w ", machine.width, ": may be a divisor of 32");
  require_range("l", machine.latency, 1, most);
  require_range("p", machine.threads, 1, most);
  require(machine.threads % machine.width == 0, "p ", machine.threads, ": may be a multiple of w, ", machine.width);
  require_range("d", machine.dmms, 1, most_dmms);
}

const Execution on_simt{.backend = Backend::simt};

/// A workspace aligned like a device's memory. At other addresses its arrays would begin anywhere in an address group,
/// and the counts of groups would vary from run to run.
class DeviceWorkspace {
 public:
  explicit DeviceWorkspace(std::size_t bytes)
      : memory_({static_cast<std::int64_t>(bytes) + kernels::workspace_alignment, 1}, Type::u8), bytes_(bytes) {}
  explicit DeviceWorkspace(const Plan& plan) : DeviceWorkspace(plan.workspace_bytes()) {
    const Workspace ready(plan, {static_cast<std::byte*>(data()), bytes_}, Stream::host());
  }
  void* data() { return kernels::first_in(memory_.data()); }

 private:
  Array memory_;
  std::size_t bytes_;
};

std::vector<LaunchCounts> run_table(const AlgorithmRequest& requested, const simt::Options& options) {
  const SatPlan plan = research::sat_plan(
      {requested.width, requested.height}, requested.types.input,
      {.border = Border::none, .types = requested.types, .algorithm = std::string(requested.algorithm)},
      {.r = requested.r, .scan = requested.scan}, on_simt);
  kernels::SatRequest request{plan.image_shape(), requested.types, Border::none};
  request.r = requested.r, request.scan = requested.scan, request.id = requested.algorithm;
  Array image(plan.image_shape(), requested.types.input);  // the counts do not depend on the pixels
  std::memset(image.data(), 0, image.bytes());
  Array table(plan.table_shape(), requested.types.table);
  DeviceWorkspace workspace(plan);
  return simt::execute<kernels::Sat>(request, {std::as_const(image).view(), table.view()}, workspace.data(), options);
}

/// Labels of 32 bits, so that no table of bins is read, which the formulas exclude; of 8 bits if an algorithm supports
/// no others.
std::vector<LaunchCounts> run_tensor(const AlgorithmRequest& requested, const simt::Options& options) {
  const HistogramOptions plan_options{.counter = requested.counter, .algorithm = std::string(requested.algorithm)};
  const research::HistogramParameters parameters{requested.tile, requested.tile_threads};
  const Binning binning = Binning::labels(requested.bins);
  const Type type = requested.algorithm == "count-then-write" ? Type::u8 : Type::u32;
  const HistogramPlan plan =
      research::histogram_plan({requested.width, requested.height}, type, binning, plan_options, parameters, on_simt);
  const kernels::HistogramRequest request = histogram_request(plan.image_shape(), pixel_bins(binning, type, 1),
                                                              plan_options, parameters, plan_options.algorithm);
  Array image(plan.image_shape(), type);
  for (std::int64_t i = 0; i < requested.width * requested.height; ++i) {
    if (type == Type::u8)
      image.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i % std::min<std::int64_t>(requested.bins, 256));
    else
      image.as<std::uint32_t>()[i] = static_cast<std::uint32_t>(i % requested.bins);
  }
  Array tensor(plan.tensor_shape(), requested.counter);
  DeviceWorkspace workspace(plan.workspace_bytes());
  simt::make_plan<kernels::Histogram>(request)->prepare(workspace.data(), Stream::host());
  return simt::execute<kernels::Histogram>(request, {std::as_const(image).view(), tensor.view()}, workspace.data(),
                                           options);
}

/// k is the plan's choice.
std::vector<LaunchCounts> run_line(const AlgorithmRequest& requested, const simt::Options& options, std::int64_t& k) {
  const ScanPlan plan(
      requested.width, requested.types,
      {.algorithm = std::string(requested.algorithm), .threads = requested.threads, .group = requested.group}, on_simt);
  k = plan.options().group;
  Array line({requested.width, 1}, requested.types.input), sums({requested.width, 1}, requested.types.table);
  std::memset(line.data(), 0, line.bytes());
  DeviceWorkspace workspace(plan);
  return simt::execute<kernels::Scan>(
      {std::string(requested.algorithm), requested.types, requested.width, requested.threads, k},
      {std::as_const(line).view(), sums.view()}, workspace.data(), options);
}

std::string times(std::string_view formula, std::string_view what) {
  if (formula == "1") return std::string(what);
  const bool sum = formula.find(' ') != std::string_view::npos && formula.find(" + ") != std::string_view::npos;
  return (sum ? "(" + std::string(formula) + ") " : std::string(formula) + " ") + std::string(what);
}

/// p of a bound: the requested threads, in whole blocks, but no more than the largest launch has work for, nor than the
/// machine holds.
std::int64_t threads_of_bound(const AlgorithmRequest& request, const HierarchicalMachine& machine,
                              std::int64_t largest_launch) {
  constexpr std::int64_t block = kernels::LineConfig<float, float>::threads;
  const std::int64_t all = std::min(largest_launch, machine.threads * machine.dmms);
  return request.threads > 0 ? std::min(all, (request.threads + block - 1) / block * block) : all;
}

/// The paper's formulas of costs, and their values.
void set_expected(AlgorithmModel& model, const CostNames& names, const HierarchicalMachine& machine, std::int64_t p) {
  const std::string_view source = model.row->source;
  const auto n = static_cast<double>(model.elements), w = static_cast<double>(machine.width),
             l = static_cast<double>(machine.latency);
  const PaperCost* const paper = find_paper_cost(model.row->family, model.row->id);
  if (paper == nullptr) {
    model.no_formula = source == "areal" ? "no paper has a formula of what it costs on these machines"
                                         : std::string(source.substr(0, source.find_last_of(','))) +
                                               " has no formula of what it costs on these machines";
    return;
  }
  if (!paper->umm_bound.empty()) {
    // A group's steps are those of log k, one group after another; those of naive are log n for every element.
    const double logarithm = std::log2(n), k = std::max<double>(1, static_cast<double>(model.group));
    const double each = model.row->id == "naive" ? logarithm : 1;
    model.umm.formula = paper->umm_bound;
    model.umm.expected =
        (n / w + n * l / static_cast<double>(p)) * each + (model.group > 0 ? n * l * std::log2(k) / k : l * logarithm);
    model.no_formula = std::string(source.substr(0, source.find_last_of(','))) +
                       " has a bound on the UMM alone; its p is " + std::to_string(p);
    return;
  }
  const double strided = CostFormula::value(paper->strided, names) * n;
  model.cost.expected =
      CostFormula::value(paper->coalesced, names) * n / w + strided + (model.steps.expected + 1) * (l - 1);
  if (paper->coalesced != "0") model.cost.formula += times(paper->coalesced, "n/w") + " + ";
  if (paper->strided != "0") model.cost.formula += times(paper->strided, "n") + " + ";
  model.cost.formula += "(B+1)(l-1)";
  // It counts requests for global memory, and approximates the time of all.
  model.umm.formula = model.hmm.formula = model.cost.formula;
  model.umm.expected = model.hmm.expected = model.cost.expected;
  model.dmm.formula = paper->shared == "0" ? "0" : times(paper->shared, "n/w");
  model.dmm.expected = CostFormula::value(paper->shared, names) * n / w;
}

}  // namespace

AlgorithmModel algorithm_model(const AlgorithmRequest& request, const HierarchicalMachine& machine) {
  const Algorithm& row = row_of(request.family, request.algorithm);
  check(request, machine, row.family);
  require_backend(Backend::simt, 0);

  simt::HierarchyClock clock({machine.dmms, machine.threads, machine.width, machine.latency, 0});
  simt::Options options;
  options.width = static_cast<int>(machine.width);
  options.witness = &clock;
  AlgorithmModel model;
  model.row = &row;
  std::int64_t group = 0, largest = 0;
  for (const LaunchCounts& launch : row.family == "sat"         ? run_table(request, options)
                                    : row.family == "histogram" ? run_tensor(request, options)
                                                                : run_line(request, options, group)) {
    model.counts += launch.counts;
    largest = std::max(largest, launch.blocks * launch.threads);
  }

  const Counts& c = model.counts;
  model.elements = request.height * request.width * (row.family == "histogram" ? request.bins : 1);
  model.coalesced = c.reads.coalesced + c.writes.coalesced + c.atomics.coalesced;
  model.strided = clock.strided_groups();
  model.strided_elements = c.reads.strided + c.writes.strided + c.atomics.strided;
  model.groups = c.reads.groups + c.writes.groups + c.atomics.groups;
  model.shared = c.shared_reads.elements + c.shared_writes.elements + c.shared_atomics.elements;
  model.barrier_steps = static_cast<std::int64_t>(c.launches) - 1;

  const CostNames names = cost_names(row, request, group);
  if (row.takes.group) model.group = std::min(group, request.width);
  model.tile = names.T, model.r = names.r, model.depth = names.d, model.capacity = names.C;
  if (row.takes.r) model.side = names.k;
  model.recursive = CostFormula::uses(row.barrier_steps, 'd');
  const auto elements = static_cast<double>(model.elements);
  const auto whole = [&](std::string_view formula, std::uint64_t counted) {
    return CountBeside{formula, static_cast<double>(counted), CostFormula::value(formula, names) * elements};
  };
  model.reads = whole(row.reads_per_element, c.reads.elements);
  model.writes = whole(row.writes_per_element, c.writes.elements);
  model.steps = {row.barrier_steps, static_cast<double>(model.barrier_steps),
                 CostFormula::value(row.barrier_steps, names)};

  const auto w = static_cast<double>(machine.width), coalesced = static_cast<double>(model.coalesced),
             strided = static_cast<double>(model.strided), l = static_cast<double>(machine.latency);
  const double latencies = (model.steps.counted + 1) * (l - 1);
  model.cost.counted = coalesced / w + strided + latencies;
  model.cost_of_groups = static_cast<double>(model.groups) + latencies;
  model.dmm.counted = static_cast<double>(clock.stages());
  model.no_time = clock.why_not();
  if (model.no_time.empty()) {
    model.umm.counted = static_cast<double>(*clock.global_units());
    model.hmm.counted = static_cast<double>(*clock.units());
  }
  set_expected(model, names, machine, threads_of_bound(request, machine, largest));
  return model;
}

}  // namespace areal
