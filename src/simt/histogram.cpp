#include "simt/histogram.hpp"

#include <areal/error.hpp>
#include <string>
#include "kernels/primitives/workspace.hpp"
#include "simt/histogram_entries.hpp"
#include "simt/histogram_paper_entries.hpp"
#include "simt/view_bytes.hpp"

namespace areal::simt {
namespace {

kernels::HistogramKernels<Launcher> entry(std::string_view id, Type counter) {
  const auto found = kernels::in_group(kernels::group_of_type(counter), [&]<kernels::Group group>() {
    const auto ours = histogram_entry_of<group>(id, counter);
    return ours.execute ? ours : histogram_paper_entry_of<group>(id, counter);
  });
  if (!found.execute)
    throw Unavailable("algorithm " + std::string(id) + " has no kernel for counter " + std::string(name_of(counter)));
  return found;
}

}  // namespace

std::size_t histogram_workspace_bytes(std::string_view id, const kernels::HistogramRequest& request) {
  return entry(id, request.counter).workspace_bytes(request);
}

std::vector<LaunchCounts> histogram(std::string_view id, const kernels::HistogramRequest& request,
                                    const ConstView& image, const ConstView& weights, const View& tensor,
                                    void* workspace, const Options& options) {
  const auto chosen = entry(id, request.counter);
  Launcher launcher(options);
  const auto add_input = [&](const char* name, const ConstView& view) {
    if (bytes_of_view(view) > 0) launcher.add({name, const_cast<void*>(view.data), bytes_of_view(view), true, false});
  };
  add_input("the image", image);
  if (request.weighted) add_input("the weights", weights);
  if (bytes_of_view(tensor) > 0) launcher.add({"the tensor", tensor.data, bytes_of_view(tensor), false, true, false});
  if (const std::size_t bytes = chosen.workspace_bytes(request); bytes > 0) {
    const auto tables = static_cast<std::size_t>(kernels::padded(static_cast<std::int64_t>(request.tables.size())));
    char* const first = kernels::first_in(workspace);
    launcher.add({"the rule's tables", first, tables, true, false});
    const auto before = static_cast<std::size_t>(first - static_cast<char*>(workspace)) + tables;
    launcher.add({"the workspace", first + tables, bytes - before, false, true});
  }
  chosen.execute(launcher, request, image, weights, tensor, workspace);
  return launcher.launches();
}

}  // namespace areal::simt
