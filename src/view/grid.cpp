#include "view/grid.hpp"

#include <algorithm>
#include <areal/region_histogram.hpp>
#include <atomic>
#include <vector>
#include "view/part.hpp"

namespace areal::view {
namespace {

std::int64_t cells_of(std::int64_t pixels, std::int64_t side) { return (pixels + side - 1) / side; }

template <class T>
class GridOf final : public Grid {
 public:
  GridOf(const Extent& full, std::int64_t bins, std::pair<double, double> range, std::int64_t side,
         const ConstView& sample)
      : full_(full),
        side_(side),
        columns_(cells_of(full.width, side)),
        shown_bins_(bins),
        counting_(type_of<T>, bins, range),
        bins_(static_cast<std::size_t>(counting_.counted().bins())),
        reference_{range, pivot_of<T>(sample)},
        sums_(static_cast<std::size_t>((columns_ + 1) * (cells_of(full.height, side) + 1)) * bins_) {
    if (counting_.is_bytes()) return;
    std::int64_t wide = columns_, high = cells_of(full.height, side);
    for (; wide > 0 && high > 0; wide /= 2, high /= 2) {
      pyramid_.push_back({wide, std::vector<Part<T>>(static_cast<std::size_t>(wide * high))});
      if (wide == 1 || high == 1) break;
    }
  }

  std::int64_t side() const override { return side_; }
  std::int64_t rows() const override { return rows_.load(std::memory_order_acquire); }

  void add(std::int64_t x, std::int64_t y, const ConstView& block, int threads) override {
    std::vector<Region> parts;
    const std::int64_t right = x + block.shape.width, bottom = y + block.shape.height;
    for (std::int64_t top = y; top < bottom; top = (top / side_ + 1) * side_)
      for (std::int64_t left = x; left < right; left = (left / side_ + 1) * side_) {
        const std::int64_t end_x = std::min(right, (left / side_ + 1) * side_);
        const std::int64_t end_y = std::min(bottom, (top / side_ + 1) * side_);
        parts.push_back({left - x, top - y, end_x - left, end_y - top});
      }
    const std::vector<std::uint64_t> counts =
        region_histograms(block, counting_.counted(), parts, {.execution = on_cpu(threads)});
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Region& part = parts[i];
      const std::int64_t row = (y + part.y) / side_, column = (x + part.x) / side_;
      std::uint32_t* const sums = at(row + 1, column + 1);
      for (std::size_t k = 0; k < bins_; ++k) sums[k] += static_cast<std::uint32_t>(counts[i * bins_ + k]);
      if (!counting_.is_bytes())
        add_rows(pyramid_[0].parts[static_cast<std::size_t>(row * columns_ + column)], part_of(block, part));
    }
  }

  void set_range(std::pair<double, double> range) override {
    counting_ = Counting(type_of<T>, shown_bins_, range);
    reference_.range = range;
  }
  void forget() override {
    std::fill(sums_.begin(), sums_.end(), 0U);
    for (Level& level : pyramid_) std::fill(level.parts.begin(), level.parts.end(), Part<T>());
    rows_.store(0, std::memory_order_release);
  }

  void complete(std::int64_t rows) override {
    const std::int64_t from = rows_.load(std::memory_order_relaxed);
    const std::int64_t end = rows == full_.height ? cells_of(rows, side_) : rows / side_;
    for (std::int64_t row = from; row < end; ++row) sum_row(row);
    for (std::size_t level = 1; level < pyramid_.size(); ++level) {
      Level &above = pyramid_[level - 1], &here = pyramid_[level];
      for (std::int64_t row = from >> level; row < end >> level; ++row)
        for (std::int64_t column = 0; column < here.wide; ++column) {
          Part<T>& sum = here.parts[static_cast<std::size_t>(row * here.wide + column)];
          sum = {};
          for (std::int64_t i = 0; i < 4; ++i)
            sum.add(above.parts[static_cast<std::size_t>((2 * row + i / 2) * above.wide + 2 * column + i % 2)]);
        }
    }
    rows_.store(end, std::memory_order_release);
  }

  Answer answer(const CellRange& cells, const std::function<void(const Pixels&)>& rest) const override {
    std::vector<std::uint64_t> counts(bins_);
    Part<T> sum;
    if (!cells.empty()) {
      add_counts(cells, counts);
      add_parts(cells, sum);
    }
    rest([&](const ConstView& block) {
      const Region whole{0, 0, block.shape.width, block.shape.height};
      const std::vector<std::uint64_t> counted =
          region_histograms(block, counting_.counted(), Span<const Region>(&whole, 1), {.execution = on_cpu(1)});
      for (std::size_t k = 0; k < bins_; ++k) counts[k] += counted[k];
      if (!counting_.is_bytes()) add_rows(sum, block);
    });
    return counting_.answer(std::move(counts), sum.moments());
  }

 private:
  struct Level {
    std::int64_t wide;
    std::vector<Part<T>> parts;
  };

  static Execution on_cpu(int threads) { return {.backend = Backend::cpu, .threads = threads}; }
  std::uint32_t* at(std::int64_t row, std::int64_t column) {
    return sums_.data() + static_cast<std::size_t>(row * (columns_ + 1) + column) * bins_;
  }
  const std::uint32_t* at(std::int64_t row, std::int64_t column) const {
    return sums_.data() + static_cast<std::size_t>(row * (columns_ + 1) + column) * bins_;
  }
  void add_rows(Part<T>& to, const ConstView& block) const {
    for (std::int64_t y = 0; y < block.shape.height; ++y) to.add(block.row(y), 0, block.shape.width, reference_);
  }

  /// Counts become sums over all cells above and left, modulo 2^32.
  void sum_row(std::int64_t row) {
    std::vector<std::uint32_t> left(bins_);
    for (std::int64_t column = 1; column <= columns_; ++column) {
      std::uint32_t* const here = at(row + 1, column);
      const std::uint32_t* const above = at(row, column);
      for (std::size_t k = 0; k < bins_; ++k) {
        left[k] += here[k];
        here[k] = left[k] + above[k];
      }
    }
  }

  /// In rectangles of fewer than 2^32 pixels, whose counts are exact.
  void add_counts(const CellRange& cells, std::vector<std::uint64_t>& counts) const {
    const std::int64_t most = ((std::int64_t{1} << 32) - 1) / (side_ * side_);
    const std::int64_t high = std::min(cells.bottom - cells.top, most), wide = std::max<std::int64_t>(1, most / high);
    for (std::int64_t top = cells.top; top < cells.bottom; top += high)
      for (std::int64_t left = cells.left; left < cells.right; left += wide) {
        const std::int64_t bottom = std::min(cells.bottom, top + high), right = std::min(cells.right, left + wide);
        const std::uint32_t *a = at(top, left), *b = at(top, right), *c = at(bottom, left), *d = at(bottom, right);
        for (std::size_t k = 0; k < bins_; ++k) counts[k] += static_cast<std::uint32_t>(d[k] - b[k] - c[k] + a[k]);
      }
  }

  /// Cells at odd edges level by level, so that each level halves what remains.
  void add_parts(CellRange cells, Part<T>& sum) const {
    for (std::size_t level = 0; level < pyramid_.size() && !cells.empty(); ++level) {
      const Level& here = pyramid_[level];
      const auto add = [&](std::int64_t left, std::int64_t top, std::int64_t right, std::int64_t bottom) {
        for (std::int64_t row = top; row < bottom; ++row)
          for (std::int64_t column = left; column < right; ++column)
            sum.add(here.parts[static_cast<std::size_t>(row * here.wide + column)]);
      };
      if (level + 1 == pyramid_.size()) return add(cells.left, cells.top, cells.right, cells.bottom);
      if (cells.top % 2 == 1) add(cells.left, cells.top, cells.right, cells.top + 1), ++cells.top;
      if (cells.bottom % 2 == 1 && cells.bottom > cells.top)
        --cells.bottom, add(cells.left, cells.bottom, cells.right, cells.bottom + 1);
      if (cells.left % 2 == 1) add(cells.left, cells.top, cells.left + 1, cells.bottom), ++cells.left;
      if (cells.right % 2 == 1 && cells.right > cells.left)
        --cells.right, add(cells.right, cells.top, cells.right + 1, cells.bottom);
      cells = {cells.left / 2, cells.top / 2, cells.right / 2, cells.bottom / 2};
    }
  }

  Extent full_;
  std::int64_t side_, columns_, shown_bins_;
  Counting counting_;
  std::size_t bins_;  // that are counted
  Reference<typename Part<T>::Value> reference_;
  std::vector<std::uint32_t> sums_;
  std::vector<Level> pyramid_;
  std::atomic<std::int64_t> rows_ = 0;
};

}  // namespace

std::uint64_t Grid::bytes(const Extent& full, Type type, std::int64_t bins, std::int64_t side) {
  const auto columns = static_cast<std::uint64_t>(cells_of(full.width, side)),
             rows = static_cast<std::uint64_t>(cells_of(full.height, side));
  const std::uint64_t counted = size_of(type) == 1 ? 256 : static_cast<std::uint64_t>(bins);
  const std::uint64_t part = with_type(type, []<class T>(T*) -> std::uint64_t { return sizeof(Part<T>); });
  return (columns + 1) * (rows + 1) * counted * sizeof(std::uint32_t) +
         (size_of(type) == 1 ? 0 : columns * rows * part * 4 / 3);
}

std::int64_t Grid::side_for(const Extent& full, Type type, std::int64_t bins, std::uint64_t memory) {
  std::int64_t side = least_side;
  while (side < most_side && bytes(full, type, bins, side) > memory) side *= 2;
  return side;
}

std::unique_ptr<Grid> Grid::make(const Extent& full, std::int64_t bins, std::pair<double, double> range,
                                 std::int64_t side, const ConstView& sample) {
  return with_type(sample.type, [&]<class T>(T*) -> std::unique_ptr<Grid> {
    return std::make_unique<GridOf<T>>(full, bins, range, side, sample);
  });
}

}  // namespace areal::view
