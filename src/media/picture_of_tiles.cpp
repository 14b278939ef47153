// A large picture from tiles: a bounded cache, and threads that decode the tiles of a block at once.
#include <algorithm>
#include <areal/info.hpp>
#include <atomic>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <unordered_map>
#include "media/file_error.hpp"
#include "media/large.hpp"

namespace areal::media {
namespace {

constexpr std::uint64_t cache_bytes = std::uint64_t{128} << 20;

using Pixels = std::shared_ptr<const std::unique_ptr<char[]>>;

// A cache of the last tiles, with the picture's channels. Not thread-safe.
class TileCache {
 public:
  void allow(std::uint64_t bytes) { most_ = bytes; }
  Pixels find(std::int64_t number) {
    const auto found = where_.find(number);
    if (found == where_.end()) return {};
    tiles_.splice(tiles_.begin(), tiles_, found->second);
    return found->second->pixels;
  }
  void add(std::int64_t number, Pixels pixels, std::uint64_t bytes) {
    if (bytes > most_ || where_.contains(number)) return;
    while (held_ + bytes > most_) {
      held_ -= tiles_.back().bytes;
      where_.erase(tiles_.back().number);
      tiles_.pop_back();
    }
    tiles_.push_front({number, std::move(pixels), bytes});
    where_[number] = tiles_.begin();
    held_ += bytes;
  }

 private:
  struct Tile {
    std::int64_t number;
    Pixels pixels;
    std::uint64_t bytes;
  };
  std::list<Tile> tiles_;
  std::unordered_map<std::int64_t, std::list<Tile>::iterator> where_;
  std::uint64_t held_ = 0, most_ = 0;
};

// a * b, or 2^64 - 1.
std::uint64_t product(std::uint64_t a, std::uint64_t b) { return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b; }
std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

class PictureOfTiles final : public LargePicture {
 public:
  PictureOfTiles(std::string name, std::unique_ptr<TileSource> source, const ReadOptions& options)
      : name_(std::move(name)), source_(std::move(source)), layout_(source_->layout()) {
    shape_ = {layout_.width, layout_.height, layout_.choice.count()};
    columns_ = (layout_.width + layout_.tile_width - 1) / layout_.tile_width;
    straight_ = !layout_.choice.luma && layout_.choice.count() == layout_.channels;
    const std::uint64_t pixels = product(static_cast<std::uint64_t>(std::min(layout_.width, layout_.tile_width)),
                                         static_cast<std::uint64_t>(std::min(layout_.height, layout_.tile_height)));
    const std::uint64_t size = size_of(layout_.type);
    decoded_bytes_ = product(pixels, static_cast<std::uint64_t>(layout_.channels) * size);
    const std::uint64_t chosen = product(pixels, static_cast<std::uint64_t>(shape_.channels) * size);
    const std::uint64_t worker = sum(sum(decoded_bytes_, chosen), layout_.decoder_bytes);
    const std::uint64_t limit = large_picture_limit(options);
    if (sum(worker, chosen) > limit) require_memory(name_, sum(worker, chosen), limit);
    // Decoding may use up to half of the limit.
    const auto fit = static_cast<int>(std::min<std::uint64_t>(1024, limit / 2 / std::max<std::uint64_t>(1, worker)));
    workers_ = std::clamp(options.threads > 0 ? options.threads : default_threads(), 1,
                          std::max(1, std::min(fit, layout_.most_workers)));
    buffers_.resize(static_cast<std::size_t>(workers_));
    const std::uint64_t working = worker * static_cast<std::uint64_t>(workers_);
    const std::uint64_t wanted = std::max(cache_bytes, product(static_cast<std::uint64_t>(columns_) + 1, chosen));
    // A small picture needs no more than itself.
    const std::uint64_t whole =
        product(product(static_cast<std::uint64_t>(layout_.width), static_cast<std::uint64_t>(layout_.height)),
                static_cast<std::uint64_t>(shape_.channels) * size);
    const std::uint64_t cache = std::min({limit - working, wanted, std::max(whole, chosen)});
    cache_.allow(cache);
    memory_ = working + cache;
  }

  const Shape& shape() const override { return shape_; }
  Type type() const override { return layout_.type; }
  BlockSize block() const override {
    return {std::min(layout_.width, layout_.tile_width), std::min(layout_.height, layout_.tile_height)};
  }
  std::vector<std::string> notes() const override { return layout_.notes; }
  std::optional<PixelSize> pixel_size() const override { return layout_.pixel_size; }
  std::uint64_t memory() const override { return memory_; }
  std::uint64_t tiles_decoded() const override { return decoded_; }

 private:
  const std::string& name() const override { return name_; }

  void read_checked(std::int64_t x, std::int64_t y, const View& into) override {
    const std::int64_t left = x / layout_.tile_width, right = (x + into.shape.width - 1) / layout_.tile_width;
    const std::int64_t top = y / layout_.tile_height, bottom = (y + into.shape.height - 1) / layout_.tile_height;
    const std::int64_t across = right - left + 1, tiles = across * (bottom - top + 1);
    std::atomic<std::int64_t> next{0};
    std::mutex failing;
    std::int64_t failed = tiles;  // the first tile that failed
    std::exception_ptr failure;
    const auto work = [&](int worker) {
      for (std::int64_t i = next++; i < tiles; i = next++) try {
          read_tile(worker, left + i % across, top + i / across, x, y, into);
        } catch (...) {
          const std::lock_guard lock(failing);
          if (i < failed) failed = i, failure = std::current_exception();
          next = tiles;
        }
    };
    {
      std::vector<std::jthread> threads;
      for (int worker = 1; worker < std::min<std::int64_t>(workers_, tiles); ++worker) try {
          threads.emplace_back(work, worker);
        } catch (const std::system_error&) {
          break;  // the system provides no more threads: fewer do the same
        } catch (const std::bad_alloc&) {
          break;
        }
      work(0);
    }
    if (!failure) return;
    try {
      std::rethrow_exception(failure);
    } catch (const std::bad_alloc&) {
      throw OutOfMemory(name_ + ": no memory was left to decode a tile", memory_);
    }
  }

  // Copies the part of the tile that lies in the block.
  void read_tile(int worker, std::int64_t column, std::int64_t row, std::int64_t x, std::int64_t y, const View& into) {
    const std::int64_t tile_x = column * layout_.tile_width, tile_y = row * layout_.tile_height;
    const std::int64_t width = std::min(layout_.tile_width, layout_.width - tile_x);
    const std::int64_t height = std::min(layout_.tile_height, layout_.height - tile_y);
    const std::int64_t from_x = std::max(x, tile_x), to_x = std::min(x + into.shape.width, tile_x + width);
    const std::int64_t from_y = std::max(y, tile_y), to_y = std::min(y + into.shape.height, tile_y + height);
    const std::int64_t number = row * columns_ + column;
    const std::int64_t pixel = shape_.channels * static_cast<std::int64_t>(size_of(layout_.type));
    const auto copy = [&](const char* tile) {
      for (std::int64_t i = from_y; i < to_y; ++i)
        put_pixels(tile + ((i - tile_y) * width + from_x - tile_x) * pixel, into, from_x - x, i - y, to_x - from_x);
    };
    {
      std::unique_lock lock(mutex_);
      if (const Pixels kept = cache_.find(number)) {
        lock.unlock();
        return copy(kept->get());
      }
    }
    // A tile that lies wholly in the block will hardly be requested again.
    const bool keep = to_x - from_x < width || to_y - from_y < height;
    const auto bytes = static_cast<std::size_t>(width * height * pixel);
    std::unique_ptr<char[]> kept;
    Buffers& buffers = buffers_[static_cast<std::size_t>(worker)];
    if (!straight_ || !keep) buffers.decoded.resize(decoded_bytes_);
    if (keep) kept.reset(new char[bytes]);
    char* const decoded = straight_ && keep ? kept.get() : buffers.decoded.data();
    source_->decode(worker, column, row, decoded);
    ++decoded_;
    char* chosen = decoded;
    if (!straight_) {
      if (!keep) buffers.chosen.resize(bytes);
      chosen = keep ? kept.get() : buffers.chosen.data();
      take_channels(layout_.type, layout_.choice, decoded, layout_.channels, width * height, chosen);
    }
    copy(chosen);
    if (!keep) return;
    auto pixels = std::make_shared<const std::unique_ptr<char[]>>(std::move(kept));
    const std::lock_guard lock(mutex_);
    cache_.add(number, std::move(pixels), bytes);
  }

  struct Buffers {
    std::vector<char> decoded, chosen;
  };
  std::string name_;
  std::unique_ptr<TileSource> source_;
  TileLayout layout_;
  Shape shape_;
  std::int64_t columns_ = 0;
  bool straight_ = false;
  std::uint64_t decoded_bytes_ = 0, memory_ = 0;
  int workers_ = 1;
  std::vector<Buffers> buffers_;
  std::mutex mutex_;
  TileCache cache_;
  std::atomic<std::uint64_t> decoded_{0};
};

}  // namespace

std::unique_ptr<LargePicture> picture_of_tiles(std::string name, std::unique_ptr<TileSource> source,
                                               const ReadOptions& options) {
  return std::make_unique<PictureOfTiles>(std::move(name), std::move(source), options);
}

}  // namespace areal::media
