#include "tables.hpp"

namespace doors {

Elements image_elements(const Question& q) {
  if (!q.has("image")) throw BadQuestion("image: none is given");
  Elements elements = read_npy(q.text("image"));
  elements.shape.layout = layout_of(q.text("layout", "interleaved"));
  return elements;
}

std::optional<Elements> mask_elements(const Question& q) {
  if (!q.has("mask")) return {};
  Elements mask = read_npy(q.text("mask"));
  const std::int64_t images = image_elements(q).shape.batch;
  if (mask.shape.batch == 1 && images > 1) {
    const std::vector<std::byte> one = mask.bytes;
    for (std::int64_t n = 1; n < images; ++n) mask.bytes.insert(mask.bytes.end(), one.begin(), one.end());
    mask.shape.batch = images;
  }
  return mask;
}

Inputs::Inputs(const Question& q) : Inputs(q, image_elements(q), mask_elements(q)) {}
Inputs::Inputs(const Question& q, const Elements& image_, const std::optional<Elements>& mask_)
    : image(image_, lie_of_inputs(q), place_of(q)) {
  if (mask_) mask.emplace(*mask_, lie_of_inputs(q), place_of(q));
}
void Inputs::expect_unchanged() {
  image.expect_unchanged("image");
  if (mask) mask->expect_unchanged("mask");
}

areal::SatView Tables::view() const {
  areal::SatView view(sum, border);
  if (squares.data) view.squares.emplace(squares, border);
  if (count.data) view.count.emplace(count, border);
  if (tilted.data) view.tilted = tilted;
  return view;
}

areal::SatView plane_of(const Tables& tables, std::int64_t channel, std::int64_t n) {
  if (tables.of) return tables.of->view(channel, n);
  areal::SatView one(areal::plane(tables.sum, channel, n), tables.border);
  if (tables.squares.data) one.squares.emplace(areal::plane(tables.squares, channel, n), tables.border);
  if (tables.count.data) one.count.emplace(areal::plane(tables.count, 0, n), tables.border);
  if (tables.tilted.data) one.tilted = areal::plane(tables.tilted, channel, n);
  return one;
}

Tables tables_in(std::shared_ptr<TableRooms> rooms, const Question& q, areal::TypePair types) {
  Tables tables;
  const auto checked = [](std::optional<Room>& room, const char* name) {
    if (!room) return areal::ConstView();
    (void)room->take(name);
    return std::as_const(*room).view();
  };
  tables.sum = checked(rooms->sum, "the sums");
  tables.squares = checked(rooms->squares, "the squares");
  tables.tilted = checked(rooms->tilted, "the tilted table");
  tables.count = checked(rooms->count, "the counts");
  tables.border = border_of(q);
  tables.types = types;
  tables.volume = q.flag("volume");
  tables.reverse = q.flag("reverse");
  tables.keep = std::move(rooms);
  return tables;
}

Tables tables_of(const Elements& sum, const std::optional<Elements>& squares, const std::optional<Elements>& tilted,
                 const std::optional<Elements>& count, const Question& q, areal::TypePair types) {
  auto rooms = std::make_shared<TableRooms>();
  const Lie lie = lie_of_outputs(q);
  rooms->sum.emplace(sum, lie, areal::MemoryPlace());
  if (squares) rooms->squares.emplace(*squares, lie, areal::MemoryPlace());
  if (tilted) rooms->tilted.emplace(*tilted, lie, areal::MemoryPlace());
  if (count) rooms->count.emplace(*count, lie, areal::MemoryPlace());
  return tables_in(std::move(rooms), q, types);
}

Json write_tables(const Question& q, const Tables& tables) {
  Json answer = q.answer();
  if (!q.has("out")) throw BadQuestion("out: none is given");
  const auto write = [&answer, &q](const char* name, const areal::ConstView& view) {
    if (view.data == nullptr) return;
    const std::string path = q.text("out") + "." + name + ".npy";
    write_npy(path, gather(view));
    answer["tables"][name] = path;
  };
  write("sum", tables.sum);
  write("squares", tables.squares);
  write("tilted", tables.tilted);
  write("count", tables.count);
  return answer;
}

Json respond(const Question& q, const Tables& tables) {
  Json answer = q.family() == "table"     ? write_tables(q, tables)
                : q.family() == "regions" ? answer_regions(q, tables)
                                          : answer_window(q, tables);
  answer["types"] = areal::name_of(tables.types);
  if (tables.squares.data) answer["squares_type"] = areal::name_of(tables.squares.type);
  if (!tables.ran.empty()) answer["ran"] = tables.ran;
  return answer;
}

}  // namespace doors
