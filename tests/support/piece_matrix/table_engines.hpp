#pragma once
// The engines that compute tables of an image in parts.

#include <areal/sat.hpp>
#include <areal/strips.hpp>
#include <areal/tiled.hpp>
#include <utility>
#include "piece_matrix/judge.hpp"
#include "piece_matrix/spread.hpp"
#include "piece_matrix/table_question.hpp"

namespace areal::piece_matrix {

/// A way to call an engine: its name begins with the engine's.
struct TableWay {
  const char* name;
  Tables (*compute)(const TableQuestion&, const TableInputs&);
};
struct TableEngine {
  const char* name;
  std::vector<TableWay> ways;
};

/// The whole image at once.
inline Tables whole_tables(const TableQuestion& q, const TableInputs& in) {
  SatOptions options = q.options;
  Watch watch;
  if (q.progress) options.progress = watch.callback();
  const SatTable table = sat(in.image_view(), options, {.backend = q.backend}, in.mask_view());
  if (q.backend == Backend::cpu) watch.expect_end();
  Tables tables{table.types(), conformance::values_of(table.sum()), {}, {}, {}};
  if (options.squares != Squares::no) tables.squares = conformance::values_of(table.squares());
  if (options.tilted) tables.tilted = conformance::values_of(table.tilted());
  if (options.mask || options.ignore_nan) tables.count = conformance::values_of(table.count());
  return tables;
}

template <Way way>
Tables strip_tables(const TableQuestion& q, const TableInputs& in) {
  Watch watch;
  PieceOptions how{.workers = {{.backend = q.backend, .threads = q.backend == Backend::cpu ? 2 : 0}},
                   .height = q.cut.height};
  if (way == Way::tiles) how.height += 2, how.pushed_width = q.cut.width, how.pushed_height = q.cut.height;
  if (q.progress) how.progress = watch.callback();
  StripSat strips(q.image, q.types.input, q.options, how);
  Gathered sum(strips.types().table, strips.table_shape());
  std::optional<Gathered> squares, count;
  if (strips.squares_type()) squares.emplace(*strips.squares_type(), strips.table_shape());
  if (q.options.mask || q.options.ignore_nan) count.emplace(Type::u32, strips.count_shape());
  std::int64_t next = 0;
  const auto put = [](std::optional<Gathered>& into, const ConstView& rows, std::int64_t y) {
    if (into.has_value() != (rows.data != nullptr)) throw Broken("a strip lacks a table, or has one too many");
    if (into) into->put(rows, 0, y);
  };
  const PieceSink sink = [&](const Piece& strip) {
    if (strip.y != next) throw Broken("a strip does not begin where the last one ended");
    next += strip.values.shape.height;
    sum.put(strip.values, 0, strip.y);
    put(squares, strip.squares, strip.y);
    put(count, strip.count, strip.y);
    return true;
  };
  running([&] {
    if (way == Way::run)
      return strips.run(reader_of(in.image_view()), sink, q.options.mask ? reader_of(in.mask_view()) : ImageReader());
    strips.begin(sink);
    for (const Part& p : parts_of(q.image, way == Way::tiles ? q.cut.width : q.image.width, q.cut.height))
      if (!strips.push(p.x, p.y, part(in.image_view(), p.x, p.y, p.width, p.height),
                       q.options.mask ? part(in.mask_view(), p.x, p.y, p.width, p.height) : ConstView()))
        throw Broken("push says that the sink has ended the run");
    strips.finish();
  });
  watch.expect_end();
  Tables tables{strips.types(), sum.values(), {}, {}, {}};
  if (squares) tables.squares = squares->values();
  if (count) tables.count = count->values();
  return tables;
}

/// `into_table`: by TiledSat::table, not by its pieces.
inline Tables tables_of(const TiledSat& tiled, const TableQuestion& q, const TableInputs& in, bool into_table) {
  Tables tables{tiled.types(), {}, {}, {}, {}};
  const Shape shape = tiled.table_shape();
  const bool counts = q.options.mask || q.options.ignore_nan;
  const ImageReader read = reader_of(in.image_view());
  const ImageReader read_mask = q.options.mask ? reader_of(in.mask_view()) : ImageReader();
  if (into_table) {
    const conformance::Placement& place = conformance::placements[(q.seed + 3) % std::size(conformance::placements)];
    const Buffer sum(tables.types.table, shape, place, conformance::Guard::output);
    Buffer squares, count;
    if (tiled.squares_type()) squares = Buffer(*tiled.squares_type(), shape, place, conformance::Guard::output);
    if (counts) count = Buffer(Type::u32, tiled.count_shape(), place, conformance::Guard::output);
    running([&] { tiled.table(read, sum.view(), squares.view(), count.view(), read_mask); });
    const auto values_of = [](const Buffer& buffer) {
      if (!buffer.broken_guard().empty()) throw Broken(buffer.broken_guard());
      return conformance::values_of(ConstView(buffer.view()));
    };
    tables.sum = values_of(sum);
    if (tiled.squares_type()) tables.squares = values_of(squares);
    if (counts) tables.count = values_of(count);
  } else {
    Gathered sum(tables.types.table, shape);
    std::optional<Gathered> squares, count;
    if (tiled.squares_type()) squares.emplace(*tiled.squares_type(), shape);
    if (counts) count.emplace(Type::u32, tiled.count_shape());
    const auto put = [](std::optional<Gathered>& into, const ConstView& table, const Piece& piece) {
      if (into.has_value() != (table.data != nullptr)) throw Broken("a piece lacks a table, or has one too many");
      if (into) into->put(table, piece.x, piece.y);
    };
    const PieceSink sink = [&](const Piece& piece) {
      sum.put(piece.values, piece.x, piece.y);
      put(squares, piece.squares, piece);
      put(count, piece.count, piece);
      return true;
    };
    running([&] { tiled.pieces(read, sink, read_mask); });
    tables.sum = sum.values();
    if (squares) tables.squares = squares->values();
    if (count) tables.count = count->values();
  }
  return tables;
}
template <bool into_table>
Tables tiled_tables(const TableQuestion& q, const TableInputs& in) {
  Watch watch;
  PieceOptions how{.workers = two_workers(q.backend)};
  if (q.progress) how.progress = watch.callback();
  const TiledSat tiled(q.image, q.types.input, q.options, how);
  const Tables tables = tables_of(tiled, q, in, into_table);
  if (!tiled.table_shape().empty()) watch.expect_end();
  return tables;
}

inline Tables spread_tables(const TableQuestion& q, const TableInputs& in) {
  SatOptions options = q.options;
  if (q.progress) options.progress = Watch().callback();
  Spread spread(q.image, q.types.input, options, q.cut, q.backend, in.image_view(), in.mask_view());
  spread.execute();
  return {spread.sat().types(), spread.sum(), spread.squares(), {}, spread.count()};
}

inline const std::vector<TableEngine>& table_engines() {
  static const std::vector<TableEngine> engines = {
      {"StripSat",
       {{"StripSat::run", strip_tables<Way::run>},
        {"StripSat::push rows", strip_tables<Way::rows>},
        {"StripSat::push tiles", strip_tables<Way::tiles>}}},
      {"TiledSat", {{"TiledSat::pieces", tiled_tables<false>}, {"TiledSat::table", tiled_tables<true>}}},
      {"SpreadSat::execute", {{"SpreadSat::execute", spread_tables}}},
  };
  return engines;
}

/// Empty, or what is wrong with the answer to a question.
inline std::string fault(const TableWay& way, const TableQuestion& q, Refused& refused) {
  const TableInputs in(q);
  const auto whole = outcome_of([&] { return whole_tables(q, in); });
  const auto got = outcome_of([&] { return way.compute(q, in); });
  return judge(way.name, q.named, whole, got, refused, [&](const Tables& tables) -> std::string {
    if (in.pixels.changed() || (in.mask && in.valid.changed())) return "writes into its input";
    if (tables.types != whole.answer->types) return "the types are not those of the whole image";
    const auto differs = [&](const std::optional<Values>& a, const std::optional<Values>& b) {
      if (!a || !b) return a.has_value() != b.has_value();
      return a->type != b->type || (!is_float(a->type) && a->integer != b->integer);
    };
    std::string wrong = fault_in(q, in, tables);
    if (wrong.empty() && (differs(tables.sum, whole.answer->sum) || differs(tables.squares, whole.answer->squares) ||
                          differs(tables.count, whole.answer->count)))
      wrong = "other entries than the table of the whole image";
    return wrong;
  });
}

}  // namespace areal::piece_matrix
