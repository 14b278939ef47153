// The kernels of the family sat on the simulated machine: any schedule gives the same bits, and no element is read or
// written twice.
#include <gtest/gtest.h>
#include <areal/catalog.hpp>
#include <array>
#include <cstring>
#include <optional>
#include "conformance/oracle.hpp"
#include "conformance/picture.hpp"
#include "conformance/sat_case.hpp"
#include "extent.hpp"
#include "kernels/sat/lookback/all-partials.hpp"
#include "kernels/sat/request.hpp"
#include "simt/plan.hpp"

namespace areal::simt {
namespace {

/// bands and relay have suites of their own.
const std::vector<std::string> tile_ids{"lookback", "lookback-diagonal", "all-partials", "thin"};

/// The tables of one random image, on a reused workspace.
class Tables {
 public:
  Tables(std::string id, const kernels::SatRequest& request)
      : request_(with_id(request, std::move(id))),
        image_(conformance::random_image(request.types.input, request.image,
                                         request.ignore_nan ? conformance::Fill::holes : conformance::Fill::wild, 5),
               conformance::placements[0]),
        workspace_(make_plan<kernels::Sat>(request_)->workspace_bytes()) {
    const Shape& shape = request.image;
    if (request.mask)
      mask_ =
          Buffer(conformance::random_mask({shape.width, shape.height, 1, shape.batch}, 5), conformance::placements[0]);
  }

  /// The tables' bytes.
  std::vector<std::uint8_t> operator()(const Options& options) {
    const Shape& image = request_.image;
    const Shape plane{image.width, image.height, 1, image.batch};
    const auto table = [&](bool wanted, Type type, const Shape& of, Border border) {
      return wanted ? Buffer(type, conformance::table_shape_of(of, border, request_.volume), conformance::placements[0],
                             conformance::Guard::output)
                    : Buffer();
    };
    const Border border = request_.border;
    Buffer sum = table(true, request_.types.table, image, border),
           squares = table(request_.squares.has_value(), request_.squares.value_or(Type::u64), image, border),
           tilted = table(request_.tilted, request_.types.table, image, Border::zero),
           count = table(request_.counts(), Type::u32, plane, border);
    SatArguments arguments{image_.view(), sum.view(), mask_.view(), squares.view(), tilted.view(), count.view()};
    const Type type = request_.types.table;
    const Buffer above(conformance::Values(type, {image.width + 1, 1}), conformance::placements[0]),
        left(conformance::Values(type, {1, image.height}), conformance::placements[0]);
    if (carry) arguments.carry = {above.view(), left.view()};
    launches = execute<kernels::Sat>(request_, arguments, workspace_.data(), options);
    std::vector<std::uint8_t> all;
    for (Buffer* buffer : {&sum, &squares, &tilted, &count})
      all.insert(all.end(), buffer->bytes().begin(), buffer->bytes().end());
    return all;
  }
  std::vector<LaunchCounts> launches;
  bool carry = false;  ///< zeros in memory are carried into the sum, of one channel

 private:
  using Buffer = conformance::Buffer;

  static kernels::SatRequest with_id(kernels::SatRequest request, std::string id) {
    request.id = std::move(id);
    return request;
  }

  kernels::SatRequest request_;
  Buffer image_, mask_;
  std::vector<std::uint8_t> workspace_;
};

// Every start with every number of residents for the first type; for the others each number with one start in turns.
TEST(SatKernels, AnyScheduleGivesTheSameBits) {
  for (const std::string& id : tile_ids)
    for (const std::string types : {"8u32u", "32f32f", "16u64f"}) {
      Tables run(id, {{290, 262}, type_pair(types), Border::none});
      const std::vector<std::uint8_t> first = run({});
      std::uint64_t seed = 2;
      for (const StartOrder start : {StartOrder::ascending, StartOrder::descending, StartOrder::random})
        for (const int residents : {1, 2, 3, 9, 64}) {
          Options options;
          options.seed = seed++, options.residents = residents, options.start = start;
          if (!test::is_full() && types != "8u32u" && seed % 3 != (types == "32f32f" ? 0 : 1)) continue;
          if (seed % 2 == 1 && id != "all-partials") options.together = 0;  // lookback of bytes goes in turn
          EXPECT_EQ(run(options), first) << id << " " << types << ", seed " << options.seed << ", residents "
                                         << residents;
        }
    }
}

/// Where a device lacks cp.async, a copy is a load and a store.
TEST(SatKernels, CopiesWithoutTheInstructionGiveTheSameBits) {
  std::uint64_t copied = 0;
  for (const std::string& id : tile_ids)
    for (const char* types : {"8u32u", "32f32f", "64f64f"}) {
      Tables run(id, {{290, 262}, type_pair(types), Border::zero});
      const auto first = run({});
      for (const LaunchCounts& launch : run.launches) copied += launch.counts.copied_bytes;
      Options options;
      options.async_copies = false;
      EXPECT_EQ(run(options), first) << id << " " << types;
      for (const LaunchCounts& launch : run.launches) EXPECT_EQ(launch.counts.copied_bytes, 0u) << id << " " << types;
    }
  EXPECT_GT(copied, 0u) << "no kernel copies: there is nothing to compare";
}

/// Images that are whole tiles of a kernel.
std::vector<Shape> images_for(const std::string& id) {
  if (id == "thin") return {{4096, 12}, {12, 4096}, {8192, 3}, {3, 8192}};
  return {{512, 512}};
}

TEST(SatKernels, ReadEachElementOnceAndWriteItOnce) {
  for (const std::string& id : tile_ids)
    for (const char* name : {"8u32u", "32f32f", "64f64f"})
      for (const Shape& image : images_for(id)) {
        const TypePair types = type_pair(name);
        Tables run(id, {image, types, Border::none});
        run({});
        ASSERT_EQ(run.launches.size(), 1u);
        const Counts& n = run.launches[0].counts;
        const auto elements = static_cast<std::uint64_t>(image.width * image.height);
        const std::string what = id + " " + name + " " + std::to_string(image.width);
        EXPECT_EQ(n.reads.elements, elements) << what;
        EXPECT_EQ(n.writes.elements, elements) << what;
        EXPECT_EQ(n.reads.strided + n.writes.strided, 0u) << what;
        EXPECT_EQ(n.reads.sectors, elements * size_of(types.input) / 32) << what;
        EXPECT_EQ(n.writes.sectors, elements * size_of(types.table) / 32) << what;
      }
}

// Each tile reads its stretch of the two lines, and what is beside its corner: the entry above its first column, the
// one left of its first row, and, where both are told from the image's corner, that one.
TEST(SatKernels, ACarryIsReadOnceByEachTile) {
  for (const std::string& id : tile_ids)
    for (const char* name : {"8u32u", "32f32f", "64f64f"})
      for (const Border border : {Border::none, Border::zero})
        for (const Shape& image : id == "thin" ? std::vector<Shape>{{3000, 9}, {9, 3000}, {700, 3}}
                                               : std::vector<Shape>{{60, 50}, {530, 270}}) {
          const TypePair types = type_pair(name);
          const kernels::SatRequest request{image, types, border};
          Tables run(id, request);
          Options options;
          if (id == "all-partials") options.together = 256;  // all its tiles
          run(options);
          ASSERT_EQ(run.launches.size(), 1u);
          const Counts plain = run.launches[0].counts;
          run.carry = true;
          run(options);
          ASSERT_EQ(run.launches.size(), 1u);
          const Counts& carried = run.launches[0].counts;
          const std::string what =
              id + " " + name + " " + std::to_string(image.width) + " " + std::string(name_of(border));
          const std::uint64_t w = static_cast<std::uint64_t>(image.width), h = static_cast<std::uint64_t>(image.height);
          const std::uint64_t edge = border == Border::zero ? w + h + 1 : 0;  // which is a copy of both
          EXPECT_EQ(carried.writes.elements, plain.writes.elements) << what;
          EXPECT_EQ(carried.published, plain.published) << what;
          const std::uint64_t more = carried.reads.elements - plain.reads.elements - edge;
          // Each takes a ticket, unless all run at once: then each is a block.
          const std::uint64_t tiles = carried.atomics.elements > 0 ? carried.atomics.elements
                                                                   : static_cast<std::uint64_t>(run.launches[0].blocks);
          if (id == "thin") {  // what is beside the first line, once; in each chunk, the lines and those before them
            EXPECT_EQ(more, std::max(w, h) + tiles * 2 * std::min(w, h)) << what;
            continue;
          }
          if (image.width == 60) {
            EXPECT_EQ(more, w + h + 1) << what;
            continue;
          }
          // tiles_x h + tiles_y w + one a tile + one a tile but the first + one a tile not in the first row or column
          bool found = false;
          for (std::uint64_t x = 1; x <= tiles; ++x) {
            const std::uint64_t y = tiles / x;
            found = found || (x * y == tiles && more == x * h + y * w + 2 * tiles - 1 + (x - 1) * (y - 1));
          }
          EXPECT_TRUE(found) << what << ": " << more << " of " << tiles << " tiles";
        }
}

/// A type pair and its squares. Pairs of 64-bit sums are published in two words, all others in one.
struct WithSquares {
  const char* types;
  Type squares;
};
constexpr WithSquares with_squares[] = {{"8u32u", Type::u64},  {"8u32u", Type::u32},  {"8u64u", Type::u64},
                                        {"8u32f", Type::f64},  {"16u32u", Type::u64}, {"16s64s", Type::u32},
                                        {"32f32f", Type::f64}, {"64f64f", Type::f64}, {"8s64s", Type::u64},
                                        {"8u32u", Type::f32},  {"32f64f", Type::f32}, {"64s64s", Type::f64}};

// Each number of residents, with the starts in turns.
TEST(SatKernels, AnyScheduleGivesTheSameBitsOfSumAndSquares) {
  std::uint64_t turn = 0;
  for (const auto& [types, squares] : with_squares) {
    Tables run("lookback", {{300, 262}, type_pair(types), Border::none, squares});
    const auto first = run({});
    ASSERT_EQ(run.launches.size(), 1u);
    std::uint64_t seed = 2;
    ++turn;
    for (const StartOrder start : {StartOrder::ascending, StartOrder::descending, StartOrder::random})
      for (const int residents : {1, 3, 64}) {
        Options options;
        options.seed = seed++, options.residents = residents, options.start = start;
        if (!test::is_full() && (seed + seed / 3 + turn) % 3 != 0) continue;
        options.together =
            turn > 2 ? 32 : std::array{32, 14, 8}[seed % 3];  // 15 low tiles of bytes, 9 high, or in turn
        EXPECT_EQ(run(options), first) << types << ", seed " << options.seed << ", residents " << residents;
      }
  }
}

TEST(SatKernels, SumAndSquaresReadEachPixelOnceAndWriteEachEntryOnce) {
  for (const auto& [name, squares] : with_squares)
    for (const Border border : {Border::none, Border::zero}) {
      const TypePair types = type_pair(name);
      Tables run("lookback", {{512, 256}, types, border, squares});
      run({});
      const std::string what = std::string(name) + " " + std::string(name_of(squares));
      ASSERT_EQ(run.launches.size(), 1u) << what;
      const Counts& n = run.launches[0].counts;
      const std::uint64_t pixels = 512 * 256, entries = border == Border::zero ? 513 * 257 : pixels;
      const std::uint64_t bytes = size_of(types.table) + size_of(squares);
      EXPECT_EQ(n.reads.elements, pixels) << what;
      EXPECT_EQ(n.reads.bytes, pixels * size_of(types.input)) << what;
      EXPECT_EQ(n.reads.sectors, pixels * size_of(types.input) / 32) << what;
      EXPECT_EQ(n.writes.elements, entries * 2) << what;
      EXPECT_EQ(n.writes.bytes, entries * bytes) << what;
      if (border == Border::zero) continue;
      EXPECT_EQ(n.reads.strided + n.writes.strided, 0u) << what;
      EXPECT_EQ(n.writes.sectors, pixels * bytes / 32) << what;
    }
}

// Two by four tiles of 256x128: each but the last of its row publishes its rows, each but the lowest its columns
// (twice, the uppermost once) and their total; sums and squares in one word.
TEST(SatKernels, SumAndSquaresAreHandedOverTogether) {
  Tables run("lookback", {{512, 512}, type_pair("8u32u"), Border::none, Type::u64});
  Options options;
  options.together = 15;
  run(options);
  ASSERT_EQ(run.launches.size(), 1u);
  EXPECT_EQ(run.launches[0].counts.published, 4u * 128 + 2 * 256 + 2 * 2 * 2 * 256 + 2 * 3);
}

/// The words of all-partials: sums of rows of all tiles but the last of a row of tiles, of columns of all but the
/// lowest, four parts of the total of those which have a tile to the lower right, and each block's number of launches.
std::uint64_t partials(std::uint64_t across, std::uint64_t down, std::uint64_t height) {
  return (across - 1) * down * height + across * (down - 1) * 128 + (across - 1) * (down - 1) * 4 + across * down;
}

/// Words that one launch publishes on a machine that holds so many blocks.
std::uint64_t published(const char* id, const char* types, const Shape& image, std::optional<Type> squares,
                        int together) {
  Tables run(id, {image, type_pair(types), Border::none, squares});
  Options options;
  options.together = together;
  run(options);
  EXPECT_EQ(run.launches.size(), 1u);
  return run.launches[0].counts.published;
}

// Tables of squares have tiles of 64 rows if the machine holds all of them at once, else of 128 if it holds those.
TEST(SatKernels, SquaresHaveTilesAsLowAsTheMachineHolds) {
  for (const Type squares : {Type::u32, Type::u64})
    for (const auto& [together, words] :
         {std::pair{32, partials(4, 8, 64)}, {31, partials(4, 4, 128)}, {16, partials(4, 4, 128)}})
      EXPECT_EQ(published("lookback", "8u32u", {512, 512}, squares, together), words) << together;
  // More than 32 tiles of a line add up too many others.
  EXPECT_EQ(published("lookback", "8u32u", {9, 2048}, Type::u64, 64), partials(1, 32, 64));
  EXPECT_EQ(published("lookback", "8u32u", {9, 2049}, Type::u64, 64), partials(1, 17, 128));
}

// all-partials has tiles of 64 rows for at most 132 of them, 32 in a column; tables of 64 bits do not.
TEST(SatKernels, AllPartialsHasLowTilesForSmallImages) {
  const auto words = [](const char* types, const Shape& image) {
    return published("all-partials", types, image, {}, 32);
  };
  for (const char* types : {"8u32u", "8u32f", "16u32u", "32s32s", "32f32f"})
    EXPECT_EQ(words(types, {512, 512}), partials(4, 8, 64)) << types;
  EXPECT_EQ(words("8u64f", {512, 512}), partials(4, 4, 128));
  for (const auto& [image, low] : {std::pair{Shape{1408, 768}, true},
                                   {{1409, 768}, false},
                                   {{1408, 769}, false},
                                   {{1408, 384, 1, 2}, true},
                                   {{1408, 384, 3}, false},
                                   {{128, 2048}, true},
                                   {{128, 2049}, false}})
    EXPECT_EQ(kernels::has_low_tiles(image), low) << image.width << "x" << image.height;
  EXPECT_EQ(words("8u32u", {9, 2048}), partials(1, 32, 64));
  EXPECT_EQ(words("8u32u", {9, 2049}), partials(1, 17, 128));
  for (const std::int64_t height : {2048, 2049}) {
    const kernels::SatRequest request{{9, height}, type_pair("8u32u"), Border::none};
    EXPECT_EQ(Tables("all-partials", request)({}), Tables("lookback", request)({})) << height;
  }
}

TEST(SatKernels, AnyScheduleGivesTheSameBitsOfAllTables) {
  kernels::SatRequest request{{140, 70, 1, 2}, type_pair("32f32f"), Border::zero, Type::f64};
  request.mask = request.ignore_nan = true;
  for (const bool volume : {false, true}) {
    request.volume = volume, request.tilted = !volume;
    Tables run("lookback", request);
    const auto first = run({});
    std::uint64_t seed = 2;
    for (const StartOrder start : {StartOrder::descending, StartOrder::random})
      for (const int residents : {1, 3, 64}) {
        Options options;
        options.seed = seed++, options.residents = residents, options.start = start;
        EXPECT_EQ(run(options), first) << "volume " << volume << ", seed " << options.seed << ", residents "
                                       << residents;
      }
  }
}

/// The launches before the last, which is the sum's.
GlobalCounts all_of(const std::vector<LaunchCounts>& launches, GlobalCounts Counts::*what) {
  GlobalCounts all;
  for (std::size_t i = 0; i + 1 < launches.size(); ++i) all += launches[i].counts.*what;
  return all;
}

TEST(SatKernels, TiltedTablesReadAndWriteWhatTheyClaim) {
  for (const char* name : {"8u32u", "64f64f"}) {
    kernels::SatRequest request{{512, 512}, type_pair(name)};
    request.tilted = true;
    Tables run("lookback", request);
    run({});
    ASSERT_EQ(run.launches.size(), 5u + 1);
    const double elements = 512 * 512;
    // Of 4.8 for a large image: the first launches leave out the last of these 16 strips.
    EXPECT_NEAR(static_cast<double>(all_of(run.launches, &Counts::reads).elements) / elements, 4.6, 0.05) << name;
    EXPECT_NEAR(static_cast<double>(all_of(run.launches, &Counts::writes).elements) / elements, 1.2, 0.05) << name;
  }
}

TEST(SatKernels, DepthReadsEachElementOnceAndWritesAllButTheFirstSlice) {
  kernels::SatRequest request{{96, 64, 1, 5}, type_pair("16u32u"), Border::none};
  request.volume = true;
  Tables run("lookback", request);
  run({});
  ASSERT_EQ(run.launches.size(), 2u);
  const Counts& n = run.launches[1].counts;
  EXPECT_EQ(n.reads.elements, 96u * 64 * 5);
  EXPECT_EQ(n.writes.elements, 96u * 64 * 4);
  EXPECT_EQ(n.reads.strided + n.writes.strided, 0u);
}

TEST(SatKernels, WhichPixelsCountIsReadOnceAndWrittenOnce) {
  kernels::SatRequest request{{256, 64, 3}, type_pair("32f32f"), Border::none};
  request.ignore_nan = request.mask = true;
  Tables run("lookback", request);
  run({});
  ASSERT_EQ(run.launches.size(), 3u);  // which pixels count; counts; the sum
  const std::uint64_t pixels = 256 * 64;
  EXPECT_LE(run.launches[0].counts.reads.elements, pixels * 4);
  EXPECT_EQ(run.launches[0].counts.writes.elements, pixels);
  EXPECT_EQ(run.launches[1].counts.reads.elements, pixels);
  EXPECT_EQ(run.launches[1].counts.writes.elements, pixels);
}

}  // namespace
}  // namespace areal::simt
