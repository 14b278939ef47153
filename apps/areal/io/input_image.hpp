#pragma once
// One image of any size, read block by block: a synthetic one, a file, or what a stream or raw pixels held.

#include <areal/array.hpp>
#include <areal/image_reader.hpp>
#include <areal/tiled.hpp>
#include <functional>
#include <memory>
#include <optional>
#include "input.hpp"
#include "media/media.hpp"
#include "settings.hpp"
#include "synthetic.hpp"

namespace areal::command {

/// One channel, luma where the input has colour; or all colour channels, interleaved. Readers keep referring to it.
class InputImage {
 public:
  /// `memory`: bytes that reading may hold; 0: media's default. Throws InvalidArgument for what is no single image, and
  /// what media throws.
  InputImage(const InputOptions& input, std::uint64_t memory, const Settings& settings);

  const Shape& shape() const noexcept;
  Type type() const noexcept;
  /// Bytes that reading holds.
  std::uint64_t memory() const;

  /// One thread at a time, as the others.
  ImageReader reader() const;
  /// Pixels as another type, which holds them.
  ImageReader reader(Type type) const;
  ImageRows rows(Type type) const;
  /// Throws OutOfMemory where more is asked for than is free.
  Array whole() const;
  /// All rows from the top down, a few MiB at a time.
  void each_band(const Settings& settings, const std::function<void(const ConstView&)>& take) const;

 private:
  void read(std::int64_t x, std::int64_t y, const View& block) const;

  std::string name_;
  std::optional<SyntheticImage> synthetic_;
  std::unique_ptr<media::LargePicture> picture_;
  Array loaded_;
};

/// Of a mask or of weights: one channel, luma where it has colour.
InputOptions plane_options(const std::string& path);
/// A picture as a mask: 255 where it is not 0.
ImageReader mask_reader(const InputImage& image);

}  // namespace areal::command
