#pragma once
// A table from pieces: the image is cut by a random grid, each piece is computed with what is carried into it, and must
// be that part of the whole image's table. What is carried comes from the oracle, so that a piece's error is its own.

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>
#include "conformance/sat_case.hpp"

namespace areal::conformance {

struct Piece {
  std::int64_t x, y, width, height;
};
inline std::string describe(const Piece& p) {
  return "piece " + std::to_string(p.width) + "x" + std::to_string(p.height) + " at " + std::to_string(p.x) + ", " +
         std::to_string(p.y);
}

/// Up to 3 x 3 pieces, of which some may have no rows or no columns.
inline std::vector<Piece> random_pieces(const Shape& image, std::uint64_t seed) {
  std::mt19937_64 random(seed ^ 0x70696563u);
  const auto cuts = [&](std::int64_t extent) {
    std::vector<std::int64_t> at{0, extent};
    for (std::uint64_t n = random() % 3; n > 0; --n)
      at.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extent + 1)));
    std::sort(at.begin(), at.end());
    return at;
  };
  const auto columns = cuts(image.width), rows = cuts(image.height);
  std::vector<Piece> pieces;
  for (std::size_t r = 0; r + 1 < rows.size(); ++r)
    for (std::size_t c = 0; c + 1 < columns.size(); ++c)
      pieces.push_back({columns[c], rows[r], columns[c + 1] - columns[c], rows[r + 1] - rows[r]});
  return pieces;
}

/// A part of an array of that shape, for each array of it: f(index in the part, index in the whole).
template <class F>
void each_of_part(const Shape& whole, const Piece& p, F&& f) {
  Values of;
  of.shape = whole;
  std::size_t i = 0;
  for (std::int64_t n = 0; n < whole.batch; ++n)
    for (std::int64_t c = 0; c < whole.channels; ++c)
      for (std::int64_t y = p.y; y < p.y + p.height; ++y)
        for (std::int64_t x = p.x; x < p.x + p.width; ++x) f(i++, of.at(x, y, c, n));
}
inline Shape part_shape(Shape whole, const Piece& p) {
  whole.width = p.width, whole.height = p.height;
  return whole;
}
inline Values part_of(const Values& whole, const Piece& p) {
  Values part(whole.type, part_shape(whole.shape, p));
  each_of_part(whole.shape, p, [&](std::size_t to, std::size_t from) {
    if (is_float(whole.type))
      part.real[to] = whole.real[from];
    else
      part.integer[to] = whole.integer[from];
  });
  return part;
}
inline Expected part_of(const Expected& whole, const Piece& p) {
  Expected part;
  part.type = whole.type, part.shape = part_shape(whole.shape, p);
  for (const auto& member : {&Expected::real, &Expected::bound})
    if (!(whole.*member).empty())
      each_of_part(whole.shape, p,
                   [&](std::size_t, std::size_t from) { (part.*member).push_back((whole.*member)[from]); });
  if (!whole.integer.empty())
    each_of_part(whole.shape, p, [&](std::size_t, std::size_t from) { part.integer.push_back(whole.integer[from]); });
  return part;
}

/// What is carried into a piece of one table. Zeros are a view without memory, or zeros in memory.
class CarryMemory {
 public:
  CarryMemory() = default;
  /// `inclusive`: the whole table of border `none`; of a reversed one, what is below and right is carried.
  CarryMemory(const Expected& inclusive, const Piece& p, Layout layout, const Placement& place, bool explicit_zeros,
              bool reverse) {
    const std::int64_t x = reverse ? p.x : p.x - 1, beside = reverse ? p.x + p.width : p.x - 1;
    const std::int64_t y = reverse ? p.y + p.height : p.y - 1;
    const Shape& whole = inclusive.shape;
    if ((y >= 0 && y < whole.height) || explicit_zeros) above_ = line(inclusive, {x, y, p.width + 1, 1}, layout, place);
    if ((beside >= 0 && beside < whole.width) || explicit_zeros)
      left_ = line(inclusive, {beside, p.y, 1, p.height}, layout, place);
  }
  Carry carry() const { return {above_.view(), left_.view()}; }
  bool changed() const { return above_.changed() || left_.changed(); }
  std::array<Buffer*, 2> buffers() { return {&above_, &left_}; }

 private:
  static Buffer line(const Expected& inclusive, const Piece& p, Layout layout, const Placement& place) {
    Shape shape = part_shape(inclusive.shape, p);
    shape.layout = layout;
    Values whole, values(inclusive.type, shape);
    whole.shape = inclusive.shape;
    std::size_t i = 0;
    for (std::int64_t n = 0; n < shape.batch; ++n)
      for (std::int64_t c = 0; c < shape.channels; ++c)
        for (std::int64_t y = p.y; y < p.y + p.height; ++y)
          for (std::int64_t x = p.x; x < p.x + p.width; ++x, ++i) {
            if (x < 0 || y < 0 || x >= whole.shape.width || y >= whole.shape.height) continue;
            if (is_float(values.type))
              values.real[i] = inclusive.real[whole.at(x, y, c, n)];
            else
              values.integer[i] = inclusive.integer[whole.at(x, y, c, n)];
          }
    return Buffer(values, place);
  }

  Buffer above_, left_;
};

/// What the subject of a test executes: the library, or one that is broken.
using ExecutePiece = std::function<void(const SatPlan&, const SatArguments&, Workspace&)>;
inline void execute_piece(const SatPlan& plan, const SatArguments& arguments, Workspace& workspace) {
  plan.execute(arguments, workspace);
}

/// Empty if all pieces of the case's image are parts of the whole tables, nothing beside them was written and no input
/// was changed; else the first fault.
inline std::string fault_of_pieces(const SatCase& whole, const ExecutePiece& execute = execute_piece) {
  const PlanOptions& o = whole.options;
  const Values image = random_image(whole.types.input, whole.image, whole.fill, whole.seed);
  std::optional<Values> mask;
  if (o.mask) mask = random_mask(Shape{whole.image.width, whole.image.height, 1, whole.image.batch}, whole.seed);
  const ExpectedTables all = expected_tables(whole, image, mask ? &*mask : nullptr);
  SatCase without_border = whole;
  without_border.options.border = Border::none;
  const ExpectedTables inclusive = expected_tables(without_border, image, mask ? &*mask : nullptr);
  const bool explicit_zeros = whole.seed % 2 == 1;
  for (const Piece& piece : random_pieces(whole.image, whole.seed)) try {
      SatCase c = whole;
      c.image = part_shape(whole.image, piece);
      const SatPlan plan = plan_of(c.image, c.types, o);
      const bool on_device = plan.backend() == Backend::cuda;
      std::optional<Values> masked;
      if (mask) masked = part_of(*mask, piece);
      SatMemory memory(c, plan, part_of(image, piece), masked ? &*masked : nullptr);
      memory.poison(0x5C);
      const auto carried = [&](const std::optional<Expected>& table) {
        return table ? CarryMemory(*table, piece, o.tables, c.in, explicit_zeros, o.reverse) : CarryMemory();
      };
      std::array<CarryMemory, 3> carries{carried(inclusive.sum), carried(inclusive.squares), carried(inclusive.count)};
      GuardedWorkspace workspace(plan.workspace_bytes(), 0xA5);
      workspace.prepare(plan);
      SatArguments a = memory.arguments();
      a.carry = carries[0].carry(), a.squares_carry = carries[1].carry(), a.count_carry = carries[2].carry();
      std::vector<Mirror> mirrors;
      if (on_device) {
        const auto twin = [&](Buffer& buffer) {
          return mirrors.emplace_back(buffer.bytes(), workspace.stream()).twin(buffer.view());
        };
        const auto twin_of = [&](CarryMemory& carry) {
          return Carry{twin(*carry.buffers()[0]), twin(*carry.buffers()[1])};
        };
        a = {twin(memory.image), twin(memory.sum),    twin(memory.mask),   twin(memory.squares), {},
             twin(memory.count), twin_of(carries[0]), twin_of(carries[1]), twin_of(carries[2])};
      }
      execute(plan, a, workspace.ready());
      for (Mirror& mirror : mirrors) mirror.back();
      workspace.ready().wait();
      Piece entries = piece;
      if (o.border == Border::zero) ++entries.width, ++entries.height;
      ExpectedTables expected;
      expected.sum = part_of(all.sum, entries);
      if (all.squares) expected.squares = part_of(*all.squares, entries);
      if (all.count) expected.count = part_of(*all.count, entries);
      std::string fault = fault_in(memory, expected);
      if (fault.empty()) fault = workspace.broken_guard();
      for (const CarryMemory& carry : carries)
        if (fault.empty() && carry.changed()) fault = "a carry was changed";
      if (!fault.empty()) return describe(piece) + ": " + fault;
    } catch (const Error& error) {
      return describe(piece) + ": threw: " + error.what();
    }
  return {};
}

}  // namespace areal::conformance
