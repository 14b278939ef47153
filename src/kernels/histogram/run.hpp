#pragma once
// Integral histograms: the kernels of one algorithm for one counter, and their run. Compact and rank stores: the same.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include "kernels/histogram/request.hpp"
#include "kernels/primitives/type_groups.hpp"
#include "kernels/primitives/view_bytes.hpp"
#include "kernels/primitives/workspace.hpp"

namespace areal::kernels {

/// No functions if there is no such kernel.
template <class Launcher>
struct HistogramKernels {
  std::size_t (*workspace_bytes)(const HistogramRequest&) = nullptr;
  /// Arguments are checked; views and request agree, and fit; the workspace begins with the rule's tables.
  void (*execute)(Launcher&, const HistogramRequest&, const HistogramArguments&, void* workspace) = nullptr;
  std::size_t shared_bytes = 0;  ///< of the largest block
  /// As those of SatKernels.
  std::string (*takes)(Launcher&, const HistogramRequest&) = nullptr;
  std::string (*fits)(const HistogramRequest&, const HistogramArguments&) = nullptr;
};

/// The registry of the kernels; each is compiled separately.
struct HistogramRegistry {
  struct Key {
    std::string_view id;
    Type counter;
  };
  template <class Launcher>
  using Kernels = HistogramKernels<Launcher>;
};
struct ProductTensors : HistogramRegistry {
  template <class Launcher, TypeGroup group>
  static HistogramKernels<Launcher> find(const Key& key);
};
/// The papers' algorithms, which count the pixels of one channel.
struct PaperTensors : HistogramRegistry {
  template <class Launcher, TypeGroup group>
  static HistogramKernels<Launcher> find(const Key& key);
};

template <class Launcher>
Found<HistogramKernels<Launcher>> Histogram::find(const HistogramRequest& request) {
  const HistogramRegistry::Key key{request.id, request.counter};
  auto kernels = kernels_for<Launcher, ProductTensors>(key.counter, key);
  if constexpr (has_papers)
    if (!kernels.execute && !kernels.takes) kernels = kernels_for<Launcher, PaperTensors>(key.counter, key);
  if (!kernels.execute) return {.kernels = kernels, .missing = words(request) + " has no kernel on " + Launcher::name};
  return {kernels, kernels.workspace_bytes(request), kernels.shared_bytes, kernels.fits == nullptr};
}

template <class Launcher>
std::string Histogram::takes(Launcher& launcher, const HistogramKernels<Launcher>& kernels,
                             const HistogramRequest& request) {
  return kernels.takes ? kernels.takes(launcher, request) : std::string();
}

template <class Launcher>
std::string Histogram::fits(const HistogramKernels<Launcher>& kernels, const HistogramRequest& request,
                            const HistogramArguments& views) {
  return kernels.fits ? kernels.fits(request, views) : std::string();
}

template <class Launcher>
void Histogram::prepare(Launcher& launcher, const HistogramRequest& request, void* workspace, std::size_t) {
  if (!request.tables.empty()) launcher.copy_in(first_in(workspace), request.tables.data(), request.tables.size());
}

template <class Launcher>
void Histogram::run(Launcher& launcher, const HistogramKernels<Launcher>& kernels, const HistogramRequest& request,
                    const HistogramArguments& views, void* workspace) {
  kernels.execute(launcher, request, views, workspace);
}

template <class Visit>
void Histogram::memory(const HistogramRequest& request, const HistogramArguments& views, void* workspace,
                       std::size_t bytes, Visit&& visit) {
  using Use = MemoryRange::Use;
  visit(MemoryRange{"the image", views.image.data, bytes_of_view(views.image), Use::input});
  if (request.weighted) visit(MemoryRange{"the weights", views.weights.data, bytes_of_view(views.weights), Use::input});
  for (const auto& [name, view] :
       {std::pair{"the row above", views.carry.above}, {"the column to the left", views.carry.left}})
    if (view.data != nullptr) visit(MemoryRange{name, view.data, bytes_of_view(view), Use::input});
  visit(MemoryRange{"the tensor", views.tensor.data, bytes_of_view(views.tensor), Use::output});
  if (bytes == 0) return;
  const auto tables = static_cast<std::size_t>(padded(static_cast<std::int64_t>(request.tables.size())));
  char* const first = first_in(workspace);
  const std::size_t before = static_cast<std::size_t>(first - static_cast<char*>(workspace)) + tables;
  visit(MemoryRange{"the rule's tables", first, tables, Use::input});
  visit(MemoryRange{"the workspace", first + tables, bytes - before, Use::scratch});
}

template <class Launcher>
struct CompactKernels {
  std::size_t (*workspace_bytes)(const CompactRequest&) = nullptr;
  void (*execute)(Launcher&, const CompactRequest&, const CompactArguments&, void* workspace) = nullptr;
  std::size_t shared_bytes = 0;  ///< of the largest block
};

/// All builds are compiled together: the types of pixels matter for one of the launches alone.
struct CompactBuilds {
  struct Key {};
  template <class Launcher>
  using Kernels = CompactKernels<Launcher>;
  template <class Launcher, TypeGroup group>
  static CompactKernels<Launcher> find(const Key&);
};

template <class Launcher>
Found<CompactKernels<Launcher>> CompactBuild::find(const CompactRequest& request) {
  const auto kernels = kernels_of<Launcher, CompactBuilds, TypeGroup::all>({});
  return {kernels, kernels.workspace_bytes(request), kernels.shared_bytes};
}

template <class Launcher>
void CompactBuild::prepare(Launcher& launcher, const CompactRequest& request, void* workspace, std::size_t) {
  if (!request.tables.empty()) launcher.copy_in(first_in(workspace), request.tables.data(), request.tables.size());
}

template <class Launcher>
void CompactBuild::run(Launcher& launcher, const CompactKernels<Launcher>& kernels, const CompactRequest& request,
                       const CompactArguments& arguments, void* workspace) {
  kernels.execute(launcher, request, arguments, workspace);
}

template <class Visit>
void CompactBuild::memory(const CompactRequest& request, const CompactArguments& arguments, void* workspace,
                          std::size_t bytes, Visit&& visit) {
  using Use = MemoryRange::Use;
  visit(MemoryRange{"the image", arguments.image.data, bytes_of_view(arguments.image), Use::input});
  if (request.masked) visit(MemoryRange{"the mask", arguments.mask.data, bytes_of_view(arguments.mask), Use::input});
  visit(MemoryRange{"the store", arguments.store, static_cast<std::size_t>(request.layout.bytes()), Use::output});
  const auto tables = static_cast<std::size_t>(padded(static_cast<std::int64_t>(request.tables.size())));
  char* const first = first_in(workspace);
  visit(MemoryRange{"the rule's tables", first, tables, Use::input});
  visit(MemoryRange{"the workspace", first + tables,
                    bytes - static_cast<std::size_t>(first - static_cast<char*>(workspace)) - tables, Use::scratch});
}

template <class Launcher>
struct RankKernels {
  std::size_t (*workspace_bytes)(const RankRequest&) = nullptr;
  void (*execute)(Launcher&, const RankRequest&, const RankArguments&, void* workspace) = nullptr;
  std::size_t shared_bytes = 0;  ///< of the largest block
};

/// All builds are compiled together, for pixels of 1, 2, 4 and 8 bytes.
struct RankBuilds {
  struct Key {};
  template <class Launcher>
  using Kernels = RankKernels<Launcher>;
  template <class Launcher, TypeGroup group>
  static RankKernels<Launcher> find(const Key&);
};

template <class Launcher>
Found<RankKernels<Launcher>> RankBuild::find(const RankRequest& request) {
  const auto kernels = kernels_of<Launcher, RankBuilds, TypeGroup::all>({});
  return {kernels, kernels.workspace_bytes(request), kernels.shared_bytes};
}

template <class Launcher>
void RankBuild::run(Launcher& launcher, const RankKernels<Launcher>& kernels, const RankRequest& request,
                    const RankArguments& arguments, void* workspace) {
  kernels.execute(launcher, request, arguments, workspace);
}

template <class Visit>
void RankBuild::memory(const RankRequest& request, const RankArguments& arguments, void* workspace, std::size_t bytes,
                       Visit&& visit) {
  using Use = MemoryRange::Use;
  visit(MemoryRange{"the image", arguments.image.data, bytes_of_view(arguments.image), Use::input});
  visit(MemoryRange{"the store", arguments.store, static_cast<std::size_t>(request.layout.bytes()), Use::output});
  visit(MemoryRange{"the workspace", workspace, bytes, Use::scratch});
}

}  // namespace areal::kernels
