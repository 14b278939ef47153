#pragma once
// Synthetic sequences with a known truth: a patch of one picture moves over another.

#include <areal/array.hpp>
#include <areal/track.hpp>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace areal::bench {

/// What a family of sequences has besides motion and noise.
struct TrackFamily {
  const char* name;
  bool has_scale, has_occluder, has_twin, has_gain;
};
inline constexpr TrackFamily track_families[] = {{"plain", false, false, false, false},
                                                 {"scale", true, false, false, false},
                                                 {"occluded", false, true, false, false},
                                                 {"twin", false, false, true, false},
                                                 {"all", true, true, true, true}};

/// The 8u luma of the folder's PNG and JPEG pictures, by name. Throws IoError where there are fewer than two of at
/// least that size.
std::vector<Array> track_pictures(const std::string& folder, std::int64_t width, std::int64_t height);

/// Sequence `number` takes its patch from the pictures in turn, over another picture. The patch is, of 16 random pieces
/// of 40 to 60 pixels along each axis, the one with the largest deviation. It and the background follow sines of random
/// phase, the patch at no more than 3.5 pixels a frame along each axis, the background at 1.5. Noise of sigma 4. The
/// scale goes from 1 through 1.35 and 0.65, or the other way round, in 120 frames. The occluder, a piece of another
/// picture than the patch, covers a random half of the patch for 30 frames of 50. The twin, the patch with swapped
/// quadrants, circles the patch slowly, next to it. The gain of the whole frame swings by 8 % in 40 frames.
class TrackScene {
 public:
  TrackScene(std::span<const Array> pictures, const TrackFamily& family, std::int64_t number, std::uint64_t seed,
             std::int64_t width, std::int64_t height);
  /// The truth of a frame; of frame 0 in whole pixels.
  TrackedBox truth(std::int64_t frame) const;
  /// The next frame, 8u.
  void draw(std::int64_t frame, const View& out);

 private:
  struct Wave {
    double middle, reach, speed, phase;
    double at(std::int64_t frame) const;
  };
  struct Piece {
    const Array* picture = nullptr;
    std::int64_t x = 0, y = 0;
  };
  double uniform(double lo, double hi);
  std::int64_t whole(std::int64_t lo, std::int64_t hi);
  Wave wave(double lo, double hi, double fastest);
  Piece most_varied(const Array& picture);
  void paint(const Piece& piece, const TrackedBox& box, const TrackedBox& visible, bool is_twin);
  void paint_occluder(std::int64_t frame, const TrackedBox& box);

  TrackFamily family_;
  std::mt19937_64 random_;
  std::int64_t width_, height_, patch_width_ = 0, patch_height_ = 0;
  const Array* background_ = nullptr;
  Piece patch_, occluder_;
  Wave pan_x_{}, pan_y_{}, move_x_{}, move_y_{};
  double scale_sign_ = 1, twin_phase_ = 0;
  std::vector<int> halves_;     // covered by the occluder in turns
  std::vector<double> canvas_;  // without noise
};

}  // namespace areal::bench
