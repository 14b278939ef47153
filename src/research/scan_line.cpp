// Sums of a line: on the CPU as a table, on devices by a ScanPlan.
#include <areal/research/scan.hpp>
#include <areal/sat.hpp>
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"

namespace areal {
namespace {

/// The sums of a line are the table without a border of an image one row high.
void on_the_cpu(const ConstView& line, const View& sums, const ScanOptions& options, Execution execution) {
  require(options.threads == 0 && options.group == 0, "threads and group: `serial` has neither");
  require(!options.on_launch, "on_launch: the cpu has no launches");
  execution.backend = Backend::cpu;
  const SatPlan plan(line.shape, line.type,
                     {.border = Border::none, .types = TypePair{line.type, sums.type}, .algorithm = "serial"},
                     execution);
  require(!may_overlap(sums, line), "the line and its sums share memory");
  Workspace workspace(plan);
  plan.execute({line, sums}, workspace);
}

}  // namespace

void scan_line(const ConstView& line, const View& sums, const ScanOptions& options, const Execution& execution) {
  const bool serial = options.algorithm == "serial";
  const bool on_cpu = execution.backend == Backend::cpu || (execution.backend == Backend::automatic && serial);
  const std::int64_t n = line.shape.width;
  check_shape("line", line.shape, line.type);
  check_view("line", line, {n, 1}, line.type);
  check_view("sums", sums, {n, 1}, sums.type);
  if (on_cpu) {
    require(serial, "algorithm ", options.algorithm, ": the cpu's sums of a line are `serial`");
    return on_the_cpu(line, sums, options, execution);
  }
  const ScanPlan plan(n, {line.type, sums.type}, options, execution);
  Workspace workspace(plan);
  plan.execute(line, sums, workspace);
  workspace.wait();
}

}  // namespace areal
