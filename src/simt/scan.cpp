#include "simt/scan.hpp"

#include <areal/error.hpp>
#include <string>
#include "simt/scan_entries.hpp"
#include "simt/view_bytes.hpp"

namespace areal::simt {
namespace {

kernels::ScanKernels<Launcher> entry(const kernels::ScanRequest& request) {
  const auto found = kernels::in_group(kernels::group_of_type(request.types.table),
                                       [&]<kernels::Group group>() { return scan_entry_of<group>(request); });
  if (!found.execute)
    throw Unavailable("scan " + std::string(request.id) + " has no kernel for types " + name_of(request.types));
  return found;
}

}  // namespace

std::size_t scan_workspace_bytes(const kernels::ScanRequest& request) {
  return entry(request).workspace_bytes(request);
}

std::vector<LaunchCounts> scan(const kernels::ScanRequest& request, const ConstView& line, const View& sums,
                               void* workspace, const Options& options) {
  const auto chosen = entry(request);
  Launcher launcher(options);
  if (request.n > 0) {
    launcher.add({"the line", const_cast<void*>(line.data), bytes_of_view(line), true, false});
    launcher.add({"the sums", sums.data, bytes_of_view(sums), false});
  }
  if (const std::size_t bytes = chosen.workspace_bytes(request); bytes > 0)
    launcher.add({"the workspace", workspace, bytes, true, true});
  chosen.execute(launcher, request, line, sums, workspace);
  return launcher.launches();
}

}  // namespace areal::simt
