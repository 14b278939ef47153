#pragma once
// The four groups, by table type, in which rows-types.cpp is built.

#include "cpu/sat/rows.hpp"

namespace areal::cpu {

ScanRows scan_rows_of_32u(Type input, bool squares, bool reverse);
ScanRows scan_rows_of_64u(Type input, bool squares, bool reverse);
ScanRows scan_rows_of_32f(Type input, bool squares, bool reverse);
ScanRows scan_rows_of_64f(Type input, bool squares, bool reverse);

}  // namespace areal::cpu
