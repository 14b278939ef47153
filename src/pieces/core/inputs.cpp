#include "pieces/core/inputs.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"

namespace areal::pieces {

Inputs::Inputs(const Form& form, const ImageReader& read, const ImageReader& second, const std::string& name)
    : readers_{read}, names_{"read", "read_" + name} {
  require(static_cast<bool>(read), "read: there is none");
  const bool has_second = form.inputs.size() > 1;
  require(has_second == static_cast<bool>(second), names_[1],
          has_second ? " is missing, and the options ask for it" : " was given, but the options do not ask for it");
  if (has_second) readers_.push_back(second);
}

ConstView Inputs::read(std::size_t which, std::int64_t x, std::int64_t y, const View& buffer) const {
  const ConstView block = readers_[which](x, y, buffer);
  require(block.memory.is_host(), names_[which], ": a block lies on CUDA device ", block.memory.device,
          ", it must be in host memory");
  check_view(names_[which], block, buffer.shape, buffer.type);
  if (block.data != buffer.data) return block;
  const Shape& s = buffer.shape;
  const bool same = (s.height == 1 || block.row_pitch == buffer.row_pitch) &&
                    (s.channels == 1 || block.plane_pitch == buffer.plane_pitch) &&
                    (s.batch == 1 || block.batch_pitch == buffer.batch_pitch);
  require(same, names_[which], ": its rows lie in the buffer otherwise than the buffer's");
  return buffer;
}

}  // namespace areal::pieces
