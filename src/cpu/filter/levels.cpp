#include "cpu/filter/levels.hpp"
#include <algorithm>
#include <utility>
#include <variant>
#include "cpu/filter/counted_columns.hpp"
#include "cpu/filter/rank_panel.hpp"
#include "cpu/filter/sliding_counts.hpp"
#include "cpu/filter/strips.hpp"

namespace areal::cpu {
namespace {

constexpr std::uint32_t no_pixel = 65536;  // a cell of a sliding window that is left out

bool is_entropy(const FilterRequest& request) { return std::holds_alternative<filter::Entropy>(request.filter); }
const filter::Bilateral* bilateral(const FilterRequest& request) {
  return std::get_if<filter::Bilateral>(&request.filter);
}
bool gives_reals(const FilterRequest& request) { return is_entropy(request) || bilateral(request) != nullptr; }

}  // namespace

std::string Levels::refusal(std::string_view algorithm, const FilterRequest& request) {
  return algorithm == "column-counts" && request.in != Type::u8 ? "it takes 8u" : "";
}

template <class F>
void Levels::with_counts(const F& f) const {
  if (has_short_counts()) return f(std::uint16_t{});
  return f(std::uint32_t{});
}

Levels::Levels(const FilterRequest& request)
    : request_(request), columns_(cut_to_image(request.columns)), rows_(cut_to_image(request.rows)) {
  lay_out();
}

void Levels::lay_out() {
  if (columns_.outputs == 0 || rows_.outputs == 0) return;  // windows may be larger than any memory
  if (is_entropy(request_)) terms_ = EntropyTerms(columns_.size * rows_.size);
  if (const auto* const one = bilateral(request_)) weights_ = RangeWeights(one->sigma_range);
  Layout& l = layout_;
  std::size_t end = 0;
  const std::int64_t wanted = slides() ? std::max(least_counted_panel, columns_.size)
                                       : std::max({counts_cells - columns_.size, least_counted_panel, columns_.size});
  panel_ = std::max<std::int64_t>(1, std::min(wanted, columns_.outputs));
  const std::int64_t cells = panel_ + columns_.size - 1;
  l.shown = place(end, cells, 4);
  l.keys = place(end, cells, size_of(request_.in));
  l.marks = place(end, cells, 1);
  l.n = place(end, panel_, 4);
  l.level = place(end, panel_, slides() ? 4 : 1);
  if (gives_reals(request_)) l.real = place(end, panel_, 8);
  if (slides()) {
    l.columns = place(end, cells * rows_.size, 4);
    l.counts = place(end, static_cast<std::int64_t>(Tiers::counters(levels())), 4);
  } else {
    const std::size_t count = has_short_counts() ? 2 : 4;
    l.levels = place(end, 2 * cells, 2);
    l.coarse = place(end, 16 * cells, count);
    l.fine = place(end, 17 * 16 * cells, count);
    l.centres = place(end, panel_, 1);
    l.up_to = place(end, panel_, 4);
  }
  l.bytes = end;
  const std::int64_t planes = request_.image.batch * request_.image.channels;
  workspace_bytes_ = cache_line + whole_lines(static_cast<std::size_t>(planes) * 4) +
                     end * static_cast<std::size_t>(slots(request_.threads));
}

// What the panels of both algorithms have in common.
template <class T, class Out>
class Levels::Panel : protected RankPanel<T, Out> {
 protected:
  Panel(const Levels& levels, const FilterArguments& arguments, const FilterRows& part, std::int64_t plane,
        std::int64_t first, std::uint32_t most, char* memory)
      : RankPanel<T, Out>(levels.request_, levels.columns_, levels.panel_, arguments, part, plane, first,
                          reinterpret_cast<std::int32_t*>(memory + levels.layout_.shown)),
        levels_(levels),
        layout_(levels.layout_),
        memory_(memory),
        image_(plane_of(arguments.image, plane, false)),
        most_(most),
        n_(array<std::uint32_t>(layout_.n)) {}

  template <class U>
  U* array(std::size_t offset) const {
    return reinterpret_cast<U*>(memory_ + offset);
  }
  /// p of output i of row y.
  T centre(std::int64_t y, std::int64_t i) const {
    const FilterRequest& request = levels_.request_;
    const char* const row =
        static_cast<const char*>(image_.row(this->part_.held(y + request.centre_y, request.rows.extent)));
    T value;
    std::memcpy(&value, row + (this->first_ + i + request.centre_x) * image_.column_pitch(), sizeof value);
    return value;
  }
  /// Writes the values of windows with enough valid pixels.
  template <class Of>
  void write_valid(std::int64_t y, const Of& of) const {
    this->write(y, [&, least = this->least_, fill = this->fill_](std::int64_t i) {
      return n_[i] < least ? fill : static_cast<Out>(of(i));
    });
  }

  const Levels& levels_;
  const Layout& layout_;
  char* memory_;
  ConstView image_;
  std::uint32_t most_;
  std::uint32_t* n_;
};

template <class Out, class C>
class Levels::CountsPanel : Panel<std::uint8_t, Out> {
  using Base = Panel<std::uint8_t, Out>;

 public:
  CountsPanel(const Levels& levels, const FilterArguments& arguments, const FilterRows& part, std::int64_t plane,
              std::int64_t first, std::uint32_t most, char* memory)
      : Base(levels, arguments, part, plane, first, most, memory),
        columns_(
            {this->template array<C>(this->layout_.coarse), this->template array<C>(this->layout_.fine), this->cells_},
            this->template array<std::uint16_t>(this->layout_.levels),
            this->template array<std::uint8_t>(this->layout_.keys), this->template array<Cell>(this->layout_.marks)) {}

  void run(std::int64_t begin, std::int64_t end) {
    columns_.for_rows(this->rows_, this->levels_.rows_, begin, end,
                      [&](std::int64_t y, const ColumnCounts<C>& counts) { row(y, counts); });
  }

 private:
  void row(std::int64_t y, const ColumnCounts<C>& counts) const {
    const ColumnKernels<C>& kernels = column_kernels<C>();
    const std::int64_t size = this->levels_.columns_.size, windows = this->windows_;
    std::uint32_t* const n = this->n_;
    const Filter& filter = this->levels_.request_.filter;
    if (std::holds_alternative<filter::Bilateral>(filter)) {
      auto* const mean = this->template array<double>(this->layout_.real);
      kernels.bilateral(counts, size, windows, this->levels_.weights_, at_centres(y), n, mean);
      return this->write_valid(y, [&](std::int64_t i) { return converted<Out>(mean[i]); });
    }
    if constexpr (std::is_floating_point_v<Out>) {
      auto* const entropy = this->template array<double>(this->layout_.real);
      kernels.entropies(counts, size, windows, this->levels_.terms_, n, entropy);
      return this->write_valid(y, [&](std::int64_t i) { return entropy[i]; });
    }
    if (std::holds_alternative<filter::Equalize>(filter)) {
      auto* const up_to = this->template array<std::uint32_t>(this->layout_.up_to);
      kernels.ranks(counts, size, windows, at_centres(y), n, up_to);
      return this->write_valid(y, [&](std::int64_t i) { return formulas::equalized(255, up_to[i], n[i]); });
    }
    auto* const level = this->template array<std::uint8_t>(this->layout_.level);
    if (const auto* const otsu = std::get_if<filter::Otsu>(&filter))
      kernels.splits(counts, size, windows, otsu->zeros_alone, n, level);
    else
      kernels.modes(counts, size, windows, n, level);
    this->write_valid(y, [&](std::int64_t i) { return level[i]; });
  }

  // p of every output of a row.
  const std::uint8_t* at_centres(std::int64_t y) const {
    auto* const centres = this->template array<std::uint8_t>(this->layout_.centres);
    for (std::int64_t i = 0; i < this->windows_; ++i) centres[i] = this->centre(y, i);
    return centres;
  }

  CountedColumns<std::uint8_t, C> columns_;
};

template <class T, class Out>
class Levels::SlidingPanel : Panel<T, Out> {
  using Base = Panel<T, Out>;

 public:
  SlidingPanel(const Levels& levels, const FilterArguments& arguments, const FilterRows& part, std::int64_t plane,
               std::int64_t first, std::uint32_t most, char* memory)
      : Base(levels, arguments, part, plane, first, most, memory),
        columns_(this->template array<std::uint32_t>(this->layout_.columns)),
        height_(levels.rows_.size),
        width_(levels.columns_.size) {}

  void run(std::int64_t begin, std::int64_t end) {
    auto* const counters = this->template array<std::uint32_t>(this->layout_.counts);
    auto* const level = this->template array<std::uint32_t>(this->layout_.level);
    const std::size_t all = this->levels_.levels();
    const Filter& filter = this->levels_.request_.filter;
    if constexpr (std::is_floating_point_v<Out>) {
      auto* const entropy = this->template array<double>(this->layout_.real);
      this->levels_.with_counts([&]<class C>(C) {
        TermCounts<C> counts(counters, all, this->levels_.terms_);
        slide(
            counts, begin, end, [&](std::int64_t, std::int64_t i, std::uint32_t n) { entropy[i] = counts.entropy(n); },
            [&](std::int64_t i) { return entropy[i]; });
      });
    } else {
      const auto value = [&](std::int64_t i) { return level[i]; };
      if (std::holds_alternative<filter::Equalize>(filter)) {
        RankCounts counts(Tiers(counters, all));
        const auto rank = [&](std::int64_t y, std::int64_t i, std::uint32_t) {
          level[i] = counts.up_to(this->centre(y, i));
        };
        slide(counts, begin, end, rank,
              [&](std::int64_t i) { return formulas::equalized(this->most_, level[i], this->n_[i]); });
      } else if (const auto* const otsu = std::get_if<filter::Otsu>(&filter)) {
        SplitCounts counts(counters, all, otsu->zeros_alone);
        slide(
            counts, begin, end, [&](std::int64_t, std::int64_t i, std::uint32_t n) { level[i] = counts.split(n); },
            value);
      } else {
        ModeCounts counts(Tiers(counters, all));
        slide(
            counts, begin, end, [&](std::int64_t, std::int64_t i, std::uint32_t) { level[i] = counts.least_mode(); },
            value);
      }
    }
  }

 private:
  // look(y, i, n) sees the counts of each window of n valid pixels, of(i) is its value.
  template <class Counts, class Look, class Of>
  void slide(Counts& counts, std::int64_t begin, std::int64_t end, const Look& look, const Of& of) {
    std::uint32_t n = 0;
    const auto add = [&](std::uint32_t level) {
      if (level != no_pixel) counts.add(level), ++n;
    };
    const auto remove = [&](std::uint32_t level) {
      if (level != no_pixel) counts.remove(level), --n;
    };
    const auto exchange_columns = [&](std::int64_t entering, std::int64_t leaving) {
      const std::uint32_t* const in = columns_ + entering * height_;
      const std::uint32_t* const out = columns_ + leaving * height_;
      for (std::int64_t r = 0; r < height_; ++r)
        if (in[r] != out[r]) add(in[r]), remove(out[r]);
    };
    counts.clear();
    const std::int64_t top = begin - this->levels_.rows_.before;
    for (std::int64_t r = 0; r < height_; ++r)
      read(top + r, r, [&](std::int64_t cell, std::uint32_t, std::uint32_t now) {
        if (cell < width_) add(now);
      });
    std::int64_t x = 0;  // the window's first cell
    for (std::int64_t y = begin; y < end; ++y) {
      if (y > begin)
        read(top + (y - begin) + height_ - 1, (y - begin - 1) % height_,
             [&](std::int64_t cell, std::uint32_t before, std::uint32_t now) {
               if (cell >= x && cell < x + width_ && before != now) add(now), remove(before);
             });
      const bool right = x == 0;
      for (std::int64_t i = 0; i < this->windows_; ++i) {
        if (i > 0 && right) exchange_columns(x + width_, x), ++x;
        if (i > 0 && !right) --x, exchange_columns(x, x + width_);
        this->n_[x] = n;
        look(y, x, n);
      }
      this->write_valid(y, of);
    }
  }

  // The row at a position, whose pixels replace those at a place of the columns. visit(cell, before, now).
  template <class Visit>
  void read(std::int64_t position, std::int64_t at, const Visit& visit) const {
    auto* const keys = this->template array<T>(this->layout_.keys);
    auto* const marks = this->template array<Cell>(this->layout_.marks);
    const bool has_marks = this->rows_.read(position, keys, marks) != Marks::none;
    std::uint32_t* place = columns_ + at;
    for (std::int64_t i = 0; i < this->cells_; ++i, place += height_) {
      const std::uint32_t before = *place;
      *place = has_marks && marks[i] != Cell::valid ? no_pixel : keys[i];
      visit(i, before, *place);
    }
  }

  std::uint32_t* columns_;  ///< of each cell, as many as windows have rows; a row replaces the one that it follows
  std::int64_t height_, width_;
};

void Levels::survey(const FilterArguments& arguments, std::uint32_t* most) const {
  const std::int64_t planes = request_.image.batch * request_.image.channels;
  if (request_.in == Type::u8 || !std::holds_alternative<filter::Equalize>(request_.filter))
    return static_cast<void>(std::fill_n(most, planes, 255U));
  const Strips all(planes, 0, 1, 1, 1);
  all.for_each(request_.threads, [&](std::int64_t plane, std::int64_t) {
    const ConstView image = plane_of(arguments.image, plane, false);
    std::uint16_t greatest = 3;
    for (std::int64_t y = 0; y < request_.image.height; ++y) {
      const char* at = static_cast<const char*>(image.row(y));
      for (std::int64_t x = 0; x < request_.image.width; ++x, at += image.column_pitch()) {
        std::uint16_t value;
        std::memcpy(&value, at, sizeof value);
        greatest = std::max(greatest, value);
      }
    }
    most[plane] = greatest;
  });
}

void Levels::execute(const FilterArguments& arguments, void* workspace, const FilterRows& rows) const {
  if (arguments.out.shape.empty()) return;
  char* memory = reinterpret_cast<char*>(whole_lines(reinterpret_cast<std::uintptr_t>(workspace)));
  const std::int64_t planes = request_.image.batch * request_.image.channels;
  auto* const most = reinterpret_cast<std::uint32_t*>(memory);
  memory += whole_lines(static_cast<std::size_t>(planes) * 4);
  survey(arguments, most);
  const Strips strips(planes, rows.begin, rows.end, std::min(rows_.size, request_.image.height),
                      slots(request_.threads));
  const auto run = [&]<class Panel>(std::int64_t plane, std::int64_t strip) {
    char* const mine = memory + static_cast<std::size_t>(slot()) * layout_.bytes;
    for (std::int64_t x = 0; x < columns_.outputs; x += panel_)
      Panel(*this, arguments, rows, plane, x, most[plane], mine).run(strips.begin(strip), strips.end(strip));
  };
  const auto run_of = [&]<class T, class Out>(std::int64_t plane, std::int64_t strip) {
    if constexpr (sizeof(T) == 1)
      if (!slides())
        return with_counts([&]<class C>(C) { run.template operator()<CountsPanel<Out, C>>(plane, strip); });
    run.template operator()<SlidingPanel<T, Out>>(plane, strip);
  };
  strips.for_each(request_.threads, [&](std::int64_t plane, std::int64_t strip) {
    const auto of_pixels = [&]<class T>(T) {
      if (request_.out == request_.in) return run_of.template operator()<T, T>(plane, strip);
      if (request_.out == Type::f32) return run_of.template operator()<T, float>(plane, strip);
      run_of.template operator()<T, double>(plane, strip);
    };
    if (request_.in == Type::u8) return of_pixels(std::uint8_t{});
    of_pixels(std::uint16_t{});
  });
}

}  // namespace areal::cpu
