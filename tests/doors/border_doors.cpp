// Doors of tables that are computed in one border and converted to the one that is wanted.

#include <areal/sat.hpp>
#include <areal/table.hpp>

#include "door.hpp"
#include "run.hpp"
#include "tables.hpp"

namespace doors {
namespace {

/// The border that is computed, unlike the one that is wanted unless `from` says otherwise.
areal::Border from_border(const Question& q) {
  if (q.has_param("from")) return border_of(q.with("border", q.param("from")));
  return border_of(q) == areal::Border::zero ? areal::Border::none : areal::Border::zero;
}

areal::SatTable computed(const Question& q, const Inputs& inputs) {
  areal::SatOptions options = sat_options(q);
  options.border = from_border(q);
  return areal::sat(inputs.image_view(), options, execution_of(q), inputs.mask_view());
}

Room converted(const Question& q, const areal::ConstView& from, const areal::Shape& image, const Inputs& inputs) {
  const bool zero = border_of(q) == areal::Border::zero;
  areal::Shape shape = from.shape;
  shape.width = image.width + (zero ? 1 : 0);
  shape.height = image.height + (zero ? 1 : 0);
  Room to(shape, from.type, lie_of_outputs(q), from.memory);
  const areal::Border border = from_border(q);
  for (std::int64_t n = 0; n < shape.batch; ++n)
    for (std::int64_t c = 0; c < shape.channels; ++c)
      areal::convert_border(
          {areal::plane(from, c, n), border}, areal::plane(to.view(), c, n), border_of(q),
          border == areal::Border::exclusive ? areal::plane(inputs.image_view(), c, n) : areal::ConstView(),
          query_options(q).execution);
  return to;
}

/// convert_border, plane by plane.
Json convert(const Question& q) {
  if (q.flag("volume") || q.flag("reverse")) throw BadQuestion("conversions: of plain tables alone");
  if (from_border(q) == areal::Border::exclusive &&
      (q.text("squares", "no") != "no" || q.has("mask") || q.flag("ignore_nan")))
    throw BadQuestion("conversions: an image completes sums alone");
  Inputs inputs(q);
  auto made = std::make_shared<areal::SatTable>(computed(q, inputs));
  auto rooms = std::make_shared<TableRooms>();
  const areal::SatTable& from = *made;
  rooms->sum.emplace(converted(q, from.sum(), from.image_shape(), inputs));
  if (from.squares().data) rooms->squares.emplace(converted(q, from.squares(), from.image_shape(), inputs));
  if (from.count().data) rooms->count.emplace(converted(q, from.count(), from.image_shape(), inputs));
  inputs.expect_unchanged();
  const areal::TypePair types = from.types();
  Tables tables = tables_in(rooms, q, types);
  tables.tilted = from.tilted();
  struct Both {
    std::shared_ptr<void> rooms, table;
  };
  tables.keep = std::make_shared<Both>(Both{tables.keep, made});
  return respond(q, tables);
}

/// SatTable::with_border.
Json with_border(const Question& q) {
  Inputs inputs(q);
  const areal::SatTable from = computed(q, inputs);
  auto made = std::make_shared<areal::SatTable>(from.with_border(
      border_of(q), from_border(q) == areal::Border::exclusive ? inputs.image_view() : areal::ConstView(),
      execution_of(q)));
  const areal::SatTable& table = *made;
  if (table.border() != border_of(q)) throw Failed("with_border: the table says that it has another border");
  Tables tables;
  tables.sum = table.sum();
  tables.squares = table.squares();
  tables.tilted = table.tilted();
  tables.count = table.count();
  tables.border = table.border();
  tables.types = table.types();
  tables.volume = table.is_volume();
  tables.reverse = table.is_reversed();
  tables.of = made;
  return respond(q, tables);
}

const std::vector<std::string_view> all = {"table", "regions", "window"};
const std::vector<Door> doors = {{"convert-border", all, convert}, {"with-border", all, with_border}};

}  // namespace

std::span<const Door> border_doors() { return doors; }

}  // namespace doors
