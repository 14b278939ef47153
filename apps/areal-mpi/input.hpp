#pragma once
// The image: every rank reads its own rows.

#include <areal/array.hpp>
#include <areal/view.hpp>
#include <memory>
#include <string>

namespace areal::command {

class StripSource {
 public:
  virtual ~StripSource() = default;
  virtual Shape shape() const = 0;  ///< of the whole image: one channel
  virtual Type type() const = 0;
  /// Rows of the image, which are valid while this lives and no others are asked for. Throws IoError, OutOfMemory.
  virtual ConstView rows(std::int64_t first, std::int64_t count) = 0;
};

/// `path`: an .npy (2-D), mapped; a file of pixels without a header, where `raw` is WxHxTYPE; or synthetic:WxH:SEED
/// (io/synthetic.hpp). Throws IoError, InvalidArgument.
std::unique_ptr<StripSource> open_strips(const std::string& path, const std::string& raw);

}  // namespace areal::command
