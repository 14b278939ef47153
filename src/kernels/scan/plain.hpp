#pragma once
// Adapts a ScanRequest to the primitives that sum lines.

#include <cstdint>
#include "kernels/primitives/line/blocked_prescan.hpp"
#include "kernels/primitives/warp/scan_row.hpp"
#include "kernels/primitives/workspace.hpp"
#include "kernels/scan/copy_line.hpp"
#include "kernels/scan/run.hpp"

namespace areal::kernels {

/// By the scan of a block in shared memory, pieces of the line by as many blocks (blocked_prescan.hpp has what Map,
/// several and most are), in place: the line is copied first.
template <class Map, bool several, int most = most_line_threads>
struct SharedMemoryScan {
  template <class T>
  static auto workspace(const ScanRequest& r, Workspace& from) {
    return BlockedPrescan<T, Map, several, most>(1, 1, r.n, from);
  }
  template <class In, class T, class Launcher>
  static void run(Launcher& launcher, const ScanRequest& r, const Matrix& line, const Matrix& sums, Workspace& from) {
    copy_line<In, T>(launcher, line, sums, r.n);
    workspace<T>(r, from).run(launcher, {sums.first, 0, 0, sums.aligned});
  }
};

/// One warp scans the whole line.
template <WarpScan scan>
struct OneWarpScan {
  template <class T>
  static void workspace(const ScanRequest&, Workspace&) {}
  template <class In, class T, class Launcher>
  static void run(Launcher& launcher, const ScanRequest& r, const Matrix& line, const Matrix& sums, Workspace&) {
    launcher.template launch<ScanRow, ScanConfig<In, T, scan>>(1, {line, sums, 1, r.n}, false);
  }
};

/// Algorithm: workspace<T>(request, from) allocates its arrays; run<In, T>(launcher, request, line, sums, from).
template <class Launcher, class In, class T, class Algorithm>
ScanKernels<Launcher> line_kernels() {
  ScanKernels<Launcher> kernels;  // its blocks fit the shared memory of every device
  kernels.workspace_bytes = [](const ScanRequest& request) -> std::size_t {
    Workspace from(nullptr);
    if (request.n > 0) Algorithm::template workspace<T>(request, from);
    return request.n > 0 ? from.bytes() : 0;
  };
  kernels.execute = [](Launcher& launcher, const ScanRequest& request, const ConstView& line, const View& sums,
                       void* workspace) {
    if (request.n <= 0) return;
    const auto row = [](const void* first, std::size_t size) {
      return Matrix{static_cast<char*>(const_cast<void*>(first)), 0,
                    reinterpret_cast<std::uintptr_t>(first) % size == 0};
    };
    Workspace from(workspace);
    Algorithm::template run<In, T>(launcher, request, row(line.data, sizeof(In)), row(sums.data, sizeof(T)), from);
  };
  return kernels;
}

}  // namespace areal::kernels
