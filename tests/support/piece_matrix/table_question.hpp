#pragma once
// What the matrix asks of engines that compute tables: an image, a cut and options of SatOptions, and what the tables
// must be by the definition.

#include <areal/sat.hpp>
#include <areal/type_pair.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>
#include "conformance/oracle.hpp"
#include "conformance/picture.hpp"
#include "conformance/reversed.hpp"
#include "conformance/tilted.hpp"
#include "piece_matrix/cuts.hpp"
#include "piece_matrix/matrix.hpp"

namespace areal::piece_matrix {

struct TableQuestion {
  Shape image;
  Cut cut{};
  TypePair types;
  SatOptions options;
  conformance::Fill fill = conformance::Fill::wild;
  bool progress = false;
  Backend backend = Backend::cpu;
  std::vector<std::string> named;  ///< its options, as in refused.txt
  std::uint64_t seed = 1;

  std::string words() const {
    std::string words = name_of(types) + ", border " + std::string(name_of(options.border)) + ", " + cut.name;
    for (const std::string& name : named) words += ", " + name;
    return words + ", seed " + std::to_string(seed);
  }
};

/// An option. Those of one group exclude each other, and refused.txt names the group.
struct TableOption {
  const char *group, *name;
  void (*set)(TableQuestion&);
};
inline constexpr TableOption table_options[] = {
    {"values", "plain", [](TableQuestion&) {}},
    {"values", "small", [](TableQuestion& q) { q.fill = conformance::Fill::exact; }},
    {"values", "NaN", [](TableQuestion& q) { q.fill = conformance::Fill::holes; }},
    {"channels", "2 interleaved", [](TableQuestion& q) { q.image.channels = 2; }},
    {"channels", "3 planar", [](TableQuestion& q) { q.image.channels = 3, q.image.layout = Layout::planar; }},
    {"channels", "4 interleaved, tables, too",
     [](TableQuestion& q) { q.image.channels = 4, q.options.tables = Layout::interleaved; }},
    {"channels", "3 planar, tables interleaved",
     [](TableQuestion& q) {
       q.image.channels = 3, q.image.layout = Layout::planar, q.options.tables = Layout::interleaved;
     }},
    {"mask", "of 8u", [](TableQuestion& q) { q.options.mask = true; }},
    {"ignore_nan", "of floats",
     [](TableQuestion& q) { q.options.ignore_nan = true, q.fill = conformance::Fill::holes; }},
    {"squares", "automatic", [](TableQuestion& q) { q.options.squares = Squares::automatic; }},
    {"squares", "32u", [](TableQuestion& q) { q.options.squares = Squares::u32; }},
    {"squares", "64u", [](TableQuestion& q) { q.options.squares = Squares::u64; }},
    {"squares", "64f", [](TableQuestion& q) { q.options.squares = Squares::f64; }},
    {"squares", "32f", [](TableQuestion& q) { q.options.squares = Squares::f32; }},
    {"reverse", "of both axes", [](TableQuestion& q) { q.options.reverse = true; }},
    {"batch", "3 images", [](TableQuestion& q) { q.image.batch = 3; }},
    {"volume", "3 slices", [](TableQuestion& q) { q.image.batch = 3, q.options.volume = true; }},
    {"tilted", "also", [](TableQuestion& q) { q.options.tilted = true; }},
    {"types", "by default", [](TableQuestion& q) { q.options.types.reset(); }},
    {"algorithm", "tiles", [](TableQuestion& q) { q.options.algorithm = "tiles"; }},
    {"paper", "serial", [](TableQuestion& q) { q.options.algorithm = "serial"; }},
    {"progress", "counted", [](TableQuestion& q) { q.progress = true; }},
};
/// The question of a border, types, a cut and some options.
inline TableQuestion table_question(Border border, TypePair types, const Cut& cut,
                                    const std::vector<const TableOption*>& options) {
  TableQuestion q;
  q.cut = cut, q.types = types;
  q.image = {cut.image_width, cut.image_height};
  q.options.border = border, q.options.types = types;
  for (const TableOption* const option : options) {
    option->set(q);
    q.named.push_back(std::string(option->group) + " " + option->name);
  }
  return q;
}

inline constexpr Border all_borders[] = {Border::zero, Border::none, Border::exclusive};

/// f(question) for the matrix as far as `extent()` says.
template <class F>
void each_table_question(const F& f) {
  const auto all = combinations(std::span<const TableOption>(table_options), {{"values", "ignore_nan"},
                                                                              {"batch", "volume"},
                                                                              {"algorithm", "paper"},
                                                                              {"types", "algorithm"},
                                                                              {"types", "paper"}});
  each_choice(all, type_pairs().size() * std::size(all_borders), 11,
              [&](const auto& options, std::size_t kind, const Cut& cut, std::uint64_t seed) {
                TableQuestion q = table_question(all_borders[kind % std::size(all_borders)],
                                                 type_pairs()[kind / std::size(all_borders)], cut, options);
                q.seed = seed;
                f(q);
              });
}

/// Image and mask of a question, in memory that ends with its last pixel.
struct TableInputs {
  Values image;
  std::optional<Values> mask;
  Buffer pixels, valid;

  explicit TableInputs(const TableQuestion& q)
      : image(conformance::random_image(q.types.input, q.image, q.fill, q.seed)),
        pixels(image, conformance::placements[q.seed % std::size(conformance::placements)]) {
    if (!q.options.mask) return;
    mask = conformance::random_mask({q.image.width, q.image.height, 1, q.image.batch}, q.seed);
    valid = Buffer(*mask, conformance::placements[(q.seed + 2) % std::size(conformance::placements)]);
  }
  ConstView image_view() const { return pixels.view(); }
  ConstView mask_view() const { return valid.view(); }
};

/// The tables that an engine made.
struct Tables {
  TypePair types;
  Values sum;
  std::optional<Values> squares, tilted, count;
};

/// Empty, or the first entry that is not what the definition says.
inline std::string fault_in(const TableQuestion& q, const TableInputs& in, const Tables& got) {
  using namespace conformance;
  const bool volume = q.options.volume;
  const bool counts = q.options.mask || q.options.ignore_nan;
  std::optional<Values> valid;
  if (counts) valid = valid_pixels(in.image, in.mask ? &*in.mask : nullptr, q.options.ignore_nan);
  const auto difference_of = [&](const char* name, const std::optional<Values>& table, bool wanted,
                                 const auto& expected) -> std::string {
    if (wanted != table.has_value()) return std::string(name) + (wanted ? " is missing" : " was not requested");
    if (!wanted) return {};
    const std::string wrong = difference(expected(table->type), *table);
    return wrong.empty() ? wrong : name + (": " + wrong);
  };
  const auto sums = [&](bool squared) {
    return [&, squared](Type type) {
      const Terms terms = terms_of(in.image, squared, valid ? &*valid : nullptr);
      return q.options.reverse ? reversed_sums_of(terms, type, q.options.border, volume)
                               : sums_of(terms, type, q.options.border, volume);
    };
  };
  std::string wrong = difference_of("sum", got.sum, true, sums(false));
  if (wrong.empty()) wrong = difference_of("squares", got.squares, q.options.squares != Squares::no, sums(true));
  if (wrong.empty())
    wrong = difference_of("count", got.count, counts, [&](Type) {
      const Terms ones = ones_of(*valid);
      return q.options.reverse ? reversed_sums_of(ones, Type::u32, q.options.border, volume)
                               : sums_of(ones, Type::u32, q.options.border, volume);
    });
  if (wrong.empty())
    wrong = difference_of("tilted", got.tilted, q.options.tilted, [&](Type) {
      return tilted_of(terms_of(in.image, false, valid ? &*valid : nullptr), got.types.table);
    });
  return wrong;
}

}  // namespace areal::piece_matrix
