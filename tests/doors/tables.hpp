#pragma once
// Tables that a door has made, and what every such door answers of them: the tables, regions, windows.

#include <areal/sat_table.hpp>
#include <areal/table.hpp>
#include <areal/type_pair.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "elements.hpp"
#include "question.hpp"
#include "room.hpp"

namespace doors {

/// The image, mask and weights of a question, in memory as it wants them.
struct Inputs {
  explicit Inputs(const Question& question);
  /// Of other elements.
  Inputs(const Question& question, const Elements& image, const std::optional<Elements>& mask);
  areal::ConstView mask_view() const { return mask ? std::as_const(*mask).view() : areal::ConstView(); }
  areal::ConstView image_view() const { return image.view(); }
  void expect_unchanged();
  Room image;
  std::optional<Room> mask;
};
/// The elements of the question's image, with its layout.
Elements image_elements(const Question& question);
/// The mask for each image of a batch.
std::optional<Elements> mask_elements(const Question& question);

struct Tables {
  areal::ConstView sum, squares, tilted, count;  ///< without memory where not asked for
  areal::Border border = areal::Border::zero;
  areal::TypePair types;
  std::string ran;  ///< the algorithm, where the door knows it
  bool volume = false, reverse = false;
  std::shared_ptr<void> keep;                 ///< owns the memory
  std::shared_ptr<const areal::SatTable> of;  ///< asks for views plane by plane through it
  areal::SatView view() const;
};

/// One plane of all the tables.
areal::SatView plane_of(const Tables& tables, std::int64_t channel, std::int64_t n);

/// Rooms for the tables that options ask for.
struct TableRooms {
  std::optional<Room> sum, squares, tilted, count;
};
/// Tables in rooms, checked for writes around them.
Tables tables_in(std::shared_ptr<TableRooms> rooms, const Question& question, areal::TypePair types);
/// Tables of elements that a door has put together.
Tables tables_of(const Elements& sum, const std::optional<Elements>& squares, const std::optional<Elements>& tilted,
                 const std::optional<Elements>& count, const Question& question, areal::TypePair types);

/// The answer of a family: table, regions or window.
Json respond(const Question& question, const Tables& tables);
/// Files as `out` names them.
Json write_tables(const Question& question, const Tables& tables);
/// In regions.cpp and windows.cpp.
Json answer_regions(const Question& question, const Tables& tables);
Json answer_window(const Question& question, const Tables& tables);

}  // namespace doors
