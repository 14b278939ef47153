// Doors of tables that are put together: from planes, from pieces with carries, from the turned image.

#include <algorithm>
#include <areal/sat.hpp>
#include <cstring>

#include "door.hpp"
#include "run.hpp"
#include "tables.hpp"

namespace doors {
namespace {

/// All the tables of one execute, as elements.
struct Made {
  Elements sum;
  std::optional<Elements> squares, tilted, count;
};

Made gathered(const areal::SatTable& table) {
  Made made{gather(table.sum()), {}, {}, {}};
  if (table.squares().data) made.squares = gather(table.squares());
  if (table.tilted().data) made.tilted = gather(table.tilted());
  if (table.count().data) made.count = gather(table.count());
  return made;
}

Tables tables_of_made(const Made& made, const Question& q, areal::TypePair types) {
  return tables_of(made.sum, made.squares, made.tilted, made.count, q, types);
}

void put_plane(Elements& all, const Elements& one, std::int64_t n, std::int64_t channel) {
  for (std::int64_t y = 0; y < all.shape.height; ++y)
    for (std::int64_t x = 0; x < all.shape.width; ++x)
      std::memcpy(&all.bytes[all.offset(n, y, x, channel)], &one.bytes[one.offset(0, y, x, 0)],
                  areal::size_of(all.type));
}

/// Each channel of each image by itself, as a view of the same memory.
Json plane_by_plane(const Question& q) {
  if (q.flag("volume")) throw BadQuestion("plane by plane: a volume is one");
  Inputs inputs(q);
  const areal::ConstView image = inputs.image_view();
  if (q.flag("ignore_nan") && image.shape.channels > 1)
    throw BadQuestion("plane by plane: NaN of one channel leaves a pixel out of all");
  Made all;
  areal::TypePair types;
  for (std::int64_t n = 0; n < image.shape.batch; ++n)
    for (std::int64_t c = 0; c < image.shape.channels; ++c) {
      const areal::ConstView mask = inputs.mask ? areal::plane(inputs.mask_view(), 0, n) : areal::ConstView();
      const areal::SatTable table = areal::sat(areal::plane(image, c, n), sat_options(q), execution_of(q), mask);
      const Made one = gathered(table);
      types = table.types();
      const auto put = [&image, n, c](Elements& into, const Elements& plane, std::int64_t channels) {
        if (into.bytes.empty() && !plane.bytes.empty()) {
          areal::Shape shape = plane.shape;
          shape.batch = image.shape.batch;
          shape.channels = channels;
          shape.layout = areal::Layout::planar;
          into = elements_of(shape, plane.type);
        } else if (into.bytes.empty()) {
          into = plane;
        }
        if (c < channels) put_plane(into, plane, n, c);
      };
      put(all.sum, one.sum, image.shape.channels);
      if (one.squares) put(all.squares ? *all.squares : all.squares.emplace(), *one.squares, image.shape.channels);
      if (one.tilted) put(all.tilted ? *all.tilted : all.tilted.emplace(), *one.tilted, image.shape.channels);
      if (one.count) put(all.count ? *all.count : all.count.emplace(), *one.count, 1);
    }
  inputs.expect_unchanged();
  return respond(q, tables_of_made(all, q, types));
}

/// The image turned by half a turn, its reversed table (of a question for a reversed one, its table), turned back.
Json reverse(const Question& q) {
  if (q.flag("volume")) throw BadQuestion("reverse: a volume would be turned in depth, too");
  auto mask = mask_elements(q);
  if (mask) mask = turned(*mask);
  Inputs inputs(q, turned(image_elements(q)), mask);
  const areal::SatTable table = areal::sat(inputs.image_view(), sat_options(q.with("reverse", !q.flag("reverse"))),
                                           execution_of(q), inputs.mask_view());
  Made made = gathered(table);
  made.sum = turned(made.sum);
  if (made.squares) made.squares = turned(*made.squares);
  if (made.count) made.count = turned(*made.count);
  return respond(q, tables_of_made(made, q, table.types()));
}

/// Pieces of a table, each with what the pieces before it hand on.
class Pieces {
 public:
  explicit Pieces(const Question& q)
      : q_(q), running_(q), inputs_(q), image_(inputs_.image_view()), options_(sat_options(q)) {
    if (options_.tilted) throw BadQuestion("carries: of sums, squares and counts");
    const areal::SatPlan whole(image_.shape, image_.type, options_, running_.execution());
    types_ = whole.types();
    squares_ = whole.squares_type();
    if (!options_.types) options_.types = types_;  // a piece by itself might choose others
    std::tie(width_, height_) = q.pair("tile", 5, 3);
    width_ = std::max<std::int64_t>(1, width_);
    height_ = std::max<std::int64_t>(1, height_);
  }
  Json answer() {
    auto none = pass(areal::Border::none, nullptr);
    auto rooms = options_.border == areal::Border::none ? none : pass(options_.border, none.get());
    inputs_.expect_unchanged();
    Tables tables = tables_in(rooms, q_, types_);
    tables.ran = ran_;
    return respond(q_, tables);
  }

 private:
  std::shared_ptr<TableRooms> rooms(areal::Border border) const {
    areal::SatOptions options = options_;
    options.border = border;
    const areal::SatPlan plan(image_.shape, image_.type, options, running_.execution());
    auto made = std::make_shared<TableRooms>();
    const Lie lie = lie_of_outputs(q_);
    made->sum.emplace(plan.table_shape(), types_.table, lie, place_of(q_));
    if (squares_) made->squares.emplace(plan.table_shape(), *squares_, lie, place_of(q_));
    if (options.mask || options.ignore_nan)
      made->count.emplace(plan.count_shape(), areal::Type::u32, lie, place_of(q_));
    return made;
  }

  /// Piece by piece; `none` has the table of that border, of which carries are made, or is what is being made.
  std::shared_ptr<TableRooms> pass(areal::Border border, TableRooms* none) {
    auto made = rooms(border);
    TableRooms& sums = none ? *none : *made;
    std::vector<std::pair<std::int64_t, std::int64_t>> corners;
    for (std::int64_t y = 0; y < image_.shape.height; y += height_)
      for (std::int64_t x = 0; x < image_.shape.width; x += width_) corners.emplace_back(x, y);
    if (options_.reverse) std::reverse(corners.begin(), corners.end());
    for (const auto& corner : corners) piece(corner.first, corner.second, border, *made, sums);
    return made;
  }

  void piece(std::int64_t x, std::int64_t y, areal::Border border, TableRooms& made, TableRooms& none) {
    const std::int64_t w = std::min(width_, image_.shape.width - x), h = std::min(height_, image_.shape.height - y);
    const std::int64_t more = border == areal::Border::zero ? 1 : 0;
    areal::SatOptions options = options_;
    options.border = border;
    areal::SatArguments arguments;
    arguments.image = part(image_, x, y, w, h);
    const areal::SatPlan plan(arguments.image.shape, image_.type, options, running_.execution());
    ran_ = plan.algorithm();
    Carried sum(*none.sum, *this, x, y, w, h);
    arguments.sum = part(made.sum->view(), x, y, w + more, h + more);
    arguments.carry = sum.carry();
    std::optional<Carried> squares, count;
    if (made.squares) {
      squares.emplace(*none.squares, *this, x, y, w, h);
      arguments.squares = part(made.squares->view(), x, y, w + more, h + more);
      arguments.squares_carry = squares->carry();
    }
    if (made.count) {
      count.emplace(*none.count, *this, x, y, w, h);
      arguments.count = part(made.count->view(), x, y, w + more, h + more);
      arguments.count_carry = count->carry();
    }
    if (inputs_.mask) arguments.mask = part(inputs_.mask_view(), x, y, w, h);
    GuardedWorkspace workspace(plan, q_);
    plan.execute(arguments, workspace.get());
    workspace.finish();
  }

  /// The row above a piece and the column left of it, of a table of border none; zeros beyond its edges.
  class Carried {
   public:
    Carried(Room& none, const Pieces& of, std::int64_t x, std::int64_t y, std::int64_t w, std::int64_t h) {
      const Elements table = none.take("the table of border none");
      const bool reverse = of.options_.reverse;
      const std::int64_t row = reverse ? y + h : y - 1, column = reverse ? x + w : x - 1;
      const auto value = [&table](Elements& into, std::int64_t to_y, std::int64_t to_x, std::int64_t y_,
                                  std::int64_t x_) {
        if (y_ < 0 || x_ < 0 || y_ >= table.shape.height || x_ >= table.shape.width) return;
        const auto size = static_cast<std::size_t>(table.shape.channels) * areal::size_of(table.type);
        for (std::int64_t n = 0; n < table.shape.batch; ++n)
          std::memcpy(&into.bytes[into.offset(n, to_y, to_x, 0)], &table.bytes[table.offset(n, y_, x_, 0)], size);
      };
      areal::Shape shape = table.shape;
      shape.width = w + 1;
      shape.height = 1;
      Elements above = elements_of(shape, table.type);
      for (std::int64_t i = 0; i <= w; ++i) value(above, 0, i, row, reverse ? x + i : x - 1 + i);
      shape.width = 1;
      shape.height = h;
      Elements left = elements_of(shape, table.type);
      for (std::int64_t i = 0; i < h; ++i) value(left, i, 0, y + i, column);
      const bool first_row = row < 0 || row >= table.shape.height;
      const bool first_column = column < 0 || column >= table.shape.width;
      if (!first_row) above_.emplace(above, lie_of_inputs(of.q_), place_of(of.q_));
      if (!first_column) left_.emplace(left, lie_of_inputs(of.q_), place_of(of.q_));
    }
    areal::Carry carry() const {
      return {above_ ? above_->view() : areal::ConstView(), left_ ? left_->view() : areal::ConstView()};
    }

   private:
    std::optional<Room> above_, left_;
  };

  const Question& q_;
  Running running_;
  Inputs inputs_;
  areal::ConstView image_;
  areal::SatOptions options_;
  areal::TypePair types_;
  std::optional<areal::Type> squares_;
  std::int64_t width_ = 0, height_ = 0;
  std::string ran_;
};

Json carries(const Question& q) { return Pieces(q).answer(); }

const std::vector<std::string_view> all = {"table", "regions", "window"};
const std::vector<Door> doors = {
    {"plane-by-plane", all, plane_by_plane}, {"reverse", all, reverse}, {"carries", all, carries}};

}  // namespace

std::span<const Door> piece_doors() { return doors; }

}  // namespace doors
