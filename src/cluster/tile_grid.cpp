#include "cluster/tile_grid.hpp"
#include <algorithm>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include "api/core/require.hpp"
#include "cuda/device.hpp"

namespace areal::cluster {
namespace {

constexpr std::uint64_t host_pixel_bytes = std::uint64_t{64} << 20;  // of a tile that the CPU streams
constexpr std::uint64_t host_tensor_bytes = std::uint64_t{1} << 30;  // of a part that the CPU computes
constexpr std::uint64_t most_tensor_bytes = std::uint64_t{4} << 30;  // of a part: a millisecond of a device's memory
constexpr std::int64_t least_rows = 64;                              // of a tile that is made for the sake of balance
constexpr std::int64_t least_carried_rows = 256;                     // the same where tiles hand over their last row

std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The memory of workers, and what a part takes of it.
class Room {
 public:
  Room(const TiledSubject& subject, bool pieces) : subject_(subject), pieces_(pieces) {
    for (const Worker& worker : subject.options.workers) {
      const bool on_cuda = worker.backend == Backend::cuda, streams = worker.backend == Backend::cpu && !pieces;
      std::uint64_t limit = streams ? host_pixel_bytes : subject.options.device_bytes;
      if (limit == 0) limit = on_cuda ? cuda::free_memory(worker.device) / 10 * 9 : host_tensor_bytes;
      limits_.push_back(limit / static_cast<std::uint64_t>(subject.lanes_of(worker)));
      lanes_ += subject.lanes_of(worker);
    }
  }

  std::int64_t lanes() const { return lanes_; }
  std::uint64_t least() const { return *std::min_element(limits_.begin(), limits_.end()); }
  /// Bytes of a part of the first `bins` bins.
  std::uint64_t bytes(const Worker& worker, std::int64_t width, std::int64_t height, const Binning& rule) const {
    const Shape shape = subject_.shape_of(width, height);
    const std::uint64_t pixels = bytes_of(shape, subject_.type);
    if (worker.backend == Backend::cpu && !pieces_) return pixels;
    const HistogramPlan plan(shape, subject_.type, rule, {.counter = counter()}, subject_.execution_of(worker));
    return pixels + plan.tensor_bytes() + plan.workspace_bytes();
  }
  bool fits(std::int64_t width, std::int64_t height, const Binning& rule) const {
    for (std::size_t i = 0; i < limits_.size(); ++i)
      if (bytes(subject_.options.workers[i], width, height, rule) > limits_[i]) return false;
    return true;
  }
  Type counter() const { return pieces_ ? subject_.options.counter : Type::u32; }

 private:
  const TiledSubject& subject_;
  bool pieces_;
  std::int64_t lanes_ = 0;
  std::vector<std::uint64_t> limits_;  // of a lane of each worker
};

TiledGrid finished(TiledGrid grid, const TiledSubject& subject) {
  grid.columns = up(subject.image.width, grid.tile_width);
  grid.rows = up(subject.image.height, grid.tile_height);
  grid.groups = up(subject.binning.bins(), grid.bins);
  return grid;
}

TiledGrid fixed(const TiledSubject& subject) {
  const TiledOptions& o = subject.options;
  const auto part = [](std::int64_t asked, std::int64_t whole) {
    return std::max<std::int64_t>(1, asked > 0 ? std::min(asked, whole) : whole);
  };
  TiledGrid grid;
  grid.tile_width = part(o.tile_width, subject.image.width);
  grid.tile_height = part(o.tile_height, subject.image.height);
  grid.bins = part(o.group_bins, subject.binning.bins());
  grid = finished(grid, subject);
  for (std::int64_t i = 0; i < grid.groups && grid.groups > 1; ++i) {  // throws where that cannot be
    const std::int64_t first = i * grid.bins;
    (void)subject.binning.slice(first, std::min(grid.bins, subject.binning.bins() - first));
  }
  return grid;
}
bool is_fixed(const TiledOptions& o) { return o.tile_width > 0 || o.tile_height > 0 || o.group_bins > 0; }

TiledGrid tiles_of(const TiledSubject& subject, const Room& room, std::int64_t least) {
  TiledGrid made;
  made.bins = subject.binning.bins();
  const std::int64_t width = std::max<std::int64_t>(1, subject.image.width),
                     height = std::max<std::int64_t>(1, subject.image.height);
  made.tile_width = width;
  made.tile_height = largest(height, [&](std::int64_t h) { return room.fits(width, h, subject.binning); });
  if (made.tile_height == 0) {  // columns, too: squares
    made.tile_width =
        largest(width, [&](std::int64_t w) { return room.fits(w, std::min(w, height), subject.binning); });
    made.tile_height = std::min(made.tile_width, height);
  }
  if (made.tile_width == 0) {
    std::uint64_t most = 0;
    for (const Worker& worker : subject.options.workers)
      most = std::max(most, room.bytes(worker, 1, 1, subject.binning));
    throw OutOfMemory(
        sentence("one pixel's ", subject.binning.bins(), " bins do not fit the ", room.least(), " bytes of a worker"),
        most);
  }
  // Several tiles for each lane, so that one is uploaded while another is computed; where they are not too flat.
  const std::uint64_t row = static_cast<std::uint64_t>(made.tile_width * made.bins) * size_of(room.counter());
  const auto large = static_cast<std::int64_t>(std::max<std::uint64_t>(1, most_tensor_bytes / row));
  made.tile_height = std::min(made.tile_height, std::max(least, large / least * least));
  if (const std::int64_t even = up(height, 2 * room.lanes()); even >= least)
    made.tile_height = std::min(made.tile_height, even);
  return finished(made, subject);
}

}  // namespace

TensorPart part_of(const TiledGrid& grid, const TiledSubject& subject, std::int64_t number) {
  TensorPart part{};
  part.number = number;
  part.group = number % grid.groups;
  part.column = number / grid.groups % grid.columns, part.row = number / grid.groups / grid.columns;
  const std::int64_t x = part.column * grid.tile_width, y = part.row * grid.tile_height;
  part.tile = {x, y, std::min(grid.tile_width, subject.image.width - x),
               std::min(grid.tile_height, subject.image.height - y)};
  part.first_bin = part.group * grid.bins;
  part.bins = std::min(grid.bins, subject.binning.bins() - part.first_bin);
  return part;
}

TiledGrid grid_of_answers(const TiledSubject& subject) {
  if (is_fixed(subject.options)) return fixed(subject);
  return tiles_of(subject, Room(subject, false), least_rows);
}

TiledGrid grid_of_pieces(const TiledSubject& subject) {
  if (is_fixed(subject.options)) return fixed(subject);
  const Room room(subject, true);
  // Of joint bins, groups are whole planes of the first channel.
  const Binning& binning = subject.binning;
  const std::int64_t unit = binning.kind() == Binning::Kind::joint ? binning.bins() / binning.parts()[0].bins() : 1;
  const std::int64_t units = binning.bins() / unit, width = subject.image.width, height = subject.image.height;
  const std::uint64_t one = static_cast<std::uint64_t>(width * height * unit) * size_of(room.counter());
  std::int64_t most = std::min(units, std::max<std::int64_t>(1, up(units, 2 * room.lanes())));
  if (one > 0) most = std::min(most, std::max<std::int64_t>(1, static_cast<std::int64_t>(most_tensor_bytes / one)));
  try {
    const std::int64_t many =
        largest(most, [&](std::int64_t n) { return room.fits(width, height, binning.slice(0, n * unit)); });
    if (many > 0) {
      TiledGrid made;
      made.tile_width = std::max<std::int64_t>(1, width), made.tile_height = std::max<std::int64_t>(1, height);
      made.bins = many * unit;
      made = finished(made, subject);
      for (std::int64_t i = 0; i < made.groups; ++i)
        (void)binning.slice(i * made.bins, std::min(made.bins, binning.bins() - i * made.bins));
      return made;
    }
  } catch (const InvalidArgument&) {  // a rule that has no slices: labels around an ignored one
  }
  return tiles_of(subject, room, least_carried_rows);
}

}  // namespace areal::cluster
