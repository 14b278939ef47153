#pragma once
// A picture in memory.

#include <areal/array.hpp>
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
#include "view/scene.hpp"
#include "view/survey.hpp"

namespace areal::view {

struct PictureOptions {
  std::int64_t bins = 256;
  std::optional<std::pair<double, double>> range = {};  // of the histogram; none: default_range
  std::uint64_t store_memory = 0;                       // bytes for all stores together; 0: no surveys
  int threads = 0;
};

class Picture final : public Scene {
 public:
  /// `planes`: planar channels, one image. `names`: a name each. `luma`, unless empty: one more channel, which comes
  /// first; the planes are then red, green and blue, and can be drawn together. Throws InvalidArgument for an empty
  /// picture, one of 2^31 pixels or more, and options that Binning::uniform refuses.
  Picture(Array planes, std::vector<std::string> names, Array luma, const PictureOptions& options);
  ~Picture() override;
  std::optional<ConstView> pixels(std::size_t channel) const override { return channels_.at(channel)->pixels; }

  /// The first question about a channel begins its survey, on a thread of the picture; until that is complete, answers
  /// come from the region's pixels.
  Answer answer(std::size_t channel, const Region& region, bool final = true) const override;
  /// The first tile of a channel makes its pyramid: O(H W).
  void with_pixels(std::size_t first, std::size_t count, std::size_t level, const Region& region,
                   const std::function<void(std::size_t, const ConstView&)>& take) const override;

  /// Bytes of a picture besides its stores: pixels and pyramids.
  static std::uint64_t bytes(const Extent& full, std::int64_t channels, Type type);

 private:
  struct Channel {
    ConstView pixels;
    std::once_flag halved;
    std::unique_ptr<const Pyramid> pyramid;
    // Under the lock:
    std::shared_ptr<Survey> survey;  // null until the first question after a change of the range
    std::uint64_t store_bytes = 0;   // of that survey
  };
  const Pyramid& pyramid(std::size_t channel) const;
  std::shared_ptr<Survey> survey_of(Channel& channel) const;
  void make_surveys() const;
  void range_changed() override;

  static Facts facts_of(const Array& planes, std::vector<std::string> names, const Array& luma,
                        const PictureOptions& options);

  Array planes_, luma_;
  PictureOptions options_;
  std::vector<std::unique_ptr<Channel>> channels_;

  mutable std::mutex lock_;
  mutable std::condition_variable changed_;
  mutable std::deque<std::pair<Channel*, std::shared_ptr<Survey>>> wanted_;
  mutable std::uint64_t store_memory_;  // that is left
  bool ends_ = false;
  mutable std::thread surveyor_;
};

}  // namespace areal::view
