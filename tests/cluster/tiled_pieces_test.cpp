// A tensor in pieces, against the per-pixel oracle and the untiled plan: every cut, workers alone and together, workers
// that fail and are lost, and what ends a call early.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/info.hpp>
#include <areal/tiled.hpp>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include "histogram_oracle.hpp"
#include "pieces/tiles/tiled_histogram.hpp"

namespace areal {
namespace {

using oracle::Guarded;

bool has_simt() {
  for (const BackendInfo& row : backends())
    if (row.backend == Backend::simt) return row.available;
  return false;
}
const Worker on_cpu{.threads = 1}, on_simt{.backend = Backend::simt};

struct Case {
  Shape shape;
  Type type = Type::u8;
  oracle::Rule rule;
  Guarded image;
  std::vector<double> expected;

  Case(const Shape& shape_, Type type_, oracle::Rule rule_, std::uint64_t seed)
      : shape(shape_), type(type_), rule(std::move(rule_)), image(shape, type, 1, 3) {
    std::mt19937_64 random(seed);
    oracle::fill_random(image.view, random, 0, 255);
    expected = oracle::tensor(rule, image.view, nullptr, Border::none);
  }
  /// Fills some blocks; of others, memory of its own with gaps, which stays for the run.
  ImageReader read() const {
    return [this, n = 0, copies = std::make_shared<std::vector<Guarded>>()](std::int64_t x, std::int64_t y,
                                                                            const View& block) mutable {
      View into = block;
      if (n++ % 3 > 0) into = copies->emplace_back(block.shape, type, 3, 5).view;
      for (std::int64_t c = 0; c < (shape.layout == Layout::planar ? shape.channels : 1); ++c)
        for (std::int64_t row = 0; row < block.shape.height; ++row)
          std::memcpy(into.row(row, c),
                      static_cast<const char*>(image.view.row(y + row, c)) + x * image.view.column_pitch(),
                      static_cast<std::size_t>(block.shape.width * image.view.column_pitch()));
      return ConstView(into);
    };
  }
};

/// Puts pieces together, and finds an entry that came twice or never.
class Assembled {
 public:
  explicit Assembled(const Case& of, Type counter = Type::u32)
      : tensor_({of.shape.width, of.shape.height, of.rule.binning.bins(), 1, Layout::planar}, counter),
        times_(tensor_.bytes() / size_of(counter)) {}
  bool take(const Piece& piece) {
    const ConstView& from = piece.values;
    EXPECT_EQ(from.type, tensor_.type());
    EXPECT_FALSE(in_sink_.exchange(true)) << "two threads at once";
    const Shape& all = tensor_.shape();
    for (std::int64_t b = 0; b < from.shape.channels; ++b)
      for (std::int64_t y = 0; y < from.shape.height; ++y) {
        std::memcpy(
            static_cast<char*>(tensor_.view().row(piece.y + y, piece.first_bin + b)) + piece.x * from.column_pitch(),
            from.row(y, b), static_cast<std::size_t>(from.shape.width * from.column_pitch()));
        for (std::int64_t x = 0; x < from.shape.width; ++x)
          ++times_[static_cast<std::size_t>(((piece.first_bin + b) * all.height + piece.y + y) * all.width + piece.x +
                                            x)];
      }
    ++pieces_;
    workers_.insert(piece.worker);
    in_sink_ = false;
    return true;
  }
  PieceSink sink() {
    return [this](const Piece& piece) { return take(piece); };
  }
  std::string wrong(const Case& of) const {
    for (const int times : times_)
      if (times != 1) return "an entry came " + std::to_string(times) + " times";
    const ConstView view = tensor_.view();
    return view.type == Type::u16 ? oracle::difference_as<std::uint16_t>(view, of.expected, 0)
                                  : oracle::difference(view, of.expected);
  }
  int pieces() const { return pieces_; }
  const std::set<int>& workers() const { return workers_; }

 private:
  Array tensor_;
  std::vector<int> times_;
  int pieces_ = 0;
  std::set<int> workers_;
  std::atomic<bool> in_sink_{false};
};

std::string words(const TiledGrid& grid) {
  return std::to_string(grid.columns) + " x " + std::to_string(grid.rows) + " tiles of " +
         std::to_string(grid.tile_width) + "x" + std::to_string(grid.tile_height) + ", " + std::to_string(grid.groups) +
         " groups of " + std::to_string(grid.bins);
}

TEST(TiledPieces, AFlippedPixelAPieceTwiceAndAPieceLessAreFound) {
  Case of({30, 20}, Type::u8, oracle::uniform(4, 0, 256), 1);
  const TiledHistogram tiled(of.shape, of.type, of.rule.binning, {}, {.width = 7, .height = 6});
  Assembled whole(of), twice(of), less(of), flipped(of);
  tiled.pieces(of.read(), whole.sink());
  EXPECT_EQ(whole.wrong(of), "");
  tiled.pieces(of.read(), [&](const Piece& piece) { return twice.take(piece) && (piece.x > 0 || twice.take(piece)); });
  EXPECT_NE(twice.wrong(of), "");
  tiled.pieces(of.read(), [&](const Piece& piece) { return piece.x == 7 || less.take(piece); });
  EXPECT_NE(less.wrong(of), "");
  static_cast<unsigned char*>(of.image.view.row(0))[0] ^= 0x80;
  tiled.pieces(of.read(), flipped.sink());
  EXPECT_NE(flipped.wrong(of), "");
}

TEST(TiledPieces, RandomGridsAreTheUntiledTensor) {
  const std::uint64_t seed = 20261124;
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  const int cases = std::getenv("AREAL_TEST_SHORT") ? 30 : 150;
  for (int i = 0; i < cases; ++i) {
    const bool joint = below(6) == 0;
    Shape shape{1 + below(60), 1 + below(60)};
    if (joint) shape.channels = 2, shape.layout = below(2) ? Layout::planar : Layout::interleaved;
    Case of(shape, below(3) ? Type::u8 : Type::u16,
            joint ? oracle::joint({oracle::uniform(3, 0, 256), oracle::uniform(2, 0, 256)})
                  : oracle::uniform(1 + below(12), 0, 256),
            random());
    PieceOptions options;
    const bool simt = has_simt() && below(3) == 0;
    for (std::int64_t n = 1 + below(3); n > 0; --n) options.workers.push_back(on_cpu);
    if (simt) options.workers.assign(1, on_simt);
    if (simt && below(2)) options.workers.push_back(on_cpu);
    if (below(4)) options.width = 1 + below(shape.width);
    if (below(4)) options.height = 1 + below(shape.height);
    if (below(2)) options.bins = joint ? 2 * (1 + below(3)) : 1 + below(of.rule.binning.bins());
    const Type counter = below(3) ? Type::u32 : Type::u64;
    options.piece_bytes = static_cast<std::uint64_t>(1 + below(4000));
    const TiledHistogram tiled(shape, of.type, of.rule.binning, {.counter = counter}, options);
    for (int call = 0; call < 2; ++call) {
      Assembled got(of, counter);
      tiled.pieces(of.read(), got.sink());
      ASSERT_EQ(got.wrong(of), "") << "seed " << seed << " case " << i << " " << words(tiled.piece_grid());
    }
  }
}

// What memory decides: groups of bins where one fits, otherwise tiles; the tensor is the same.
TEST(TiledPieces, MemoryDecides) {
  if (!has_simt()) GTEST_SKIP() << "this build has no simulated machine";
  Case of({150, 140}, Type::u8, oracle::uniform(9, 0, 256), 3);
  bool has_groups = false, has_rows = false, has_columns = false;
  for (const std::uint64_t bytes : {std::uint64_t{1} << 30, std::uint64_t{300000}, std::uint64_t{125000},
                                    std::uint64_t{70000}, std::uint64_t{20000}}) {
    const TiledHistogram tiled(of.shape, of.type, of.rule.binning, {}, {.workers = {on_simt}, .memory = bytes});
    const TiledGrid grid = tiled.piece_grid();
    has_groups = has_groups || (grid.groups > 1 && grid.rows * grid.columns == 1);
    has_rows = has_rows || (grid.groups == 1 && grid.columns == 1 && grid.rows > 1);
    has_columns = has_columns || (grid.groups == 1 && grid.columns > 1);
    Assembled got(of);
    tiled.pieces(of.read(), got.sink());
    EXPECT_EQ(got.wrong(of), "") << bytes << " bytes, " << words(grid);
  }
  EXPECT_TRUE(has_groups && has_rows && has_columns) << has_groups << has_rows << has_columns;
  EXPECT_THROW(TiledHistogram(of.shape, of.type, of.rule.binning, {}, {.workers = {on_simt}, .memory = 20}),
               OutOfMemory);
  // Labels around an ignored one have no slices.
  Case labels({20, 300}, Type::u8, oracle::labels(5, 2), 4);
  const TiledHistogram tiled(labels.shape, labels.type, labels.rule.binning);
  EXPECT_EQ(tiled.piece_grid().groups, 1);
  Assembled got(labels);
  tiled.pieces(labels.read(), got.sink());
  EXPECT_EQ(got.wrong(labels), "");
  EXPECT_THROW(TiledHistogram(labels.shape, labels.type, labels.rule.binning, {}, {.bins = 2}), InvalidArgument);
}

TEST(TiledPieces, CountersOf16BitsWrap) {
  if (!has_simt()) GTEST_SKIP() << "this build has no simulated machine";
  Case of({400, 300}, Type::u8, oracle::uniform(1, 0, 256), 3);
  for (double& sum : of.expected) sum = static_cast<double>(static_cast<std::uint16_t>(sum));
  const TiledHistogram tiled(of.shape, of.type, of.rule.binning, {.counter = Type::u16},
                             {.workers = {on_simt}, .width = 200, .height = 130});
  Assembled got(of, Type::u16);
  tiled.pieces(of.read(), got.sink());
  EXPECT_EQ(got.wrong(of), "");
}

TEST(TiledPieces, PiecesAreNoLargerThanAsked) {
  Case of({50, 40}, Type::u8, oracle::uniform(7, 0, 256), 3);
  for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{200}, std::uint64_t{1000}, std::uint64_t{20000}}) {
    const TiledHistogram tiled(of.shape, of.type, of.rule.binning, {}, {.piece_bytes = bytes});
    Assembled got(of);
    tiled.pieces(of.read(), [&](const Piece& piece) {
      EXPECT_LE(bytes_of(piece.values.shape, Type::u32), std::max<std::uint64_t>(200, bytes));
      return got.take(piece);
    });
    EXPECT_EQ(got.wrong(of), "") << bytes;
    EXPECT_GT(got.pieces(), 1);
  }
}

struct Planted : std::runtime_error {
  Planted() : std::runtime_error("planted") {}
};

TEST(TiledPieces, WhatEndsACall) {
  Case of({50, 40}, Type::u8, oracle::uniform(7, 0, 256), 3);
  PieceOptions options{.workers = {on_cpu, on_cpu}, .width = 20, .height = 9, .piece_bytes = 300};
  const TiledHistogram tiled(of.shape, of.type, of.rule.binning, {}, options);
  int pieces = 0;
  tiled.pieces(of.read(), [&](const Piece&) { return ++pieces < 5; });
  EXPECT_EQ(pieces, 5);
  pieces = 0;
  const auto third = [&](const Piece&) -> bool {
    if (++pieces == 3) throw Planted();
    return true;
  };
  EXPECT_THROW(tiled.pieces(of.read(), third), Planted);
  EXPECT_EQ(pieces, 3);
  // An error as a worker's: it is the sink's all the same, and nothing is done again.
  pieces = 0;
  EXPECT_THROW(tiled.pieces(of.read(),
                            [&](const Piece&) -> bool {
                              if (++pieces == 3) throw DeviceError("planted", true);
                              return true;
                            }),
               DeviceError);
  EXPECT_EQ(pieces, 3);
  const ImageReader read = of.read();
  int reads = 0;
  EXPECT_THROW(tiled.pieces(
                   [&](std::int64_t x, std::int64_t y, const View& block) {
                     if (++reads == 4) throw Planted();
                     return read(x, y, block);
                   },
                   [](const Piece&) { return true; }),
               Planted);
  EXPECT_THROW(tiled.pieces([&](std::int64_t, std::int64_t, const View&) { return ConstView(of.image.view); },
                            [](const Piece&) { return true; }),
               InvalidArgument);
  EXPECT_THROW(tiled.pieces(of.read(), {}), InvalidArgument);
  std::int64_t last = 0;
  options.progress = [&](std::int64_t done, std::int64_t total) {
    EXPECT_EQ(done, ++last);
    EXPECT_EQ(total, 15);
    return done < 6;
  };
  EXPECT_THROW(TiledHistogram(of.shape, of.type, of.rule.binning, {}, options)
                   .pieces(of.read(), [](const Piece&) { return true; }),
               Cancelled);
  EXPECT_EQ(last, 6);
  // It may run again.
  Assembled got(of);
  tiled.pieces(of.read(), got.sink());
  EXPECT_EQ(got.wrong(of), "");
}

/// Fails as it was planted: before a part, or when it has been handed out.
class FailingWorker final : public queue::TaskWorker {
 public:
  using Fail = std::function<void(std::int64_t tasks, bool after)>;
  FailingWorker(std::unique_ptr<queue::TaskWorker> inner, Fail fail)
      : inner_(std::move(inner)), fail_(std::move(fail)) {}
  std::string name() const override { return inner_->name(); }
  int lanes() const override { return inner_->lanes(); }
  void begin(int lane) override { inner_->begin(lane); }
  bool work(int lane, const queue::Task& task) override {
    const std::int64_t mine = ++tasks_;
    fail_(mine, false);
    const bool done = inner_->work(lane, task);
    fail_(mine, true);
    return done;
  }

 private:
  std::unique_ptr<queue::TaskWorker> inner_;
  const Fail fail_;
  std::atomic<std::int64_t> tasks_{0};
};

TEST(TiledPieces, WorkersThatFailOrAreLost) {
  const std::uint64_t seed = 20261125;
  const char* const asked = std::getenv("AREAL_TEST_SEEDS");
  const int cases = asked ? std::atoi(asked) : std::getenv("AREAL_TEST_SHORT") ? 20 : 100;
  std::atomic<int> lost{0}, failed_after{0};
  for (int i = 0; i < cases; ++i) {
    std::mt19937_64 random(seed + static_cast<std::uint64_t>(i));
    const auto below = [&](std::int64_t n) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    };
    Case of({1 + below(40), 1 + below(40)}, Type::u8, oracle::uniform(5, 0, 256), random());
    std::vector<std::string> notes;
    const PieceOptions options{.workers = {on_cpu, on_cpu, on_cpu},
                               .note = [&](const std::string& note) { notes.push_back(note); },
                               .piece_bytes = 100};
    pieces::TiledBins bins{of.shape, of.type, of.rule.binning, {}, options};
    bins.tiles.width = 1 + below(of.shape.width), bins.tiles.height = 1 + below(of.shape.height);
    if (below(2)) bins.tiles.bins = 2;
    pieces::TileJob job = pieces::job_of_pieces(bins);
    job.cut = pieces::cut_of_pieces(bins, job);
    pieces::TilePool pool;
    const std::int64_t lost_at = 1 + below(4), fails_at = 1 + below(4);
    const bool lost_after = below(2), fails_after = below(2);
    const queue::WrapWorker wrap = [&](std::unique_ptr<queue::TaskWorker> inner,
                                       int number) -> std::unique_ptr<queue::TaskWorker> {
      return std::make_unique<FailingWorker>(
          std::move(inner), [=, losses = &lost, failures = &failed_after](std::int64_t tasks, bool after) {
            if (number == 0 && tasks == lost_at && after == lost_after) {
              ++*losses;
              throw DeviceError("planted: lost", true);
            }
            if (number == 1 && tasks == fails_at && after == fails_after) {
              *failures += after;
              throw DeviceError("planted: failed", false);
            }
          });
    };
    Assembled got(of);
    pieces::give_pieces(job, pool, {of.read(), {}, got.sink()}, wrap);
    ASSERT_EQ(got.wrong(of), "") << "seed " << seed << " case " << i << " " << words(job.cut);
    // The same of answers.
    const std::vector<Region> regions{{0, 0, of.shape.width, of.shape.height}};
    std::vector<std::uint64_t> counts(5), expected(5);
    for (std::size_t b = 0; b < 5; ++b)
      expected[b] = static_cast<std::uint64_t>(of.expected[(b + 1) * of.expected.size() / 5 - 1]);
    queue::WrapWorker before = [&](std::unique_ptr<queue::TaskWorker> inner,
                                   int number) -> std::unique_ptr<queue::TaskWorker> {
      return std::make_unique<FailingWorker>(std::move(inner), [=](std::int64_t tasks, bool after) {
        if (number < 2 && tasks == lost_at && !after) throw DeviceError("planted: lost", true);
      });
    };
    pieces::answer_regions(bins, pieces::job_of_answers(bins), pool, of.read(), regions, counts, before);
    ASSERT_EQ(counts, expected) << "seed " << seed << " case " << i << " " << words(job.cut);
  }
  EXPECT_GT(lost, cases / 4);
  EXPECT_GT(failed_after, cases / 20);
}

TEST(TiledPieces, NoWorkerIsLeft) {
  Case of({30, 40}, Type::u8, oracle::uniform(5, 0, 256), 6);
  const pieces::TiledBins bins{of.shape, of.type, of.rule.binning, {}, {.workers = {on_cpu, on_cpu}, .height = 10}};
  pieces::TileJob job = pieces::job_of_pieces(bins);
  job.cut = pieces::cut_of_pieces(bins, job);
  pieces::TilePool pool;
  const queue::WrapWorker wrap = [&](std::unique_ptr<queue::TaskWorker> inner,
                                     int) -> std::unique_ptr<queue::TaskWorker> {
    return std::make_unique<FailingWorker>(std::move(inner), [](std::int64_t tasks, bool) {
      if (tasks == 2) throw DeviceError("planted: lost", true);
    });
  };
  int rows_given = 0;
  const PieceSink sink = [&](const Piece&) {
    ++rows_given;
    return true;
  };
  EXPECT_THROW(pieces::give_pieces(job, pool, {of.read(), {}, sink}, wrap), DeviceError);
  EXPECT_LE(rows_given, 3);
}

}  // namespace
}  // namespace areal
