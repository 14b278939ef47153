// areal bench track: accuracy of the trackers on patches with a known truth, family by family, and the time of a step.

#include <fmt/format.h>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <chrono>
#include <cmath>
#include <map>
#include "bench/harness/bench.hpp"
#include "bench/harness/track_scenes.hpp"
#include "io/columns.hpp"
#include "io/out.hpp"
#include "io/progress.hpp"
#include "io/track_score.hpp"

namespace areal::bench {
namespace {

constexpr std::int64_t bins = 16, default_frames = 120;
constexpr int default_sequences = 8;
constexpr std::uint64_t seed = 20060617;
constexpr std::int64_t least_side = 100;  // the largest patch, moving
constexpr double lost_below = 0.5, others_below = 0.55;
// What the fragments must reach, in the families' order.
constexpr double must_reach[std::size(track_families)] = {0.93, 0.90, 0.93, 0.93, 0.80};

/// What a tracker did in a family.
struct Result {
  std::vector<double> microseconds;
  double overlap = 0;
  std::int64_t steps = 0, lost = 0;
  std::vector<double> returns;  // pixels, per sequence; only of fragments
  double mean() const { return overlap / static_cast<double>(steps); }
};
using Results = std::map<std::string_view, Result>;  // by tracker

double distance_of_centres(const TrackedBox& a, const TrackedBox& b) {
  return std::hypot(a.x + a.width / 2 - b.x - b.width / 2, a.y + a.height / 2 - b.y - b.height / 2);
}

/// Forward and back: from where the fragments ended, back through the frames; how far from the start they return.
double returned(const std::vector<Array>& images, const HistogramPlan& plan, const TrackedBox& start,
                const TrackedBox& end) {
  Workspace workspace(plan);
  HistogramTensor tensor = plan.allocate(MemoryPlace{});
  FragmentTracker tracker;
  for (auto image = images.rbegin(); image != images.rend(); ++image) {
    plan.execute(image->view(), tensor, workspace);
    if (image == images.rbegin())
      tracker.start(tensor, end.region());
    else
      tracker.step(tensor);
  }
  return distance_of_centres(tracker.box(), start);
}

/// One sequence by all trackers, which see the same frames.
void follow(TrackScene& scene, std::int64_t frames, const HistogramPlan& plan, Results& results) {
  Workspace workspace(plan);
  HistogramTensor tensor = plan.allocate(MemoryPlace{});
  std::vector<Array> images;
  std::map<std::string_view, std::unique_ptr<Tracker>> trackers;
  std::map<std::string_view, std::int64_t> good;
  for (std::int64_t frame = 0; frame < frames; ++frame) {
    Array& image = images.emplace_back(plan.image_shape(), Type::u8);
    scene.draw(frame, image.view());
    plan.execute(image.view(), tensor, workspace);
    const TrackedBox truth = scene.truth(frame);
    for (const std::string_view name : tracker_names()) {
      std::unique_ptr<Tracker>& tracker = trackers[name];
      const TrackerFrame seen(tensor, image.view());
      if (!tracker) {
        tracker = make_tracker(name, plan.binning());
        tracker->start(seen, truth.region());
        continue;
      }
      const auto start = std::chrono::steady_clock::now();
      const TrackedBox box = tracker->step(seen);
      Result& result = results[name];
      result.microseconds.push_back(
          std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
      const double found = command::overlap(box, truth);
      result.overlap += found;
      ++result.steps;
      good[name] += found > lost_below;
    }
  }
  results["fragments"].returns.push_back(returned(images, plan, scene.truth(0), trackers["fragments"]->box()));
  for (const auto& [name, tracker] : trackers) results[name].lost += 2 * good[name] < frames - 1;
}

std::string two_decimals(double value) { return fmt::format("{:.2f}", value); }

double back_of(const Result& fragments) { return times_of(fragments.returns).median; }

std::string text_of(const std::vector<Results>& families, int sequences, bool is_whole) {
  std::vector<std::vector<std::string>> table{{"mean IoU"}};
  for (const TrackFamily& family : track_families) table[0].push_back(family.name);
  table[0].insert(table[0].end(), {"lost", "us a step"});
  std::int64_t lost_by_fragments = 0;
  std::vector<std::string> too_good;
  bool reached = true;
  for (const std::string_view name : tracker_names()) {
    std::vector<std::string> row{std::string(name)};
    std::int64_t lost = 0;
    std::vector<double> all;
    for (std::size_t i = 0; i < families.size(); ++i) {
      const Result& result = families[i].at(name);
      row.push_back(two_decimals(result.mean()));
      lost += result.lost;
      all.insert(all.end(), result.microseconds.begin(), result.microseconds.end());
      if (name == "fragments") reached = reached && result.mean() >= must_reach[i];
    }
    row.push_back(std::to_string(lost));
    row.push_back(fmt::format("{:.0f}", times_of(std::move(all)).median));
    table.push_back(row);
    if (name == "fragments") {
      lost_by_fragments = lost;
      table.push_back({"  must reach"});
      for (const double least : must_reach) table.back().push_back(two_decimals(least));
      table.back().insert(table.back().end(), {"0", ""});
      table.push_back({"  back, px"});
      for (const Results& family : families) table.back().push_back(fmt::format("{:.1f}", back_of(family.at(name))));
      table.back().insert(table.back().end(), {"", ""});
    } else if (families.back().at(name).mean() >= others_below) {
      too_good.emplace_back(name);
    }
  }
  std::string text = command::aligned(table, 1) + "\n";
  text += fmt::format("{} sequences a family; a sequence is lost where IoU is above {} in less than half its frames\n",
                      sequences, lost_below);
  text +=
      "back: the fragments follow the frames back, from where they ended; how far from the start they return, median\n";
  const auto claim = [&](const char* words, bool holds) {
    text += fmt::format("{}: {}\n", words, holds ? "yes" : "no");
  };
  claim("fragments reaches what it must", reached);
  claim("fragments loses no sequence", lost_by_fragments == 0);
  claim("the others stay below 0.55 on all", too_good.empty());
  if (!is_whole)
    text += "These are fewer frames or sequences, or another size, than the numbers that must be reached are of.\n";
  return text;
}

}  // namespace

void bench_track(const Options& options, Report& report) {
  const Size size = options.sizes.empty() ? Size{320, 240} : options.sizes.front();
  if (options.sizes.size() > 1) throw InvalidArgument("--size: bench track takes one");
  if (size.width < least_side || size.height < least_side)
    throw InvalidArgument(
        fmt::format("--size {}x{}: bench track needs {}x{} or more", size.width, size.height, least_side, least_side));
  const std::int64_t frames = options.regions.value_or(default_frames);
  if (frames < 2) throw InvalidArgument("--items 1: bench track needs 2 frames or more");
  const int sequences = options.is_repetitions_given ? options.repetitions : default_sequences;
  const std::vector<Array> pictures =
      track_pictures(options.video.empty() ? "data" : options.video, size.width, size.height);
  const HistogramPlan plan({size.width, size.height}, Type::u8, Binning::of_type(Type::u8, bins), {},
                           {.backend = Backend::cpu, .threads = options.threads.back()});
  std::vector<Results> families;
  command::ProgressBar bar("sequences", sequences * static_cast<std::int64_t>(std::size(track_families)),
                           report.quiet());
  std::int64_t done = 0;
  for (const TrackFamily& family : track_families) {
    families.emplace_back();
    for (int i = 0; i < sequences; ++i) {
      TrackScene scene(pictures, family, i, seed, size.width, size.height);
      follow(scene, frames, plan, families.back());
      bar.update(++done);
    }
    for (const std::string_view name : tracker_names()) {
      const Result& result = families.back().at(name);
      Record record{"track", std::string(name), "8u-32u", size.width, size.height, bins, frames};
      record.time = times_of(result.microseconds);
      record.tracked = {family.name, result.mean(), sequences, result.lost};
      if (name == "fragments") {
        record.tracked->must_reach = must_reach[families.size() - 1];
        record.tracked->back_pixels = back_of(result);
      }
      report.keep(record);
    }
  }
  const bool is_whole =
      frames == default_frames && sequences == default_sequences && size.width == 320 && size.height == 240;
  command::write_out(text_of(families, sequences, is_whole));
  command::flush_out();
}

}  // namespace areal::bench
