#include "cpu/sat/tiles.hpp"
#include <areal/error.hpp>
#include <atomic>
#include <mutex>
#include <utility>
#include "cpu/threads.hpp"

namespace areal::cpu {
namespace {

constexpr std::size_t line = 64;

std::size_t rounded(std::size_t bytes) { return (bytes + line - 1) / line * line; }
// One line more than needed, so that the rows of a group do not all fall on the same cache sets.
std::size_t row_stride(std::int64_t pixels, std::size_t size) {
  return rounded(static_cast<std::size_t>(pixels) * size) + line;
}
std::size_t bytes_of(std::int64_t elements, Type type) { return static_cast<std::size_t>(elements) * size_of(type); }

}  // namespace

// Long rows: every row segment begins cold in its own page, and rows of 8192 are four times as fast as rows of 256.
// So one strip of columns a thread, no narrower than 512, and none where the batch alone occupies the threads. Measured
// with 8u32u, 32f64f and 64f64f at 1920x1080, 4096x4096 and 8192x8192 on two cores: docs/notes/cpu-sat.md.
TilesTuning tiles_tuning(const TilesRequest& request) {
  TilesTuning tuning;
  const std::int64_t planes = request.volume ? 1 : request.image.batch;
  const std::int64_t strips = planes >= 2 * slots(request.threads) ? 1 : slots(request.threads);
  const std::int64_t width = (request.image.width + strips - 1) / strips;
  tuning.width = std::clamp<std::int64_t>(rounded(static_cast<std::size_t>(width)), 512, 16384);
  return tuning;
}

/// What one execute works on.
struct Tiles::Run {
  const TilesArguments& arguments;
  char* workspace;
  char* scratch(const Tiles& tiles) const {
    return workspace + tiles.scratch_ + static_cast<std::size_t>(slot()) * tiles.scratch_bytes_;
  }
  const View& table(int output, const Tiles& tiles) const {
    if (tiles.outputs_[output].is_count) return arguments.count;
    return output + 1 == tiles.output_count_ ? arguments.sum : arguments.squares;
  }
};

Tiles::Tiles(const TilesRequest& request, const TilesTuning& tuning)
    : request_(request),
      tuning_(tuning),
      place_(placement(request.image, request.border, request.volume)),
      stage_(stage()) {
  const std::int64_t channels = request.image.channels;
  const bool counts = request.mask || request.ignore_nan;
  // The sum comes last: in place, it overwrites what the others still read.
  const auto add_output = [&](Type input, Type table, bool squares, bool is_count) {
    Output& output = outputs_[output_count_++];
    output.scan = scan_rows(input, table, squares);
    output.input = input;
    output.table = table;
    output.channels = is_count ? 1 : channels;
    output.is_count = is_count;
  };
  if (request.squares) add_output(request.lane.input, *request.squares, true, false);
  if (counts) add_output(Type::u8, Type::u32, false, true);
  add_output(request.lane.input, request.lane.table, false, false);

  tuning_.width = std::max<std::int64_t>(1, std::min(tuning_.width, place_.width));  // one tile: no rounding needed
  tile_columns_ = (place_.width + tuning_.width - 1) / tuning_.width;
  tile_rows_ = (place_.height + tuning_.height - 1) / tuning_.height;

  // Scratch of one thread: staged rows, validity, one joined row, and four rows of every table.
  std::size_t at = 0;
  const auto room = [&](std::size_t bytes) { return std::exchange(at, at + rounded(bytes)); };
  const std::size_t tall = max_rows * static_cast<std::size_t>(channels);
  staged_ = room(is_staged() ? tall * row_stride(tuning_.width, size_of(request.lane.input)) : 0);
  valid_ = room(counts ? max_rows * row_stride(tuning_.width, 1) : 0);
  joined_ = room(row_stride(tuning_.width * channels, sizeof(double)));
  for (int o = 0; o < output_count_; ++o)
    outputs_[o].rows = room(tall * row_stride(tuning_.width, size_of(outputs_[o].table)));
  scratch_bytes_ = at;

  // Workspace: tile counters, scratch of every thread, carries of every plane.
  at = 0;
  const std::int64_t planes = (request.volume ? 1 : request.image.batch) * groups();
  room(static_cast<std::size_t>(planes * tile_rows_ * tile_columns_) * sizeof(std::atomic<std::uint8_t>));
  scratch_ = room(static_cast<std::size_t>(slots(request.threads)) * scratch_bytes_);
  for (int o = 0; o < output_count_; ++o) {
    const std::int64_t carried = place_.depth * outputs_[o].channels;
    outputs_[o].above = room(bytes_of(carried * place_.width, outputs_[o].table));
    outputs_[o].left = room(bytes_of(carried * place_.height, outputs_[o].table));
  }
  workspace_bytes_ = at + line;  // whatever the workspace's own alignment
}

bool Tiles::is_staged() const {
  const bool apart = request_.image.layout == Layout::interleaved && request_.image.channels > 1;
  return apart || request_.mask || request_.ignore_nan;
}

/// Independent planes of an image: its channels, unless a tile needs them all at once.
std::int64_t Tiles::groups() const {
  const bool together = is_staged() || request_.tables == Layout::interleaved;
  return together ? 1 : request_.image.channels;
}

void Tiles::execute(const TilesArguments& arguments, void* workspace, const Progress& progress) const {
  const auto misfit = reinterpret_cast<std::uintptr_t>(workspace) % line;
  const Run run{arguments, static_cast<char*>(workspace) + (misfit ? line - misfit : 0)};
  for (int o = 0; o < output_count_; ++o) fill_edges(run.table(o, *this), place_);
  if (place_.width == 0 || place_.height == 0 || place_.depth == 0 || request_.image.channels == 0) return;

  const TileGrid grid{(request_.volume ? 1 : request_.image.batch) * groups(), tile_rows_, tile_columns_};
  std::mutex reporting;
  std::int64_t done = 0;
  wavefront(request_.threads, grid, reinterpret_cast<std::atomic<std::uint8_t>*>(run.workspace),
            [&](std::int64_t plane, std::int64_t row, std::int64_t column) {
              run_tile(run, plane, row, column);
              if (!progress) return;
              const std::lock_guard lock(reporting);
              if (!progress(++done, grid.tiles())) throw Cancelled("the summed-area table was cancelled");
            });
}

void Tiles::run_tile(const Run& run, std::int64_t plane, std::int64_t row, std::int64_t column) const {
  const std::int64_t x = column * tuning_.width, y = row * tuning_.height;
  const std::int64_t width = std::min(tuning_.width, place_.width - x);
  const std::int64_t height = std::min(tuning_.height, place_.height - y);
  const std::int64_t first_slice = request_.volume ? 0 : plane / groups();
  const std::int64_t last_slice = request_.volume ? place_.depth - 1 : first_slice;
  const std::int64_t first_channel = plane % groups();
  const std::int64_t channels = request_.image.channels / groups();

  for (std::int64_t slice = first_slice; slice <= last_slice; ++slice) {
    const void* above[3 * 4];  // of output o and channel c at 4 * o + c
    char* carried[3 * 4];
    for (int o = 0; o < output_count_; ++o) {
      const Output& output = outputs_[o];
      const std::size_t size = size_of(output.table);
      for (std::int64_t c = 0; c < (output.is_count ? 1 : channels); ++c) {
        const std::int64_t at = slice * output.channels + first_channel + c;
        char* const top = run.workspace + output.above + bytes_of(at * place_.width + x, output.table);
        char* const left = run.workspace + output.left + bytes_of(at * place_.height + y, output.table);
        if (row == 0) std::memset(top, 0, static_cast<std::size_t>(width) * size);
        if (column == 0) std::memset(left, 0, static_cast<std::size_t>(height) * size);
        above[4 * o + c] = carried[4 * o + c] = top;
      }
    }
    for (std::int64_t r = 0; r < height; r += max_rows)
      run_rows(run, slice, first_channel, channels, x, width, y + r,
               static_cast<int>(std::min<std::int64_t>(max_rows, height - r)), above);
    for (int o = 0; o < output_count_; ++o)
      for (std::int64_t c = 0; c < (outputs_[o].is_count ? 1 : channels); ++c)
        std::memcpy(carried[4 * o + c], above[4 * o + c], bytes_of(width, outputs_[o].table));
  }
}

void Tiles::run_rows(const Run& run, std::int64_t slice, std::int64_t first_channel, std::int64_t channels,
                     std::int64_t x, std::int64_t width, std::int64_t y, int rows, const void** above) const {
  char* const scratch = run.scratch(*this);
  const ConstView& image = run.arguments.image;
  const bool planar = image.shape.layout == Layout::planar || image.shape.channels == 1;
  const bool counts = request_.mask || request_.ignore_nan;
  const bool buffered = request_.volume || (request_.tables == Layout::interleaved && channels > 1);

  const void* pixels[4][max_rows];
  const std::size_t staged_stride = row_stride(tuning_.width, size_of(image.type));
  const std::size_t valid_stride = row_stride(tuning_.width, 1);
  const auto valid_row = [&](int r) {
    return reinterpret_cast<std::uint8_t*>(scratch + valid_ + static_cast<std::size_t>(r) * valid_stride);
  };
  for (int r = 0; r < rows; ++r) {
    void* staged[4];
    for (std::int64_t c = 0; c < channels; ++c) {
      staged[c] = scratch + staged_ + static_cast<std::size_t>(c * max_rows + r) * staged_stride;
      pixels[c][r] =
          static_cast<const char*>(image.row(y + r, planar ? first_channel + c : 0, slice)) + x * image.column_pitch();
    }
    if (!is_staged()) continue;
    if (!planar) {
      stage_.take_apart(pixels[0][r], staged, width, static_cast<int>(channels), size_of(image.type));
      for (std::int64_t c = 0; c < channels; ++c) pixels[c][r] = staged[c];
    }
    if (!counts) continue;
    std::uint8_t* const valid = valid_row(r);
    if (request_.mask)
      stage_.valid_of_mask(static_cast<const char*>(run.arguments.mask.row(y + r, 0, slice)) + x, valid, width);
    else
      std::memset(valid, 1, static_cast<std::size_t>(width));
    if (request_.ignore_nan)
      for (std::int64_t c = 0; c < channels; ++c) stage_.drop_nan(pixels[c][r], image.type, valid, width);
    for (std::int64_t c = 0; c < channels; ++c) {
      stage_.keep_valid(pixels[c][r], valid, staged[c], width, size_of(image.type));
      pixels[c][r] = staged[c];
    }
  }

  for (int o = 0; o < output_count_; ++o) {
    const Output& output = outputs_[o];
    const View& table = run.table(o, *this);
    const std::size_t stride = row_stride(tuning_.width, size_of(output.table));
    for (std::int64_t c = 0; c < (output.is_count ? 1 : channels); ++c) {
      const void* in[max_rows];
      void* out[max_rows];
      for (int r = 0; r < rows; ++r) {
        in[r] = output.is_count ? valid_row(r) : pixels[c][r];
        out[r] = buffered ? scratch + output.rows + static_cast<std::size_t>(c * max_rows + r) * stride
                          : static_cast<char*>(table.row(y + r + place_.offset, first_channel + c, slice)) +
                                (x + place_.offset) * table.column_pitch();
      }
      const std::int64_t at = slice * output.channels + first_channel + c;
      // The next four rows of the same table, where this one goes straight to memory.
      const void* next[max_rows];
      for (int r = 0; r < max_rows; ++r) next[r] = static_cast<const char*>(out[rows - 1]) + (r + 1) * table.row_pitch;
      const bool more = !buffered && y + rows + max_rows <= place_.height;
      output.scan(in, above[4 * o + c], out, more ? next : nullptr,
                  run.workspace + output.left + bytes_of(at * place_.height + y, output.table), rows, width);
      above[4 * o + c] = out[rows - 1];
      if (buffered && (output.channels == 1 || table.shape.layout == Layout::planar))
        for (int r = 0; r < rows; ++r)
          finish(run, output, table, slice, first_channel + c, x, width, y + r, r, scratch);
    }
    if (buffered && output.channels > 1 && table.shape.layout == Layout::interleaved)
      for (int r = 0; r < rows; ++r) finish(run, output, table, slice, 0, x, width, y + r, r, scratch);
  }
}

/// One finished row from the scratch into the table: channels joined, the slice before added.
void Tiles::finish(const Run& run, const Output& output, const View& table, std::int64_t slice, std::int64_t channel,
                   std::int64_t x, std::int64_t width, std::int64_t y, int row, const char* scratch) const {
  const std::size_t stride = row_stride(tuning_.width, size_of(output.table));
  const auto buffered_row = [&](std::int64_t c) {
    return scratch + output.rows + static_cast<std::size_t>(c * max_rows + row) * stride;
  };
  const bool joins = output.channels > 1 && table.shape.layout == Layout::interleaved;
  const std::int64_t elements = width * (joins ? output.channels : 1);
  const void* from = buffered_row(joins ? 0 : channel % (request_.image.channels / groups()));
  if (joins) {
    const void* rows[4];
    for (std::int64_t c = 0; c < output.channels; ++c) rows[c] = buffered_row(c);
    char* const joined = run.scratch(*this) + joined_;
    stage_.put_together(rows, joined, width, static_cast<int>(output.channels), size_of(output.table));
    from = joined;
  }
  const auto target = [&](std::int64_t depth) {
    return static_cast<char*>(table.row(y + place_.offset, channel, depth)) +
           (x + place_.offset) * table.column_pitch();
  };
  char* const to = target(slice + place_.depth_offset);
  if (request_.volume && slice > 0)
    stage_.add(from, target(slice + place_.depth_offset - 1), to, elements, output.table);
  else
    std::memcpy(to, from, bytes_of(elements, output.table));
}

}  // namespace areal::cpu
