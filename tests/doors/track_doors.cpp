// Doors of trackers: the images of a batch are frames, and a box of the first is followed.

#include <areal/histogram.hpp>
#include <areal/track.hpp>

#include "door.hpp"
#include "histograms.hpp"
#include "tables.hpp"

namespace doors {
namespace {

areal::TrackerOptions options_of(const Question& q) {
  areal::TrackerOptions options;
  if (q.has_param("radius")) options.radius = q.number("radius");
  if (q.has_param("scales")) options.scales = q.param("scales").get<std::vector<double>>();
  if (q.has_param("scale_cost")) options.scale_cost = number_of(q.param("scale_cost"));
  if (q.has_param("quantile")) options.quantile = number_of(q.param("quantile"));
  return options;
}

struct Frames {
  explicit Frames(const Question& q) : inputs(q), binning(binning_of(q)) {
    if (!q.has("box")) throw BadQuestion("box: none is given");
    // `algorithm` names the tracker.
    const areal::HistogramOptions histograms = histogram_options(q.with("algorithm", "auto"));
    tensor = std::make_shared<areal::HistogramTensor>(
        areal::integral_histogram(inputs.image_view(), binning, histograms, execution_of(q)));
    box = regions_of(q.with("regions", Json::array({q["box"]}))).front();
    options = options_of(q);
  }
  areal::ConstView image(std::int64_t n) const {
    areal::ConstView one = inputs.image_view();
    one.data = static_cast<const std::byte*>(one.data) + n * one.batch_pitch;
    one.shape.batch = 1;
    return one;
  }
  std::int64_t count() const { return inputs.image_view().shape.batch; }
  HistogramInputs inputs;
  areal::Binning binning;
  std::shared_ptr<areal::HistogramTensor> tensor;
  areal::Region box;
  areal::TrackerOptions options;
};

Json box_json(const areal::TrackedBox& b) { return {hex(b.x), hex(b.y), hex(b.width), hex(b.height), hex(b.distance)}; }

Json follow(const Question& q, areal::Tracker& tracker) {
  const Frames frames(q.with_param("memory", "host"));
  Json boxes = Json::array();
  for (std::int64_t n = 0; n < frames.count(); ++n) {
    const areal::TrackerFrame frame(frames.tensor->view(n), frames.image(n));
    if (n == 0)
      tracker.start(frame, frames.box);
    else
      boxes.push_back(box_json(tracker.step(frame)));
  }
  Json answer = q.answer();
  answer["boxes"] = boxes;
  return answer;
}

/// `algorithm` is a name of tracker_names().
Json named(const Question& q) {
  return follow(q, *areal::make_tracker(q.text("algorithm", "fragments"), binning_of(q), options_of(q)));
}

Json fragments(const Question& q) {
  areal::FragmentTracker tracker(options_of(q));
  return follow(q, tracker);
}

/// The same box three times at once: the answers must be one.
Json several(const Question& q) {
  const Frames frames(q);
  areal::FragmentTrackers trackers(execution_of(q), frames.options);
  Json boxes = Json::array();
  for (std::int64_t n = 0; n < frames.count(); ++n) {
    if (n == 0) {
      trackers.start(frames.tensor->view(n), std::vector<areal::Region>(3, frames.box));
      continue;
    }
    trackers.step(frames.tensor->view(n));
    const std::vector<areal::TrackedBox> found = trackers.fetch();
    for (const auto& box : found)
      if (box_json(box) != box_json(found.front())) throw Failed("one box, followed three times, is in several places");
    boxes.push_back(box_json(found.front()));
  }
  Json answer = q.answer();
  answer["boxes"] = boxes;
  return answer;
}

const std::vector<Door> doors = {{"tracker", {"track"}, named},
                                 {"fragment-tracker", {"track"}, fragments},
                                 {"fragment-trackers", {"track"}, several}};

}  // namespace

std::span<const Door> track_doors() { return doors; }

}  // namespace doors
