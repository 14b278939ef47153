#pragma once
// Sums of a line: the kernels of one algorithm, and their run.

#include <areal/error.hpp>
#include <cstddef>
#include "kernels/primitives/type_groups.hpp"
#include "kernels/primitives/view_bytes.hpp"
#include "kernels/scan/request.hpp"

namespace areal::kernels {

/// No functions if there is no such kernel.
template <class Launcher>
struct ScanKernels {
  std::size_t (*workspace_bytes)(const ScanRequest&) = nullptr;
  void (*execute)(Launcher&, const ScanRequest&, const ConstView& line, const View& sums, void* workspace) = nullptr;
};

/// All algorithms are compiled together.
struct LineScans {
  using Key = ScanRequest;
  template <class Launcher>
  using Kernels = ScanKernels<Launcher>;
  template <class Launcher, TypeGroup group>
  static ScanKernels<Launcher> find(const ScanRequest& request);
};

template <class Launcher>
Found<ScanKernels<Launcher>> Scan::find(const ScanRequest& request) {
  ScanKernels<Launcher> kernels;
  if constexpr (has_papers) kernels = kernels_for<Launcher, LineScans>(request.types.table, request);
  if (!kernels.execute) throw Unavailable(words(request) + " has no kernel on " + Launcher::name);
  return {kernels, kernels.workspace_bytes(request)};
}

template <class Launcher>
void Scan::prepare(Launcher& launcher, const ScanRequest&, void* workspace, std::size_t bytes) {
  launcher.clear(workspace, bytes);
}

template <class Launcher>
void Scan::run(Launcher& launcher, const ScanKernels<Launcher>& kernels, const ScanRequest& request,
               const ScanArguments& views, void* workspace) {
  kernels.execute(launcher, request, views.line, views.sums, workspace);
}

template <class Visit>
void Scan::memory(const ScanRequest&, const ScanArguments& views, void* workspace, std::size_t bytes, Visit&& visit) {
  using Use = MemoryRange::Use;
  visit(MemoryRange{"the line", views.line.data, bytes_of_view(views.line), Use::input});
  visit(MemoryRange{"the sums", views.sums.data, bytes_of_view(views.sums), Use::scratch});
  visit(MemoryRange{"the workspace", workspace, bytes, Use::workspace});
}

}  // namespace areal::kernels
