#include "api/query/border_check.hpp"
#include <algorithm>
#include <areal/type_pair.hpp>
#include "api/core/require.hpp"
#include "api/core/table_check.hpp"
#include "api/core/view_check.hpp"

namespace areal {

bool require_conversion(const TableView& from, const View& to, Border to_border, const ConstView& image) {
  require_table(from, "from");
  const TableView target{to, to_border};
  require_table(target, "to");
  require(to.type == from.view.type, "to: element type ", name_of(to.type), ", it must be ", name_of(from.view.type),
          " as in `from`");
  const std::int64_t width = from.image_width(), height = from.image_height();
  require(target.image_width() == width && target.image_height() == height, "to: ", to.shape.width, "x",
          to.shape.height, " in border `", name_of(to_border), "`, which is no table of the image of ", width, "x",
          height, " of `from`");
  require(!may_overlap(from.view, to), "to: it overlaps `from`; borders are not converted in place");
  if (width == 0 || height == 0 || from.border != Border::exclusive || to_border == Border::exclusive) return false;
  require(image.data != nullptr || image.shape.width != 0 || image.shape.height != 0,
          "image: an exclusive table lacks the last row and column, so the image is needed");
  require(
      image.shape.width == width && image.shape.height == height && image.shape.channels == 1 && image.shape.batch == 1,
      "image: ", image.shape.width, "x", image.shape.height, ", ", image.shape.channels, " channels, batch ",
      image.shape.batch, ", it must be one plane of ", width, "x", height);
  require_readable(image, "image");
  require(!may_overlap(image, to), "to: it overlaps the image");
  const TypePair types{image.type, from.view.type};
  require(std::find(type_pairs().begin(), type_pairs().end(), types) != type_pairs().end(),
          "image: no type pair makes a table of ", name_of(from.view.type), " from ", name_of(image.type));
  return true;
}

}  // namespace areal
