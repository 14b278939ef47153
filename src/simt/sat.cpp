#include "simt/sat.hpp"

#include <areal/error.hpp>
#include <string>
#include "simt/sat_entries.hpp"
#include "simt/view_bytes.hpp"

namespace areal::simt {
namespace {

kernels::SatEntry<Launcher> entry(std::string_view id, Lane lane) {
  const auto found = kernels::in_group(kernels::group_of_type(lane.table),
                                       [&]<kernels::Group group>() { return sat_entry_of<group>(id, lane); });
  if (!found.execute) throw Unavailable("algorithm " + std::string(id) + " has no kernel for lane " + name_of(lane));
  return found;
}

}  // namespace

bool built() noexcept { return true; }

std::size_t sat_workspace_bytes(std::string_view id, const kernels::SatRequest& request) {
  return entry(id, request.lane).workspace_bytes(request);
}

std::vector<LaunchCounts> sat(std::string_view id, const kernels::SatRequest& request, const ConstView& image,
                              const View& table, void* workspace, const Options& options) {
  const auto chosen = entry(id, request.lane);
  Launcher launcher(options);
  const bool in_place = table.data == image.data;
  if (!in_place && bytes_of_view(image) > 0)
    launcher.add({"the image", const_cast<void*>(image.data), bytes_of_view(image), true, false});
  if (bytes_of_view(table) > 0) launcher.add({"the table", table.data, bytes_of_view(table), in_place, true, false});
  if (const std::size_t bytes = chosen.workspace_bytes(request); bytes > 0)
    launcher.add({"the workspace", workspace, bytes, true, true});
  chosen.execute(launcher, request, image, table, workspace);
  return launcher.launches();
}

}  // namespace areal::simt
