#include "cpu/filter/sized.hpp"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include "cpu/filter/element.hpp"
#include "cpu/filter/finish.hpp"
#include "cpu/filter/strips.hpp"
#include "cpu/filter/table_cells.hpp"

namespace areal::cpu {
namespace {

constexpr std::int64_t chunk = 512;          // outputs
constexpr std::int64_t least_columns = 256;  // of entries, added by one thread
constexpr double most_unscaled = 0x1p400;    // squares of larger doubles overflow

}  // namespace

template <class F>
void Sized::with_cell(const F& f) const {
  const bool squares = finish_.needs_squares(), omits = request_.omit_nan;
  with_pixel(request_.in, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T> && sizeof(T) < 8) {
      if (squares)
        return request_.mask ? f.template operator()<T, IntegerCell<T, true, true>>()
                             : f.template operator()<T, IntegerCell<T, true, false>>();
      return request_.mask ? f.template operator()<T, IntegerCell<T, false, true>>()
                           : f.template operator()<T, IntegerCell<T, false, false>>();
    } else if constexpr (!std::is_integral_v<T>) {
      if (squares)
        return omits ? f.template operator()<T, FloatCell<true, true>>()
                     : f.template operator()<T, FloatCell<true, false>>();
      return omits ? f.template operator()<T, FloatCell<false, true>>()
                   : f.template operator()<T, FloatCell<false, false>>();
    }
  });
}

Sized::Sized(const FilterRequest& request) : request_(request), finish_(finish_of(request)) {
  const Shape& image = request.image;
  with_cell([&]<class T, class Cell>() {
    table_bytes_ = whole_lines(static_cast<std::size_t>((image.width + 1) * (image.height + 1)) * sizeof(Cell));
  });
  const std::int64_t n = std::min(chunk, image.width);
  std::size_t end = 0;
  for (std::size_t* const at : {&layout_.count, &layout_.sum, &layout_.squares, &layout_.numerator, &layout_.pixels,
                                &layout_.values, &layout_.out})
    *at = place(end, n, 8);
  layout_.bytes = end;
  workspace_bytes_ = cache_line + table_bytes_ + end * static_cast<std::size_t>(slots(request.threads));
}

template <class T, class Cell>
class Sized::Plane {
 public:
  Plane(const Sized& sized, const FilterArguments& arguments, std::int64_t plane, char* memory)
      : sized_(sized),
        request_(sized.request_),
        image_(plane_of(arguments.image, plane, false)),
        out_(plane_of(arguments.out, plane, false)),
        mask_(request_.mask ? plane_of(arguments.mask, plane / request_.image.channels, false) : arguments.mask),
        sizes_(arguments.sizes),
        batch_(plane / request_.image.channels),
        table_(reinterpret_cast<Cell*>(memory)),
        scratch_(memory + sized.table_bytes_),
        width_(request_.image.width),
        height_(request_.image.height) {}

  void run() {
    const int threads = request_.threads;
    if constexpr (std::is_same_v<T, double>) find_scale();
    std::uninitialized_fill_n(table_, width_ + 1, Cell{});
    if (slots(threads) == 1) {
      const Strips all(1, 0, height_, 1, 1);
      all.for_each(threads, [&](std::int64_t, std::int64_t) {
        for (std::int64_t y = 0; y < height_; ++y) sum_row(y), add_above(y, 0, width_ + 1);
      });
    } else {
      // The order of additions is the same.
      const Strips rows(1, 0, height_, 1, slots(threads));
      rows.for_each(threads, [&](std::int64_t, std::int64_t s) {
        for (std::int64_t y = rows.begin(s); y < rows.end(s); ++y) sum_row(y);
      });
      const Strips columns(1, 0, (width_ + least_columns) / least_columns, 1, slots(threads));
      columns.for_each(threads, [&](std::int64_t, std::int64_t s) {
        const std::int64_t end = std::min(width_ + 1, columns.end(s) * least_columns);
        for (std::int64_t y = 0; y < height_; ++y) add_above(y, columns.begin(s) * least_columns, end);
      });
    }
    const Strips rows(1, 0, height_, 1, slots(threads));
    rows.for_each(threads, [&](std::int64_t, std::int64_t s) {
      for (std::int64_t y = rows.begin(s); y < rows.end(s); ++y)
        for (std::int64_t x = 0; x < width_; x += chunk) answer(y, x, std::min(chunk, width_ - x));
    });
  }

 private:
  Cell* row(std::int64_t y) const { return table_ + y * (width_ + 1); }

  static auto number(const char* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    if constexpr (std::is_same_v<T, Half>)
      return static_cast<double>(to_float(value));
    else if constexpr (std::is_floating_point_v<T>)
      return static_cast<double>(value);
    else
      return value;
  }

  // A power of 2, so that scaled pixels are at most 1 where squares of others overflow.
  void find_scale() {
    double most = 0;
    for (std::int64_t y = 0; y < height_; ++y) {
      const char* at = static_cast<const char*>(image_.row(y));
      for (std::int64_t x = 0; x < width_; ++x, at += image_.column_pitch())
        if (const double size = std::fabs(number(at)); size <= std::numeric_limits<double>::max())
          most = std::max(most, size);
    }
    if (most >= most_unscaled) scale_ = std::ldexp(1, std::ilogb(most));
  }

  // The sums along a row of pixels, one entry further right.
  void sum_row(std::int64_t y) const {
    Cell* const to = row(y + 1);
    const char* at = static_cast<const char*>(image_.row(y));
    const char* const mask = request_.mask ? static_cast<const char*>(mask_.row(y)) : nullptr;
    const double smaller = 1 / scale_;
    Cell sum{};
    std::uninitialized_fill_n(to, 1, sum);
    for (std::int64_t x = 0; x < width_; ++x, at += image_.column_pitch()) {
      const bool is_valid = mask == nullptr || mask[x * mask_.column_pitch()] != 0;
      if constexpr (std::is_same_v<T, double>)
        sum.take(number(at) * smaller, is_valid);
      else
        sum.take(number(at), is_valid);
      std::uninitialized_fill_n(to + x + 1, 1, sum);
    }
  }
  void add_above(std::int64_t y, std::int64_t begin, std::int64_t end) const {
    const Cell* const above = row(y);
    Cell* const to = row(y + 1);
    for (std::int64_t x = begin; x < end; ++x) to[x].add(above[x]);
  }

  // The rows or columns of a window that lie inside, from one of the pixels of an axis on.
  static std::pair<std::int64_t, std::int64_t> inside(std::int64_t at, std::int64_t size, std::int64_t extent) {
    if (size <= 0) return {at, at};
    const std::int64_t begin = at - size / 2;
    return {std::max<std::int64_t>(0, begin), std::min(extent, begin + size)};
  }

  template <class Size>
  void collect(std::int64_t y, std::int64_t first, std::int64_t n, WindowTerms& terms) const {
    const bool planar = sizes_.shape.layout == Layout::planar, two = sizes_.shape.channels == 2;
    const char* rows = static_cast<const char*>(sizes_.row(y, 0, batch_)) + first * sizes_.column_pitch();
    const char* columns = !two     ? rows
                          : planar ? static_cast<const char*>(sizes_.row(y, 1, batch_)) + first * sizes_.column_pitch()
                                   : rows + sizeof(Size);
    for (std::int64_t i = 0; i < n; ++i, rows += sizes_.column_pitch(), columns += sizes_.column_pitch()) {
      Size h, w;
      std::memcpy(&h, rows, sizeof h);
      std::memcpy(&w, columns, sizeof w);
      const auto [top, bottom] = inside(y, h, height_);
      const auto [left, right] = inside(first + i, w, width_);
      // Pairs of doubles lose least where differences are of neighbours in a column.
      Cell window = row(bottom)[right], beside = row(bottom)[left];
      window.subtract(row(top)[right]);
      beside.subtract(row(top)[left]);
      window.subtract(beside);
      const TableTerms of = window.terms(static_cast<std::uint64_t>((bottom - top) * (right - left)), scale_);
      terms.count[i] = of.count, terms.sum[i] = of.sum, terms.squares[i] = of.squares,
      terms.numerator[i] = of.numerator;
    }
  }

  void answer(std::int64_t y, std::int64_t x, std::int64_t n) const {
    const auto& layout = sized_.layout_;
    char* const mine = scratch_ + static_cast<std::size_t>(slot()) * layout.bytes;
    const auto array = [&](std::size_t at) { return reinterpret_cast<double*>(mine + at); };
    const FinishKernels& kernels = finish_kernels();
    WindowTerms terms{array(layout.count), array(layout.sum), array(layout.squares), array(layout.numerator),
                      array(layout.pixels)};
    if (sizes_.type == Type::u16)
      collect<std::uint16_t>(y, x, n, terms);
    else
      collect<std::int32_t>(y, x, n, terms);
    if (sized_.finish_.decides)
      kernels.reals(static_cast<const char*>(image_.row(y)) + x * image_.column_pitch(), image_.column_pitch(),
                    request_.in, n, terms.pixels);
    kernels.finish(sized_.finish_, terms, n, array(layout.values));
    const auto size = static_cast<std::int64_t>(size_of(out_.type)), step = out_.column_pitch();
    char* const to = static_cast<char*>(out_.row(y)) + x * step;
    if (step == size) return kernels.store(array(layout.values), n, request_.out, to);
    char* const buffer = mine + layout.out;
    kernels.store(array(layout.values), n, request_.out, buffer);
    for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * step, buffer + i * size, static_cast<std::size_t>(size));
  }

  const Sized& sized_;
  const FilterRequest& request_;
  ConstView image_;
  View out_;
  ConstView mask_, sizes_;
  std::int64_t batch_;
  Cell* table_;
  char* scratch_;
  std::int64_t width_, height_;
  double scale_ = 1;
};

void Sized::execute(const FilterArguments& arguments, void* workspace) const {
  if (arguments.out.shape.empty()) return;
  char* const memory = reinterpret_cast<char*>(whole_lines(reinterpret_cast<std::uintptr_t>(workspace)));
  const std::int64_t planes = request_.image.batch * request_.image.channels;
  with_cell([&]<class T, class Cell>() {
    for (std::int64_t plane = 0; plane < planes; ++plane) Plane<T, Cell>(*this, arguments, plane, memory).run();
  });
}

}  // namespace areal::cpu
