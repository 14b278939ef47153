// The kernels of the family sat on the simulated machine: any schedule gives the same bits, and no element is read or
// written twice.
#include <gtest/gtest.h>
#include <areal/catalog.hpp>
#include <cstring>
#include "conformance/oracle.hpp"
#include "conformance/picture.hpp"
#include "conformance/sat_case.hpp"
#include "simt/sat.hpp"

namespace areal::simt {
namespace {

using conformance::device_sat_ids;

/// A table of one random image, on a workspace that is kept.
class Tables {
 public:
  Tables(std::string id, Lane lane, const Shape& image, Border border = Border::none)
      : id_(std::move(id)),
        request_{image, lane, border, Layout::planar},
        values_(conformance::random_image(lane.input, image, conformance::Fill::wild, 5)),
        image_(values_, conformance::placements[0]),
        workspace_(sat_workspace_bytes(id_, request_)) {}

  /// The table's bytes.
  std::vector<std::uint8_t> operator()(const Options& options) {
    conformance::Buffer table(request_.lane.table, conformance::table_shape_of(request_.image, request_.border),
                              conformance::placements[0], conformance::Guard::output);
    launches = sat(id_, request_, image_.view(), table.view(), workspace_.data(), options);
    return table.bytes();
  }
  std::vector<LaunchCounts> launches;

 private:
  std::string id_;
  kernels::SatRequest request_;
  conformance::Values values_;
  conformance::Buffer image_;
  std::vector<std::uint8_t> workspace_;
};

TEST(SatKernels, AnyScheduleGivesTheSameBits) {
  for (const std::string& id : device_sat_ids())
    for (const char* lane : {"8u32u", "32f32f", "16u64f"}) {
      Tables run(id, *lane_named(lane), {390, 300});
      const auto first = run({});
      std::uint64_t seed = 2;
      for (const StartOrder start : {StartOrder::ascending, StartOrder::descending, StartOrder::random})
        for (const int residents : {1, 2, 3, 9, 64}) {
          Options options;
          options.seed = seed++, options.residents = residents, options.start = start;
          EXPECT_EQ(run(options), first) << id << " " << lane << ", seed " << options.seed << ", residents "
                                         << residents;
        }
    }
}

/// Images that are whole tiles of a kernel.
std::vector<Shape> images_for(const std::string& id) {
  if (id == "ribbon") return {{4096, 12}, {12, 4096}, {8192, 3}, {3, 8192}};
  return {{512, 512}};
}

TEST(SatKernels, ReadEachElementOnceAndWriteItOnce) {
  for (const std::string& id : device_sat_ids())
    for (const char* name : {"8u32u", "32f32f", "64f64f"})
      for (const Shape& image : images_for(id)) {
        const Lane lane = *lane_named(name);
        Tables run(id, lane, image);
        run({});
        ASSERT_EQ(run.launches.size(), 1u);
        const Counts& n = run.launches[0].counts;
        const auto elements = static_cast<std::uint64_t>(image.width * image.height);
        const std::string what = id + " " + name + " " + std::to_string(image.width);
        EXPECT_EQ(n.reads.elements, elements) << what;
        EXPECT_EQ(n.writes.elements, elements) << what;
        EXPECT_EQ(n.reads.strided + n.writes.strided, 0u) << what;
        EXPECT_EQ(n.reads.sectors, elements * size_of(lane.input) / 32) << what;
        EXPECT_EQ(n.writes.sectors, elements * size_of(lane.table) / 32) << what;
      }
}

}  // namespace
}  // namespace areal::simt
