#include "view/picture.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>
#include "view/element.hpp"

namespace areal::view {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr double tile_whites = 65534;  // entries of a tile of type 1; 65535 stands for NaN

template <class T>
void put(std::string& to, std::size_t at, T value) {
  std::memcpy(to.data() + at, &value, sizeof value);
}

// The smallest and the largest finite value for a tile's entries.
std::pair<double, double> drawn_range(const std::vector<ConstView>& channels, const PictureOptions& options) {
  if (channels.front().type == Type::u8) return {0, 255};
  return options.range ? *options.range : default_range(channels);
}

}  // namespace

Picture::Picture(Array planes, std::vector<std::string> names, Array luma, const PictureOptions& options)
    : planes_(std::move(planes)), luma_(std::move(luma)), names_(std::move(names)), options_(options) {
  if (planes_.shape().empty()) throw InvalidArgument("the picture has no pixels");
  if (width() > ((std::int64_t{1} << 31) - 1) / height())
    throw InvalidArgument("a picture of " + std::to_string(width()) + "x" + std::to_string(height()) +
                          " pixels: it may have fewer than 2^31");
  levels_ = levels_of({width(), height()});
  std::vector<ConstView> views;
  if (!luma_.shape().empty()) {
    names_.insert(names_.begin(), "luma");
    views.push_back(std::as_const(luma_).view());
  }
  for (std::int64_t c = 0; c < planes_.shape().channels; ++c) views.push_back(plane(std::as_const(planes_).view(), c));
  range_ = options.range ? *options.range : default_range(views);
  drawn_ = drawn_range(views, options);
  Binning::uniform(options.bins, range_.first, range_.second);  // refuses what it refuses later
  for (const ConstView& view : views) {
    channels_.push_back(std::make_unique<Channel>());
    channels_.back()->pixels = view;
  }
  surveyor_ = std::thread([this] { make_surveys(); });
}

Picture::~Picture() {
  {
    const std::lock_guard held(lock_);
    ends_ = true;
  }
  changed_.notify_one();
  surveyor_.join();
}

void Picture::make_surveys() {
  // Half of the processors remain for answers.
  const unsigned processors = std::thread::hardware_concurrency();
  const int threads = options_.threads != 0 ? options_.threads : std::max(1, static_cast<int>(processors / 2));
  std::uint64_t memory = options_.store_memory;
  std::unique_lock held(lock_);
  while (true) {
    changed_.wait(held, [&] { return ends_ || !wanted_.empty(); });
    if (ends_) return;
    Survey* const survey = wanted_.front();
    wanted_.pop_front();
    held.unlock();
    try {
      memory -= survey->make(memory, threads);
    } catch (const std::bad_alloc&) {  // answers go on from the pixels
      memory = 0;
    }
    held.lock();
  }
}

std::optional<std::size_t> Picture::colour() const noexcept {
  return luma_.shape().empty() ? std::nullopt : std::optional(channels_.size());
}

Answer Picture::answer(std::size_t number, const Region& region) const {
  Channel& channel = *channels_.at(number);
  std::call_once(channel.asked, [&] {
    channel.survey = std::make_unique<Survey>(channel.pixels, options_.bins, range_, options_.threads);
    const std::lock_guard held(lock_);
    wanted_.push_back(channel.survey.get());
    changed_.notify_one();
  });
  return channel.survey->answer(region);
}

const Pyramid& Picture::pyramid(std::size_t number) const {
  Channel& channel = *channels_.at(number);
  std::call_once(channel.halved, [&] { channel.pyramid = std::make_unique<Pyramid>(channel.pixels); });
  return *channel.pyramid;
}

bool Picture::has_tile(std::uint64_t channel, std::uint64_t level, std::uint64_t column,
                       std::uint64_t row) const noexcept {
  const auto tiles = [](std::int64_t extent) {
    return static_cast<std::uint64_t>((extent + tile_side - 1) / tile_side);
  };
  return (channel < channels() || colour() == channel) && level < levels_.size() &&
         column < tiles(levels_[level].width) && row < tiles(levels_[level].height);
}

std::string Picture::tile(std::size_t channel, std::size_t level, std::int64_t column, std::int64_t row) const {
  const bool in_colour = channel == colour();
  const std::size_t planes = in_colour ? 3 : 1, first = in_colour ? 1 : channel;
  const Extent& extent = levels_.at(level);
  const std::int64_t x0 = column * tile_side, y0 = row * tile_side;
  const std::int64_t wide = std::min(tile_side, extent.width - x0), high = std::min(tile_side, extent.height - y0);
  const bool is_bytes = type() == Type::u8;
  const std::size_t entry = is_bytes ? 1 : 2;
  std::string tile(tile_header_bytes + static_cast<std::size_t>(wide * high) * planes * entry, '\0');
  std::memcpy(tile.data(), "artl\1", 5);
  const double scale = is_bytes ? 1 : (drawn_.second - drawn_.first) / tile_whites,
               offset = is_bytes ? 0 : drawn_.first;
  put(tile, 5, static_cast<std::uint8_t>(is_bytes ? 0 : 1));
  put(tile, 6, static_cast<std::uint8_t>(planes));
  put(tile, 8, static_cast<std::uint16_t>(wide));
  put(tile, 10, static_cast<std::uint16_t>(high));
  put(tile, 12, static_cast<float>(scale));
  put(tile, 16, static_cast<float>(offset));
  for (std::size_t p = 0; p < planes; ++p) {
    const ConstView& from = pyramid(first + p).level(level);
    with_type(from.type, [&]<class T>(T*) {
      for (std::int64_t y = 0; y < high; ++y) {
        char* to = tile.data() + tile_header_bytes + (static_cast<std::size_t>(y * wide) * planes + p) * entry;
        const void* pixels = from.row(y0 + y);
        for (std::int64_t x = 0; x < wide; ++x, to += planes * entry) {
          const auto value = element<T>(pixels, x0 + x);
          if constexpr (std::is_same_v<T, std::uint8_t>) {
            *to = static_cast<char>(value);
          } else {
            const double at = std::clamp((static_cast<double>(value) - offset) / scale, 0.0, tile_whites);
            const auto whole = std::isnan(at) ? std::uint16_t{65535} : static_cast<std::uint16_t>(std::lround(at));
            std::memcpy(to, &whole, sizeof whole);
          }
        }
      }
    });
  }
  return tile;
}

Array Picture::drawing(std::size_t channel, std::pair<double, double> black_and_white) const {
  const bool in_colour = channel == colour();
  const std::int64_t planes = in_colour ? 3 : 1;
  const double black = black_and_white.first, width_of_grays = black_and_white.second - black;
  const double scale = width_of_grays > 0 ? 255 / width_of_grays : 0;
  Array drawing(Shape{width(), height(), planes}, Type::u8);
  for (std::int64_t p = 0; p < planes; ++p) {
    const ConstView& from =
        channels_.at(static_cast<std::size_t>(in_colour ? p + 1 : static_cast<std::int64_t>(channel)))->pixels;
    with_type(from.type, [&]<class T>(T*) {
      for (std::int64_t y = 0; y < height(); ++y) {
        auto* to = static_cast<std::uint8_t*>(drawing.view().row(y, p));
        for (std::int64_t x = 0; x < width(); ++x) {
          const double at = (static_cast<double>(element<T>(from.row(y), x)) - black) * scale;
          to[x * planes] = at > 0 ? static_cast<std::uint8_t>(std::lround(std::min(at, 255.0))) : std::uint8_t{0};
        }
      }
    });
  }
  return drawing;
}

std::uint64_t Picture::bytes(const Extent& full, std::int64_t channels, Type type) {
  const Shape shape{full.width, full.height, channels};
  return bytes_of(shape, type) + static_cast<std::uint64_t>(channels) * Pyramid::bytes(full, type);
}

}  // namespace areal::view
