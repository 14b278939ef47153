#pragma once
// The four groups that rows-type pairs.cpp is built in, by table type.

#include "cpu/sat/rows.hpp"

namespace areal::cpu {

ScanRows scan_rows_of_32u(Type input, bool squares);
ScanRows scan_rows_of_64u(Type input, bool squares);
ScanRows scan_rows_of_32f(Type input, bool squares);
ScanRows scan_rows_of_64f(Type input, bool squares);

}  // namespace areal::cpu
