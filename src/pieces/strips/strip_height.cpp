#include "pieces/strips/strip_height.hpp"
#include <algorithm>
#include <areal/error.hpp>
#include "api/core/largest.hpp"
#include "api/core/require.hpp"
#include "pieces/core/grid.hpp"
#include "pieces/core/piece_lane.hpp"

namespace areal::pieces {
namespace {

__extension__ using Wide = unsigned __int128;
constexpr std::int64_t whole_tiles = 64;  // rows: of the CPU's tiles, and a divisor of the kernels' largest
constexpr std::int64_t usual_rows = 8;
constexpr std::int64_t halo_parts = 4;  // rows of a strip for each row of its halo, which is computed twice

Wide bytes_of_rows(const std::vector<Rows>& all, std::int64_t width, std::int64_t height) {
  constexpr Wide line = 64;  // what an allocation is rounded up to
  Wide bytes = 0;
  for (const Rows& rows : all) {
    const Wide exact = Wide{size_of(rows.type)} * static_cast<Wide>(width) * static_cast<Wide>(height) *
                       static_cast<Wide>(rows.channels);
    bytes += (exact + line - 1) / line * line;
  }
  return bytes;
}

}  // namespace

StripHeights::StripHeights(const Work& work, const Shape& image, const PieceOptions& options)
    : work_(work), image_(image), options_(options) {
  require(options.height >= 0, "height ", options.height, ": a strip has 0 (as many as memory takes) or more rows");
  require(options.width == 0 || options.width == image.width, "width ", options.width, ": strips have the image's ",
          image.width, " columns");
  if (work.form().halo.is_whole) options_.height = image.height;
  require((options.pushed_width > 0 && options.pushed_height > 0) ||
              (options.pushed_width == 0 && options.pushed_height == 0),
          "pushed tiles of ", options.pushed_width, "x", options.pushed_height, ": both extents are given, or none");
}

std::optional<StripBytes> StripHeights::bytes(std::int64_t height) const {
  const Form& form = work_.form();
  const RowGrid grid(image_, height, form.halo);
  const std::int64_t width = image_.width, rows = grid.most_rows();
  const Wide pixels = slots * bytes_of_rows(form.inputs, width, rows);
  const Wide tables =
      (form.downloads ? slots : 1) * bytes_of_rows(form.outputs, width + form.margin, grid.most_made() + form.margin);
  const Wide row = bytes_of_rows(form.outputs, width + form.margin + form.carry_lead, 1);
  const Wide tiles = bytes_of_rows(form.inputs, width, options_.pushed_height);
  Wide computing = pixels + tables + (form.carried ? row : 0), host = 0;
  if (work_.on_cuda())
    host = pixels + (form.downloads ? tables : row) + tiles;
  else
    computing += tiles;
  if (std::max(computing, host) >> 62) return std::nullopt;  // before a plan is asked
  computing += work_.workspace_bytes(width, rows);
  if (computing >> 63) return std::nullopt;
  return StripBytes{static_cast<std::uint64_t>(computing), static_cast<std::uint64_t>(host)};
}

std::uint64_t StripHeights::usual_bytes() const {
  const auto some = bytes(std::min(std::max(usual_rows, work_.form().halo.rows()), image_.height));
  require(some.has_value(), "an image ", image_.width,
          " wide: the bytes of some rows of its tables do not fit 63 bits");
  return std::max(some->most(), work_.form().usual_bytes);
}

std::int64_t StripHeights::within(std::uint64_t limit) const {
  const auto fits = [&](std::int64_t rows) {
    const auto all = bytes(rows);
    return all && all->most() <= limit;
  };
  const std::int64_t most = std::max<std::int64_t>(1, image_.height);
  if (options_.height > 0) {
    const std::int64_t rows = std::min(options_.height, most);
    return fits(rows) ? rows : 0;
  }
  const std::int64_t rows = largest(most, fits);
  return rows < most && rows > whole_tiles ? rows - rows % whole_tiles : rows;
}

std::int64_t StripHeights::chosen() const {
  const std::uint64_t usual = usual_bytes();
  const std::uint64_t limit = options_.memory > 0 ? options_.memory : options_.height > 0 ? ~std::uint64_t{0} : usual;
  const std::int64_t rows = within(limit);
  const bool is_usual = options_.memory == 0 && options_.height == 0 && !work_.on_cuda();
  const std::int64_t usual_most = std::max(usual_most_rows(image_.height), halo_parts * work_.form().halo.rows());
  if (rows > 0) return is_usual ? std::min(rows, usual_most) : rows;
  const std::int64_t wanted = std::max<std::int64_t>(1, std::min(options_.height, image_.height));
  const auto needed = bytes(wanted);
  const std::uint64_t least = needed ? needed->most() : usual;
  throw OutOfMemory(sentence("a strip of ", wanted, wanted == 1 ? " row" : " rows", ", ", image_.width,
                             " pixels wide, takes ", least, " bytes, more than the ", limit, " of memory"),
                    least);
}

}  // namespace areal::pieces
