#include "large_image.hpp"

#include "numbers.hpp"

namespace areal::command {

LargeImage::LargeImage(const InputOptions& input, std::uint64_t memory, const Settings& settings) {
  if (!input.raw.empty()) refuse("--raw: raw pixels are not read by blocks; a picture and an .npy are");
  if (SyntheticImage::is_name(input.path)) {
    if (const std::string choice = input.choice(); !choice.empty())
      refuse(choice, ": ", input.path, " has one channel and one level");
    synthetic_.emplace(input.path);
    return;
  }
  if (input.path == "-") refuse("-: a stream cannot be read by blocks; a file can");
  media::ReadOptions options = read_options(input);
  options.memory_limit = memory;
  options.threads = settings.threads;
  picture_ = media::open_large_picture(input.path, options);
  for (const std::string& note : picture_->notes()) settings.note("{}: {}", input.path, note);
}

Shape LargeImage::shape() const noexcept { return synthetic_ ? synthetic_->shape() : picture_->shape(); }

Type LargeImage::type() const noexcept { return synthetic_ ? Type::u8 : picture_->type(); }

std::uint64_t LargeImage::memory() const { return synthetic_ ? 0 : picture_->memory(); }

ImageReader LargeImage::reader() const {
  if (synthetic_) return [this](std::int64_t x, std::int64_t y, const View& block) { synthetic_->read(x, y, block); };
  return [this](std::int64_t x, std::int64_t y, const View& block) { picture_->read(x, y, block); };
}

}  // namespace areal::command
