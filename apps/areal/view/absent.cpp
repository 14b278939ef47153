// Stands in for `areal view` in a build without it.
#include <CLI/CLI.hpp>
#include <areal/error.hpp>
#include "verbs/verbs.hpp"

namespace areal::command {

void add_view(CLI::App& app, Settings&) {
  CLI::App* verb = app.add_subcommand("view", "See regions of a picture in a browser: not in this build");
  verb->fallthrough(false)->allow_extras();
  verb->callback([] {
    throw Unavailable(
        "view: this build has no page; install libboost-dev, libjs-leaflet and python3 (or Boost 1.74 and Leaflet 1.7, "
        "with -DAREAL_LEAFLET=FOLDER) and build again");
  });
}

}  // namespace areal::command
