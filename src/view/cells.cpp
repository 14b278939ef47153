#include "view/cells.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>
#include "view/element.hpp"

namespace areal::view {

std::string digits_of(__int128 value) {
  std::string digits;
  auto rest = value < 0 ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  do digits.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
  while ((rest /= 10) != 0);
  if (value < 0) digits.push_back('-');
  std::reverse(digits.begin(), digits.end());
  return digits;
}

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Neumaier's sum: the error does not grow with the number of terms.
struct Total {
  double sum = 0, lost = 0;
  void add(double value) noexcept {
    const double next = sum + value;
    lost += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
  }
  void add(const Total& other) noexcept {
    add(other.sum);
    lost += other.lost;
  }
  double value() const noexcept { return std::isfinite(lost) ? sum + lost : sum; }
};

std::string text_of(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// What the pixels of a channel are compared with.
template <class Value>
struct Reference {
  std::pair<double, double> range;
  Value pivot{};  // a pixel: deviations from it are small where the pixels are alike

  double away(Value value) const noexcept {
    if constexpr (std::is_floating_point_v<Value>)
      return static_cast<double>(value) - static_cast<double>(pivot);
    else
      return static_cast<double>(static_cast<__int128>(value) - static_cast<__int128>(pivot));
  }
};

/// What some pixels of element type T add up to.
template <class T>
struct Part {
  using Value = decltype(value_of(T{}));
  static constexpr bool is_float = std::is_floating_point_v<Value>;
  static constexpr bool has_squares = !is_float && sizeof(T) <= 4;  // exact in 128 bits for fewer than 2^31 pixels

  std::int64_t pixels = 0, nans = 0, under = 0, over = 0;
  Value least = std::numeric_limits<Value>::max(), most = std::numeric_limits<Value>::lowest();
  __int128 sum = 0;               // of integers
  unsigned __int128 squares = 0;  // of integers of up to 32 bits
  Total total;                    // of floats
  // Of floats and 64-bit integers: the mean less the pivot, and the sum of squared deviations from the mean.
  double mean = 0, deviations = 0;

  void add(const void* row, std::int64_t from, std::int64_t to, const Reference<Value>& reference) noexcept {
    Part run;
    run.pixels = to - from;
    if constexpr (is_float) run.least = std::numeric_limits<Value>::infinity(), run.most = -run.least;
    using Sum = std::conditional_t<is_float, double, std::conditional_t<sizeof(T) == 8, __int128, std::int64_t>>;
    using Squares = std::conditional_t<sizeof(T) == 4, unsigned __int128, std::uint64_t>;
    Sum added = 0;
    Squares squared = 0;
    for (std::int64_t x = from; x < to; ++x) {
      const Value value = element<T>(row, x);
      const auto real = static_cast<double>(value);
      added += static_cast<Sum>(+value);
      if constexpr (has_squares) {
        const std::int64_t wide = +value;  // by int: clang-tidy takes signed char for text
        squared +=
            static_cast<std::uint64_t>(wide < 0 ? -wide : wide) * static_cast<std::uint64_t>(wide < 0 ? -wide : wide);
      }
      run.least = value < run.least ? value : run.least;
      run.most = value > run.most ? value : run.most;
      run.under += real < reference.range.first ? 1 : 0;
      run.over += real > reference.range.second ? 1 : 0;
      if constexpr (is_float) run.nans += std::isnan(value) ? 1 : 0;
    }
    if constexpr (is_float)
      run.total.sum = added;
    else
      run.sum = added;
    if constexpr (has_squares) {
      run.squares = squared;
    } else {
      double away = 0;
      for (std::int64_t x = from; x < to; ++x) away += reference.away(element<T>(row, x));
      run.mean = away / static_cast<double>(run.pixels);
      for (std::int64_t x = from; x < to; ++x) {
        const double deviation = reference.away(element<T>(row, x)) - run.mean;
        run.deviations += deviation * deviation;
      }
    }
    add(run);
  }

  void add(const Part& other) noexcept {
    if (other.pixels == 0) return;
    if constexpr (!has_squares) {  // Chan, Golub and LeVeque 1979
      const double mine = static_cast<double>(pixels), its = static_cast<double>(other.pixels);
      const double apart = pixels == 0 ? 0 : other.mean - mean;
      deviations += other.deviations + apart * apart * (mine * its / (mine + its));
      mean = pixels == 0 ? other.mean : mean + apart * (its / (mine + its));
    }
    if constexpr (is_float)
      least = pixels == 0 ? other.least : std::min(least, other.least),
      most = pixels == 0 ? other.most : std::max(most, other.most);
    else
      least = std::min(least, other.least), most = std::max(most, other.most);
    pixels += other.pixels, nans += other.nans, under += other.under, over += other.over;
    sum += other.sum, squares += other.squares;
    total.add(other.total);
  }

  Moments moments() const {
    Moments m;
    m.pixels = pixels, m.nans = nans, m.under = under, m.over = over;
    if constexpr (is_float)
      m.sum = text_of(total.value());
    else
      m.sum = digits_of(sum);
    if (pixels == 0 || nans > 0) {
      m.mean = m.deviation = nan;
      m.least = m.most = nan;
      if (pixels == 0) m.sum = "0";
      return m;
    }
    const auto count = static_cast<long double>(pixels);
    if constexpr (is_float) {
      m.mean = total.value() / static_cast<double>(pixels);
      m.least = static_cast<double>(least), m.most = static_cast<double>(most);
    } else {
      m.mean = static_cast<double>(static_cast<long double>(sum) / count);
      if constexpr (std::is_signed_v<Value>)
        m.least = static_cast<std::int64_t>(least), m.most = static_cast<std::int64_t>(most);
      else
        m.least = static_cast<std::uint64_t>(least), m.most = static_cast<std::uint64_t>(most);
    }
    if constexpr (has_squares) {
      const auto size = static_cast<unsigned __int128>(sum < 0 ? -sum : sum);
      const auto spread = static_cast<unsigned __int128>(pixels) * squares - size * size;
      m.deviation = static_cast<double>(std::sqrt(static_cast<long double>(spread)) / count);
    } else {
      m.deviation = std::sqrt(deviations / static_cast<double>(pixels));
    }
    return m;
  }
};

}  // namespace

struct Cells::Base {
  virtual ~Base() = default;
  virtual Moments of(const Region& region) const = 0;
  virtual void fill() = 0;
};

namespace {

template <class T>
class CellsOf final : public Cells::Base {
 public:
  CellsOf(const ConstView& channel, std::pair<double, double> range)
      : channel_(channel), reference_{range}, columns_((channel.shape.width + side - 1) / side) {
    reference_.pivot = pivot_of(channel);
  }

  void fill() override {
    const Shape& shape = channel_.shape;
    const std::int64_t rows = (shape.height + side - 1) / side;
    parts_.resize(static_cast<std::size_t>(rows * columns_));
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < columns_; ++column)
        add_pixels(parts_[static_cast<std::size_t>(row * columns_ + column)], column * side, row * side,
                   std::min(column * side + side, shape.width), std::min(row * side + side, shape.height));
    filled_.store(true, std::memory_order_release);
  }

  Moments of(const Region& region) const override {
    const std::int64_t right = region.x + region.width, bottom = region.y + region.height;
    // Whole cells: columns [left_cell, right_cell), rows [top_cell, bottom_cell).
    const std::int64_t left_cell = (region.x + side - 1) / side, right_cell = right / side;
    const std::int64_t top_cell = (region.y + side - 1) / side, bottom_cell = bottom / side;
    Part<T> all;
    if (left_cell >= right_cell || top_cell >= bottom_cell || !filled_.load(std::memory_order_acquire)) {
      add_pixels(all, region.x, region.y, right, bottom);
      return all.moments();
    }
    for (std::int64_t row = top_cell; row < bottom_cell; ++row)
      for (std::int64_t column = left_cell; column < right_cell; ++column)
        all.add(parts_[static_cast<std::size_t>(row * columns_ + column)]);
    add_pixels(all, region.x, region.y, right, top_cell * side);
    add_pixels(all, region.x, top_cell * side, left_cell * side, bottom_cell * side);
    add_pixels(all, right_cell * side, top_cell * side, right, bottom_cell * side);
    add_pixels(all, region.x, bottom_cell * side, right, bottom);
    return all.moments();
  }

 private:
  static constexpr std::int64_t side = Cells::side;

  // The first finite pixel.
  static typename Part<T>::Value pivot_of(const ConstView& channel) {
    for (std::int64_t y = 0; y < channel.shape.height; ++y)
      for (std::int64_t x = 0; x < channel.shape.width; ++x)
        if (const auto value = element<T>(channel.row(y), x); std::isfinite(static_cast<double>(value))) return value;
    return {};
  }

  // Columns [left, right), rows [top, bottom).
  void add_pixels(Part<T>& to, std::int64_t left, std::int64_t top, std::int64_t right, std::int64_t bottom) const {
    if (left < right)
      for (std::int64_t y = top; y < bottom; ++y) to.add(channel_.row(y), left, right, reference_);
  }

  ConstView channel_;
  Reference<typename Part<T>::Value> reference_;
  std::int64_t columns_;
  std::vector<Part<T>> parts_;
  std::atomic<bool> filled_ = false;
};

}  // namespace

Cells::Cells(const ConstView& channel, std::pair<double, double> range)
    : cells_(with_type(channel.type, [&]<class T>(T*) -> std::unique_ptr<Base> {
        return std::make_unique<CellsOf<T>>(channel, range);
      })) {}
Cells::~Cells() = default;
Cells::Cells(Cells&&) noexcept = default;
Cells& Cells::operator=(Cells&&) noexcept = default;

void Cells::fill() { cells_->fill(); }

Moments Cells::of(const Region& region) const { return cells_->of(region); }

}  // namespace areal::view
