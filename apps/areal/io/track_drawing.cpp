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

}  // namespace

std::unique_ptr<TrackDrawing> drawing_to(const std::string& name) {
  if (name.ends_with('/')) return std::make_unique<PictureFolder>(name);
  if (name.ends_with(".png") || name.ends_with(".jpg")) return std::make_unique<FirstFrame>(name);
  refuse("--draw ", name, ": may be a picture, .png or .jpg, or a folder, whose name ends in /");
}

}  // namespace areal::command
