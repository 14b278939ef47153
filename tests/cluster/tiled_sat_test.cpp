// Tables from tiles, against the definition: every cut, border and worker, alone and together; each entry once; workers
// that fail and are lost; what callers throw.
#include "pieces/tiles/tiled_sat.hpp"
#include <gtest/gtest.h>
#include <algorithm>
#include <areal/cancel.hpp>
#include <areal/error.hpp>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <stdexcept>
#include <thread>
#include "api/core/copy_rows.hpp"
#include "conformance/backends.hpp"
#include "conformance/buffer.hpp"
#include "conformance/oracle.hpp"
#include "conformance/picture.hpp"
#include "conformance/shapes.hpp"
#include "piece_matrix/table_engines.hpp"

namespace areal {
namespace {

using conformance::Buffer;
using conformance::Expected;
using conformance::Values;

bool has_simt() { return !conformance::missing(Backend::simt); }

struct Case {
  Buffer image;
  SatOptions options;
  Expected sum;
  std::optional<Expected> squares;

  Case(const Shape& shape, const char* pair, Border border, Squares with = Squares::no, std::uint64_t seed = 3)
      : image(conformance::random_image(type_pair(pair).input, shape, conformance::Fill::wild, seed),
              conformance::placements[0]) {
    options.border = border, options.types = type_pair(pair), options.squares = with;
    const Values pixels = conformance::values_of(image.view());
    sum = conformance::sums_of(conformance::terms_of(pixels), options.types->table, border);
    if (with != Squares::no)
      squares = conformance::sums_of(conformance::terms_of(pixels, true), with == Squares::u64 ? Type::u64 : Type::f64,
                                     border);
  }
  Shape shape() const { return image.view().shape; }
  TiledSat tiled(PieceOptions how) const { return {shape(), image.view().type, options, std::move(how)}; }

  /// Fills every second block; of the others, the image's own memory.
  ImageReader read() const {
    return [this, n = 0](std::int64_t x, std::int64_t y, const View& block) mutable {
      const ConstView own = image_in_memory(image.view())(x, y, block);
      if (n++ % 2 == 0) return own;
      copy_rows(own, block);
      return ConstView(block);
    };
  }
};

/// Puts pieces together, and counts how often each entry came.
struct Whole {
  Array sum, squares;
  std::vector<int> times;

  explicit Whole(const TiledSat& tiled) : Whole(tiled.table_shape(), tiled.types().table, tiled.squares_type()) {}
  Whole(const Shape& shape, Type type, std::optional<Type> squares_type)
      : sum({shape.width, shape.height}, type),
        squares(squares_type ? Shape{shape.width, shape.height} : Shape{}, squares_type.value_or(Type::u64)),
        times(static_cast<std::size_t>(shape.width * shape.height)) {}
  PieceSink sink() {
    return [this](const Piece& piece) {
      const auto put = [&](const ConstView& from, Array& to) {
        if (from.data == nullptr) return;
        for (std::int64_t y = 0; y < from.shape.height; ++y)
          std::memcpy(static_cast<char*>(to.view().row(piece.y + y)) + piece.x * to.view().column_pitch(), from.row(y),
                      static_cast<std::size_t>(from.shape.width) * size_of(from.type));
      };
      put(piece.values, sum);
      put(piece.squares, squares);
      for (std::int64_t y = 0; y < piece.values.shape.height; ++y)
        for (std::int64_t x = 0; x < piece.values.shape.width; ++x)
          ++times[static_cast<std::size_t>((piece.y + y) * sum.shape().width + piece.x + x)];
      return true;
    };
  }
  /// Empty, or what is wrong.
  std::string fault(const Case& of) const {
    for (std::size_t i = 0; i < times.size(); ++i)
      if (times[i] != 1) return "entry " + std::to_string(i) + " came " + std::to_string(times[i]) + " times";
    const std::string wrong = conformance::difference(of.sum, conformance::values_of(sum.view()));
    if (!wrong.empty() || !of.squares) return wrong;
    const std::string squared = conformance::difference(*of.squares, conformance::values_of(squares.view()));
    return squared.empty() ? squared : "squares: " + squared;
  }
};

std::string fault_of(const TiledSat& tiled, const Case& of) {
  Whole whole(tiled);
  tiled.pieces(of.read(), whole.sink());
  return whole.fault(of);
}
std::string words_of(const TiledGrid& grid) {
  return std::to_string(grid.columns) + " x " + std::to_string(grid.rows) + " tiles of " +
         std::to_string(grid.tile_width) + "x" + std::to_string(grid.tile_height);
}

TEST(TiledSat, EqualsTheDefinitionHoweverItIsCut) {
  bool has_rows = false, has_columns = false;
  for (const Worker& worker : {Worker{.threads = 2}, Worker{.backend = Backend::simt}}) {
    if (worker.backend == Backend::simt && !has_simt()) continue;
    for (const Border border : {Border::zero, Border::none, Border::exclusive})
      for (const char* pair : {"8u32u", "16s64s", "32f64f"})
        for (const std::uint64_t bytes :
             {std::uint64_t{1} << 30, std::uint64_t{400000}, std::uint64_t{90000}, std::uint64_t{9000}}) {
          const Case of({301, 257}, pair, border, is_float(type_pair(pair).input) ? Squares::f64 : Squares::u64);
          std::optional<TiledSat> tiled;
          try {
            tiled.emplace(of.tiled({.workers = {worker}, .memory = bytes}));
          } catch (const OutOfMemory&) {  // one tile of a kernel takes more workspace
            EXPECT_EQ(worker.backend, Backend::simt);
            continue;
          }
          has_rows = has_rows || (tiled->grid().columns == 1 && tiled->grid().rows > 2);
          has_columns = has_columns || (tiled->grid().columns > 1 && tiled->grid().rows > 1);
          EXPECT_EQ(fault_of(*tiled, of), "")
              << name_of(worker) << ", " << pair << ", border " << name_of(border) << ", " << words_of(tiled->grid());
        }
  }
  EXPECT_TRUE(has_rows && has_columns) << has_rows << has_columns;
}

TEST(TiledSat, ChannelsMasksSquaresAndReverseHoweverTheyAreCut) {
  using namespace piece_matrix;
  const Cut cut{"", 61, 57, 0, 0};
  const auto named = [](std::string_view group, std::string_view name) {
    return std::ranges::find_if(
        table_options, [&](const TableOption& o) { return o.group == group && (name.empty() || o.name == name); });
  };
  std::mt19937_64 random(conformance::base_seed());
  const auto one_of = [&](std::initializer_list<const TableOption*> options) {
    return *(options.begin() + static_cast<std::ptrdiff_t>(random() % options.size()));
  };
  int with_columns = 0, with_rows = 0;
  for (int i = 0; i < 120; ++i) {
    const char* const pair = std::array{"8u32u", "16s64s", "32f64f"}[random() % 3];
    std::vector<const TableOption*> options;
    for (const TableOption* const option :
         {one_of({nullptr, named("channels", "2 interleaved"), named("channels", "3 planar"),
                  named("channels", "4 interleaved, tables, too"), named("channels", "3 planar, tables interleaved")}),
          one_of({nullptr, named("mask", "")}), one_of({nullptr, named("squares", "64f")}),
          one_of({nullptr, named("reverse", "")}), one_of({nullptr, named("ignore_nan", "")})})
      if (option && (option->group != std::string_view("ignore_nan") || pair[0] == '3')) options.push_back(option);
    TableQuestion q = table_question(all_borders[random() % 3], type_pair(pair), cut, options);
    q.seed = random();
    const TableInputs in(q);
    PieceOptions how{.workers = two_workers(Backend::cpu), .memory = 8000 + random() % (random() % 2 ? 6000 : 60000)};
    if (random() % 3 == 0 && has_simt()) how.workers = {{.backend = Backend::simt}}, how.memory *= 20;
    how.piece_bytes = random() % 2 ? 1 + random() % 3000 : how.piece_bytes;
    std::optional<TiledSat> tiled;
    try {
      tiled.emplace(q.image, q.types.input, q.options, how);
    } catch (const OutOfMemory&) {  // the workspace of one pixel takes more
      continue;
    }
    const TiledGrid& grid = tiled->grid();
    with_columns += grid.columns > 1, with_rows += grid.columns == 1 && grid.rows > 1;
    EXPECT_EQ(fault_in(q, in, tables_of(*tiled, q, in, random() % 2 != 0)), "")
        << i << ": " << q.words() << ", " << words_of(grid);
  }
  EXPECT_GT(with_columns, 10);
  EXPECT_GT(with_rows, 10);
}

TEST(TiledSat, ImagesOfFewRowsOrColumnsOrOfNone) {
  for (const Border border : {Border::zero, Border::none, Border::exclusive})
    for (const Shape& shape : {Shape{0, 0}, {0, 4}, {5, 0}, {1, 1}, {1, 900}, {900, 1}, {2, 2}, {3, 200}}) {
      const Case of(shape, "8u32u", border, Squares::u64);
      const TiledSat tiled = of.tiled({.workers = {{.threads = 1}}, .memory = 40000});
      EXPECT_EQ(fault_of(tiled, of), "") << shape.width << "x" << shape.height << ", border " << name_of(border);
    }
}

TEST(TiledSat, IntoMemoryOfAnyPitchAndNothingBeside) {
  for (const Border border : {Border::zero, Border::none, Border::exclusive})
    for (const auto& place : conformance::placements) {
      const Case of({150, 300}, "8u64u", border, Squares::f64);
      const TiledSat tiled = of.tiled({.workers = {{.threads = 1}}, .memory = 100000});
      Buffer sum(Type::u64, tiled.table_shape(), place, conformance::Guard::output),
          squares(Type::f64, tiled.table_shape(), place, conformance::Guard::output);
      sum.poison(0xA1), squares.poison(0xA1);
      tiled.table(of.read(), sum.view(), squares.view());
      EXPECT_EQ(conformance::difference(of.sum, conformance::values_of(sum.view())), "") << place.name;
      EXPECT_EQ(conformance::difference(*of.squares, conformance::values_of(squares.view())), "") << place.name;
      EXPECT_EQ(sum.broken_guard() + squares.broken_guard(), "") << place.name;
    }
}

TEST(TiledSat, FloatsHaveTheSameBitsEachTimeForOneGrid) {
  const Case of({400, 300}, "32f32f", Border::none);
  for (const Worker& worker : {Worker{.threads = 2}, Worker{.backend = Backend::simt}}) {
    if (worker.backend == Backend::simt && !has_simt()) continue;
    const TiledSat tiled = of.tiled({.workers = {worker}, .memory = 300000});
    Whole first(tiled), second(tiled);
    tiled.pieces(of.read(), first.sink());
    tiled.pieces(of.read(), second.sink());
    EXPECT_EQ(std::memcmp(std::as_const(first.sum).data(), std::as_const(second.sum).data(), first.sum.bytes()), 0);
  }
}

/// Another worker than one thread.
Worker other_worker() { return has_simt() ? Worker{.backend = Backend::simt} : Worker{.threads = 2}; }

TEST(TiledSat, SeveralWorkersTogetherAndTheCheckCanFail) {
  Case of({300, 400}, "8u32u", Border::zero, Squares::u64);
  const TiledSat tiled = of.tiled({.workers = {{.threads = 1}, other_worker()}, .memory = 400000});
  EXPECT_EQ(fault_of(tiled, of), "") << words_of(tiled.grid());
  static_cast<std::uint8_t*>(of.image.view().data)[77] ^= 0x80;
  EXPECT_NE(fault_of(tiled, of), "");
}

// ---- planted workers

using Fail = std::function<void(int lane, const queue::Task&)>;
/// The real worker of a tile, between two plants.
class PlantedTileWorker final : public queue::TaskWorker {
 public:
  PlantedTileWorker(std::unique_ptr<queue::TaskWorker> real, Fail before, Fail after)
      : real_(std::move(real)), before_(std::move(before)), after_(std::move(after)) {}
  std::string name() const override { return real_->name(); }
  int lanes() const override { return real_->lanes(); }
  void begin(int lane) override { real_->begin(lane); }
  bool work(int lane, const queue::Task& task) override {
    before_(lane, task);
    const bool done = real_->work(lane, task);
    after_(lane, task);
    return done;
  }

 private:
  std::unique_ptr<queue::TaskWorker> real_;
  Fail before_, after_;
};

void run(const pieces::TiledTables& tables, const ImageReader& read, const PieceSink& sink,
         const queue::WrapWorker& wrap) {
  pieces::TilePool pool;
  pieces::give_pieces(tables.job, pool, {read, {}, sink}, wrap);
}

TEST(TiledSatWorkers, SlowOnesFailuresAndLossesChangeNothing) {
  const std::uint64_t base = conformance::base_seed();
  for (std::uint64_t seed = base; seed < base + 25; ++seed) {
    const Case of({200, 260}, "8u32u", seed % 2 ? Border::zero : Border::none, Squares::no, seed);
    pieces::TiledTables tables =
        pieces::tiled_tables(of.shape(), Type::u8, of.options,
                             {.workers = {{.threads = 1}, other_worker()}, .memory = seed % 3 ? 120000u : 70000u});
    const TiledGrid& grid = tables.job.cut;
    std::atomic<int> lost = 0;
    tables.job.note = [&](const std::string&) { ++lost; };
    // One of the two may be lost; a tile fails once, before it is computed or when it has been delivered.
    const int dies = static_cast<int>(seed % 3);
    std::mutex mutex;
    std::mt19937_64 random(seed);
    std::vector<bool> failed(static_cast<std::size_t>(grid.parts()));
    int made = 0;
    const auto wrap = [&](std::unique_ptr<queue::TaskWorker> real, int) -> std::unique_ptr<queue::TaskWorker> {
      const int number = made++;
      const auto plant = [&, number](int, const queue::Task& task) {
        std::uint64_t choice = 0;
        {
          const std::lock_guard lock(mutex);
          choice = random() % 16;
          if (choice < 2) {
            if (failed[static_cast<std::size_t>(task.id)]) choice = 9;
            failed[static_cast<std::size_t>(task.id)] = true;
          }
        }
        if (choice == 0) throw OutOfMemory("planted", 1);
        if (choice == 1) throw DeviceError("planted", false);
        if (choice == 2 && number == dies) throw DeviceError("planted loss", true);
        if (choice == 3) std::this_thread::sleep_for(std::chrono::milliseconds(3));
      };
      return std::make_unique<PlantedTileWorker>(std::move(real), plant, plant);
    };
    Whole whole(tables.whole.table_shape(), Type::u32, std::nullopt);
    run(tables, of.read(), whole.sink(), wrap);
    EXPECT_EQ(whole.fault(of), "") << "seed " << seed << ", " << words_of(grid) << ", lost " << lost;
  }
}

// A slot keeps its tile until it is finished: rows are read once for each tile, whatever fails.
TEST(TiledSatWorkers, AnotherAttemptReadsNothing) {
  const Case of({100, 700}, "8u32u", Border::zero);
  const pieces::TiledTables tables = pieces::tiled_tables(
      of.shape(), Type::u8, of.options, {.workers = {{.threads = 1}, {.threads = 1}}, .memory = 60000});
  std::mutex mutex;
  std::vector<int> attempts(static_cast<std::size_t>(tables.job.cut.parts()));
  const auto wrap = [&](std::unique_ptr<queue::TaskWorker> real, int) -> std::unique_ptr<queue::TaskWorker> {
    const auto fail_once = [&](int, const queue::Task& task) {
      const std::lock_guard lock(mutex);
      if (++attempts[static_cast<std::size_t>(task.id)] == 1) throw DeviceError("planted", false);
    };
    return std::make_unique<PlantedTileWorker>(std::move(real), fail_once, [](int, const queue::Task&) {});
  };
  std::int64_t reads = 0;
  const ImageReader read = [&, all = of.read()](std::int64_t x, std::int64_t y, const View& block) {
    ++reads;
    return all(x, y, block);
  };
  Whole whole(tables.whole.table_shape(), Type::u32, std::nullopt);
  run(tables, read, whole.sink(), wrap);
  EXPECT_EQ(whole.fault(of), "");
  EXPECT_EQ(reads, tables.job.cut.parts());
  for (const int n : attempts) EXPECT_EQ(n, 2);
}

TEST(TiledSatWorkers, WhereNoneIsLeftThatIsTheError) {
  const Case of({100, 700}, "8u32u", Border::zero);
  const pieces::TiledTables tables =
      pieces::tiled_tables(of.shape(), Type::u8, of.options, {.workers = {{.threads = 1}}, .memory = 60000});
  ASSERT_GT(tables.job.cut.rows, 5);
  const auto wrap = [&](std::unique_ptr<queue::TaskWorker> real, int) -> std::unique_ptr<queue::TaskWorker> {
    return std::make_unique<PlantedTileWorker>(
        std::move(real),
        [](int, const queue::Task& task) {
          if (task.id == 3) throw DeviceError("planted loss", true);
        },
        [](int, const queue::Task&) {});
  };
  Whole whole(tables.whole.table_shape(), Type::u32, std::nullopt);
  EXPECT_THROW(run(tables, of.read(), whole.sink(), wrap), DeviceError);
  EXPECT_EQ(whole.times[0], 1);
  EXPECT_EQ(whole.times.back(), 0);
}

// ---- grids fixed by hand

TEST(TiledSatGrids, HaveTheExtentsThatAreGiven) {
  const Case of({100, 70}, "8u32u", Border::zero);
  struct Row {
    std::int64_t width, height, columns, rows;
  };
  for (const Row& row : {Row{33, 20, 4, 4}, {0, 1, 1, 70}, {7, 0, 15, 1}, {1000, 1000, 1, 1}}) {
    const TiledSat tiled = of.tiled({.width = row.width, .height = row.height});
    EXPECT_EQ(tiled.grid().columns, row.columns);
    EXPECT_EQ(tiled.grid().rows, row.rows);
    EXPECT_EQ(fault_of(tiled, of), "") << words_of(tiled.grid());
  }
}

// ---- callers

TEST(TiledSatCallers, WhatTheyThrowEndsTheRun) {
  const Case of({100, 700}, "8u32u", Border::zero);
  struct Planted : std::runtime_error {
    Planted() : std::runtime_error("planted") {}
  };
  int calls = 0;
  const auto tiled_with = [&](Progress progress) {
    return of.tiled({.workers = {{.threads = 1}}, .memory = 60000, .progress = std::move(progress)});
  };
  const TiledSat tiled = tiled_with({});
  const std::int64_t tiles = tiled.grid().rows * tiled.grid().columns;
  ASSERT_GT(tiles, 5);
  const PieceSink ignore = [](const Piece&) { return true; };
  EXPECT_THROW(tiled.pieces([](std::int64_t, std::int64_t, const View&) -> ConstView { throw Planted(); }, ignore),
               Planted);
  EXPECT_THROW(tiled.pieces(of.read(),
                            [&](const Piece&) -> bool {
                              if (++calls == 3) throw Planted();
                              return true;
                            }),
               Planted);
  EXPECT_EQ(calls, 3);
  // An error of a kind that a worker's would be tried again for.
  calls = 0;
  EXPECT_THROW(tiled.pieces(of.read(),
                            [&](const Piece&) -> bool {
                              ++calls;
                              throw OutOfMemory("planted", 1);
                            }),
               OutOfMemory);
  EXPECT_EQ(calls, 1);
  calls = 0;
  tiled.pieces(of.read(), [&](const Piece&) { return ++calls < 4; });
  EXPECT_EQ(calls, 4);

  std::vector<std::int64_t> told;
  tiled_with([&](std::int64_t done, std::int64_t total) {
    EXPECT_EQ(total, tiles);
    told.push_back(done);
    return true;
  }).pieces(of.read(), ignore);
  EXPECT_EQ(static_cast<std::int64_t>(told.size()), tiles);
  EXPECT_EQ(told.back(), tiles);
  EXPECT_THROW(tiled_with([](std::int64_t done, std::int64_t) { return done < 3; }).pieces(of.read(), ignore),
               Cancelled);
}

// Also while a lane computes and the sink holds the others up.
TEST(TiledSatCallers, ACancelScopeEndsTheRun) {
  const Case of({100, 700}, "8u32u", Border::zero);
  const TiledSat tiled = of.tiled({.workers = {{.threads = 1}, {.threads = 1}}, .memory = 60000});
  std::atomic<bool> go_on = true;
  std::atomic<int> pieces = 0;
  const CancelScope scope([&] { return go_on.load(); });
  EXPECT_THROW(tiled.pieces(of.read(),
                            [&](const Piece&) {
                              go_on = false;
                              ++pieces;
                              std::this_thread::sleep_for(std::chrono::milliseconds(150));
                              return true;
                            }),
               Cancelled);
  EXPECT_LT(pieces, tiled.grid().parts() - 1);
  go_on = true;
  EXPECT_THROW(tiled.pieces(
                   [&, all = of.read()](std::int64_t x, std::int64_t y, const View& block) {
                     if (y > 0) go_on = false, std::this_thread::sleep_for(std::chrono::milliseconds(200));
                     return all(x, y, block);
                   },
                   [](const Piece&) { return true; }),
               Cancelled);
}

TEST(TiledSatCallers, WhatIsRefused) {
  const Case of({20, 30}, "8u32u", Border::zero);
  const TiledSat tiled = of.tiled({});
  const PieceSink ignore = [](const Piece&) { return true; };
  const Array other(Shape{21, 30}, Type::u8);
  EXPECT_THROW(tiled.pieces([&](std::int64_t, std::int64_t, const View&) { return other.view(); }, ignore),
               InvalidArgument);
  Array small(Shape{20, 30}, Type::u32), right(Shape{21, 31}, Type::u32);
  EXPECT_THROW(tiled.table(of.read(), small.view()), InvalidArgument);
  EXPECT_THROW(tiled.table(of.read(), right.view(), right.view()), InvalidArgument);
  EXPECT_NO_THROW(tiled.table(of.read(), right.view()));
  EXPECT_THROW(tiled.pieces(of.read(), ignore, of.read()), InvalidArgument);
  EXPECT_THROW(TiledSat(Shape{20, 30}, Type::u8, {.mask = true}).pieces(of.read(), ignore), InvalidArgument);
  EXPECT_THROW(tiled.pieces({}, ignore), InvalidArgument);
  EXPECT_THROW(tiled.pieces(of.read(), {}), InvalidArgument);
  const Shape image{20, 30};
  const auto made = [&](const SatOptions& options, PieceOptions how = {}) {
    TiledSat(image, Type::f32, options, std::move(how));
  };
  EXPECT_THROW(made({.tilted = true}), InvalidArgument);
  EXPECT_THROW(made({.volume = true}), InvalidArgument);
  EXPECT_THROW(made({.algorithm = "serial"}), InvalidArgument);
  EXPECT_THROW(made({.algorithm = "2r2w"}), InvalidArgument);
  EXPECT_THROW(made({.algorithm = "nonsense"}), InvalidArgument);
  EXPECT_THROW(made({.progress = [](auto, auto) { return true; }}), InvalidArgument);
  EXPECT_THROW(made({}, {.workers = {{.threads = -1}}}), InvalidArgument);
  EXPECT_THROW(made({}, {.width = -1}), InvalidArgument);
  EXPECT_THROW(made({}, {.pushed_width = 5, .pushed_height = 5}), InvalidArgument);
  EXPECT_NO_THROW(made({}, {.workers = {{.backend = Backend::automatic}}}));
  EXPECT_THROW(made({}, {.workers = {{.threads = 1}}, .memory = 3}), OutOfMemory);
  EXPECT_THROW(TiledSat({20, 30, 1, 2}, Type::u8), InvalidArgument);
  if (!has_simt()) return;
  EXPECT_THROW(made({}, {.workers = {{.threads = 1}, {.backend = Backend::simt}}}), InvalidArgument);  // floats
}

}  // namespace
}  // namespace areal
