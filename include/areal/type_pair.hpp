#pragma once
/// \file type_pair.hpp Type pairs: an input type and a table type, named as in Chen 2018 (8u32u, 32f64f).

#include <areal/type.hpp>
#include <areal/view.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// The type pairs that every algorithm supports: X(name, input element, table element).
#define AREAL_COMMON_TYPE_PAIRS(X)        \
  X(8u32u, std::uint8_t, std::uint32_t)   \
  X(8u32s, std::uint8_t, std::int32_t)    \
  X(8u64u, std::uint8_t, std::uint64_t)   \
  X(8u32f, std::uint8_t, float)           \
  X(8u64f, std::uint8_t, double)          \
  X(8s32s, std::int8_t, std::int32_t)     \
  X(16u32u, std::uint16_t, std::uint32_t) \
  X(16u64u, std::uint16_t, std::uint64_t) \
  X(16u64f, std::uint16_t, double)        \
  X(16s32s, std::int16_t, std::int32_t)   \
  X(16s64s, std::int16_t, std::int64_t)   \
  X(16s64f, std::int16_t, double)         \
  X(32u32u, std::uint32_t, std::uint32_t) \
  X(32u64u, std::uint32_t, std::uint64_t) \
  X(32s32s, std::int32_t, std::int32_t)   \
  X(32s64s, std::int32_t, std::int64_t)   \
  X(16f32f, ::areal::Half, float)         \
  X(32f32f, float, float)                 \
  X(32f64f, float, double)                \
  X(64f64f, double, double)

/// Every type pair, once, the common ones first; the papers' algorithms for GPUs do not support the others. To add a
/// type pair, add a line here; kernels, dispatch, tests, benchmarks and documentation iterate this list.
#define AREAL_TYPE_PAIRS(X)               \
  AREAL_COMMON_TYPE_PAIRS(X)              \
  X(8s64s, std::int8_t, std::int64_t)     \
  X(64u64u, std::uint64_t, std::uint64_t) \
  X(64s64s, std::int64_t, std::int64_t)   \
  X(16f64f, ::areal::Half, double)

namespace areal {

struct Shape;

/// An input type and a table type. Only the pairs of `type_pairs()` can be computed.
struct TypePair {
  Type input = Type::u8;
  Type table = Type::u32;
  friend bool operator==(const TypePair&, const TypePair&) = default;
};

/// All type pairs, in the order of AREAL_TYPE_PAIRS.
std::span<const TypePair> type_pairs() noexcept;
/// "8u32u".
std::string name_of(TypePair types);
/// The type pair of that name, as "8u32u". Throws InvalidArgument, naming the possible ones, for another name.
TypePair type_pair(std::string_view name);
/// The same, or nothing for another name.
std::optional<TypePair> find_type_pair(std::string_view name) noexcept;
/// The type pair used by default for images of that shape and type: 8u32u while 255*W*H fits 32 bits, else 8u64u;
/// 16u64u; 16s64s; 32f64f; 64f64f; 32u64u; 32s64s; 16f64f; 64u64u; 64s64s; 8s32s while 128*W*H fits 31 bits, else
/// 8s64s. With `volume` the batch, its depth, counts too: 8u32u while 255*W*H*D fits.
TypePair default_types(const Shape& image, Type input, bool volume = false);

/// The most pixels for which a region's sum fits the table type, for any pixels (a table may wrap; the sum of such a
/// region is exact all the same). 2^53 / max for 64f, and unlimited (INT64_MAX) for float inputs, whose sums round
/// instead.
std::int64_t largest_safe_region(TypePair types) noexcept;

}  // namespace areal
