// Prints and draws `areal bench sequence --figure poostchi`.

#include <fmt/format.h>
#include <algorithm>
#include "bench/papers/sequence_poostchi.hpp"
#include "io/timeline.hpp"

namespace areal::bench {
namespace {

using Rows = std::vector<std::vector<std::string>>;
using Cases = std::vector<SequenceCase>;

double time_of(const Record* record) { return record != nullptr ? record->time.median : 0; }
double ratio(double a, double b) { return b > 0 ? a / b : 0; }
std::string gain(double value) { return value > 0 ? fmt::format("{:.2f}", value) : "-"; }
std::string frames(double microseconds) { return cell(ratio(1e6, microseconds)); }

std::string name_of(const Cases& cases, const std::string& request) {
  for (const SequenceCase& of : cases)
    for (const SequenceCase::Run& run : of.runs)
      if (run.request == request) return run.record.algorithm;
  return request;
}

void stages_table(const SequencePoostchi& what) {
  Rows rows{{"algorithm", "read", "up", "initialise", "scan", "down", "sum", "longest", "possible gain"}};
  for (const SequenceCase::Run& run : what.staged.runs) {
    if (run.record.pipelined->order != "stages") continue;
    const StageTimes s = stages_of(run.record);
    rows.push_back({run.record.algorithm, cell(s.read), cell(s.up), cell(s.initialise), cell(s.scan), cell(s.down),
                    cell(s.sum()), cell(s.longest()), gain(ratio(s.sum(), s.longest()))});
  }
  if (rows.size() == 1) return;
  write_table(fmt::format("Figures 12 and 14, {}, {} bins: microseconds of a frame's stages in one slot",
                          text_of(what.staged.size), what.staged.bins),
              rows, 1);
}

void gain_table(const SequencePoostchi& what) {
  Rows rows{{"algorithm", "bins"}};
  for (const int slots : what.slots) rows[0].push_back(fmt::format("{} slot{}", slots, slots == 1 ? "" : "s"));
  rows[0].push_back("ring");
  for (const int slots : what.slots)
    if (slots != 1) rows[0].push_back(fmt::format("gain of {}", slots));
  rows[0].insert(rows[0].end(), {"gain of ring", "possible gain"});
  for (const std::string& request : what.overlapped)
    for (const SequenceCase& of : what.overlap) {
      const Record* const one = of.find(request, 1, what.order);
      if (one == nullptr) continue;
      const StageTimes stages = stages_of(*one);
      const double in_ring = time_of(of.find(request, 4, ring));
      rows.push_back({name_of(what.overlap, request), std::to_string(of.bins)});
      for (const int slots : what.slots) rows.back().push_back(cell(time_of(of.find(request, slots, what.order))));
      rows.back().push_back(cell(in_ring));
      for (const int slots : what.slots)
        if (slots != 1)
          rows.back().push_back(gain(ratio(one->time.median, time_of(of.find(request, slots, what.order)))));
      rows.back().insert(rows.back().end(),
                         {gain(ratio(one->time.median, in_ring)), gain(ratio(stages.sum(), stages.longest()))});
    }
  if (rows.size() == 1) return;
  write_table(
      fmt::format("Figure 13, {}: microseconds of a frame by slots, queued {} first; gains over one slot against "
                  "the sum of its stages over the longest",
                  text_of(what.overlap[0].size), what.order),
      rows, 1);
}

void frames_table(const std::string& heading, const SequencePoostchi& what, const Cases& cases) {
  Rows rows{{"algorithm", "size", "bins", "one slot", "two slots", "ring", "bound"}};
  for (const std::string& request : what.shown)
    for (const SequenceCase& of : cases) {
      const Record* const one = of.find(request, 1, what.order);
      if (one == nullptr) continue;
      rows.push_back({name_of(cases, request), text_of(of.size), std::to_string(of.bins), frames(one->time.median),
                      frames(time_of(of.find(request, 2, what.order))), frames(time_of(of.find(request, 4, ring))),
                      frames(std::max(stages_of(*one).kernels(), of.up + of.down))});
    }
  if (rows.size() > 1) write_table(heading, rows, 2);
}

}  // namespace

void print(const SequencePoostchi& what) {
  stages_table(what);
  gain_table(what);
  frames_table("Figure 15 a and b: frames a second, and the bound 1 / max(kernels, transfers)", what, what.by_size);
  frames_table("Figure 15 c and d: frames a second, and the bound 1 / max(kernels, transfers)", what, what.by_bins);
}

std::string picture(const SequencePoostchi& what) {
  std::vector<command::Timeline> all;
  for (const SequenceTimeline& of : what.timelines) {
    command::Timeline timeline;
    timeline.heading = fmt::format("{}, {}, {} bins, {} slot{}", of.algorithm, text_of(of.size), of.bins, of.slots,
                                   of.slots == 1 ? "" : "s");
    timeline.rows.emplace_back("disk");
    for (int slot = 0; slot < of.slots; ++slot) timeline.rows.push_back(fmt::format("slot {}", slot));
    for (int stage = 0; stage < frame_stages; ++stage)
      timeline.stages.emplace_back(bench::name_of(static_cast<FrameStage>(stage)));
    double begin = of.spans.empty() ? 0 : of.spans[0].begin;
    for (const StageSpan& span : of.spans) begin = std::min(begin, span.begin);
    for (const StageSpan& span : of.spans) {
      timeline.bars.push_back({span.stage == FrameStage::read ? 0 : span.slot + 1, static_cast<int>(span.stage),
                               fmt::format("{}, frame {}", bench::name_of(span.stage), span.frame), span.begin - begin,
                               span.end - begin});
      timeline.seconds = std::max(timeline.seconds, span.end - begin);
    }
    all.push_back(std::move(timeline));
  }
  // One slot and two slots of an algorithm, over the same time axis.
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = 0; k < all.size(); ++k)
      if (what.timelines[i].algorithm == what.timelines[k].algorithm)
        all[i].seconds = std::max(all[i].seconds, all[k].seconds);
  return command::timeline_svg(all);
}

}  // namespace areal::bench
