#pragma once
// One image of any size, read in blocks: a synthetic image, a file, a stream or raw pixels.

#include <areal/array.hpp>
#include <areal/pieces.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include "input.hpp"
#include "media/media.hpp"
#include "settings.hpp"
#include "synthetic.hpp"

namespace areal::command {

/// One channel (luma of a colour input), or all colour channels interleaved. Readers refer to the InputImage.
class InputImage {
 public:
  /// `memory`: the most bytes that readers hold; 0: media's default. Throws InvalidArgument if the input is not a
  /// single image, and media's exceptions.
  InputImage(const InputOptions& input, std::uint64_t memory, const Settings& settings);

  const Shape& shape() const noexcept;
  Type type() const noexcept;
  /// Bytes that readers hold.
  std::uint64_t memory() const;
  /// Blocks of this size, at multiples of it, are read without decoding anything twice.
  media::BlockSize block() const;
  /// Are blocks decoded when they are read?
  bool decodes() const;
  std::optional<media::PixelSize> pixel_size() const;
  /// What reading leaves out or converts.
  std::vector<std::string> notes() const;

  /// None of the readers is thread-safe.
  ImageReader reader() const;
  /// Converts pixels to a type that represents them exactly.
  ImageReader reader(Type type) const;
  /// Reads all pixels. Throws OutOfMemory if they need more memory than is free.
  Array whole() const;
  /// Passes all rows from the top down, a few MiB at a time.
  void each_band(const Settings& settings, const std::function<void(const ConstView&)>& take) const;

 private:
  ConstView read(std::int64_t x, std::int64_t y, const View& block) const;

  std::string name_;
  std::optional<SyntheticImage> synthetic_;
  std::unique_ptr<media::LargePicture> picture_;
  bool decodes_ = false;
  Array loaded_;
};

/// Options for reading a mask or weights: one channel, luma if the file has colour.
InputOptions plane_options(const std::string& path);
/// Reads 255 for pixels other than 0.
ImageReader mask_reader(const InputImage& image);

}  // namespace areal::command
