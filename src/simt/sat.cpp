#include "simt/sat.hpp"

#include <areal/error.hpp>
#include <string>
#include "simt/paper_entries.hpp"
#include "simt/sat_entries.hpp"
#include "simt/view_bytes.hpp"

namespace areal::simt {
namespace {

kernels::SatKernels<Launcher> entry(const kernels::TableRequest& request) {
  const auto found = kernels::in_group(kernels::group_of_type(request.types.table), [&]<kernels::Group group>() {
    if (request.squares) return squares_entry_of<group>(request);
    const auto ours = sat_entry_of<group>(request);
    return ours.execute ? ours : paper_entry_of<group>(request);
  });
  if (!found.execute)
    throw Unavailable("algorithm " + std::string(request.id) + " has no kernel for types " + name_of(request.types));
  return found;
}

kernels::SatSchedule<Launcher> schedule(std::string_view id, const kernels::SatRequest& request) {
  return {id, request, &entry};
}

}  // namespace

bool built() noexcept { return true; }

std::size_t sat_workspace_bytes(std::string_view id, const kernels::SatRequest& request) {
  return schedule(id, request).workspace_bytes();
}

std::vector<LaunchCounts> sat(std::string_view id, const kernels::SatRequest& request, const SatArguments& views,
                              void* workspace, const Options& options) {
  const auto chosen = schedule(id, request);
  Launcher launcher(options);
  const auto add_input = [&](const char* name, const ConstView& view) {
    if (bytes_of_view(view) > 0) launcher.add({name, const_cast<void*>(view.data), bytes_of_view(view), true, false});
  };
  const auto add_table = [&](const char* name, const View& view, bool initialised) {
    if (bytes_of_view(view) > 0) launcher.add({name, view.data, bytes_of_view(view), initialised, true, false});
  };
  const bool in_place = views.sum.data == views.image.data;
  if (!in_place) add_input("the image", views.image);
  add_input("the mask", views.mask);
  add_table("the table", views.sum, in_place);
  add_table("the table of squares", views.squares, false);
  add_table("the tilted table", views.tilted, false);
  add_table("the table of counts", views.count, false);
  if (const std::size_t bytes = chosen.workspace_bytes(); bytes > 0)
    launcher.add({"the workspace", workspace, bytes, true, true});
  chosen.execute(launcher, views, workspace);
  return launcher.launches();
}

}  // namespace areal::simt
