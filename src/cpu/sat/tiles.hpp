#pragma once
// Tiles: areal's own summed-area table on the CPU. With `tasks` one pass over the image: reads 1.25 per element, a
// quarter of them of the row above, which is in the cache, and writes 1; a row in 64 passes through the workspace.
// These are the catalogue's costs.
//
// The image is cut into tiles, which run by one of three schedules (tiles_tuning chooses). With `tasks` and `walk` a
// tile follows its left and upper neighbours (cpu/threads.hpp, cpu/in_order.hpp). With `bands` a tile is all columns of
// some rows; a thread first sums its columns, adds them to those of the bands above and passes the sums on, and only
// then computes its rows, whose pixels it reads again, from the cache: threads do not wait for others' stores. That
// changes the order of additions, so it is for integers (bands.cpp).
//
// A tile gets the running sums of its rows from the left and the table's row above it, both in the workspace; in a
// piece of a larger table they begin with the carry. It computes four rows at a time in the cache and writes them.
// Floats: sums inside a vector, then along the row, then down. The shape and the SIMD target fix this order, for every
// thread count, alignment and pitch.
//
// A reversed table is computed from its last row and column on: rows by negative pitches (formulas/reversed.hpp),
// columns by reversed row kernels. In here x, y and slices are counted in that order; a span's memory is that of its
// lowest address in every buffer.

#include <areal/carry.hpp>
#include <areal/execution.hpp>
#include <areal/type_pair.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <optional>
#include "cpu/in_order.hpp"
#include "cpu/sat/column_sums.hpp"
#include "cpu/sat/placement.hpp"
#include "cpu/sat/rows.hpp"
#include "cpu/sat/stage.hpp"

namespace areal::cpu {

inline std::size_t bytes_of(std::int64_t elements, Type type) {
  return static_cast<std::size_t>(elements) * size_of(type);
}

/// What to compute, already checked.
struct TilesRequest {
  Shape image;
  TypePair types;
  Border border = Border::zero;
  std::optional<Type> squares = {};
  bool mask = false, ignore_nan = false, volume = false;
  bool reverse = false;  ///< sums from the last row and column (and slice) on
  Layout tables = Layout::planar;
  int threads = 0;
};

struct TilesArguments {
  ConstView image, mask;
  View sum, squares, count;
  Carry carry = {}, squares_carry = {}, count_carry = {};
};

enum class Schedule {
  tasks,  ///< a task a tile, started by its neighbours
  walk,   ///< rows of tiles in order, each from left to right
  bands,  ///< rows of tiles as wide as the table, which pass column sums on: if tiles_by_bands
};

/// The tiling. Any gives the same table, floats included, if widths are multiples of 64.
struct TilesTuning {
  std::int64_t width = 512;  ///< columns of a tile
  std::int64_t height = 64;  ///< rows of a tile
  Schedule schedule = Schedule::tasks;
};
TilesTuning tiles_tuning(const TilesRequest& request);
/// True if all tables are of integers, rows go straight from the image to the tables, and there is a choice.
bool tiles_by_bands(const TilesRequest& request);

class Tiles {
 public:
  explicit Tiles(const TilesRequest& request) : Tiles(request, tiles_tuning(request)) {}
  Tiles(const TilesRequest& request, const TilesTuning& tuning);

  std::size_t workspace_bytes() const { return workspace_bytes_; }
  /// The number of calls of `progress`.
  std::int64_t tiles() const;
  /// The sum (and squares, and counts) of the image into the tables, edges included. `before` is earlier work in the
  /// units of progress.
  void execute(const TilesArguments& arguments, void* workspace, const Progress& progress,
               std::int64_t before = 0) const;

 private:
  /// One output table: what is scanned, and the offsets of its carries and rows in workspace and scratch.
  struct Output {
    ScanRows scan = nullptr;
    Type input = Type::u8, table = Type::u32;
    std::int64_t channels = 0;  ///< in memory of the table; planes for a planar one
    bool is_count = false;
    std::size_t size = 0, stride = 0;  ///< bytes of an entry, and of a row in the scratch
    std::size_t above = 0, left = 0;   ///< byte offsets in the workspace: table row above the tiles, for bands the sums
                                       ///< of all columns so far; running row sums
    std::size_t rows = 0;              ///< byte offset in the scratch: max_rows rows a channel
    AddRows add = nullptr;             ///< of bands
    ScanRows scan_sums = nullptr;      ///< from sums of columns to a row of the table
    std::size_t own = 0, outer = 0;    ///< byte offsets in the scratch: sums of a band's columns; the row of the carry
  };
  struct Run;
  struct Span;
  static constexpr std::int64_t band_part = 1024;  ///< columns whose sums are passed on together

  void run(const Run& run, const Progress& progress, std::int64_t before) const;
  std::int64_t parts_of_band() const { return (place_.width + band_part - 1) / band_part; }
  std::int64_t column(const Shape& shape, const Span& span, std::int64_t offset = 0) const;
  void run_tile(const Run& run, std::int64_t plane, std::int64_t row, std::int64_t column) const;
  bool run_band(const Run& run, std::int64_t plane, std::int64_t row, Reached* reached, const Turn& turn) const;
  void add_band(const Run& run, Span span, std::int64_t height) const;
  void fill_edges_of(const Run& run, const Span& span, std::int64_t height) const;
  Span span_in_plane(const Run& run, std::int64_t plane) const;
  void stage_rows(const Run& run, const Span& span, const void* (*pixels)[max_rows]) const;
  void run_rows(const Run& run, const Span& span, std::int64_t end, const void** above) const;
  void finish(const Span& span, const Output& output, const View& table, std::int64_t channel, int row) const;

  TilesRequest request_;
  TilesTuning tuning_;
  Placement place_;
  Stage stage_;
  Output outputs_[3];
  int output_count_ = 0;
  std::int64_t tile_rows_ = 0, tile_columns_ = 0;
  bool staged_on_ = false;   ///< pixels pass through the scratch: interleaved channels, masks
  bool buffered_ = false;    ///< finished rows pass through the scratch: interleaved tables, volumes
  std::int64_t groups_ = 1;  ///< independent planes of an image: its channels, unless a tile needs them all at once
  std::size_t staged_stride_ = 0, valid_stride_ = 0;
  std::size_t scratch_ = 0, scratch_bytes_ = 0;      ///< offset in the workspace, bytes a thread
  std::size_t staged_ = 0, valid_ = 0, joined_ = 0;  ///< offsets in the scratch
  std::size_t workspace_bytes_ = 0;
};

/// The data of one execute.
struct Tiles::Run {
  TilesArguments arguments;
  char* workspace;
  const View& table(int output, const Tiles& tiles) const {
    if (tiles.outputs_[output].is_count) return arguments.count;
    return output + 1 == tiles.output_count_ ? arguments.sum : arguments.squares;
  }
  const Carry& carry(int output, const Tiles& tiles) const {
    if (tiles.outputs_[output].is_count) return arguments.count_carry;
    return output + 1 == tiles.output_count_ ? arguments.carry : arguments.squares_carry;
  }
};

/// Up to max_rows rows of a tile of one slice.
struct Tiles::Span {
  char* scratch;
  std::int64_t slice, first_channel, channels;
  std::int64_t x, width, y;
  int rows;
};

}  // namespace areal::cpu
