// Doors of strips: tables, sums of regions and histograms of an image that passes once.

#include "strips.hpp"

#include <areal/strips.hpp>

#include "door.hpp"
#include "tables.hpp"

namespace doors {
namespace {

/// Rooms that take strips as they come.
class StripTables {
 public:
  StripTables(const Question& q, const areal::StripSat& strips, bool counts)
      : rooms_(std::make_shared<TableRooms>()), next_(0), height_(strips.table_shape().height) {
    areal::Shape shape = strips.table_shape();
    const Lie lie = lie_of_outputs(q);
    rooms_->sum.emplace(shape, strips.types().table, lie);
    if (const auto type = strips.squares_type()) rooms_->squares.emplace(shape, *type, lie);
    if (counts) rooms_->count.emplace(strips.count_shape(), areal::Type::u32, lie);
  }
  bool take(const areal::Piece& strip) {
    if (strip.y != next_)
      throw Failed("a strip begins at row " + std::to_string(strip.y) + " and not where the last ended");
    next_ += strip.values.shape.height;
    put(rooms_->sum, strip.values, strip.y, "sums");
    put(rooms_->squares, strip.squares, strip.y, "squares");
    put(rooms_->count, strip.count, strip.y, "counts");
    return true;
  }
  Tables tables(const Question& q, areal::TypePair types) {
    if (next_ != height_) throw Failed("strips end at row " + std::to_string(next_) + " of " + std::to_string(height_));
    return tables_in(rooms_, q, types);
  }

 private:
  static void put(std::optional<Room>& room, const areal::ConstView& rows, std::int64_t y, const std::string& name) {
    if (room.has_value() != (rows.data != nullptr))
      throw Failed("a strip has no " + name + ", or some without being asked");
    if (room) copy_elements(rows, part(room->view(), 0, y, rows.shape.width, rows.shape.height));
  }
  std::shared_ptr<TableRooms> rooms_;
  std::int64_t next_, height_;
};

Json strip_tables(const Question& q, Way way) {
  Inputs inputs(q.with_param("memory", "host"));
  const areal::ConstView image = inputs.image_view(), mask = inputs.mask_view();
  areal::StripSat strips(image.shape, image.type, sat_options(q), strip_options_of(q, way == Way::tiles));
  StripTables rooms(q, strips, inputs.mask || q.flag("ignore_nan"));
  const auto sink = [&rooms](const areal::Piece& strip) { return rooms.take(strip); };
  if (way == Way::run) {
    strips.run(reader_of(image), sink, inputs.mask ? reader_of(mask) : areal::ImageReader());
  } else {
    strips.begin(sink);
    for (const Block& b : blocks_of(q, image.shape, way == Way::tiles)) {
      const areal::ConstView mask_part = inputs.mask ? part(mask, b.x, b.y, b.width, b.height) : areal::ConstView();
      if (!strips.push(b.x, b.y, part(image, b.x, b.y, b.width, b.height), mask_part))
        throw Failed("push: says that the sink has ended the run");
    }
    strips.finish();
  }
  inputs.expect_unchanged();
  return respond(q, rooms.tables(q, strips.types()));
}

Json by_run(const Question& q) { return strip_tables(q, Way::run); }
Json by_push(const Question& q) { return strip_tables(q, Way::rows); }
Json by_tiles(const Question& q) { return strip_tables(q, Way::tiles); }

template <class T>
Json numbers(const std::vector<T>& values, std::int64_t channels) {
  Json all = Json::array();
  for (std::int64_t c = 0; c < channels; ++c) {
    Json one = Json::array();
    for (auto i = static_cast<std::size_t>(c); i < values.size(); i += static_cast<std::size_t>(channels))
      one.push_back(text_of(values[i]));
    all.push_back(std::move(one));
  }
  return Json::array({all});
}

template <class Get>
Json of_type(const Question& q, areal::Type type, std::int64_t channels, const Get& get) {
  if (areal::is_float(type) || q.word("as") == "double") return numbers(get(double()), channels);
  if (areal::is_signed_integer(type)) return numbers(get(std::int64_t()), channels);
  return numbers(get(std::uint64_t()), channels);
}

Json strip_sums(const Question& q, Way way) {
  if (q.has("mask") || q.flag("ignore_nan")) throw BadQuestion("strip sums: know neither mask nor ignore_nan");
  if (q.flag("volume") || q.flag("tilted") || q.flag("reverse")) throw BadQuestion("strip sums: of plain sums");
  Inputs inputs(q.with_param("memory", "host"));
  const areal::ConstView image = inputs.image_view();
  areal::StripSumsOptions options;
  options.squares = q.text("squares", "no") != "no";
  const std::vector<areal::Region> regions = regions_of(q);
  areal::StripSums sums(image.shape, image.type, regions, options, strip_options_of(q, way == Way::tiles));
  if (way == Way::run) {
    sums.run(reader_of(image));
  } else {
    sums.begin();
    for (const Block& b : blocks_of(q, image.shape, way == Way::tiles))
      sums.push(b.x, b.y, part(image, b.x, b.y, b.width, b.height));
    sums.finish();
  }
  inputs.expect_unchanged();
  Json answer = q.answer();
  for (const Json& stat : q.has("stats") ? q["stats"] : Json::array({"sum"})) {
    Json& into = answer["answers"][stat.get<std::string>()];
    if (stat == "sum")
      into = of_type(q, image.type, image.shape.channels, [&sums](auto t) { return sums.sums<decltype(t)>(); });
    else if (stat == "squares" && (areal::is_float(image.type) || areal::size_of(image.type) > 2))
      into = numbers(sums.squares<double>(), image.shape.channels);
    else if (stat == "squares")
      into = numbers(sums.squares<std::uint64_t>(), image.shape.channels);
    else if (stat == "mean")
      into = numbers(sums.means(), image.shape.channels);
    else if (stat == "variance")
      into = numbers(sums.variances(), image.shape.channels);
    else if (stat == "std")
      into = numbers(sums.standard_deviations(), image.shape.channels);
    else
      throw BadQuestion("stats: strips have no " + stat.dump());
  }
  return answer;
}

Json sums_by_run(const Question& q) { return strip_sums(q, Way::run); }
Json sums_by_push(const Question& q) { return strip_sums(q, Way::rows); }
Json sums_by_tiles(const Question& q) { return strip_sums(q, Way::tiles); }

/// The one-line form, of sums alone.
Json sums_one_line(const Question& q) {
  if (q.has("mask") || q.flag("ignore_nan") || q.flag("volume")) throw BadQuestion("strip sums: of plain sums");
  if (q.has("stats") && q["stats"] != Json::array({"sum"})) throw BadQuestion("stats: this door has sums alone");
  Inputs inputs(q.with_param("memory", "host"));
  const areal::ConstView image = inputs.image_view();
  areal::StripSumsOptions options;
  Json answer = q.answer();
  answer["answers"]["sum"] = of_type(q, image.type, image.shape.channels, [&q, &image, &options](auto t) {
    return areal::strip_sums<decltype(t)>(reader_of(image), image.shape, image.type, regions_of(q), options,
                                          strip_options(q));
  });
  return answer;
}

const std::vector<std::string_view> all = {"table", "regions", "window"};
const std::vector<std::string_view> regions_alone = {"regions"};
const std::vector<Door> doors = {{"strips", all, by_run},
                                 {"strips-push", all, by_push},
                                 {"strips-tiles", all, by_tiles},
                                 {"strip-sums", regions_alone, sums_by_run},
                                 {"strip-sums-push", regions_alone, sums_by_push},
                                 {"strip-sums-tiles", regions_alone, sums_by_tiles},
                                 {"strip-sums-one-line", regions_alone, sums_one_line}};

}  // namespace

std::span<const Door> strip_doors() { return doors; }

}  // namespace doors
