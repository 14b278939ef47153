#pragma once
// Sums of regions from the addresses of their corners.

#include <areal/type.hpp>
#include <cstdint>
#include "cpu/query/corners.hpp"

namespace areal::cpu {

template <class Out>
using CornerSums = void (*)(const Corners* corners, std::int64_t n, Out* out);

/// The loop for a table type; nullptr if the table's sums are not of kind Out. uint64_t reads unsigned tables, int64_t
/// signed ones, double all.
template <class Out>
CornerSums<Out> corner_sums(Type table);
extern template CornerSums<std::uint64_t> corner_sums<std::uint64_t>(Type);
extern template CornerSums<std::int64_t> corner_sums<std::int64_t>(Type);
extern template CornerSums<double> corner_sums<double>(Type);

/// The sum of a table's element at each address times its sign, as double; integers modulo 2^k first.
struct SignedCorner {
  const char* address;
  bool minus;
};
double signed_sum(Type table, const SignedCorner* corners, std::int64_t n);

}  // namespace areal::cpu
