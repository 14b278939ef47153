#include "bench/harness/track_scenes.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <cmath>
#include <filesystem>
#include <numbers>
#include "io/pixels.hpp"
#include "media/media.hpp"

namespace areal::bench {
namespace {

constexpr double turn = 2 * std::numbers::pi;
constexpr std::int64_t least_patch = 40, most_patch = 60;
constexpr double largest_scale = 1.35, noise = 4;
constexpr double patch_speed = 3.5, pan_speed = 1.5;  // pixels a frame, at most
constexpr std::int64_t scale_period = 120, twin_period = 150, gain_period = 40;
constexpr std::int64_t occluder_period = 50, occluder_from = 15, occluder_to = 45;

double sine(std::int64_t frame, std::int64_t period, double phase) {
  return std::sin(turn * static_cast<double>(frame) / static_cast<double>(period) + phase);
}

double deviation(const Array& picture, std::int64_t x0, std::int64_t y0, std::int64_t width, std::int64_t height) {
  double sum = 0, squares = 0;
  for (std::int64_t y = y0; y < y0 + height; ++y)
    for (std::int64_t x = x0; x < x0 + width; ++x) {
      const double value = picture.as<std::uint8_t>()[y * picture.shape().width + x];
      sum += value, squares += value * value;
    }
  const auto n = static_cast<double>(width * height);
  return std::sqrt(std::max(0.0, squares / n - sum / n * (sum / n)));
}

// Between the centres of four pixels, the nearest inside [x0, x0 + width) x [y0, y0 + height).
double sample(const Array& picture, const Region& inside, double x, double y) {
  const double u = std::clamp(x - 0.5, 0.0, static_cast<double>(inside.width - 1));
  const double v = std::clamp(y - 0.5, 0.0, static_cast<double>(inside.height - 1));
  const auto i = static_cast<std::int64_t>(u), j = static_cast<std::int64_t>(v);
  const std::int64_t right = std::min(i + 1, inside.width - 1), below = std::min(j + 1, inside.height - 1);
  const auto at = [&](std::int64_t column, std::int64_t row) {
    return static_cast<double>(
        picture.as<std::uint8_t>()[(inside.y + row) * picture.shape().width + inside.x + column]);
  };
  const double a = u - static_cast<double>(i), b = v - static_cast<double>(j);
  return (at(i, j) * (1 - a) + at(right, j) * a) * (1 - b) + (at(i, below) * (1 - a) + at(right, below) * a) * b;
}

}  // namespace

std::vector<Array> track_pictures(const std::string& folder, std::int64_t width, std::int64_t height) {
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".png" || extension == ".jpg") paths.push_back(entry.path());
  }
  if (error) throw IoError(folder + ": is no folder of pictures; bench track reads areal's data/");
  std::sort(paths.begin(), paths.end());
  std::vector<Array> pictures;
  for (const auto& path : paths) {
    Array picture = command::to_8u(media::read_picture(path).pixels.view());
    if (picture.shape().width >= width && picture.shape().height >= height) pictures.push_back(std::move(picture));
  }
  if (pictures.size() < 2)
    throw IoError(folder + ": holds " + std::to_string(pictures.size()) + " pictures of " + std::to_string(width) +
                  "x" + std::to_string(height) + " pixels or more, bench track needs 2");
  return pictures;
}

double TrackScene::Wave::at(std::int64_t frame) const {
  return middle + reach * std::sin(speed * static_cast<double>(frame) + phase);
}
double TrackScene::uniform(double lo, double hi) {
  return lo + (hi - lo) * static_cast<double>(random_() >> 11) * 0x1p-53;
}
std::int64_t TrackScene::whole(std::int64_t lo, std::int64_t hi) {
  return lo + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(hi - lo + 1));
}
TrackScene::Wave TrackScene::wave(double lo, double hi, double fastest) {
  const double reach = (hi - lo) / 2;
  return {(lo + hi) / 2, reach, reach > 0 ? uniform(0.4, 1) * fastest / reach : 0, uniform(0, turn)};
}

TrackScene::Piece TrackScene::most_varied(const Array& picture) {
  constexpr int tries = 16;
  Piece best;
  double most = -1;
  for (int i = 0; i < tries; ++i) {
    const Piece piece{&picture, whole(0, picture.shape().width - patch_width_),
                      whole(0, picture.shape().height - patch_height_)};
    const double found = deviation(picture, piece.x, piece.y, patch_width_, patch_height_);
    if (found > most) best = piece, most = found;
  }
  return best;
}

TrackScene::TrackScene(std::span<const Array> pictures, const TrackFamily& family, std::int64_t number,
                       std::uint64_t seed, std::int64_t width, std::int64_t height)
    : family_(family), random_(seed + static_cast<std::uint64_t>(number)), width_(width), height_(height) {
  const auto last = static_cast<std::int64_t>(pictures.size()) - 1;
  const std::int64_t of_patch = number % (last + 1), ground = (of_patch + whole(1, last)) % (last + 1);
  background_ = &pictures[static_cast<std::size_t>(ground)];
  patch_width_ = whole(least_patch, most_patch);
  patch_height_ = whole(least_patch, most_patch);
  patch_ = most_varied(pictures[static_cast<std::size_t>(of_patch)]);
  occluder_ = most_varied(pictures[static_cast<std::size_t>((of_patch + whole(1, last)) % (last + 1))]);
  pan_x_ = wave(0, static_cast<double>(background_->shape().width - width), pan_speed);
  pan_y_ = wave(0, static_cast<double>(background_->shape().height - height), pan_speed);
  const double largest_width = static_cast<double>(patch_width_) * largest_scale;
  const double largest_height = static_cast<double>(patch_height_) * largest_scale;
  move_x_ = wave(largest_width / 2 + 1, static_cast<double>(width) - largest_width / 2 - 1, patch_speed);
  move_y_ = wave(largest_height / 2 + 1, static_cast<double>(height) - largest_height / 2 - 1, patch_speed);
  // The first box in whole pixels.
  const auto align = [](Wave& wave, std::int64_t size) {
    const double left = wave.at(0) - static_cast<double>(size) / 2;
    wave.middle += std::floor(left + 0.5) - left;
  };
  align(move_x_, patch_width_);
  align(move_y_, patch_height_);
  scale_sign_ = whole(0, 1) == 0 ? -1 : 1;
  twin_phase_ = uniform(0, turn);
  for (int i = 0; i < 4; ++i) halves_.push_back(static_cast<int>(whole(0, 3)));
  canvas_.resize(static_cast<std::size_t>(width * height));
}

TrackedBox TrackScene::truth(std::int64_t frame) const {
  const double scale = family_.has_scale ? 1 + scale_sign_ * (largest_scale - 1) * sine(frame, scale_period, 0) : 1;
  const double width = static_cast<double>(patch_width_) * scale, height = static_cast<double>(patch_height_) * scale;
  return {move_x_.at(frame) - width / 2, move_y_.at(frame) - height / 2, width, height, 0};
}

// The piece stretched over the box; of it, the pixels whose centres are visible.
void TrackScene::paint(const Piece& piece, const TrackedBox& box, const TrackedBox& visible, bool is_twin) {
  const Region source{piece.x, piece.y, patch_width_, patch_height_};
  const auto w = static_cast<double>(patch_width_), h = static_cast<double>(patch_height_);
  const auto first = [](double edge) {
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(edge - 0.5)));
  };
  const std::int64_t x1 = std::min(width_, first(visible.x + visible.width));
  const std::int64_t y1 = std::min(height_, first(visible.y + visible.height));
  for (std::int64_t y = first(visible.y); y < y1; ++y)
    for (std::int64_t x = first(visible.x); x < x1; ++x) {
      double u = (static_cast<double>(x) + 0.5 - box.x) / box.width * w;
      double v = (static_cast<double>(y) + 0.5 - box.y) / box.height * h;
      if (is_twin) u = std::fmod(u + w / 2, w), v = std::fmod(v + h / 2, h);
      canvas_[static_cast<std::size_t>(y * width_ + x)] = sample(*piece.picture, source, u, v);
    }
}

void TrackScene::paint_occluder(std::int64_t frame, const TrackedBox& box) {
  const std::int64_t at = frame % occluder_period;
  if (at < occluder_from || at >= occluder_to) return;
  TrackedBox half = box;
  switch (halves_[static_cast<std::size_t>(frame / occluder_period) % halves_.size()]) {
    case 0:
      half.width /= 2;
      break;
    case 1:
      half.x += box.width / 2, half.width /= 2;
      break;
    case 2:
      half.height /= 2;
      break;
    default:
      half.y += box.height / 2, half.height /= 2;
  }
  paint(occluder_, box, half, false);
}

void TrackScene::draw(std::int64_t frame, const View& out) {
  const Array& ground = *background_;
  const Region all{0, 0, ground.shape().width, ground.shape().height};
  const double left = pan_x_.at(frame), top = pan_y_.at(frame);
  for (std::int64_t y = 0; y < height_; ++y)
    for (std::int64_t x = 0; x < width_; ++x)
      canvas_[static_cast<std::size_t>(y * width_ + x)] =
          sample(ground, all, left + static_cast<double>(x) + 0.5, top + static_cast<double>(y) + 0.5);
  const TrackedBox box = truth(frame);
  if (family_.has_twin) {
    constexpr double apart = 1.3;
    TrackedBox twin = box;
    const double angle = turn * static_cast<double>(frame) / static_cast<double>(twin_period) + twin_phase_;
    // On the rim of a rectangle around the patch, so that the two hardly meet.
    const double c = std::cos(angle), s = std::sin(angle), rim = std::max(std::abs(c), std::abs(s));
    twin.x += apart * box.width * c / rim;
    twin.y += apart * box.height * s / rim;
    paint(patch_, twin, twin, true);
  }
  paint(patch_, box, box, false);
  if (family_.has_occluder) paint_occluder(frame, box);
  const double gain = family_.has_gain ? 1 + 0.08 * sine(frame, gain_period, 0) : 1;
  for (std::int64_t y = 0; y < height_; ++y) {
    auto* const row = static_cast<std::uint8_t*>(out.row(y));
    for (std::int64_t x = 0; x < width_; ++x) {
      // The sum of four uniform numbers has the variance 4 / 12.
      const std::uint64_t bits = random_();
      double sum = -2;
      for (int part = 0; part < 4; ++part) sum += static_cast<double>((bits >> (16 * part)) & 0xffff) * 0x1p-16;
      const double value = canvas_[static_cast<std::size_t>(y * width_ + x)] * gain + noise * std::sqrt(3.0) * sum;
      row[x] = static_cast<std::uint8_t>(std::clamp(value + 0.5, 0.0, 255.0));
    }
  }
}

}  // namespace areal::bench
