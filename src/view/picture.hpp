#pragma once
// A picture in memory that answers what a page shows of it: statistics of regions, and tiles.

#include <areal/array.hpp>
#include <areal/region.hpp>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#include "view/pyramid.hpp"
#include "view/survey.hpp"

namespace areal::view {

struct PictureOptions {
  std::int64_t bins = 256;
  std::optional<std::pair<double, double>> range = {};  // of the histogram; none: default_range
  std::uint64_t store_memory = 0;                       // bytes for all stores together
  int threads = 0;
};

/// A tile: a header of 20 bytes, then rows of interleaved channels. The header: "artl", then version 1, type, channels
/// (bytes), 0, width, height (16u), scale and offset (32f), all little-endian. Type 0 is 8u; type 1 is 16u, of which
/// 65535 stands for NaN. A pixel's value is offset + scale * entry.
inline constexpr std::size_t tile_header_bytes = 20;

class Picture {
 public:
  /// `planes`: planar channels, one image. `names`: a name each. `luma`, unless empty: one more channel, which comes
  /// first; the planes are then red, green and blue, and can be drawn together. Throws InvalidArgument for an empty
  /// picture, one of 2^31 pixels or more, and options that Binning::uniform refuses.
  Picture(Array planes, std::vector<std::string> names, Array luma, const PictureOptions& options);
  ~Picture();
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;

  std::int64_t width() const noexcept { return planes_.shape().width; }
  std::int64_t height() const noexcept { return planes_.shape().height; }
  Type type() const noexcept { return planes_.type(); }
  /// The names of the channels.
  const std::vector<std::string>& names() const noexcept { return names_; }
  std::size_t channels() const noexcept { return names_.size(); }
  /// Valid as long as the picture.
  const ConstView& pixels(std::size_t channel) const { return channels_.at(channel)->pixels; }
  /// The number under which `tile` draws red, green and blue together: one more than the last channel's.
  std::optional<std::size_t> colour() const noexcept;
  const std::vector<Extent>& levels() const noexcept { return levels_; }
  std::pair<double, double> range() const noexcept { return range_; }
  std::int64_t bins() const noexcept { return options_.bins; }
  /// The values that type 1 of a tile tells apart, its black and its white; for 8u 0 and 255.
  std::pair<double, double> drawn() const noexcept { return drawn_; }

  /// The first question about a channel begins its survey, on a thread of the picture; until that is complete, answers
  /// come from the region's pixels. Throws InvalidArgument for a region outside the picture. For any thread.
  Answer answer(std::size_t channel, const Region& region) const;
  /// The first tile of a channel makes its pyramid: O(H W). Numbers must be of a tile: see `has_tile`. For any thread.
  std::string tile(std::size_t channel, std::size_t level, std::int64_t column, std::int64_t row) const;
  bool has_tile(std::uint64_t channel, std::uint64_t level, std::uint64_t column, std::uint64_t row) const noexcept;
  /// The picture as drawn, 8u: red, green and blue, or a channel between black and white.
  Array drawing(std::size_t channel, std::pair<double, double> black_and_white) const;

  /// Bytes of a picture besides its stores: pixels and pyramids.
  static std::uint64_t bytes(const Extent& full, std::int64_t channels, Type type);

 private:
  struct Channel {
    ConstView pixels;
    std::once_flag asked, halved;
    std::unique_ptr<Survey> survey;
    std::unique_ptr<const Pyramid> pyramid;
  };
  const Pyramid& pyramid(std::size_t channel) const;
  void make_surveys();

  Array planes_, luma_;
  std::vector<std::string> names_;
  PictureOptions options_;
  std::vector<Extent> levels_;
  std::pair<double, double> range_, drawn_;
  std::vector<std::unique_ptr<Channel>> channels_;

  mutable std::mutex lock_;
  mutable std::condition_variable changed_;
  mutable std::deque<Survey*> wanted_;
  bool ends_ = false;
  std::thread surveyor_;
};

}  // namespace areal::view
