#include "hist_quantile.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <areal/error.hpp>
#include <optional>
#include <string_view>
#include "hist_frame_boxes.hpp"
#include "hist_maker.hpp"
#include "hist_request.hpp"
#include "io/help.hpp"
#include "io/input_image.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "io/pixels.hpp"
#include "io/word_list.hpp"

namespace areal::command {
namespace {

/// All others are about bins, tensors or parts of images.
constexpr std::string_view taken[] = {
    "--quantile", "--quantile-method", "--raw",   "--channel", "--all-channels", "--level",   "--t",     "--z",
    "--region",   "--regions",         "--boxes", "--outside", "--csv",          "--backend", "--store", "-o"};

/// Strips and tiles: the wavelet matrices of parts do not join.
constexpr std::string_view of_parts[] = {"--memory", "--devices", "--device-memory"};

void require_taken(const std::vector<GivenOption>& options) {
  for (const GivenOption& option : options) {
    if (std::find(std::begin(of_parts), std::end(of_parts), option.name) != std::end(of_parts))
      refuse(option.name,
             ": not with --quantile or --store rank, which need the whole image: quantiles of its parts do not give "
             "those of a region; --median and --percentile of histograms go by strips");
    if (std::find(std::begin(taken), std::end(taken), option.name) == std::end(taken))
      refuse(option.name, ": not with --quantile or --store rank, which order pixels without bins");
  }
}

/// The plan of the images of one shape and type, and the store of the last image.
class QuantileMaker {
 public:
  explicit QuantileMaker(Store store) : store_(store) {}

  const HistogramStore& made(const ConstView& image, std::span<const Region> regions, const Settings& settings) {
    if (!plan_ || plan_->image_shape() != image.shape || plan_->image_type() != image.type) {
      stored_ = HistogramStore();  // free the memory before allocating again
      StoreOptions options;
      options.store = store_;
      options.regions = static_cast<std::int64_t>(regions.size());
      options.area = area_of(regions, image.shape);
      plan_.emplace(image.shape, image.type, options, settings.execution());
      if (!reported_) settings.detail("{}", plan_->reason());
      reported_ = true;
    }
    plan_->build({.image = image}, stored_);
    return stored_;
  }
  const StorePlan& plan() const { return *plan_; }

 private:
  Store store_;
  bool reported_ = false;
  std::optional<StorePlan> plan_;
  HistogramStore stored_;
};

}  // namespace

void QuantileOptions::add_to(CLI::App& verb) {
  begin_group(verb, group::what);
  verb.add_option(
          "--quantile", texts,
          "Instead of histograms: exact quantiles of the pixels, 0 to 1, several with commas; 0.5 is the median")
      ->type_name("Q,..")
      ->allow_extra_args(false);
  verb.add_option("--quantile-method", method_text,
                  "Between two pixels: linear (default), lower, higher, nearest, midpoint or another method of "
                  "numpy.quantile")
      ->type_name("NAME");
}

void QuantileOptions::resolve() {
  for (const std::string& text : texts)
    for (const std::string_view part : split(text, ',')) {
      const std::string one(part);
      const double q = number("--quantile", one);
      if (!(q >= 0 && q <= 1)) refuse("--quantile ", one, ": may be 0 to 1");
      quantiles.push_back(q);
      names.push_back("quantile_" + one);
    }
  const auto named = quantile_method_named(method_text);
  if (!named) {
    std::vector<std::string> all;
    for (int i = 0; i <= static_cast<int>(QuantileMethod::nearest); ++i)
      all.emplace_back(name_of(static_cast<QuantileMethod>(i)));
    refuse("--quantile-method ", method_text, ": may be ", word_list(all));
  }
  method = *named;
  if (!given() && method_text != "linear") refuse("--quantile-method ", method_text, ": needs --quantile");
}

void QuantileOptions::write(RowWriter& rows, const std::function<void(RowWriter&)>& prefix, const StoreView& store,
                            const std::vector<media::NamedRegion>& regions, std::int64_t channels, bool shows_channels,
                            const QueryOptions& query) const {
  const std::vector<double> answers = region_quantiles(store, plain(regions), quantiles, method, query);
  const double* next = answers.data();
  for (std::size_t i = 0; i < regions.size(); ++i)
    for (std::int64_t c = 0; c < channels; ++c) {
      prefix(rows);
      if (shows_channels) rows.put("channel", c);
      put_region(rows, regions[i], i);
      for (const std::string& name : names) rows.put(name, *next++);
      rows.end();
    }
}

void write_store_file(const HistRequest& request, const StorePlan& plan, const HistogramStore& store,
                      const Settings& settings) {
  media::write_store(request.output, plan, store, request.input.file_name());
  settings.detail("wrote {}, a {} store of {} bytes", request.output, name_of(store.store()), store.bytes());
}

void run_quantiles(HistRequest& request, const std::vector<GivenOption>& options, const Settings& settings) {
  require_taken(options);
  if (request.sequence.inputs.size() > 1) refuse("several inputs: not with --quantile; run areal once for each");
  const auto source = open_source(request.input, settings);
  const bool is_sequence = source->is_sequence();
  RowWriter rows(settings.json);
  const bool writes = !request.output.empty();
  if (writes && is_sequence)
    refuse("-o ", request.output, ": ", request.input.path, " has a store per frame, and a file holds one");
  if (writes) media::require_store_format(request.output);
  if (!request.sequence.boxes.empty() && !is_sequence)
    refuse("--boxes: ", request.input.path, " is no video, folder or stream of raw frames");
  request.sequence.check();
  std::optional<FrameBoxes> boxes;
  Shape shape;  // of the frames that `boxes` is for
  std::vector<media::NamedRegion> regions;
  QuantileMaker maker(writes && request.store == Store::automatic ? Store::rank : request.store);
  Item item;
  std::int64_t frames = 0;
  for (; source->next(item); ++frames) {
    const ConstView image = item.pixels.view();
    if (!boxes || shape != image.shape) boxes.emplace(request, shape = image.shape);
    regions.clear();
    boxes->each(0, item.number, [&](const media::NamedRegion& region) { regions.push_back(region); });
    const HistogramStore& store = maker.made(image, plain(regions), settings);
    if (request.quantiles.given()) try {
        request.quantiles.write(
            rows, [&](RowWriter& row) { put_frame(row, item, is_sequence); }, store, regions, image.shape.channels,
            request.input.all_channels, request.regions.query(settings));
      } catch (const InvalidArgument& error) {
        if (is_sequence) throw InvalidArgument(fmt::format("frame {}: {}", item.number, error.what()));
        throw;
      }
    if (writes) write_store_file(request, maker.plan(), store, settings);
    if (is_sequence) flush_out();
  }
  if (boxes) boxes->note_late(0, frames, settings);
  if (!source->damage().empty()) {
    flush_out();
    throw IoError(source->damage());
  }
  if (frames == 0) throw IoError(request.input.path + ": holds no frames");
}

}  // namespace areal::command
