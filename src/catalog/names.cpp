// The names of types, type pairs, borders and backends, and properties of types.
#include <algorithm>
#include <areal/border.hpp>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <areal/execution.hpp>
#include <areal/research/warp_scan.hpp>
#include <areal/type_pair.hpp>
#include <areal/version.hpp>
#include <areal/view.hpp>
#include <array>
#include <limits>

namespace areal {
namespace {

// In the order of Type.
constexpr std::string_view type_names[] = {"8u", "8s", "16u", "16s", "32u", "32s", "64u", "64s", "16f", "32f", "64f"};

#define AREAL_PAIR(name, in, out) TypePair{type_of<in>, type_of<out>},
constexpr TypePair pair_rows[] = {AREAL_TYPE_PAIRS(AREAL_PAIR)};
constexpr TypePair common_pair_rows[] = {AREAL_COMMON_TYPE_PAIRS(AREAL_PAIR)};
static_assert(std::equal(std::begin(common_pair_rows), std::end(common_pair_rows), pair_rows));
#undef AREAL_PAIR

// The index of a name in a list, as the enum with those positions.
template <class Enum, std::size_t N>
std::optional<Enum> named(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == name) return static_cast<Enum>(i);
  return std::nullopt;
}
constexpr std::array<std::string_view, 3> border_names{"zero", "none", "exclusive"};
constexpr std::array<std::string_view, 4> backend_names{"auto", "cpu", "cuda", "simt"};
constexpr std::array<std::string_view, 2> warp_scan_names{"kogge-stone", "ladner-fischer"};

}  // namespace

const char* version() noexcept { return AREAL_VERSION_STRING; }

std::string_view name_of(Type type) noexcept { return type_names[static_cast<int>(type)]; }
std::optional<Type> type_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i < std::size(type_names); ++i)
    if (type_names[i] == name) return static_cast<Type>(i);
  return std::nullopt;
}
bool is_float(Type type) noexcept { return type == Type::f16 || type == Type::f32 || type == Type::f64; }
bool is_signed_integer(Type type) noexcept {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

std::span<const TypePair> type_pairs() noexcept { return pair_rows; }
std::span<const TypePair> type_pairs_of(const Algorithm& row) noexcept {
  if (row.family != "sat" && row.family != "scan") return {};
  return row.plain_only && !row.cpu ? std::span<const TypePair>(common_pair_rows) : pair_rows;
}
std::string name_of(TypePair types) { return std::string(name_of(types.input)) + std::string(name_of(types.table)); }
std::optional<TypePair> find_type_pair(std::string_view name) noexcept {
  for (const TypePair& types : pair_rows) {
    const std::string_view input = name_of(types.input), table = name_of(types.table);
    if (name.size() == input.size() + table.size() && name.starts_with(input) && name.ends_with(table)) return types;
  }
  return std::nullopt;
}

TypePair type_pair(std::string_view name) {
  if (const std::optional<TypePair> found = find_type_pair(name)) return *found;
  std::string known;
  for (const TypePair& types : pair_rows) known += (known.empty() ? "" : ", ") + name_of(types);
  throw InvalidArgument("types " + std::string(name) + " do not exist: they may be " + known);
}

namespace {
// The largest number of 8-bit pixels, all white, whose sum fits 32 bits.
constexpr std::int64_t most_white_pixels = std::numeric_limits<std::uint32_t>::max() / 255;

bool has_at_most(std::int64_t pixels, std::int64_t width, std::int64_t height, std::int64_t depth) {
  for (const std::int64_t extent : {width, height, depth})
    if (extent <= 0) return true;
  return width <= pixels && height <= pixels / width && depth <= pixels / width / height;
}
}  // namespace

TypePair default_types(const Shape& image, Type input, bool volume) {
  switch (input) {
    case Type::u8: {
      const bool fits = has_at_most(most_white_pixels, image.width, image.height, volume ? image.batch : 1);
      return {Type::u8, fits ? Type::u32 : Type::u64};
    }
    case Type::s8: {
      const std::int64_t most = largest_safe_region({Type::s8, Type::s32});
      const bool fits = has_at_most(most, image.width, image.height, volume ? image.batch : 1);
      return {Type::s8, fits ? Type::s32 : Type::s64};
    }
    case Type::u16:
      return {Type::u16, Type::u64};
    case Type::s16:
      return {Type::s16, Type::s64};
    case Type::u32:
      return {Type::u32, Type::u64};
    case Type::s32:
      return {Type::s32, Type::s64};
    case Type::u64:
      return {Type::u64, Type::u64};
    case Type::s64:
      return {Type::s64, Type::s64};
    case Type::f16:
      return {Type::f16, Type::f64};
    case Type::f32:
      return {Type::f32, Type::f64};
    case Type::f64:
      return {Type::f64, Type::f64};
  }
  return {input, input};  // no Type
}

std::int64_t largest_safe_region(TypePair types) noexcept {
  using Limits = std::numeric_limits<std::int64_t>;
  if (is_float(types.input)) return Limits::max();
  // The largest magnitude of a pixel and of an exact table entry.
  const int bits = static_cast<int>(8 * size_of(types.input));
  const bool is_signed = is_signed_integer(types.input);
  const std::uint64_t pixel = is_signed ? std::uint64_t{1} << (bits - 1) : ~std::uint64_t{0} >> (64 - bits);
  std::uint64_t entry = 0;
  switch (types.table) {
    case Type::u32:
      entry = std::numeric_limits<std::uint32_t>::max();
      break;
    case Type::s32:
      // A signed pixel's largest magnitude is negative, and negative table entries reach one further.
      entry = (std::uint64_t{1} << 31) - !is_signed;
      break;
    case Type::u64:
      entry = std::numeric_limits<std::uint64_t>::max();
      break;
    case Type::s64:
      entry = (std::uint64_t{1} << 63) - !is_signed;
      break;
    case Type::f32:
      entry = std::uint64_t{1} << 24;
      break;
    default:
      entry = std::uint64_t{1} << 53;
      break;
  }
  const std::uint64_t pixels = entry / pixel;
  return pixels > static_cast<std::uint64_t>(Limits::max()) ? Limits::max() : static_cast<std::int64_t>(pixels);
}

std::string_view name_of(Border border) noexcept { return border_names[static_cast<std::size_t>(border)]; }
std::optional<Border> border_named(std::string_view name) noexcept { return named<Border>(border_names, name); }
std::string_view name_of(Backend backend) noexcept { return backend_names[static_cast<std::size_t>(backend)]; }
std::optional<Backend> backend_named(std::string_view name) noexcept { return named<Backend>(backend_names, name); }
std::string_view name_of(WarpScan scan) noexcept { return warp_scan_names[static_cast<std::size_t>(scan)]; }
std::optional<WarpScan> warp_scan_named(std::string_view name) noexcept {
  return named<WarpScan>(warp_scan_names, name);
}

}  // namespace areal
