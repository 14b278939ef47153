// FragmentTrackers on the simulated machine, which checks every access: the CPU's boxes, bit for bit, and what the
// kernels' contracts promise.
#include "device_track_cases.hpp"
#include "kernels/query/request.hpp"
#include "simt/plan.hpp"

namespace areal {
namespace {

using namespace device_track_cases;

/// The host's memory is the machine's.
struct Bed {
  static constexpr MemoryPlace memory{};
  Execution on{.backend = Backend::simt};
  template <class T>
  Span<const T> in(const std::vector<T>& values) {
    return values;
  }
  template <class T>
  Span<T> out(std::vector<T>& values) {
    return values;
  }
  void back() {}
};

TEST(SimtTrack, AChangedCountIsSeen) { a_changed_count_is_seen<Bed>(); }
TEST(SimtTrack, BoxesAreTheCpus32u) { boxes_are_the_cpus<Bed, std::uint32_t>({16, 1, 5}); }
TEST(SimtTrack, BoxesAreTheCpus16u) { boxes_are_the_cpus<Bed, std::uint16_t>({16}); }
TEST(SimtTrack, BoxesAreTheCpus64u) { boxes_are_the_cpus<Bed, std::uint64_t>({16}); }
TEST(SimtTrack, BoxesAreTheCpus32f) { boxes_are_the_cpus<Bed, float>({16}); }
TEST(SimtTrack, BoxesAreTheCpus64f) { boxes_are_the_cpus<Bed, double>({7}); }
TEST(SimtTrack, EveryRadius) { every_radius<Bed>(); }
TEST(SimtTrack, BoxesAtTheEdges) { boxes_at_the_edges<Bed>(); }
TEST(SimtTrack, EveryOption) { every_option<Bed>(); }
TEST(SimtTrack, TiesAreBrokenAlike) { ties_are_broken_alike<Bed>(); }
TEST(SimtTrack, PixelsInNoBin) { pixels_in_no_bin<Bed>(); }
TEST(SimtTrack, TensorsOfAnything) { tensors_of_anything<Bed>(); }
TEST(SimtTrack, TensorsAtAnyAddress) { tensors_at_any_address<Bed>(); }
TEST(SimtTrack, WrongUseIsRefused) { wrong_use_is_refused<Bed>(); }

/// The CPU's trackers behind the same interface.
struct CpuBed : Bed {
  CpuBed() { on = {.backend = Backend::cpu}; }
};
TEST(CpuTrack, TheSameInterface) {
  a_changed_count_is_seen<CpuBed>();
  boxes_at_the_edges<CpuBed>();
}

class TrackCounts : public testing::Test {
 protected:
  static constexpr std::int64_t bins = 16, fragments = FragmentTracker::fragments;
  const Frames<std::uint32_t> frames = frames_of<std::uint32_t>({.width = 90, .height = 80, .frames = 2}, Border::none);
  const std::vector<double> scale{1, 0.95, 1.05};
  std::vector<TrackedBox> boxes{{20, 17, 30, 40}, {35, 21, 24, 22}}, out = boxes;
  std::vector<double> shares = std::vector<double>(boxes.size() * fragments * bins);
  struct alignas(16) Vote {
    double distance;
    std::uint64_t key;
  };
  std::vector<Vote> votes;

  kernels::FragmentsRequest request(std::int64_t radius) {
    kernels::FragmentsRequest r{frames.host(0)};
    r.boxes = static_cast<std::int64_t>(boxes.size());
    r.scales = static_cast<std::int64_t>(scale.size());
    r.radius = radius;
    r.rows = r.columns = 2 * radius + 1;
    r.rank = 10;
    r.scale_cost = 0.05;
    votes.resize(static_cast<std::size_t>(r.boxes * r.votes_of_a_box()));
    r.scale = scale.data(), r.box = boxes.data(), r.out = out.data(), r.shares = shares.data(), r.votes = votes.data();
    return r;
  }
  static std::vector<LaunchCounts> run(const kernels::FragmentsRequest& request,
                                       const simt::Options& options = simt::Options()) {
    return simt::execute<kernels::Query>({}, request, nullptr, options);
  }
};

TEST_F(TrackCounts, AStepReadsEachPointOnceForAPlaceAndBin) {
  constexpr std::int64_t radius = 7, side = 2 * radius + 1;
  kernels::FragmentsRequest r = request(radius);
  r.starts = true;
  const auto start = run(r);
  ASSERT_EQ(start.size(), 1u);
  const auto box_count = static_cast<std::uint64_t>(boxes.size());
  EXPECT_EQ(start[0].counts.reads.elements, box_count * fragments * (5 + 8 * bins));
  EXPECT_EQ(start[0].counts.writes.elements, box_count * fragments * bins);
  r.starts = false;
  r.tensor = frames.host(1);
  const auto step = run(r);
  ASSERT_EQ(step.size(), 2u);
  const Counts &vote = step[0].counts, &choice = step[1].counts;
  const std::uint64_t blocks = box_count * 3 * side;
  EXPECT_EQ(step[0].blocks, static_cast<std::int64_t>(blocks));
  EXPECT_EQ(step[0].threads, 352);
  // 66 points of 16 bins a place; each lane of one warp the box and the scale; the shares.
  EXPECT_EQ(vote.reads.elements, blocks * (side * 66 * bins + 32 * 6 + fragments * bins));
  EXPECT_EQ(vote.writes.elements, blocks);  // of 16 bytes
  EXPECT_EQ(vote.writes.bytes, blocks * 16);
  EXPECT_EQ(vote.block_barriers, blocks * 4);
  EXPECT_EQ(vote.atomics.elements + vote.published, 0u);
  // Shared memory: counts without a conflict, but where a warp has the last edges of columns and of lines.
  EXPECT_LE(vote.shared_writes.conflicts, blocks * 2 * bins);
  EXPECT_EQ(vote.shared_reads.conflicts, 0u);
  EXPECT_EQ(step[1].blocks, r.boxes);
  EXPECT_EQ(choice.reads.elements, box_count * (32 * 5 + 2 * 3 * side + 1));
  EXPECT_EQ(choice.writes.elements, box_count * 5 * 2);
  EXPECT_EQ(choice.block_barriers, 0u);
  EXPECT_EQ(vote.copied_bytes + choice.copied_bytes, 0u);
}

TEST_F(TrackCounts, AnyScheduleGivesTheSame) {
  std::vector<TrackedBox> wanted;
  for (const std::uint64_t seed : {1, 2, 3}) {
    boxes = {{20, 17, 30, 40}, {35, 21, 24, 22}};
    kernels::FragmentsRequest r = request(2);
    r.starts = true;
    simt::Options options;
    options.seed = seed;
    options.residents = static_cast<int>(seed) * 2;
    options.start = seed == 2 ? simt::StartOrder::random : simt::StartOrder::descending;
    run(r, options);
    r.starts = false;
    r.tensor = frames.host(1);
    run(r, options);
    if (wanted.empty()) wanted = boxes;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      EXPECT_EQ(numbers(boxes[i]), numbers(wanted[i])) << "seed " << seed;
      EXPECT_EQ(numbers(boxes[i]), numbers(out[i]));
    }
  }
  EXPECT_NE(numbers(wanted[0]), numbers(TrackedBox{20, 17, 30, 40}));
}

}  // namespace
}  // namespace areal
