#include "view/cells.hpp"

#include <algorithm>
#include <atomic>
#include <vector>
#include "view/element.hpp"
#include "view/part.hpp"

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
    reference_.pivot = pivot_of<T>(channel);
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
