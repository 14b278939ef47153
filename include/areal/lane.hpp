#pragma once
/// \file lane.hpp Lanes: an input type and a table type, named as in Chen 2018 (8u32u, 32f64f).

#include <areal/type.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Every lane, once: X(name, input element, table element). Adding a lane is adding a line here;
/// kernels, dispatch, tests, benchmarks and documentation iterate this list.
#define AREAL_LANES(X)                    \
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

namespace areal {

/// An input type and a table type. Only the pairs of `lanes()` can be computed.
struct Lane {
  Type input = Type::u8;
  Type table = Type::u32;
  friend bool operator==(const Lane&, const Lane&) = default;
};

/// All lanes, in the order of AREAL_LANES.
std::span<const Lane> lanes() noexcept;
/// "8u32u".
std::string name_of(Lane lane);
/// The lane of that name, or nothing if areal has none of that name.
std::optional<Lane> lane_named(std::string_view name) noexcept;
/// The lane the command and the one-line forms take when none is named, for an image of that type and size:
/// 8u32u while 255*W*H fits 32 bits, else 8u64u; 16u64u; 16s64s; 32f64f; 64f64f; 32u64u; 32s64s; 8s32s; 16f32f.
/// Throws InvalidArgument for 64-bit integers, which no lane takes.
Lane default_lane(Type input, std::int64_t width, std::int64_t height);

/// The most pixels a region may have so that its sum surely fits the lane's table type, whatever the pixels are
/// (a table may wrap, the sum of such a region is exact all the same). 2^53 / max for 64f, and unlimited
/// (INT64_MAX) for float inputs, whose sums round instead.
std::int64_t largest_safe_region(Lane lane) noexcept;

}  // namespace areal
