#include "cpu/filter/ranks.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <variant>
#include "cpu/filter/counted_columns.hpp"
#include "cpu/filter/element.hpp"
#include "cpu/filter/rank_keys.hpp"
#include "cpu/filter/rank_network.hpp"
#include "cpu/filter/rank_panel.hpp"
#include "cpu/filter/strips.hpp"

namespace areal::cpu {
namespace {

constexpr std::int64_t network_panel = 8192;  // outputs, so that a panel's rows stay in the L2 cache
constexpr std::int64_t network_chunk = 1024;  // so that their sorted columns stay in the L1 cache
constexpr std::int64_t sorted_pitch = network_chunk + 2 * network_slack;  // whole cache lines
constexpr std::int64_t ahead = 4;                                         // rows
constexpr std::int64_t least_tile = 64, most_tile = 1024;
constexpr std::int64_t most_tile_cells = 65535;  // cells have coordinates of 16 bits
constexpr std::int64_t classes = 256;

/// A cell of a tile, to be sorted.
template <class Key>
struct Entry {
  Key key;
  std::uint32_t cell;
};

/// Sorts by key; equal keys keep their order. Returns where the result is: `entries` or `spare`.
template <class Key>
Entry<Key>* sort_entries(Entry<Key>* entries, Entry<Key>* spare, std::int64_t n) {
  std::array<std::array<std::uint32_t, 256>, sizeof(Key)> counts{};
  for (std::int64_t i = 0; i < n; ++i)
    for (std::size_t b = 0; b < sizeof(Key); ++b) ++counts[b][(entries[i].key >> (8 * b)) & 255];
  for (std::size_t b = 0; b < sizeof(Key); ++b) {
    auto& count = counts[b];
    if (n == 0 || count[(entries[0].key >> (8 * b)) & 255] == static_cast<std::uint32_t>(n)) continue;
    std::uint32_t before = 0;
    for (std::uint32_t& one : count) {
      const std::uint32_t these = one;
      one = before;
      before += these;
    }
    for (std::int64_t i = 0; i < n; ++i) spare[count[(entries[i].key >> (8 * b)) & 255]++] = entries[i];
    std::swap(entries, spare);
  }
  return entries;
}

}  // namespace

Ranks::Structure Ranks::structure_named(std::string_view id) {
  return id == "network" ? Structure::network : id == "column-counts" ? Structure::column_counts : Structure::classes;
}

std::string Ranks::refusal(Structure structure, const FilterRequest& request) {
  const std::int64_t width = request.columns.size, height = request.rows.size;
  if (structure == Structure::network) {
    const double percent = std::get<filter::Percentile>(request.filter).percent;
    const bool is_small = width == height && (width == 3 || width == 5);
    const bool takes = is_small && size_of(request.in) <= 4 && !request.mask && !request.omit_nan &&
                       RankOf(percent)(static_cast<std::uint32_t>(width * height)) == width * height / 2;
    return takes ? "" : "it takes medians of 3x3 and 5x5 pixels of up to 32 bits, without masks and nan omit";
  }
  if (structure == Structure::column_counts) return size_of(request.in) == 1 ? "" : "it takes 8u and 8s";
  for (const formulas::WindowAxis& axis : {cut_to_image(request.columns), cut_to_image(request.rows)})
    if (axis.size > most_tile_cells - most_tile)
      return "it takes windows of up to " + std::to_string(most_tile_cells - most_tile) + " columns and rows";
  return "";
}

template <class F>
void Ranks::with_counts(const F& f) const {
  if (has_short_counts()) return f(std::uint16_t{});
  return f(std::uint32_t{});
}

Ranks::Ranks(const FilterRequest& request)
    : request_(request),
      elements_(request.algorithm == "network" ? request.of_elements() : request),
      structure_(structure_named(request.algorithm)),
      percent_(std::get<filter::Percentile>(request.filter).percent),
      columns_(structure_ == Structure::network ? request.columns : cut_to_image(request.columns)),
      rows_(structure_ == Structure::network ? request.rows : cut_to_image(request.rows)) {
  lay_out();
}

void Ranks::lay_out() {
  panel_ = tile_rows_ = 1;
  if (columns_.outputs == 0 || rows_.outputs == 0) return;  // windows may be larger than any memory
  Layout& l = layout_;
  std::size_t end = 0;
  const std::size_t size = size_of(request_.in), count = has_short_counts() ? 2 : 4;
  const auto limited = [](std::int64_t wanted, const formulas::WindowAxis& axis) {
    return std::max<std::int64_t>(1, std::min(wanted, axis.outputs));
  };
  switch (structure_) {
    case Structure::network:
      panel_ = limited(network_panel, elements_.columns);
      break;
    case Structure::column_counts:
      panel_ = limited(std::max({counts_cells - columns_.size, least_counted_panel, columns_.size}), columns_);
      break;
    case Structure::classes:
      panel_ = limited(std::clamp(columns_.size, least_tile, most_tile), columns_);
      tile_rows_ = limited(std::clamp(rows_.size, least_tile, most_tile), rows_);
      break;
  }
  const std::int64_t covered = structure_ == Structure::network ? elements_.columns.size : columns_.size;
  const std::int64_t cells = panel_ + covered - 1;
  l.shown = place(end, cells, 4);
  if (structure_ == Structure::network) {
    const std::int64_t row = cells + network_slack;
    l.rows = place(end, 5 * row, size);
    l.row_marks = place(end, 5 * row, 1);
    l.sorted = place(end, 5 * sorted_pitch, size);
    l.out = place(end, row, size);
  } else {
    l.keys = place(end, cells, size);
    l.marks = place(end, cells, 1);
    l.coarse = place(end, 16 * cells, count);
    l.fine = place(end, 17 * 16 * cells, count);
    l.n = place(end, panel_, 4);
    l.level = place(end, panel_, 1);
    l.rest = place(end, panel_, 4);
    const std::int64_t down = tile_rows_ + rows_.size - 1;
    l.levels = place(end, (structure_ == Structure::classes ? down : 2) * cells, 2);
    if (structure_ == Structure::classes) {
      std::int64_t entries = cells * down;
      if (columns_.edge == Edge::shrink || columns_.edge == Edge::valid)
        entries = std::min(cells, columns_.extent) * std::min(down, rows_.extent);
      const std::size_t entry = size == 8 ? 16 : 8;
      l.entries = place(end, entries, entry);
      l.spare = place(end, entries, entry);
      l.order = place(end, entries, size);
      l.x = place(end, entries, 2);
      l.y = place(end, entries, 2);
      if (is_float(request_.in) && !request_.omit_nan) {
        l.nan = place(end, cells * down, 1);
        l.nan_columns = place(end, cells, 4);
      }
    }
  }
  l.bytes = end;
  workspace_bytes_ = cache_line + end * static_cast<std::size_t>(slots(request_.threads));
}

// What panels and tiles have in common.
template <class T>
class Ranks::Panel : protected RankPanel<T> {
 protected:
  Panel(const Ranks& ranks, const FilterArguments& arguments, const FilterRows& part, std::int64_t plane,
        std::int64_t first, char* memory)
      : Panel(ranks, ranks.request_, ranks.columns_, arguments, part, plane, first, memory) {}
  Panel(const Ranks& ranks, const FilterRequest& request, const formulas::WindowAxis& columns,
        const FilterArguments& arguments, const FilterRows& part, std::int64_t plane, std::int64_t first, char* memory)
      : RankPanel<T>(request, columns, ranks.panel_, arguments, part, plane, first,
                     reinterpret_cast<std::int32_t*>(memory + ranks.layout_.shown)),
        ranks_(ranks),
        layout_(ranks.layout_),
        memory_(memory) {}

  template <class U>
  U* array(std::size_t offset) const {
    return reinterpret_cast<U*>(memory_ + offset);
  }
  static T not_a_number() {
    if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::quiet_NaN();
    if constexpr (std::is_same_v<T, Half>) return Half{0x7e00};
    return T{};
  }

  const Ranks& ranks_;
  const Layout& layout_;
  char* memory_;
};

template <class T>
class Ranks::NetworkPanel : Panel<T> {
  using Base = Panel<T>;
  using typename Base::Key;
  using typename Base::Keys;

 public:
  /// Of a request of pixels or of elements.
  NetworkPanel(const Ranks& ranks, const FilterRequest& request, const FilterArguments& arguments,
               const FilterRows& part, std::int64_t plane, std::int64_t first, char* memory)
      : Base(ranks, request, request.columns, arguments, part, plane, first, memory),
        size_(ranks.rows_.size),
        apart_(request.together),
        pitch_(this->cells_ + network_slack) {
    for (std::size_t j = 0; j < 5; ++j)
      sorted_[j] = this->template array<Key>(this->layout_.sorted) + static_cast<std::int64_t>(j) * sorted_pitch;
    const std::int64_t more = (size_ - 1) * apart_ + network_slack;  // cells that a chunk reads beyond its windows
    const std::int64_t end = this->rows_.inside_end() - more;
    if (!this->rows_.are_keys() || end <= this->rows_.inside_begin()) return;
    direct_begin_ = this->rows_.inside_begin(), direct_end_ = end;
    if (direct_begin_ + more < direct_end_) skip_begin_ = direct_begin_ + more, skip_end_ = direct_end_;
  }
  void run(std::int64_t begin, std::int64_t end) {
    const std::int64_t top = begin - this->ranks_.rows_.before;
    for (std::int64_t v = top; v < top + size_ - 1; ++v) read(v);
    for (std::int64_t y = begin; y < end; ++y) {
      read(y - this->ranks_.rows_.before + size_ - 1);
      if (y + ahead < end) fetch(y + ahead);
      row(y);
    }
  }

 private:
  std::size_t slot(std::int64_t position) const { return static_cast<std::size_t>(((position % 5) + 5) % 5); }
  Key* keys(std::size_t at) const {
    return this->template array<Key>(this->layout_.rows) + static_cast<std::int64_t>(at) * pitch_;
  }
  Cell* marks(std::size_t at) const {
    return this->template array<Cell>(this->layout_.row_marks) + static_cast<std::int64_t>(at) * pitch_;
  }
  void read(std::int64_t position) {
    const std::size_t at = slot(position);
    marks_of_[at] = this->rows_.read(position, keys(at), marks(at), skip_begin_, skip_end_);
    const void* const inside = direct_begin_ < direct_end_ ? this->rows_.inside(position) : nullptr;
    direct_[at] = inside == nullptr ? keys(at) + direct_begin_ : static_cast<const Key*>(inside);
  }
  Key key(std::size_t at, std::int64_t cell) const {
    return cell >= skip_begin_ && cell < skip_end_ ? direct_[at][cell - direct_begin_] : keys(at)[cell];
  }

  void fetch(std::int64_t y) const {
    this->rows_.fetch(y - this->ranks_.rows_.before + size_ - 1);
    const std::int64_t step = this->out_.column_pitch();
    const char* const to = this->out_row(y);
    for (std::int64_t i = 0; i < this->windows_ * step; i += 64) __builtin_prefetch(to + i, 1);
  }

  void row(std::int64_t y) {
    const std::int64_t top = y - this->ranks_.rows_.before, n = this->windows_;
    const bool is_full = static_cast<std::uint32_t>(size_ * size_) >= this->least_;
    Key* const buffer = this->template array<Key>(this->layout_.out);
    Key* out = buffer;
    if constexpr (std::is_same_v<T, Key>) {
      char* const to = this->out_row(y);
      if (is_full && this->out_.column_pitch() == static_cast<std::int64_t>(sizeof(T)) &&
          reinterpret_cast<std::uintptr_t>(to) % sizeof(T) == 0)
        out = reinterpret_cast<Key*>(to);
    }
    if constexpr (sizeof(Key) <= 4) {
      const NetworkKernels<Key>& kernels = network_kernels<Key>();
      const auto medians = size_ == 3 ? kernels.of_3 : kernels.of_5;
      for (std::int64_t i = 0; i < n;) {
        const bool is_direct = i >= direct_begin_ && i < direct_end_;
        const std::int64_t stop = i < direct_begin_ ? direct_begin_ : is_direct ? direct_end_ : n;
        const std::int64_t windows = std::min(network_chunk, stop - i);
        std::array<const Key*, 5> rows{};
        for (std::int64_t j = 0; j < size_; ++j) {
          const std::size_t at = slot(top + j);
          rows[static_cast<std::size_t>(j)] = is_direct ? direct_[at] + (i - direct_begin_) : keys(at) + i;
        }
        // Vectors write beyond the last window: what comes next, or nothing that may be written.
        Key* const to = i + windows + network_slack <= n ? out + i : buffer + i;
        medians(rows, sorted_, windows, apart_, to);
        if (to != out + i) std::copy_n(to, windows, out + i);
        i += windows;
      }
    }
    if (out == buffer && is_full && this->out_.column_pitch() == static_cast<std::int64_t>(sizeof(T)))
      rank_pixels<T>().to_pixels(out, n, this->out_row(y));
    else if (out == buffer)
      this->write(y, [&](std::int64_t i) { return is_full ? Keys::pixel(out[i]) : this->fill_; });
    repair(y, top);
  }

  // Windows that hold a NaN, or cells that are left out.
  void repair(std::int64_t y, std::int64_t top) {
    std::array<const Cell*, 5> marked{};
    std::size_t count = 0;
    bool everywhere = false;
    for (std::int64_t j = 0; j < size_; ++j) {
      const std::size_t at = slot(top + j);
      if (marks_of_[at] != Marks::none) marked[count++] = marks(at);
      everywhere |= marks_of_[at] == Marks::everywhere;
    }
    if (count == 0) return;
    const std::int64_t step = this->out_.column_pitch();
    char* const to = this->out_row(y);
    for (std::int64_t channel = 0; channel < apart_; ++channel) {
      std::int64_t done = channel;  // the channel's windows before this one are right
      const auto look = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t cell = begin + (channel - begin % apart_ + apart_) % apart_; cell < end; cell += apart_) {
          bool is_marked = false;
          for (std::size_t k = 0; k < count; ++k) is_marked |= marked[k][cell] != Cell::valid;
          if (!is_marked) continue;
          std::int64_t i = std::max(done, cell - (size_ - 1) * apart_);
          for (; i <= std::min(cell, this->windows_ - 1); i += apart_) Base::put(to + i * step, median(i, top));
          done = std::max(done, i);
        }
      };
      look(0, everywhere ? this->cells_ : this->rows_.inside_begin());
      if (!everywhere) look(this->rows_.inside_end(), this->cells_);
    }
  }

  T median(std::int64_t window, std::int64_t top) const {
    std::array<Key, 25> valid;
    std::uint32_t n = 0, nan = 0;
    for (std::int64_t j = 0; j < size_; ++j) {
      const std::size_t at = slot(top + j);
      for (std::int64_t cell = window; cell < window + size_ * apart_; cell += apart_) {
        const Cell mark = marks_of_[at] != Marks::none ? marks(at)[cell] : Cell::valid;
        if (mark == Cell::valid) valid[n++] = key(at, cell);
        if (mark == Cell::nan) ++nan;
      }
    }
    if (n + nan < this->least_) return this->fill_;
    if (nan > 0) return Base::not_a_number();
    const std::uint32_t rank = RankOf(this->ranks_.percent_)(n);
    std::nth_element(valid.begin(), valid.begin() + rank, valid.begin() + n);
    return Keys::pixel(valid[rank]);
  }

  std::int64_t size_, apart_, pitch_;  ///< rows and columns of a window, elements from column to column
  // Windows whose cells are read in the image, and the cells that only these need.
  std::int64_t direct_begin_ = 0, direct_end_ = 0, skip_begin_ = 0, skip_end_ = 0;
  std::array<const Key*, 5> direct_{};  ///< from cell direct_begin_ on
  std::array<Key*, 5> sorted_{};
  std::array<Marks, 5> marks_of_{};
};

template <class T, class C>
class Ranks::CountsPanel : Panel<T> {
  using Base = Panel<T>;
  using typename Base::Key;
  using typename Base::Keys;

 public:
  CountsPanel(const Ranks& ranks, const FilterArguments& arguments, const FilterRows& part, std::int64_t plane,
              std::int64_t first, char* memory)
      : Base(ranks, arguments, part, plane, first, memory),
        columns_(
            {this->template array<C>(this->layout_.coarse), this->template array<C>(this->layout_.fine), this->cells_},
            this->template array<std::uint16_t>(this->layout_.levels), this->template array<Key>(this->layout_.keys),
            this->template array<Cell>(this->layout_.marks)) {}

  void run(std::int64_t begin, std::int64_t end) {
    auto* const n = this->template array<std::uint32_t>(this->layout_.n);
    auto* const level = this->template array<std::uint8_t>(this->layout_.level);
    columns_.for_rows(this->rows_, this->ranks_.rows_, begin, end, [&](std::int64_t y, const ColumnCounts<C>& counts) {
      column_kernels<C>().percentiles(counts, this->ranks_.columns_.size, this->windows_, this->ranks_.percent_, n,
                                      level, nullptr);
      this->write(y, [&, least = this->least_, fill = this->fill_](std::int64_t i) {
        return n[i] < least ? fill : Keys::pixel(level[i]);
      });
    });
  }

 private:
  CountedColumns<T, C> columns_;
};

template <class T, class C>
class Ranks::Tile : Panel<T> {
  using Base = Panel<T>;
  using typename Base::Key;
  using typename Base::Keys;

 public:
  Tile(const Ranks& ranks, const FilterArguments& arguments, const FilterRows& part, std::int64_t plane,
       std::int64_t first, char* memory)
      : Base(ranks, arguments, part, plane, first, memory),
        counts_{this->template array<C>(this->layout_.coarse), this->template array<C>(this->layout_.fine),
                this->cells_},
        levels_(this->template array<std::uint16_t>(this->layout_.levels)),
        x_(this->template array<std::uint16_t>(this->layout_.x)),
        y_(this->template array<std::uint16_t>(this->layout_.y)),
        order_(this->template array<Key>(this->layout_.order)),
        nan_(this->template array<std::uint8_t>(this->layout_.nan)),
        nan_columns_(this->template array<std::uint32_t>(this->layout_.nan_columns)) {}

  void run(std::int64_t begin, std::int64_t end) {
    const ColumnKernels<C>& kernels = column_kernels<C>();
    const std::int64_t size = this->ranks_.rows_.size, cells = this->cells_;
    classify(begin - this->ranks_.rows_.before, end - begin + size - 1);
    std::memset(counts_.coarse, 0, static_cast<std::size_t>(16 * cells) * sizeof(C));
    std::memset(counts_.fine, 0, static_cast<std::size_t>(17 * 16 * cells) * sizeof(C));
    if (has_nan_) std::memset(nan_columns_, 0, static_cast<std::size_t>(cells) * sizeof *nan_columns_);
    for (std::int64_t v = 0; v < size; ++v) {
      kernels.add(counts_, levels_ + v * cells);
      if (has_nan_)
        for (std::int64_t i = 0; i < cells; ++i) nan_columns_[i] += nan_[v * cells + i];
    }
    for (std::int64_t y = begin; y < end; ++y) {
      const std::int64_t top = y - begin;
      if (top > 0) {
        const std::int64_t in = (top + size - 1) * cells, out = (top - 1) * cells;
        kernels.step(counts_, levels_ + in, levels_ + out);
        if (has_nan_)
          for (std::int64_t i = 0; i < cells; ++i) nan_columns_[i] = nan_columns_[i] + nan_[in + i] - nan_[out + i];
      }
      row(y, static_cast<std::uint16_t>(top));
    }
  }

 private:
  // Sorts the tile's cells, and gives each its class.
  void classify(std::int64_t top, std::int64_t rows) {
    auto* const keys = this->template array<Key>(this->layout_.keys);
    auto* const marks = this->template array<Cell>(this->layout_.marks);
    auto* entries = this->template array<Entry<Key>>(this->layout_.entries);
    auto* const spare = this->template array<Entry<Key>>(this->layout_.spare);
    const std::int64_t cells = this->cells_;
    const bool may_have_nan = Keys::is_real && !this->ranks_.request_.omit_nan;
    has_nan_ = false;
    valid_ = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      const bool has_marks = this->rows_.read(top + r, keys, marks) != Marks::none;
      const auto cell = static_cast<std::uint32_t>(r * cells);
      if (may_have_nan) std::memset(nan_ + cell, 0, static_cast<std::size_t>(cells));
      for (std::int64_t i = 0; i < cells; ++i) {
        if (!has_marks || marks[i] == Cell::valid) {
          entries[valid_++] = {keys[i], cell + static_cast<std::uint32_t>(i)};
          continue;
        }
        levels_[cell + i] = no_level;
        if (may_have_nan && marks[i] == Cell::nan) nan_[cell + i] = 1, has_nan_ = true;
      }
    }
    entries = sort_entries(entries, spare, valid_);
    class_size_ = std::max<std::int64_t>(1, (valid_ + classes - 1) / classes);
    for (std::int64_t begin = 0, level = 0; begin < valid_; begin += class_size_, ++level)
      for (std::int64_t i = begin; i < std::min(valid_, begin + class_size_); ++i) {
        const std::uint32_t cell = entries[i].cell, row = cell / static_cast<std::uint32_t>(cells);
        order_[i] = entries[i].key;
        y_[i] = static_cast<std::uint16_t>(row);
        x_[i] = static_cast<std::uint16_t>(cell - row * static_cast<std::uint32_t>(cells));
        levels_[cell] = static_cast<std::uint16_t>(level);
      }
  }

  void row(std::int64_t y, std::uint16_t top) const {
    auto* const n = this->template array<std::uint32_t>(this->layout_.n);
    auto* const level = this->template array<std::uint8_t>(this->layout_.level);
    auto* const rest = this->template array<std::uint32_t>(this->layout_.rest);
    const std::int64_t width = this->ranks_.columns_.size;
    column_kernels<C>().percentiles(counts_, width, this->windows_, this->ranks_.percent_, n, level, rest);
    std::uint32_t nan = 0;
    if (has_nan_)
      for (std::int64_t i = 0; i + 1 < width; ++i) nan += nan_columns_[i];
    const FindCell find = find_cell();
    this->write(y, [&](std::int64_t i) {
      if (has_nan_) {
        nan += nan_columns_[i + width - 1];
        const std::uint32_t these = nan;
        nan -= nan_columns_[i];
        if (n[i] + these < this->least_) return this->fill_;
        if (these > 0) return Base::not_a_number();
      }
      if (n[i] < this->least_) return this->fill_;
      const std::int64_t begin = level[i] * class_size_, count = std::min(class_size_, valid_ - begin);
      return Keys::pixel(order_[begin + find(x_ + begin, y_ + begin, count, static_cast<std::uint16_t>(i), top,
                                             static_cast<std::uint16_t>(width),
                                             static_cast<std::uint16_t>(this->ranks_.rows_.size), rest[i])]);
    });
  }

  ColumnCounts<C> counts_;
  std::uint16_t* levels_;
  std::uint16_t *x_, *y_;
  Key* order_;
  std::uint8_t* nan_;
  std::uint32_t* nan_columns_;
  bool has_nan_ = false;
  std::int64_t valid_ = 0, class_size_ = 1;
};

void Ranks::execute(const FilterArguments& arguments, void* workspace, const FilterRows& rows) const {
  if (arguments.out.shape.empty()) return;
  char* const memory = reinterpret_cast<char*>(whole_lines(reinterpret_cast<std::uintptr_t>(workspace)));
  const auto mine = [&] { return memory + static_cast<std::size_t>(slot()) * layout_.bytes; };
  const std::int64_t planes = request_.image.batch * request_.image.channels, outputs = columns_.outputs;
  if (structure_ == Structure::classes) {
    const std::int64_t across = (outputs + panel_ - 1) / panel_,
                       down = (rows.end - rows.begin + tile_rows_ - 1) / tile_rows_;
    const Strips tiles(planes * across * down, 0, 1, 1, 1);
    return tiles.for_each(request_.threads, [&](std::int64_t tile, std::int64_t) {
      const std::int64_t plane = tile / (across * down), row = tile / across % down, column = tile % across;
      const std::int64_t begin = rows.begin + row * tile_rows_, end = std::min(rows.end, begin + tile_rows_);
      with_pixel(request_.in, [&]<class T>(T) {
        with_counts(
            [&]<class C>(C) { Tile<T, C>(*this, arguments, rows, plane, column * panel_, mine()).run(begin, end); });
      });
    });
  }
  if (structure_ == Structure::network) {
    const bool together = is_interleaved(arguments.image.shape) && is_interleaved(arguments.out.shape) &&
                          request_.image.channels <= network_most_apart;
    const FilterRequest& request = together ? elements_ : request_;
    FilterArguments of = arguments;
    if (together) of.image = elements_of(of.image), of.out = elements_of(of.out);
    const Strips strips(request.image.batch * request.image.channels, rows.begin, rows.end,
                        std::min(rows_.size, request_.image.height), slots(request_.threads));
    return strips.for_each(request_.threads, [&](std::int64_t plane, std::int64_t s) {
      for (std::int64_t x = 0; x < request.columns.outputs; x += panel_)
        with_pixel(request_.in, [&]<class T>(T) {
          if constexpr (sizeof(T) <= 4)
            NetworkPanel<T>(*this, request, of, rows, plane, x, mine()).run(strips.begin(s), strips.end(s));
        });
    });
  }
  const Strips strips(planes, rows.begin, rows.end, std::min(rows_.size, request_.image.height),
                      slots(request_.threads));
  strips.for_each(request_.threads, [&](std::int64_t plane, std::int64_t s) {
    for (std::int64_t x = 0; x < outputs; x += panel_) {
      with_counts([&]<class C>(C) {
        if (request_.in == Type::u8)
          CountsPanel<std::uint8_t, C>(*this, arguments, rows, plane, x, mine()).run(strips.begin(s), strips.end(s));
        else
          CountsPanel<std::int8_t, C>(*this, arguments, rows, plane, x, mine()).run(strips.begin(s), strips.end(s));
      });
    }
  });
}

}  // namespace areal::cpu
