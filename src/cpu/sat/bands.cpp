// The schedule of bands (tiles.hpp): column sums are passed on before rows are computed.
#include <algorithm>
#include "cpu/sat/carried.hpp"
#include "cpu/sat/tiles.hpp"

namespace areal::cpu {

/// Adds the columns of `height` rows from the span's on, for every table, in the scratch.
void Tiles::add_band(const Run& run, Span span, std::int64_t height) const {
  const ConstView& image = run.arguments.image;
  for (int o = 0; o < output_count_; ++o)
    std::memset(span.scratch + outputs_[o].own, 0, bytes_of(span.width, outputs_[o].table));
  const std::int64_t end = span.y + height, x = column(image.shape, span) * image.column_pitch();
  for (; span.y < end; span.y += most_added_rows) {
    const int rows = static_cast<int>(std::min<std::int64_t>(most_added_rows, end - span.y));
    const void* in[most_added_rows];
    for (int r = 0; r < rows; ++r)
      in[r] = static_cast<const char*>(image.row(span.y + r, span.first_channel, span.slice)) + x;
    for (int o = 0; o < output_count_; ++o) outputs_[o].add(in, span.scratch + outputs_[o].own, rows, span.width);
  }
}

/// Returns false if the work ended before the band's turn. `reached` has a step for each band of the plane, and one
/// element for each band_part columns: setting it to r states that the columns of all bands before r are in the sums,
/// which belong to band r from then on.
bool Tiles::run_band(const Run& run, std::int64_t plane, std::int64_t row, Reached* reached, const Turn& turn) const {
  Span span = span_in_plane(run, plane);
  span.width = place_.width;
  span.y = row * tuning_.height;
  const std::int64_t y = span.y, height = std::min(tuning_.height, place_.height - y);
  fill_edges_of(run, span, height);
  const std::int64_t at = span.slice * request_.image.channels + span.first_channel;  // number of its carries
  if (row + 1 < tile_rows_) add_band(run, span, height);  // the last band's sums are not needed

  for (std::int64_t x = 0; x < span.width; x += band_part) {
    Reached& part = reached[x / band_part];
    if (row > 0 && !turn.wait(part, row)) return false;
    for (int o = 0; o < output_count_; ++o) {
      const Output& output = outputs_[o];
      const std::int64_t n = std::min(band_part, span.width - x);
      char* const sums = run.workspace + output.above + bytes_of(at * place_.width + x, output.table);
      char* const own = span.scratch + output.own + bytes_of(x, output.table);
      if (row == 0) std::memset(sums, 0, bytes_of(n, output.table));
      if (row + 1 < tile_rows_)
        hand_on(sums, own, n, output.table);
      else
        std::memcpy(own, sums, bytes_of(n, output.table));
    }
    part.steps.store(row + 1, std::memory_order_release);
  }

  const void* above[3 * 4];  // as in run_tile: of output o at 4 * o
  for (int o = 0; o < output_count_; ++o) {
    const Output& output = outputs_[o];
    const PlaneOfCarry outside(run.carry(o, *this), span.first_channel, span.slice, request_.reverse);
    char* const left = run.workspace + output.left + bytes_of(at * place_.height + y, output.table);
    outside.row_sums(output.table, y, height, left);
    // The table's row above: the carry above the piece, the sums left of the piece, and the sums of all columns.
    char* const own = span.scratch + output.own;
    char* const outer = span.scratch + output.outer;
    outside.row_above(output.table, 0, span.width, outer);
    alignas(8) char left_sum[8];
    outside.sum_of_rows(output.table, y, left_sum);
    const void* const in[1] = {own};
    void* const out[1] = {own};
    output.scan_sums(in, outer, out, nullptr, left_sum, 1, span.width);
    above[4 * o] = own;
  }
  for (; span.y < y + height; span.y += max_rows) {
    span.rows = static_cast<int>(std::min<std::int64_t>(max_rows, y + height - span.y));
    run_rows(run, span, y + height, above);
  }
  return true;
}

}  // namespace areal::cpu
