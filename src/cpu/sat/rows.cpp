// Chooses the row kernel for the types.
#include "cpu/sat/rows.hpp"
#include "cpu/sat/rows_groups.hpp"

namespace areal::cpu {

ScanRows scan_rows(Type input, Type table, bool squares, bool reverse) {
  switch (table) {
    case Type::u32:
    case Type::s32:
      return scan_rows_of_32u(input, squares, reverse);
    case Type::u64:
    case Type::s64:
      return scan_rows_of_64u(input, squares, reverse);
    case Type::f32:
      return scan_rows_of_32f(input, squares, reverse);
    case Type::f64:
      return scan_rows_of_64f(input, squares, reverse);
    default:
      return nullptr;
  }
}

}  // namespace areal::cpu
