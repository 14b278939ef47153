#pragma once
// The readers of an image and of what comes with it.

#include <areal/pieces.hpp>
#include <string>
#include <vector>
#include "pieces/core/work.hpp"

namespace areal::pieces {

class Inputs {
 public:
  /// `name`: of what the form reads beside the image, "mask" or "weights". Throws InvalidArgument for a reader that is
  /// missing, or one that nothing asks for.
  Inputs(const Form& form, const ImageReader& read, const ImageReader& second, const std::string& name);

  std::size_t count() const noexcept { return readers_.size(); }
  /// Of the input `which`: `buffer`, filled, or memory of the image's own, as ImageReader says. Throws InvalidArgument
  /// for a block of another shape or type.
  ConstView read(std::size_t which, std::int64_t x, std::int64_t y, const View& buffer) const;

 private:
  std::vector<ImageReader> readers_;
  std::vector<std::string> names_;
};

}  // namespace areal::pieces
