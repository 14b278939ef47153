#include "track_drawing.hpp"

#include <fmt/format.h>
#include <areal/error.hpp>
#include <filesystem>
#include "media/media.hpp"
#include "numbers.hpp"
#include "pixels.hpp"

namespace areal::command {
namespace {

Array drawn(const Item& frame, std::span<const TrackedBox> boxes) {
  std::vector<media::NamedRegion> regions;
  for (const TrackedBox& box : boxes) regions.push_back({box.region(), ""});
  return media::draw_regions(to_8u(frame.pixels.view()).view(), regions);
}

class FirstFrame final : public TrackDrawing {
 public:
  explicit FirstFrame(std::string path) : path_(std::move(path)) {}
  void put(const Item& frame, std::span<const TrackedBox> boxes) override {
    if (!done_) media::write_picture(path_, drawn(frame, boxes).view());
    done_ = true;
  }

 private:
  std::string path_;
  bool done_ = false;
};

class PictureFolder final : public TrackDrawing {
 public:
  explicit PictureFolder(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) throw IoError(folder_.string() + ": cannot be made: " + error.message());
  }
  void put(const Item& frame, std::span<const TrackedBox> boxes) override {
    media::write_picture(folder_ / fmt::format("{:06}.png", frame.number), drawn(frame, boxes).view());
  }

 private:
  std::filesystem::path folder_;
};

class DrawnVideo final : public TrackDrawing {
 public:
  DrawnVideo(std::string path, double rate) : path_(std::move(path)), rate_(rate > 0 ? rate : 25) {}
  void put(const Item& frame, std::span<const TrackedBox> boxes) override {
    const Array picture = drawn(frame, boxes);
    if (!video_) video_ = media::open_video_writer(path_, picture.shape().width, picture.shape().height, rate_);
    video_->write(picture.view());
  }
  void finish() override {
    if (video_) video_->finish();
  }

 private:
  std::string path_;
  double rate_;
  std::unique_ptr<media::VideoWriter> video_;
};

}  // namespace

std::unique_ptr<TrackDrawing> drawing_to(const std::string& name, double frames_per_second) {
  for (const char* extension : {".mp4", ".avi", ".mkv"})
    if (name.ends_with(extension)) return std::make_unique<DrawnVideo>(name, frames_per_second);
  if (name.ends_with('/')) return std::make_unique<PictureFolder>(name);
  if (name.ends_with(".png") || name.ends_with(".jpg")) return std::make_unique<FirstFrame>(name);
  refuse("--draw ", name,
         ": may be a video, .mp4, .avi or .mkv, a picture, .png or .jpg, or a folder, whose name ends in /");
}

}  // namespace areal::command
