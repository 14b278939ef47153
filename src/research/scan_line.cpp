// Sums of a line of the host: on the CPU, or there and back.
#include <areal/array.hpp>
#include <areal/research/scan.hpp>
#include <areal/sat.hpp>
#include "api/core/require.hpp"
#include "api/core/twin.hpp"
#include "api/core/view_check.hpp"

namespace areal {
namespace {

/// The sums of a line are the table without a border of an image one row high.
void on_the_cpu(const ConstView& line, const View& sums, const ScanOptions& options) {
  require(options.threads == 0 && options.group == 0, "threads and group: `serial` has neither");
  require(!options.launched, "launched: the cpu has no launches");
  const SatPlan plan(line.shape, {line.type, sums.type},
                     {.border = Border::none, .algorithm = "serial", .backend = Backend::cpu});
  require(!may_overlap(sums, line), "the line and its sums share memory");
  plan.execute({line, sums}, nullptr);
}

void on_cuda(const ScanPlan& plan, const ConstView& line, const View& sums) {
  const cuda::DeviceScope scope(plan.options().device);
  const cuda::OwnedStream stream;
  Twin line_there(line.shape, line.type), sums_there(sums.shape, sums.type);
  const cuda::Memory workspace(plan.workspace_bytes());
  line_there.copy_in(line, stream.get());
  plan.prepare(workspace.data(), stream.get());
  plan.execute(line_there.view(), sums_there.view(), workspace.data(), stream.get());
  sums_there.copy_out(sums, stream.get());
  stream.synchronize();
  sums_there.finish(sums);
}

}  // namespace

void scan_line(const ConstView& line, const View& sums, const ScanOptions& options) {
  const bool serial = options.algorithm == "serial";
  const bool on_cpu = options.backend == Backend::cpu || (options.backend == Backend::automatic && serial);
  const std::int64_t n = line.shape.width;
  check_shape("line", line.shape, line.type);
  check_view("line", line, {n, 1}, line.type);
  check_view("sums", sums, {n, 1}, sums.type);
  if (on_cpu) {
    require(serial, "algorithm ", options.algorithm, ": the cpu's sums of a line are `serial`");
    return on_the_cpu(line, sums, options);
  }
  const ScanPlan plan(n, {line.type, sums.type}, options);
  if (plan.backend() == Backend::cuda) return on_cuda(plan, line, sums);
  Array workspace(Shape{static_cast<std::int64_t>(plan.workspace_bytes()), 1}, Type::u8);
  plan.prepare(workspace.data());
  plan.execute(line, sums, workspace.data());
}

}  // namespace areal
