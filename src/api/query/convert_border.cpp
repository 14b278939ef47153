// A table in another border, without computing it again: rows are copied, and the row and column that an exclusive
// table lacks are summed from the image's last ones.
#include <algorithm>
#include <areal/table.hpp>
#include <areal/type_pair.hpp>
#include <cstring>
#include "api/query/border_check.hpp"
#include "api/query/query_call.hpp"
#include "cpu/query/modular.hpp"

namespace areal {

namespace {

// The type in which a run of pixels is summed: modulo 2^k in an integer table's width, else double.
template <class Pixel, class T>
typename cpu::Modular<T>::Difference pixel(const ConstView& image, std::int64_t x, std::int64_t y) {
  const char* address = static_cast<const char*>(image.row(y)) + x * image.column_pitch();
  const Pixel value = cpu::load<Pixel>(address);
  if constexpr (std::is_same_v<Pixel, Half>)
    return to_float(value);
  else if constexpr (std::is_integral_v<Pixel> && std::is_integral_v<T>)
    return static_cast<typename cpu::Modular<T>::Difference>(static_cast<T>(value));
  else
    return static_cast<double>(value);
}

// Element (x, y) of a table, in the coordinates of border `zero`: sums of rows < y and columns < x.
class Elements {
 public:
  Elements(const View& table, Border border) : table_(table), shift_(border == Border::none ? 1 : 0) {}
  char* at(std::int64_t x, std::int64_t y) const {
    return static_cast<char*>(table_.row(y - shift_)) + (x - shift_) * table_.column_pitch();
  }
  std::int64_t first() const { return shift_; }

 private:
  View table_;
  std::int64_t shift_;
};

// Adds the row below and the column right of an exclusive table whose elements are already in `to`.
template <class Pixel, class T>
void add_last(const Elements& to, std::int64_t width, std::int64_t height, const ConstView& image) {
  using Sum = typename cpu::Modular<T>::Difference;
  const auto store = [&](std::int64_t x, std::int64_t y, Sum sum) {
    const T value = static_cast<T>(sum);
    std::memcpy(to.at(x, y), &value, sizeof value);
  };
  const auto before = [&](std::int64_t x, std::int64_t y) {
    return x < to.first() || y < to.first() ? Sum{0} : cpu::element<T>(to.at(x, y));
  };
  Sum run = 0;
  for (std::int64_t y = 1; y < height; ++y) {
    run += pixel<Pixel, T>(image, width - 1, y - 1);
    store(width, y, before(width - 1, y) + run);
  }
  run = 0;
  for (std::int64_t x = 1; x <= width; ++x) {
    run += pixel<Pixel, T>(image, x - 1, height - 1);
    store(x, height, before(x, height - 1) + run);
  }
}

using AddLast = void (*)(const Elements&, std::int64_t, std::int64_t, const ConstView&);

AddLast add_last_for(TypePair types) {
#define AREAL_CASE(name, pixel_type, table_type) \
  if (types == TypePair{type_of<pixel_type>, type_of<table_type>}) return add_last<pixel_type, table_type>;
  AREAL_TYPE_PAIRS(AREAL_CASE)
#undef AREAL_CASE
  return nullptr;
}

}  // namespace

void convert_border(const TableView& from, const View& to, Border to_border, const ConstView& image,
                    const Execution& execution) {
  const bool completes = require_conversion(from, to, to_border, image);
  const std::optional<MemoryPlace> of_image = completes ? std::optional(image.memory) : std::nullopt;
  QueryCall call(execution, {{"from", from.memory()}, {"to", to.memory}, {"image", of_image}});
  if (!call.on_cpu())
    return call.answer(kernels::ConvertRequest{from, to, to_border, completes ? std::optional(image) : std::nullopt});
  const std::int64_t width = from.image_width(), height = from.image_height();

  if (width == 0 || height == 0) {
    for (std::int64_t y = 0; y < to.shape.height; ++y)
      if (to.shape.width > 0) std::memset(to.row(y), 0, static_cast<std::size_t>(to.shape.width) * size_of(to.type));
    return;
  }
  // In border zero's coordinates both hold [first, last). Elements takes a mutable view; `from` is only read.
  const Elements source(View(const_cast<void*>(from.view.data), from.view.type, from.view.shape, from.view.row_pitch),
                        from.border);
  const Elements target(to, to_border);
  const std::int64_t size = static_cast<std::int64_t>(size_of(to.type));
  const auto last = [](std::int64_t extent, Border border) {
    return border == Border::exclusive ? extent : extent + 1;
  };
  const std::int64_t first = std::max(source.first(), target.first());
  const std::int64_t last_x = std::min(last(width, from.border), last(width, to_border));
  const std::int64_t last_y = std::min(last(height, from.border), last(height, to_border));
  if (target.first() < first) {  // zeros that `from` does not store
    for (std::int64_t y = 0; y < last(height, to_border); ++y)
      std::memset(target.at(0, y), 0, static_cast<std::size_t>(y == 0 ? last(width, to_border) * size : size));
  } else if (target.first() == 0 && completes) {
    std::memset(target.at(width, 0), 0, static_cast<std::size_t>(size));
    std::memset(target.at(0, height), 0, static_cast<std::size_t>(size));
  }
  if (last_x > first)
    for (std::int64_t y = first; y < last_y; ++y)
      std::memcpy(target.at(first, y), source.at(first, y), static_cast<std::size_t>((last_x - first) * size));
  if (completes) add_last_for({image.type, from.view.type})(target, width, height, image);
}

}  // namespace areal
