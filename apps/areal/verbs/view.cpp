// areal view: a page on which a region's statistics and histogram follow while it is dragged.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <areal/info.hpp>
#include <memory>
#include "io/help.hpp"
#include "io/input.hpp"
#include "io/interrupt.hpp"
#include "io/memory_limit.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "io/regions.hpp"
#include "media/media.hpp"
#include "verbs.hpp"
#include "view/open_browser.hpp"
#include "view/server.hpp"
#include "view/sources.hpp"

namespace areal::command {
namespace {

struct ViewRequest {
  InputOptions input;
  RegionOptions regions;
  std::string port, memory, bins, range, pixel_size;
  bool open = false;
};

constexpr std::int64_t most_bins = 256;
constexpr std::uint64_t usual_memory = std::uint64_t{2} << 30;

/// Bytes for pixels, pyramids and stores.
std::uint64_t memory_of(const ViewRequest& request) {
  const std::uint64_t named = memory_for_work(request.memory);
  return named != 0 ? named : std::min(usual_memory, free_memory() / 4);
}

/// UM or UM_X,UM_Y.
std::pair<double, double> pixel_size(std::string_view option, const std::string& text) {
  const std::size_t comma = text.find(',');
  const double x = number(option, text.substr(0, comma));
  const double y = comma == std::string::npos ? x : number(option, text.substr(comma + 1));
  if (!media::pixel_size_of(x, y)) refuse(option, " ", text, ": must be lengths above 0, in micrometres");
  return {x, y};
}

/// The regions that the page begins with.
std::vector<view::DrawnRegion> drawn(const RegionOptions& options, const Shape& image) {
  std::vector<view::DrawnRegion> regions;
  std::vector<media::NamedRegion> buffer;
  if (options.named())
    for (const media::NamedRegion& one : options.for_image(image, buffer)) regions.push_back({0, one.name, one.region});
  return regions;
}

void run(ViewRequest& request, const Settings& settings) {
  page::ServerOptions options;
  if (!request.port.empty()) options.port = static_cast<std::uint16_t>(whole_number("--port", request.port, 0, 65535));
  options.name = printable(request.input.file_name());
  request.regions.resolve();
  page::SceneOptions chosen;
  chosen.input = request.input;
  if (!request.bins.empty()) chosen.bins = whole_number("--bins", request.bins, 2, most_bins);
  if (!request.range.empty()) chosen.range = range("--range", request.range);
  chosen.memory = memory_of(request);
  options.layer_memory = chosen.memory / page::layer_share;
  options.threads = settings.threads;
  const std::unique_ptr<view::Scene> scene = page::open_scene(chosen, settings, options.notes);
  if (!request.pixel_size.empty()) scene->set_pixel_size(pixel_size("--pixel-size", request.pixel_size));
  options.regions = drawn(request.regions, {scene->width(), scene->height()});
  page::Server server(*scene, options);
  write_out(settings.json ? fmt::format("{{\"url\":\"{}\"}}\n", server.url()) : server.url() + "\n");
  flush_out();
  std::optional<page::Redirect> redirect;
  if (request.open) {
    redirect.emplace(server.url());
    server.on_page([&] { redirect->remove(); });
    if (!page::open_in_browser(*redirect)) settings.note("--open: there is no xdg-open; open the URL yourself");
  }
  settings.note("Ctrl-C ends the page");
  const int signal = server.run();
  redirect.reset();
  interrupted_by(signal);
}

}  // namespace

void add_view(CLI::App& app, Settings& settings) {
  CLI::App* verb = app.add_subcommand("view", "See regions of a picture in a browser, live while you drag them");
  auto request = std::make_shared<ViewRequest>();
  begin_group(*verb, group::input);
  verb->add_option("INPUT", request->input.path,
                   "A picture, an .npy or a slide, of any size, a video, a folder of pictures, or a chunked table")
      ->required();
  verb->add_option("--raw", request->input.raw, "INPUT is raw pixels of this size and type, e.g. 1920x1080x8u")
      ->type_name("WxHxTYPE");
  verb->add_option("--channel,--c", request->input.channel_text, "Only this channel, counted from 0 (default: all)")
      ->type_name("N");
  request->input.add_level_to(*verb);
  request->regions.add_to(*verb, false);
  begin_group(*verb, group::what);
  verb->add_option("--bins", request->bins, "Bins of the histograms, up to 256 (256)")->type_name("N");
  verb->add_option("--range", request->range,
                   "Values that the histograms cover (8 bits: all; else from the smallest to the largest)")
      ->type_name("LO,HI");
  verb->add_option("--pixel-size", request->pixel_size,
                   "Width and height of a pixel in micrometres (what a TIFF, a slide or an OME-Zarr states)")
      ->type_name("UM[,UM]");
  begin_group(*verb, group::where);
  verb->add_option("--port", request->port, "The port on 127.0.0.1; 0 is any that is free (0)")->type_name("N");
  verb->add_option(
          "--memory", request->memory,
          "Memory of the whole process, as 2G (a quarter of what is free, at most 2G); larger pictures stay on disk")
      ->type_name("BYTES");
  begin_group(*verb, group::output);
  verb->add_flag("--open", request->open, "Open the page in the browser");
  verb->footer(
      "Prints the page's URL and serves it to this machine alone until Ctrl-C. From another machine: "
      "ssh -L 8765:127.0.0.1:8765 HOST areal view --port 8765 FILE.\n\n"
      "Example:\n  areal view data/rubberwhale1.png\n  areal view data/vtest.avi");
  verb->callback([request, &settings] {
    settings.resolve();
    run(*request, settings);
  });
}

}  // namespace areal::command
