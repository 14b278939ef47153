#pragma once
// A picture that need not fit memory. One pass over its pixels makes a grid of cells for each channel and the picture
// reduced; until it has passed a region, answers come from the region's pixels.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#include "view/grid.hpp"
#include "view/scene.hpp"

namespace areal::view {

/// Reads the pixels from column x and row y on into planes, one for each channel of the scene. For one thread at a
/// time.
using ReadPlanes = std::function<void(std::int64_t x, std::int64_t y, const View& planes)>;

/// The picture at full size, or a smaller one of its own.
struct PictureLevel {
  Extent extent;
  Extent block;  // at multiples of it, blocks are read without decoding anything twice
  ReadPlanes read;
};

struct PictureSource {
  Type type = Type::u8;
  std::vector<std::string> names;
  bool has_colour = false;           // the channels are luma, red, green and blue
  std::vector<PictureLevel> levels;  // the first has the full size
  ReadPlanes survey;                 // of the first level, for another thread
  bool decodes = false;              // reading takes long: answers of a drag may be rounded
};

struct PictureOnDiskOptions {
  std::int64_t bins = 256;
  std::optional<std::pair<double, double>> range = {};  // of the histogram; none: of a sample
  std::uint64_t memory = 0;                             // bytes for grids, the reduced picture and blocks
  int threads = 0;
};

class PictureOnDisk final : public Scene {
 public:
  /// An answer counts at most this many pixels that the survey has not passed. During a drag, whose answers are due in
  /// 16 ms, it decodes fewer.
  static constexpr std::int64_t most_counted = std::int64_t{16} << 20;
  static constexpr std::int64_t most_counted_in_drag = std::int64_t{4} << 20;

  /// Throws InvalidArgument for options that Binning::uniform refuses, OutOfMemory for too little memory, and what
  /// reading throws.
  PictureOnDisk(PictureSource source, const PictureOnDiskOptions& options);
  ~PictureOnDisk() override;

  /// Whole cells come from the grid, edges from the pixels. Where the survey has not passed, up to 16 megapixels are
  /// counted, and larger regions are pending. Of an answer that is not final, if the source decodes, up to 4 megapixels
  /// are counted there, and elsewhere it is rounded to the grid unless the edges are few.
  Answer answer(std::size_t channel, const Region& region, bool final = true) const override;
  Surveyed surveyed() const override;
  void on_survey(std::function<void()> call) override;

  /// Of cells, in pixels.
  std::int64_t grid_side() const noexcept { return grids_.front()->side(); }
  /// The level of the reduced picture.
  std::size_t reduced_level() const noexcept { return reduced_level_; }

 private:
  static Facts facts_of(const PictureSource& source, const PictureOnDiskOptions& options, const Array& sample);
  PictureOnDisk(PictureSource source, const PictureOnDiskOptions& options, Array sample);
  void with_pixels(std::size_t first, std::size_t count, std::size_t level, const Region& region,
                   const std::function<void(std::size_t, const ConstView&)>& take) const override;
  void with_file_pixels(std::size_t first, std::size_t count, std::size_t level, const Region& region,
                        const std::function<void(std::size_t, const ConstView&)>& take) const;
  void range_changed() override;
  void survey();
  void stop_survey();
  /// Waits while answers are computed; false if the picture ends.
  bool my_turn();
  void passed(std::int64_t rows);
  Extent survey_block() const;
  /// Calls `take` with the channel's pixels of a region, block by block.
  void each_block(std::size_t channel, const Region& region, const Grid::Pixels& take) const;

  PictureSource source_;
  PictureOnDiskOptions options_;
  std::vector<std::size_t> level_shifts_;  // of source_.levels: the scene's level that each one is
  std::size_t reduced_level_ = 0;
  Array reduced_;  // planes
  std::vector<std::unique_ptr<Grid>> grids_;
  std::vector<std::unique_ptr<const Pyramid>> pyramids_;  // of reduced_, when the survey is complete

  mutable std::mutex reading_;       // source_.levels
  mutable std::mutex reduced_lock_;  // reduced_, until the survey is complete
  mutable std::mutex lock_;          // what follows, but for complete_
  mutable std::condition_variable turn_;
  mutable int answering_ = 0;
  bool ends_ = false;
  Surveyed surveyed_;
  std::function<void()> on_survey_;
  std::atomic<bool> complete_ = false;
  std::thread surveyor_;
};

}  // namespace areal::view
