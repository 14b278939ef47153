#pragma once
// One image of any size, read block by block: a synthetic one, or what media/ reads so.

#include <areal/image_reader.hpp>
#include <memory>
#include <optional>
#include "input.hpp"
#include "media/media.hpp"
#include "settings.hpp"
#include "synthetic.hpp"

namespace areal::command {

/// One channel, luma where the input has colour; or all colour channels, interleaved.
class LargeImage {
 public:
  /// `memory`: bytes that reading may hold; 0: media's default. Throws InvalidArgument for what is no single image, and
  /// what media throws.
  LargeImage(const InputOptions& input, std::uint64_t memory, const Settings& settings);

  Shape shape() const noexcept;
  Type type() const noexcept;
  /// Bytes that reading holds.
  std::uint64_t memory() const;
  /// Of this image, which must stay. One thread at a time.
  ImageReader reader() const;

 private:
  std::optional<SyntheticImage> synthetic_;
  std::unique_ptr<media::LargePicture> picture_;
};

}  // namespace areal::command
