// What comes at the wrong time or place, what callers throw, and how a run is stopped: by its sink, its progress, a
// CancelScope. And that the stages of strips overlap.
#include <areal/cancel.hpp>
#include <areal/error.hpp>
#include <areal/tiled.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include "pieces/strips/pipeline.hpp"
#include "strip_cases.hpp"

namespace areal::strip_cases {
namespace {

const std::vector<Worker> cpu{{.backend = Backend::cpu, .threads = 1}};

const SatCase picture({40, 30}, "8u32u", Border::zero);
const PieceOptions tiled{.workers = cpu, .height = 7, .pushed_width = 16, .pushed_height = 8};

/// A run that is pushed; each refusal must leave it as it was.
struct Pushed {
  StripSat strips = picture.strips(tiled);
  Tables tables{strips, false};

  Pushed() { strips.begin(tables.sink()); }
  std::string push(std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height) {
    const Values part = part_of(picture.image, std::min<std::int64_t>(x, 40 - width),
                                std::clamp<std::int64_t>(y, 0, 30 - height), width, height);
    const conformance::Buffer block(part, conformance::placements[0]);
    return refusal([&] { strips.push(x, y, block.view()); });
  }
};
const std::string taken = "nothing was refused";

TEST(StripFaults, StripsMissingRepeatedOrOfAnotherWidth) {
  Pushed run;
  EXPECT_EQ(run.push(0, 0, 40, 5), taken);
  EXPECT_EQ(run.push(0, 0, 40, 5), "block at row 0: it came before, the next row is 5");
  EXPECT_EQ(run.push(0, 3, 40, 5), "block at row 3: it came before, the next row is 5");
  EXPECT_EQ(run.push(0, 9, 40, 5), "block at row 9: rows 5 to 8 are missing before it");
  EXPECT_EQ(run.push(0, 5, 40, 26), "block of 26 rows at row 5: the image has 30 rows");
  EXPECT_EQ(refusal([&] { run.strips.finish(); }), "the image ends early: rows 5 to 29 are missing");
  std::vector<std::uint16_t> wide(400);
  EXPECT_NE(refusal([&] { run.strips.push(0, 5, ConstView(wide.data(), 40, 1)); }).find("block type"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              run.strips.push(0, 5, ConstView(wide.data(), Type::u8, {40, 2, 3}));
            }).find("block shape"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              run.strips.push(0, 5, ConstView(nullptr, Type::u8, {40, 2}));
            }).find("block"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              run.strips.push(0, 5, ConstView(wide.data(), Type::u8, {40, 2}).in({MemoryPlace::cuda, 0}));
            }).find("must be in host memory"),
            std::string::npos);
  EXPECT_NE(
      refusal([&] {
        run.strips.push(0, 5, ConstView(wide.data(), Type::u8, {40, 2}), ConstView(wide.data(), Type::u8, {40, 2}));
      }).find("mask was given"),
      std::string::npos);
  EXPECT_EQ(run.push(0, 5, 40, 25), taken);
  EXPECT_EQ(run.push(0, 30, 40, 0), taken);
  run.strips.finish();
  EXPECT_EQ(run.tables.fault(picture), "");  // what was refused left no trace
  EXPECT_EQ(run.push(0, 30, 40, 0), "the image is finished: begin starts another");

  StripSat rows = picture.strips({.workers = cpu});
  rows.begin([](const Piece&) { return true; });
  EXPECT_NE(refusal([&] {
              rows.push(0, 0, ConstView(wide.data(), Type::u8, {39, 2}));
            }).find("blocks are whole rows of 40 pixels"),
            std::string::npos);
}

TEST(StripFaults, TilesMissingRepeatedOrOutOfPlace) {
  Pushed run;
  EXPECT_EQ(run.push(16, 0, 16, 8), taken);
  EXPECT_EQ(run.push(16, 0, 16, 8), "tile at column 16, row 0: it came before");
  EXPECT_EQ(run.push(16, 8, 16, 8), "block at row 8: the row of tiles at row 0 still lacks the tile at column 0");
  EXPECT_EQ(run.push(0, 0, 40, 8), "block at row 0: the row of tiles at row 0 still lacks the tile at column 0");
  EXPECT_NE(run.push(8, 0, 16, 8).find("out of place"), std::string::npos);
  EXPECT_NE(run.push(0, 4, 16, 8).find("out of place"), std::string::npos);
  EXPECT_NE(run.push(48, 0, 16, 8).find("out of place"), std::string::npos);
  EXPECT_NE(run.push(0, 32, 16, 8).find("out of place"), std::string::npos);
  EXPECT_NE(run.push(0, 0, 15, 8).find("block shape 15x8"), std::string::npos);
  EXPECT_NE(run.push(0, 0, 16, 7).find("block shape 16x7"), std::string::npos);
  EXPECT_EQ(refusal([&] { run.strips.finish(); }),
            "the image ends early: the row of tiles at row 0 lacks the tile at column 0");
  EXPECT_EQ(run.push(32, 0, 8, 8), taken);
  EXPECT_EQ(run.push(0, 0, 16, 8), taken);
  EXPECT_EQ(run.push(0, 16, 16, 8), "tile at column 0, row 16: rows 8 to 15 are missing before it");
  EXPECT_EQ(run.push(0, 0, 16, 8), "tile at column 0, row 0: it came before, the next row is 8");
  for (const std::int64_t y : {8, 16, 24})
    for (const std::int64_t x : {32, 16, 0}) EXPECT_EQ(run.push(x, y, x == 32 ? 8 : 16, y == 24 ? 6 : 8), taken);
  run.strips.finish();
  EXPECT_EQ(run.tables.fault(picture), "");
}

TEST(StripFaults, OnlyTensorsHaveBins) {
  const Shape image{40, 30};
  const PieceOptions strips{.workers = cpu, .bins = 2};
  const std::string none = " have none; they are a tensor's";
  EXPECT_EQ(refusal([&] { StripSat(image, Type::u8, {}, strips); }), "bins 2: tables by strips" + none);
  EXPECT_EQ(refusal([&] { TiledSat(image, Type::u8, {}, strips); }), "bins 2: tables by tiles" + none);
  EXPECT_EQ(refusal([&] { StripWindows(image, Type::u8, {3, 3}, {}, strips); }), "bins 2: windows" + none);
  EXPECT_EQ(refusal([&] {
              StripFilter(image, Type::u8, Type::u8, filter::Mean{}, {.window = {3, 3}}, strips);
            }),
            "bins 2: filters" + none);
}

// Of each group of bins; what is refused leaves the run as it was.
TEST(StripFaults, TensorsThatArePushed) {
  StripHistogram strips({40, 30}, Type::u8, Binning::uniform(4, 0, 256), {}, {.workers = cpu, .height = 7, .bins = 2});
  ASSERT_EQ(strips.groups(), 2);
  const conformance::Buffer block(picture.image, conformance::placements[0]);
  const auto rows = [&](std::int64_t y, std::int64_t count) {
    ConstView some = block.view();
    some.data = some.row(y), some.shape.height = count;
    return some;
  };
  EXPECT_NE(refusal([&] { strips.finish(); }).find("nothing has begun"), std::string::npos);
  EXPECT_NE(refusal([&] { strips.begin({}); }).find("sink: there is none"), std::string::npos);
  std::vector<std::int64_t> bins;
  strips.begin([&](const Piece& strip) {
    if (strip.y == 0) bins.push_back(strip.first_bin);
    return true;
  });
  for (int group = 0; group < 2; ++group) {
    EXPECT_TRUE(strips.push(0, 0, rows(0, 5)));
    EXPECT_EQ(refusal([&] { strips.push(0, 9, rows(9, 5)); }), "block at row 9: rows 5 to 8 are missing before it");
    EXPECT_EQ(refusal([&] { strips.push(0, 0, rows(0, 5)); }), "block at row 0: it came before, the next row is 5");
    EXPECT_EQ(refusal([&] { strips.finish(); }), "the image ends early: rows 5 to 29 are missing");
    EXPECT_TRUE(strips.push(0, 5, rows(5, 25)));
    EXPECT_EQ(strips.finish(), group == 0);
  }
  EXPECT_EQ(bins, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(refusal([&] { strips.push(0, 0, rows(0, 5)); }), "the image is finished: begin starts another");

  int given = 0;
  strips.begin([&](const Piece&) { return ++given < 2; });
  EXPECT_FALSE(strips.push(0, 0, block.view()));
  EXPECT_FALSE(strips.push(0, 0, block.view()));
  EXPECT_FALSE(strips.finish());
  EXPECT_EQ(given, 2);
  // A sink that ends the run while the rest is given out: of an image without rows or columns that is all.
  for (const Shape& empty : {Shape{0, 4}, Shape{5, 0}}) {
    StripHistogram none(empty, Type::u8, Binning::uniform(4, 0, 256), {.border = Border::zero},
                        {.workers = cpu, .bins = 2});
    for (const bool goes_on : {true, false}) {
      given = 0;
      none.begin([&](const Piece&) {
        ++given;
        return goes_on;
      });
      EXPECT_EQ(none.finish(), goes_on);
      EXPECT_EQ(given, 1);
    }
  }
  strips.begin([](const Piece&) -> bool { throw std::runtime_error("full"); });
  EXPECT_EQ(refusal([&] { strips.push(0, 0, block.view()); }), "another exception: full");
  EXPECT_EQ(refusal([&] { strips.push(0, 0, block.view()); }), "the run ended with an exception: begin starts another");
}

TEST(StripFaults, OptionsThatCannotBe) {
  const auto made = [](const SatOptions& options, const PieceOptions& how, const Shape& shape = {40, 30}) {
    return refusal([&] { StripSat(shape, Type::u8, options, how); });
  };
  EXPECT_NE(made({.tilted = true}, {}).find("no tilted table"), std::string::npos);
  EXPECT_NE(made({.algorithm = "serial"}, {}).find("takes no carries"), std::string::npos);
  EXPECT_EQ(refusal([] {
              StripHistogram({40, 30}, Type::u8, Binning::uniform(4, 0, 256), {.algorithm = "serial"});
            }),
            "algorithm serial takes no carries, so it makes no tensors by strips; choose auto");
  EXPECT_NE(made({.progress = [](auto, auto) { return true; }}, {}).find("PieceOptions"), std::string::npos);
  EXPECT_NE(made({}, {}, {40, 30, 1, 2}).find("batch 2"), std::string::npos);
  EXPECT_NE(made({}, {.height = -1}).find("height -1"), std::string::npos);
  EXPECT_NE(made({}, {.pushed_width = 5}).find("both extents"), std::string::npos);
  EXPECT_NE(made({}, {.width = 39}).find("width 39"), std::string::npos);
  EXPECT_NE(made({}, {.workers = {{}, {}}}).find("computed by one"), std::string::npos);
  EXPECT_THROW(StripSat({4000, 3000}, Type::u8, {}, {.workers = cpu, .memory = 50000}), OutOfMemory);
  EXPECT_THROW(StripSat({4000, 3000}, Type::u8, {}, {.workers = cpu, .memory = 500000, .height = 100}), OutOfMemory);
  StripSat strips = picture.strips({.workers = cpu});
  const PieceSink sink = [](const Piece&) { return true; };
  EXPECT_NE(refusal([&] {
              strips.run(reader_of(picture.image), sink, reader_of(picture.image));
            }).find("read_mask was given"),
            std::string::npos);
  EXPECT_EQ(refusal([&] { strips.run({}, sink); }), "read: there is none");
  EXPECT_EQ(refusal([&] { strips.run(reader_of(picture.image), {}); }), "sink: there is none");
  EXPECT_NE(refusal([&] { strips.finish(); }).find("nothing has begun"), std::string::npos);
}

TEST(StripFaults, ReadersAndSinksThatThrow) {
  StripSat strips = picture.strips(tiled);
  for (const std::int64_t at : {0, 7, 14, 28}) {
    int given = 0;
    const auto read = [&](std::int64_t x, std::int64_t y, const View& block) {
      if (y == at) throw std::runtime_error("the disk is gone");
      return reader_of(picture.image)(x, y, block);
    };
    EXPECT_EQ(refusal([&] { strips.run(read, [&](const Piece&) { return ++given > 0; }); }),
              "another exception: the disk is gone");
    EXPECT_LE(given, at / 7);
    const PieceSink full = [&](const Piece& strip) {
      if (strip.y >= at) throw std::runtime_error("the disk is full");
      return true;
    };
    EXPECT_EQ(refusal([&] { strips.run(reader_of(picture.image), full); }), "another exception: the disk is full");
    strips.begin(full);
    const conformance::Buffer all(picture.image, conformance::placements[0]);
    EXPECT_EQ(refusal([&] { strips.push(0, 0, all.view()); }), "another exception: the disk is full");
    EXPECT_EQ(refusal([&] { strips.push(0, 0, all.view()); }), "the run ended with an exception: begin starts another");
  }
  Tables tables(strips, false);
  strips.run(reader_of(picture.image), tables.sink());  // and again as if nothing had been
  EXPECT_EQ(tables.fault(picture), "");
}

TEST(StripFaults, ReadersThatGiveAnotherBlock) {
  StripSat strips = picture.strips(tiled);
  const auto refused = [&](const auto& change) {
    return refusal([&] {
      strips.run(
          [&](std::int64_t, std::int64_t, const View& buffer) {
            View block = buffer;
            change(block);
            return ConstView(block);
          },
          [](const Piece&) { return true; });
    });
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(refused([](View& v) { v.shape.height = 3; }), "read shape 40x3"));
  EXPECT_TRUE(has(refused([](View& v) { v.shape.width = 39; }), "read shape 39x7"));
  EXPECT_TRUE(has(refused([](View& v) { v.type = Type::s8; }), "read type 8s"));
  EXPECT_TRUE(has(refused([](View& v) { v.row_pitch += 8; }), "its rows lie in the buffer otherwise"));
  EXPECT_TRUE(has(refused([](View& v) { v.memory = {MemoryPlace::cuda, 0}; }), "it must be in host memory"));
}

TEST(StripFaults, SinksThatStop) {
  StripSat strips = picture.strips(tiled);
  for (int most = 1; most <= 5; ++most) {
    int calls = 0, pushed = 0;
    strips.run(reader_of(picture.image), [&](const Piece&) { return ++calls < most; });
    EXPECT_EQ(calls, most);
    strips.begin([&](const Piece&) { return ++pushed < most; });
    const conformance::Buffer all(picture.image, conformance::placements[0]);
    EXPECT_FALSE(strips.push(0, 0, all.view()));
    EXPECT_FALSE(strips.push(0, 0, all.view()));
    strips.finish();
    EXPECT_EQ(pushed, most);
  }
}

TEST(StripFaults, ProgressCountsRowsAndCancels) {
  std::vector<std::int64_t> done;
  const std::thread::id caller = std::this_thread::get_id();
  std::int64_t most = 100;
  PieceOptions how = tiled;
  how.progress = [&](std::int64_t rows, std::int64_t all) {
    EXPECT_EQ(all, 30);
    EXPECT_EQ(std::this_thread::get_id(), caller);
    done.push_back(rows);
    return rows < most;
  };
  StripSat strips = picture.strips(how);
  const PieceSink sink = [](const Piece&) { return true; };
  const std::vector<std::int64_t> all{7, 14, 21, 28, 30};
  strips.run(reader_of(picture.image), sink);
  EXPECT_EQ(done, all);
  done.clear();
  strips.begin(sink);
  const conformance::Buffer block(picture.image, conformance::placements[0]);
  EXPECT_TRUE(strips.push(0, 0, block.view()));
  strips.finish();
  EXPECT_EQ(done, all);
  most = 14;
  EXPECT_THROW(strips.run(reader_of(picture.image), sink), Cancelled);
  strips.begin(sink);
  EXPECT_THROW(strips.push(0, 0, block.view()), Cancelled);

  most = 14;
  done.clear();
  StripSums sums({40, 30}, Type::u8, {{0, 0, 40, 30}}, {}, how);
  EXPECT_THROW(sums.run(reader_of(picture.image)), Cancelled);
  StripHistogram tensor({40, 30}, Type::u8, Binning::uniform(4, 0, 256), {},
                        {.workers = cpu, .height = 7, .progress = how.progress});
  EXPECT_THROW(tensor.run(reader_of(picture.image), [](const Piece&) { return true; }), Cancelled);
  EXPECT_THROW(strip_counts(reader_of(picture.image), {40, 30}, Type::u8, Binning::uniform(4, 0, 256), {{0, 0, 40, 30}},
                            {.workers = cpu, .height = 7, .progress = how.progress}),
               Cancelled);
}

TEST(StripFaults, ACancelScopeEndsARunThatWaits) {
  StripSat strips = picture.strips(tiled);
  std::mutex mutex;
  std::condition_variable changed;
  bool asked = false;
  const CancelScope scope([&] {
    const std::lock_guard lock(mutex);
    asked = true;
    changed.notify_all();
    return false;
  });
  const auto read = [&](std::int64_t, std::int64_t, const View& block) {  // until the caller has been asked
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return asked; });
    return block;
  };
  EXPECT_THROW(strips.run(read, [](const Piece&) { return true; }), Cancelled);
}

// The reader's next strip and the sink's are under way at once: each waits for the other to have begun.
TEST(StripFaults, ReadingComputingAndGivingOverlap) {
  std::mutex mutex;
  std::condition_variable changed;
  std::int64_t reading = -1, computing = -1, giving = -1;
  const auto begin = [&](std::int64_t& stage, std::int64_t k) {
    const std::lock_guard lock(mutex);
    stage = k;
    changed.notify_all();
  };
  const auto meet = [&](const auto& both) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(20), both);
  };
  constexpr std::int64_t n = 6;
  int met = 0;
  pieces::Stages stages;
  stages.read = [&](std::int64_t k) { begin(reading, k); };
  stages.compute = [&](std::int64_t k) {
    begin(computing, k);
    if (k + 1 < n) met += meet([&] { return reading >= k + 1; });
  };
  stages.give = [&](std::int64_t k) {
    begin(giving, k);
    if (k + 1 < n) met += 10 * meet([&] { return computing >= k + 1; });
    return true;
  };
  EXPECT_TRUE(pieces::run_stages(n, stages));
  EXPECT_EQ(met, 11 * (n - 1));
}

}  // namespace
}  // namespace areal::strip_cases
