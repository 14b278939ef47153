#pragma once
// The input image, of which every rank reads its own rows.

#include <areal/array.hpp>
#include <areal/view.hpp>
#include <memory>
#include <string>

namespace areal::command {

class StripSource {
 public:
  virtual ~StripSource() = default;
  virtual Shape shape() const = 0;  ///< of the whole image, with one channel
  virtual Type type() const = 0;
  /// Reads rows. The view is valid until the next call. Throws IoError, OutOfMemory.
  virtual ConstView rows(std::int64_t first, std::int64_t count) = 0;
};

/// `path`: a 2-D .npy, which is mapped; a headerless file of pixels, if `raw` is WxHxTYPE; or synthetic:WxH:SEED
/// (io/synthetic.hpp). Throws IoError, InvalidArgument.
std::unique_ptr<StripSource> open_strips(const std::string& path, const std::string& raw);

}  // namespace areal::command
