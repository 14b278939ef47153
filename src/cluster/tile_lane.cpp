#include "cluster/tile_lane.hpp"
#include <algorithm>
#include <cstring>
#include <utility>
#include "api/core/copy_rows.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"

namespace areal::cluster {
namespace {
constexpr std::size_t upload_bytes = std::size_t{16} << 20;  // of pixels at once, but for one row
}

ConstView TileReader::rows_of(const Region& tile) const {
  const ConstView rows = rows_(tile.y, tile.height);
  const Shape& image = subject_.image;
  check_view("rows", rows, {image.width, tile.height, image.channels, 1, image.layout}, subject_.type);
  require(rows.memory.is_host(), "rows: they lie on CUDA device ", rows.memory.device, ", they must be in host memory");
  const char* const first = static_cast<const char*>(rows.data) + tile.x * rows.column_pitch();
  return ConstView(first, subject_.type, subject_.shape_of(tile.width, tile.height), rows.row_pitch, rows.plane_pitch);
}

void TileReader::read(const Region& tile, const std::function<void(const ConstView& pixels)>& use) {
  std::unique_lock lock(reading_);
  if (tile.width != subject_.image.width || tile.height != subject_.image.height) return use(rows_of(tile));
  if (!whole_) whole_ = rows_of(tile);
  lock.unlock();
  use(*whole_);
}

TileLane::TileLane(const TiledSubject& subject, const Worker& worker) : subject_(subject), worker_(worker) {
  if (worker.backend != Backend::cuda) return;
  const MemoryPlace place{MemoryPlace::cuda, worker.device};
  for (Memory* const memory : {&image_, &tensor_, &workspace_memory_, &above_, &left_}) *memory = Memory(0, place);
  stream_.emplace();
}

TileLane::Buffer& TileLane::buffer(std::int64_t number, std::size_t bytes) {
  Buffer& buffer = ring_[number % buffers];
  if (buffer.memory.bytes() < bytes) buffer.wait();
  buffer.memory.grow(bytes);
  if (!buffer.event) buffer.event.emplace();
  return buffer;
}

ConstView TileLane::bring(TileReader& reader, const Region& tile, std::uint64_t call) {
  if (call == call_ && tile == tile_) return pixels_;
  call_ = 0;  // until they are there
  const Shape shape = subject_.shape_of(tile.width, tile.height);
  reader.read(tile, [&](const ConstView& pixels) {
    if (on_cuda()) {
      image_.grow(std::max<std::size_t>(1, bytes_of(shape, subject_.type)));
      upload(pixels, static_cast<char*>(image_.data()));
      pixels_ = image_.view(subject_.type, shape);
    } else if (tile.width == subject_.image.width && tile.height == subject_.image.height) {
      pixels_ = pixels;
    } else {
      if (room_.shape() != shape) room_ = Array(shape, subject_.type);
      copy_rows(pixels, room_.view());
      pixels_ = std::as_const(room_).view();
    }
  });
  tile_ = tile, call_ = call;
  return pixels_;
}

// Rows without gaps by way of the pinned buffers, so that the copies overlap what other lanes do.
void TileLane::upload(const ConstView& pixels, char* to) {
  const Shape& shape = pixels.shape;
  const std::int64_t planes = shape.layout == Layout::planar ? shape.channels : 1;
  const auto row = static_cast<std::size_t>(shape.width * pixels.column_pitch());
  if (row == 0) return;
  const auto most = static_cast<std::int64_t>(std::max<std::size_t>(1, upload_bytes / row));
  std::int64_t turn = 0;
  for (std::int64_t c = 0; c < planes; ++c)
    for (std::int64_t y = 0; y < shape.height; y += most, ++turn) {
      const std::int64_t rows = std::min(most, shape.height - y);
      const std::size_t bytes = static_cast<std::size_t>(rows) * row;
      Buffer& room = buffer(turn, bytes);
      room.wait();
      for (std::int64_t i = 0; i < rows; ++i)
        std::memcpy(room.data() + static_cast<std::size_t>(i) * row, pixels.row(y + i, c), row);
      cuda::copy_in(to, room.data(), bytes, stream());
      room.queued(stream());
      to += bytes;
    }
}

ConstView TileLane::carried(const ConstView& sums, Memory& memory) {
  if (sums.data == nullptr || !on_cuda()) return sums;
  const auto bytes = static_cast<std::size_t>(bytes_of(sums.shape, sums.type));
  memory.grow(bytes);
  cuda::copy_in(memory.data(), sums.data, bytes, stream());
  return memory.view(sums.type, sums.shape);
}

View TileLane::compute(const TensorPart& part, const ConstView& pixels, Type counter, const Carry& carry) {
  const Region& tile = part.tile;
  if (!plan_ || width_ != tile.width || height_ != tile.height || first_bin_ != part.first_bin || bins_ != part.bins ||
      counter_ != counter) {
    const Binning& all = subject_.binning;
    workspace_.reset();
    plan_.emplace(pixels.shape, subject_.type, all.slice(part.first_bin, part.bins),
                  HistogramOptions{.counter = counter}, subject_.execution_of(worker_));
    width_ = -1;  // until it is ready
    const std::size_t bytes = std::max<std::size_t>(1, plan_->workspace_bytes());
    workspace_memory_.grow(bytes);
    workspace_.emplace(
        *plan_, Span<std::byte>(static_cast<std::byte*>(workspace_memory_.data()), bytes, plan_->memory()), stream());
    width_ = tile.width, height_ = tile.height, first_bin_ = part.first_bin, bins_ = part.bins, counter_ = counter;
  }
  const Shape shape = plan_->tensor_shape();
  tensor_.grow(std::max<std::size_t>(1, bytes_of(shape, counter)));
  const View tensor = tensor_.view(counter, shape);
  plan_->execute({pixels, tensor, {}, {carried(carry.above, above_), carried(carry.left, left_)}}, *workspace_);
  return tensor;
}

std::unique_ptr<TileLane> TileLanePool::take(const TiledSubject& subject, std::size_t worker) {
  {
    const std::lock_guard lock(mutex_);
    auto& lanes = waiting_[worker];
    if (!lanes.empty()) {
      std::unique_ptr<TileLane> lane = std::move(lanes.back());
      lanes.pop_back();
      return lane;
    }
  }
  return std::make_unique<TileLane>(subject, subject.options.workers[worker]);
}

void TileLanePool::give_back(std::size_t worker, std::unique_ptr<TileLane> lane) {
  const std::lock_guard lock(mutex_);
  waiting_[worker].push_back(std::move(lane));
}

}  // namespace areal::cluster
