#include "api/core/view_check.hpp"
#include <algorithm>
#include <areal/array.hpp>
#include <array>
#include <ostream>
#include <utility>
#include "api/core/require.hpp"

namespace areal {
namespace {

auto words_of(const Shape& s) {
  return Phrase{[&s](std::ostream& out) {
    out << s.width << "x" << s.height;
    if (s.channels != 1)
      out << ", " << s.channels << (s.layout == Layout::planar ? " planar" : " interleaved") << " channels";
    if (s.batch != 1) out << ", batch " << s.batch;
  }};
}

struct Axis {
  std::int64_t pitch, extent;
  const char* name;
};
std::array<Axis, 4> axes(const ConstView& view) {
  const Shape& s = view.shape;
  const bool planar = s.layout == Layout::planar;
  return {{{view.column_pitch(), s.width, "column"},
           {view.row_pitch, s.height, "row"},
           {view.plane_pitch, planar ? s.channels : 1, "plane"},
           {view.batch_pitch, s.batch, "batch"}}};
}

/// Rows that lie on their own: a plane of a planar image, an image of interleaved channels.
std::int64_t separate_planes(const Shape& shape) {
  return shape.batch * (shape.layout == Layout::planar ? shape.channels : 1);
}
ConstView separate_plane(ConstView view, std::int64_t p) {
  const bool planar = view.shape.layout == Layout::planar;
  view.data = planar ? view.row(0, p % view.shape.channels, p / view.shape.channels) : view.row(0, 0, p);
  if (planar) view.shape.channels = 1;
  view.shape.batch = 1;
  return view;
}

/// First and one-past-last address.
std::pair<std::uintptr_t, std::uintptr_t> range(const ConstView& view) {
  const auto first = reinterpret_cast<std::uintptr_t>(view.data);
  std::uintptr_t last = first;
  for (const Axis& axis : axes(view)) last += static_cast<std::uintptr_t>(axis.pitch * (axis.extent - 1));
  return {first, last + static_cast<std::uintptr_t>(view.column_pitch())};
}

}  // namespace

void check_shape(std::string_view name, const Shape& shape, Type type) {
  try {
    bytes_of(shape, type);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(sentence(name, " ", error.what()));
  }
}

void check_view(std::string_view name, const ConstView& view, const Shape& shape, Type type) {
  require(view.type == type, name, " type ", name_of(view.type), ": this plan takes ", name_of(type));
  const Shape& s = view.shape;
  const bool fits = s.width == shape.width && s.height == shape.height && s.channels == shape.channels &&
                    s.batch == shape.batch && (s.channels == 1 || s.layout == shape.layout);
  require(fits, name, " shape ", words_of(s), ": this plan takes ", words_of(shape));
  if (s.empty()) return;
  require(view.data != nullptr, name, " data is a null pointer");
  auto sorted = axes(view);
  std::sort(sorted.begin() + 1, sorted.end(), [](const Axis& a, const Axis& b) { return a.pitch < b.pitch; });
  // Each pitch must step over the span of the smaller ones.
  std::int64_t span = view.column_pitch() * s.width;
  for (const Axis& axis : sorted) {
    if (axis.extent <= 1 || axis.name == axes(view)[0].name) continue;
    require(axis.pitch >= 0, name, " ", axis.name, " pitch ", axis.pitch, " bytes: a pitch may not be negative");
    require(axis.pitch >= span, name, " ", axis.name, " pitch ", axis.pitch, " bytes: it may not be below ", span,
            ", or they overlap");
    std::int64_t reach = 0;
    require(!__builtin_mul_overflow(axis.pitch, axis.extent - 1, &reach) && !__builtin_add_overflow(reach, span, &span),
            name, " ", axis.name, " pitch ", axis.pitch, " bytes: the view's end does not fit 63 bits");
  }
}

bool may_overlap(const ConstView& a, const ConstView& b) {
  if (a.shape.empty() || b.shape.empty() || a.data == nullptr || b.data == nullptr || a.memory != b.memory)
    return false;
  const auto [a_first, a_last] = range(a);
  const auto [b_first, b_last] = range(b);
  if (a_last <= b_first || b_last <= a_first) return false;
  // Planes of windows of one planar table lie between each other's.
  const std::int64_t a_planes = separate_planes(a.shape), b_planes = separate_planes(b.shape);
  if (a_planes > 1 || b_planes > 1) {
    for (std::int64_t p = 0; p < a_planes; ++p)
      for (std::int64_t q = 0; q < b_planes; ++q)
        if (may_overlap(separate_plane(a, p), separate_plane(b, q))) return true;
    return false;
  }
  if (a.row_pitch != b.row_pitch || a.row_pitch <= 0) return true;
  // Two column ranges of the same rows: b's columns start `from` bytes after a's, modulo the pitch.
  const auto pitch = static_cast<std::uintptr_t>(a.row_pitch);
  const std::uintptr_t from = (b_first - a_first % pitch + pitch) % pitch;
  const auto a_bytes = static_cast<std::uintptr_t>(a.column_pitch() * a.shape.width);
  const auto b_bytes = static_cast<std::uintptr_t>(b.column_pitch() * b.shape.width);
  return !(from >= a_bytes && from + b_bytes <= pitch);
}

}  // namespace areal
