#include "cpu/sat/tiles.hpp"
#include <areal/error.hpp>
#include <atomic>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include "cpu/sat/carried.hpp"
#include "cpu/threads.hpp"
#include "formulas/reversed.hpp"

namespace areal::cpu {
namespace {

constexpr std::size_t line = 64;

std::size_t rounded(std::size_t bytes) { return (bytes + line - 1) / line * line; }
// One line more than necessary, so that the rows of a group do not all map to the same cache sets.
std::size_t row_stride(std::int64_t pixels, std::size_t size) {
  return rounded(static_cast<std::size_t>(pixels) * size) + line;
}
// Bands: two rows of sums of that many columns stay in a core's cache; with fewer rows or pixels the second read and
// waking the threads do not pay.
constexpr std::int64_t widest_band = 1 << 16, least_band_rows = 16, least_banded_pixels = 1 << 16;

}  // namespace

bool tiles_by_bands(const TilesRequest& request) {
  const bool channels_apart =
      request.image.channels == 1 || (request.image.layout == Layout::planar && request.tables == Layout::planar);
  return channels_apart && !request.mask && !request.ignore_nan && !request.volume && !is_float(request.types.table) &&
         (!request.squares || !is_float(*request.squares));
}

// Measured at 1920x1080, 2048x2048, 4096x4096 and 8192x8192, on two to sixteen threads: docs/notes/cpu-sat.md.
TilesTuning tiles_tuning(const TilesRequest& request) {
  const std::int64_t threads = slots(request.threads);
  const std::int64_t planes =
      request.volume ? 1 : request.image.batch * (tiles_by_bands(request) ? request.image.channels : 1);
  const std::int64_t width = request.image.width, height = request.image.height;
  // Each thread has whole images to itself.
  const bool by_planes = planes >= 2 * threads;

  // One thread's share of the rows of all images, but no more than its cache holds between the column sums and the
  // rows; narrow bands are taller, so that they pass on sums rarely.
  const std::int64_t share = planes * height / threads;
  if (threads > 1 && !by_planes && tiles_by_bands(request) && width <= widest_band && share >= least_band_rows &&
      planes * height * width >= least_banded_pixels) {
    const std::int64_t row_bytes = width * static_cast<std::int64_t>(size_of(request.types.input));
    const std::int64_t tallest =
        std::min(std::max<std::int64_t>(64, (std::int64_t{1} << 15) / width), (std::int64_t{1} << 19) / row_bytes);
    const std::int64_t rows = std::clamp(share, least_band_rows, std::max(least_band_rows, tallest));
    return {.width = width, .height = (rows + max_rows - 1) / max_rows * max_rows, .schedule = Schedule::bands};
  }
  if (threads >= 4 && !by_planes && !request.volume && width >= 1024 && height >= 256)
    return {.width = 256, .height = 16, .schedule = Schedule::walk};

  // Long rows: every row segment begins uncached in its own page, and rows of 8192 are four times as fast as rows of
  // 256. So there is one strip of columns for each thread, no narrower than 512, and none if the batch alone occupies
  // the threads.
  const std::int64_t strips = by_planes ? 1 : threads;
  TilesTuning tuning;
  tuning.width = std::clamp<std::int64_t>(rounded(static_cast<std::size_t>((width + strips - 1) / strips)), 512, 16384);
  return tuning;
}

Tiles::Tiles(const TilesRequest& request, const TilesTuning& tuning)
    : request_(request),
      tuning_(tuning),
      place_(placement(request.image, request.border, request.volume)),
      stage_(stage()) {
  const std::int64_t channels = request.image.channels;
  const bool counts = request.mask || request.ignore_nan;
  // The sum comes last: in place, it overwrites what the other tables still read.
  const auto add_output = [&](Type input, Type table, bool squares, bool is_count) {
    Output& output = outputs_[output_count_++];
    output.scan = scan_rows(input, table, squares, request.reverse);
    const bool wide = size_of(table) == 8;
    if (tuning.schedule == Schedule::bands) {
      output.add = add_rows(input, table, squares);
      output.scan_sums = wide ? scan_rows(Type::u64, Type::u64, false, request.reverse)
                              : scan_rows(Type::u32, Type::u32, false, request.reverse);
    }
    if (!output.scan)
      throw InvalidArgument("tiles: a table of " + std::string(name_of(table)) + " cannot be made of " +
                            (squares ? "squares of " : "") + std::string(name_of(input)) + " pixels");
    output.input = input;
    output.table = table;
    output.channels = is_count ? 1 : channels;
    output.is_count = is_count;
  };
  if (request.squares) add_output(request.types.input, *request.squares, true, false);
  if (counts) add_output(Type::u8, Type::u32, false, true);
  add_output(request.types.input, request.types.table, false, false);

  if (tuning.schedule == Schedule::bands && !tiles_by_bands(request))
    throw InvalidArgument("tiles: bands take integers without masks, in planes of their own");
  if (tuning.schedule == Schedule::bands) tuning_.width = place_.width;
  tuning_.width = std::max<std::int64_t>(1, std::min(tuning_.width, place_.width));  // one tile: no rounding needed
  tile_columns_ = (place_.width + tuning_.width - 1) / tuning_.width;
  tile_rows_ = (place_.height + tuning_.height - 1) / tuning_.height;

  const bool apart = request.image.layout == Layout::interleaved && channels > 1;
  staged_on_ = apart || counts;
  buffered_ = request.volume || (request.tables == Layout::interleaved && channels > 1);
  groups_ = staged_on_ || buffered_ ? 1 : channels;

  // Scratch of one thread: staged rows, validity, one joined row, and four rows of every table.
  std::size_t at = 0;
  const auto reserve = [&](std::size_t bytes) { return std::exchange(at, at + rounded(bytes)); };
  const std::size_t tall = max_rows * static_cast<std::size_t>(channels);
  staged_stride_ = row_stride(tuning_.width, size_of(request.types.input));
  valid_stride_ = row_stride(tuning_.width, 1);
  staged_ = reserve(staged_on_ ? tall * staged_stride_ : 0);
  valid_ = reserve(counts ? max_rows * valid_stride_ : 0);
  joined_ = reserve(buffered_ ? row_stride(tuning_.width * channels, sizeof(double)) : 0);
  for (int o = 0; o < output_count_; ++o) {
    Output& output = outputs_[o];
    output.size = size_of(output.table);
    output.stride = row_stride(tuning_.width, output.size);
    output.rows = reserve(buffered_ ? tall * output.stride : 0);
    output.own = reserve(output.add ? output.stride : 0);
    output.outer = reserve(output.add ? output.stride : 0);
  }
  scratch_bytes_ = at;

  // Workspace: counters for waits, scratch of every thread, carries of every plane.
  at = 0;
  const std::int64_t planes = (request.volume ? 1 : request.image.batch) * groups_;
  if (tuning_.schedule == Schedule::tasks)
    reserve(static_cast<std::size_t>(planes * tile_rows_ * tile_columns_) * sizeof(std::atomic<std::uint8_t>));
  else
    reserve(static_cast<std::size_t>(planes * (tuning_.schedule == Schedule::walk ? tile_rows_ : parts_of_band())) *
            sizeof(Reached));
  scratch_ = reserve(static_cast<std::size_t>(slots(request.threads)) * scratch_bytes_);
  for (int o = 0; o < output_count_; ++o) {
    const std::int64_t carried = place_.depth * outputs_[o].channels;
    outputs_[o].above = reserve(bytes_of(carried * place_.width, outputs_[o].table));
    outputs_[o].left = reserve(bytes_of(carried * place_.height, outputs_[o].table));
  }
  workspace_bytes_ = at + line;  // for any alignment of the workspace
}

std::int64_t Tiles::tiles() const {
  return (request_.volume ? 1 : request_.image.batch) * groups_ * tile_rows_ * tile_columns_;
}

void Tiles::execute(const TilesArguments& arguments, void* workspace, const Progress& progress,
                    std::int64_t before) const {
  const auto misfit = reinterpret_cast<std::uintptr_t>(workspace) % line;
  char* const aligned = static_cast<char*>(workspace) + (misfit ? line - misfit : 0);
  if (!request_.reverse) return run({arguments, aligned}, progress, before);
  const auto turned = [&](const auto& view) { return formulas::upside_down(view, request_.volume); };
  const auto carry = [&](const Carry& c) { return Carry{c.above, turned(c.left)}; };
  const TilesArguments& a = arguments;
  run({{turned(a.image), turned(a.mask), turned(a.sum), turned(a.squares), turned(a.count), carry(a.carry),
        carry(a.squares_carry), carry(a.count_carry)},
       aligned},
      progress, before);
}

void Tiles::run(const Run& run, const Progress& progress, std::int64_t before) const {
  const TileGrid grid{(request_.volume ? 1 : request_.image.batch) * groups_, tile_rows_, tile_columns_};
  if (request_.volume || grid.tiles() == 0)
    for (int o = 0; o < output_count_; ++o)
      fill_edges(run.table(o, *this), place_, run.carry(o, *this), request_.reverse);
  if (place_.width == 0 || place_.height == 0 || place_.depth == 0 || request_.image.channels == 0) return;

  std::mutex reporting;
  std::int64_t done = before;
  const auto report = [&] {
    if (!progress) return;
    const std::lock_guard lock(reporting);
    if (!progress(++done, before + grid.tiles())) throw Cancelled("the summed-area table was cancelled");
  };
  const auto tile = [&](std::int64_t plane, std::int64_t row, std::int64_t column) {
    run_tile(run, plane, row, column);
    report();
  };
  switch (tuning_.schedule) {
    case Schedule::tasks:
      return wavefront(request_.threads, grid, reinterpret_cast<std::atomic<std::uint8_t>*>(run.workspace), tile);
    case Schedule::walk:
      return walk_rows(request_.threads, grid, reinterpret_cast<Reached*>(run.workspace), tile);
    case Schedule::bands: {
      auto* const reached = reinterpret_cast<Reached*>(run.workspace);
      for (std::int64_t i = 0; i < grid.planes * parts_of_band(); ++i) new (&reached[i]) Reached;
      return in_order(request_.threads, grid.planes * grid.rows, [&](std::int64_t i, const Turn& turn) {
        const std::int64_t plane = i / grid.rows;
        if (run_band(run, plane, i % grid.rows, reached + plane * parts_of_band(), turn)) report();
      });
    }
  }
}

/// The column of a view of that shape at a span's lowest address.
std::int64_t Tiles::column(const Shape& shape, const Span& span, std::int64_t offset) const {
  return request_.reverse ? shape.width - offset - span.x - span.width : span.x + offset;
}

/// The first slice of a plane, without columns and rows.
Tiles::Span Tiles::span_in_plane(const Run& run, std::int64_t plane) const {
  Span span{};
  span.scratch = run.workspace + scratch_ + static_cast<std::size_t>(slot()) * scratch_bytes_;
  span.slice = request_.volume ? 0 : plane / groups_;
  span.first_channel = plane % groups_;
  span.channels = request_.image.channels / groups_;
  return span;
}

/// Fills the parts of the tables' edges next to the rows from the span's on.
void Tiles::fill_edges_of(const Run& run, const Span& span, std::int64_t height) const {
  for (int o = 0; o < output_count_; ++o)
    fill_edges(run.table(o, *this), place_, run.carry(o, *this), request_.reverse, span.slice, span.first_channel,
               outputs_[o].is_count ? 1 : span.channels, span.y, height);
}

void Tiles::run_tile(const Run& run, std::int64_t plane, std::int64_t row, std::int64_t column) const {
  const std::int64_t x = column * tuning_.width, y = row * tuning_.height;
  const std::int64_t height = std::min(tuning_.height, place_.height - y);
  Span span = span_in_plane(run, plane);
  const std::int64_t last_slice = request_.volume ? place_.depth - 1 : span.slice;
  span.x = x;
  span.width = std::min(tuning_.width, place_.width - x);
  span.y = y;
  if (column == 0 && !request_.volume) fill_edges_of(run, span, height);

  for (; span.slice <= last_slice; ++span.slice) {
    const void* above[3 * 4];  // of output o and channel c at 4 * o + c
    char* carried[3 * 4];
    for (int o = 0; o < output_count_; ++o) {
      const Output& output = outputs_[o];
      for (std::int64_t c = 0; c < (output.is_count ? 1 : span.channels); ++c) {
        const std::int64_t at = span.slice * output.channels + span.first_channel + c;
        char* const top = run.workspace + output.above + bytes_of(at * place_.width + x, output.table);
        char* const left = run.workspace + output.left + bytes_of(at * place_.height + y, output.table);
        const PlaneOfCarry outside(run.carry(o, *this), span.first_channel + c, span.slice, request_.reverse);
        if (row == 0) outside.row_above(output.table, x, span.width, top);
        if (column == 0) outside.row_sums(output.table, y, height, left);
        above[4 * o + c] = carried[4 * o + c] = top;
      }
    }
    // With tasks, the rows below often belong to the same thread; with the walk to another, which may be writing them.
    const std::int64_t own_end = tuning_.schedule == Schedule::walk ? y + height : place_.height;
    for (std::int64_t r = 0; r < height; r += max_rows) {
      span.y = y + r;
      span.rows = static_cast<int>(std::min<std::int64_t>(max_rows, height - r));
      run_rows(run, span, own_end, above);
    }
    for (int o = 0; o < output_count_; ++o)
      for (std::int64_t c = 0; c < (outputs_[o].is_count ? 1 : span.channels); ++c)
        std::memcpy(carried[4 * o + c], above[4 * o + c], bytes_of(span.width, outputs_[o].table));
  }
}

/// The address of the rows' pixels: in the image, or in the scratch after separating channels and zeroing masked
/// pixels.
void Tiles::stage_rows(const Run& run, const Span& span, const void* (*pixels)[max_rows]) const {
  const ConstView& image = run.arguments.image;
  const bool planar = image.shape.layout == Layout::planar || image.shape.channels == 1;
  for (int r = 0; r < span.rows; ++r) {
    void* staged[4];
    for (std::int64_t c = 0; c < span.channels; ++c) {
      staged[c] = span.scratch + staged_ + static_cast<std::size_t>(c * max_rows + r) * staged_stride_;
      pixels[c][r] = static_cast<const char*>(image.row(span.y + r, planar ? span.first_channel + c : 0, span.slice)) +
                     column(image.shape, span) * image.column_pitch();
    }
    if (!staged_on_) continue;
    if (!planar) {
      stage_.take_apart(pixels[0][r], staged, span.width, static_cast<int>(span.channels), size_of(image.type));
      for (std::int64_t c = 0; c < span.channels; ++c) pixels[c][r] = staged[c];
    }
    if (!request_.mask && !request_.ignore_nan) continue;
    auto* const valid =
        reinterpret_cast<std::uint8_t*>(span.scratch + valid_) + static_cast<std::size_t>(r) * valid_stride_;
    if (request_.mask)
      stage_.valid_of_mask(
          static_cast<const char*>(run.arguments.mask.row(span.y + r, 0, span.slice)) + column(image.shape, span),
          valid, span.width);
    else
      std::memset(valid, 1, static_cast<std::size_t>(span.width));
    if (request_.ignore_nan)
      for (std::int64_t c = 0; c < span.channels; ++c) stage_.drop_nan(pixels[c][r], image.type, valid, span.width);
    for (std::int64_t c = 0; c < span.channels; ++c) {
      stage_.keep_valid(pixels[c][r], valid, staged[c], span.width, size_of(image.type));
      pixels[c][r] = staged[c];
    }
  }
}

/// Rows before `end` may be prefetched.
void Tiles::run_rows(const Run& run, const Span& span, std::int64_t end, const void** above) const {
  const void* pixels[4][max_rows];
  stage_rows(run, span, pixels);
  for (int o = 0; o < output_count_; ++o) {
    const Output& output = outputs_[o];
    const View& table = run.table(o, *this);
    const bool joins = buffered_ && output.channels > 1 && table.shape.layout == Layout::interleaved;
    for (std::int64_t c = 0; c < (output.is_count ? 1 : span.channels); ++c) {
      const void* in[max_rows];
      void* out[max_rows];
      const void* next[max_rows];  // the rows after these, if they go straight to memory
      char* const to = buffered_
                           ? span.scratch + output.rows + static_cast<std::size_t>(c * max_rows) * output.stride
                           : static_cast<char*>(table.row(span.y + place_.offset, span.first_channel + c, span.slice)) +
                                 column(table.shape, span, place_.offset) * table.column_pitch();
      const std::int64_t pitch = buffered_ ? static_cast<std::int64_t>(output.stride) : table.row_pitch;
      for (int r = 0; r < span.rows; ++r) {
        in[r] = output.is_count ? span.scratch + valid_ + static_cast<std::size_t>(r) * valid_stride_ : pixels[c][r];
        out[r] = to + r * pitch;
        next[r] = to + (r + max_rows) * pitch;
      }
      const bool more = !buffered_ && span.y + 2 * max_rows <= end;
      const std::int64_t at = span.slice * output.channels + span.first_channel + c;
      output.scan(in, above[4 * o + c], out, more ? next : nullptr,
                  run.workspace + output.left + bytes_of(at * place_.height + span.y, output.table), span.rows,
                  span.width);
      above[4 * o + c] = out[span.rows - 1];
      if (buffered_ && !joins)
        for (int r = 0; r < span.rows; ++r) finish(span, output, table, c, r);
    }
    if (joins)
      for (int r = 0; r < span.rows; ++r) finish(span, output, table, 0, r);
  }
}

/// One finished row from the scratch to the table, with channels joined and the slice before added.
void Tiles::finish(const Span& span, const Output& output, const View& table, std::int64_t channel, int row) const {
  const auto buffered_row = [&](std::int64_t c) {
    return span.scratch + output.rows + static_cast<std::size_t>(c * max_rows + row) * output.stride;
  };
  const bool joins = output.channels > 1 && table.shape.layout == Layout::interleaved;
  const std::int64_t elements = span.width * (joins ? output.channels : 1);
  const void* from = buffered_row(channel);
  if (joins) {
    const void* rows[4];
    for (std::int64_t c = 0; c < output.channels; ++c) rows[c] = buffered_row(c);
    char* const joined = span.scratch + joined_;
    stage_.put_together(rows, joined, span.width, static_cast<int>(output.channels), output.size);
    from = joined;
  }
  const auto target = [&](std::int64_t depth) {
    return static_cast<char*>(table.row(span.y + row + place_.offset, joins ? 0 : channel, depth)) +
           column(table.shape, span, place_.offset) * table.column_pitch();
  };
  char* const to = target(span.slice + place_.depth_offset);
  if (request_.volume && span.slice > 0)
    stage_.add(from, target(span.slice + place_.depth_offset - 1), to, elements, output.table);
  else
    std::memcpy(to, from, bytes_of(elements, output.table));
}

}  // namespace areal::cpu
