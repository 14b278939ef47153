// areal view: a page on which a region's statistics and histogram follow while it is dragged.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <areal/info.hpp>
#include <cstring>
#include <memory>
#include "io/help.hpp"
#include "io/input_image.hpp"
#include "io/interrupt.hpp"
#include "io/memory_limit.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "io/regions.hpp"
#include "verbs.hpp"
#include "view/open_browser.hpp"
#include "view/picture.hpp"
#include "view/server.hpp"

namespace areal::command {
namespace {

struct ViewRequest {
  InputOptions input;
  RegionOptions regions;
  std::string port, memory, bins, range;
  bool open = false;
};

constexpr std::int64_t most_bins = 256, most_channels = 64;
constexpr std::uint64_t usual_memory = std::uint64_t{2} << 30;

/// Bytes for pixels, pyramids and stores.
std::uint64_t memory_of(const ViewRequest& request) {
  const std::uint64_t named = memory_for_work(request.memory);
  return named != 0 ? named : std::min(usual_memory, free_memory() / 4);
}

/// Copies all channels of an image to planes.
Array planes_of(const InputImage& image) {
  Shape shape = image.shape();
  shape.layout = Layout::planar;
  Array planes(shape, image.type());
  const ConstView read = image.reader()(0, 0, planes.view());
  if (read.data == planes.data()) return planes;
  const std::size_t size = size_of(image.type());
  for (std::int64_t c = 0; c < shape.channels; ++c)
    for (std::int64_t y = 0; y < shape.height; ++y) {
      const auto* from = static_cast<const char*>(read.row(y, 0)) + c * read.plane_pitch;
      auto* to = static_cast<char*>(planes.view().row(y, c));
      for (std::int64_t x = 0; x < shape.width; ++x, from += read.column_pitch(), to += size)
        std::memcpy(to, from, size);
    }
  return planes;
}

std::vector<std::string> names_of(const Shape& shape, bool in_colour, const std::string& chosen) {
  if (in_colour) return {"red", "green", "blue"};
  if (!chosen.empty()) return {"channel " + chosen};
  if (shape.channels == 1) return {"gray"};
  std::vector<std::string> names;
  for (std::int64_t c = 0; c < shape.channels; ++c) names.push_back("channel " + std::to_string(c));
  return names;
}

view::Picture read_picture(const ViewRequest& request, const Settings& settings, std::vector<std::string>& notes) {
  view::PictureOptions options;
  if (!request.bins.empty()) options.bins = whole_number("--bins", request.bins, 2, most_bins);
  if (!request.range.empty()) options.range = range("--range", request.range);
  options.threads = settings.threads;
  const std::uint64_t memory = memory_of(request);

  InputOptions input = request.input;
  input.all_channels = input.channel_text.empty() && !SyntheticImage::is_name(input.path);
  const InputImage image(input, memory, settings);
  const Shape shape = image.shape();
  const std::string& name = input.path;
  if (shape.empty()) refuse(name, ": has no pixels to view");
  if (shape.channels > most_channels)
    refuse(name, ": has ", std::to_string(shape.channels), " channels, and a page shows ",
           std::to_string(most_channels), "; choose one with --channel");
  const bool in_colour = shape.channels == 3;
  const std::int64_t channels = shape.channels + (in_colour ? 1 : 0);
  const std::uint64_t needed =
      view::Picture::bytes({shape.width, shape.height}, channels, image.type()) + image.memory();
  if (needed > memory)
    throw OutOfMemory(fmt::format("{}: {}x{} pixels of {} need {} MiB to view, more than the {} MiB of --memory{}",
                                  name, shape.width, shape.height, name_of(image.type()), (needed >> 20) + 1,
                                  memory >> 20, request.memory.empty() ? " by default" : " less the command's own"),
                      needed);
  options.store_memory = memory - needed;
  notes = image.notes();
  Array planes = planes_of(image);
  Array luma = in_colour ? media::luma(planes.view()) : Array();
  return {std::move(planes), names_of(shape, in_colour, input.channel_text), std::move(luma), options};
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
  const view::Picture picture = read_picture(request, settings, options.notes);
  options.regions = drawn(request.regions, {picture.width(), picture.height()});
  page::Server server(picture, options);
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
  verb->add_option("INPUT", request->input.path, "A picture or an .npy")->required();
  verb->add_option("--raw", request->input.raw, "INPUT is raw pixels of this size and type, e.g. 1920x1080x8u")
      ->type_name("WxHxTYPE");
  verb->add_option("--channel,--c", request->input.channel_text, "Only this channel, counted from 0 (default: all)")
      ->type_name("N");
  verb->add_option("--level", request->input.level_text, "This level of a pyramid, or this page of a TIFF, from 0")
      ->type_name("N");
  request->regions.add_to(*verb, false);
  begin_group(*verb, group::what);
  verb->add_option("--bins", request->bins, "Bins of the histograms, up to 256 (256)")->type_name("N");
  verb->add_option("--range", request->range,
                   "Values that the histograms cover (8 bits: all; else from the smallest to the largest)")
      ->type_name("LO,HI");
  begin_group(*verb, group::where);
  verb->add_option("--port", request->port, "The port on 127.0.0.1; 0 is any that is free (0)")->type_name("N");
  verb->add_option("--memory", request->memory,
                   "Memory of the whole process, as 2G (a quarter of what is free, at most 2G)")
      ->type_name("BYTES");
  begin_group(*verb, group::output);
  verb->add_flag("--open", request->open, "Open the page in the browser");
  verb->footer(
      "Prints the page's URL and serves it to this machine alone until Ctrl-C. From another machine: "
      "ssh -L 8765:127.0.0.1:8765 HOST areal view --port 8765 FILE.\n\n"
      "Example:\n  areal view data/rubberwhale1.png");
  verb->callback([request, &settings] {
    settings.resolve();
    run(*request, settings);
  });
}

}  // namespace areal::command
