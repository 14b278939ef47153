#include "cpu/match/match.hpp"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <type_traits>
#include "cpu/cancellation.hpp"
#include "cpu/filter/strips.hpp"
#include "cpu/threads.hpp"
#include "formulas/match_score.hpp"

namespace areal::cpu {
namespace {

using Complex = Transform::Complex;
using formulas::IntegerSums;
using formulas::Signed128;

constexpr std::int64_t columns_at_once = 8;  // 128 bytes of each row
constexpr std::size_t most_bytes_of_units = std::size_t{1} << 30;
constexpr double most_error = 0x1p-30;  // of a float's sum of products, in units of its normed method's denominator
/// Products of 16 bits that add in double without rounding.
constexpr std::int64_t most_exact = std::int64_t{1} << 22;

/// What a channel of the template is.
struct ChannelOfTemplate {
  std::int64_t sum = 0;  // of integers less their offset
  double mean = 0;       // of floats
  double rest = 0;       // the sum of values less the mean, which is 0 but for rounding
  double squares = 0;    // of values less the mean
};

/// Sums of a row of windows.
struct WindowOfIntegers {
  IntegerSums sums;
  Signed128 cross = 0;
};

template <class T>
constexpr std::int64_t offset_of = std::is_integral_v<T> ? std::int64_t{1} << (8 * sizeof(T) - 1) : 0;

/// `count` pixels of a channel from (x, y) on, less the offset; 0 beyond the image.
template <class T>
void load(const ConstView& view, std::int64_t n, std::int64_t channel, std::int64_t y, std::int64_t x,
          std::int64_t count, double* out) {
  const std::int64_t inside = y < view.shape.height ? std::clamp<std::int64_t>(view.shape.width - x, 0, count) : 0;
  const std::int64_t pitch = view.column_pitch();
  const bool planar = view.shape.layout == Layout::planar;
  const char* const from = static_cast<const char*>(view.row(inside > 0 ? y : 0, planar ? channel : 0, n)) +
                           (planar ? 0 : channel * static_cast<std::int64_t>(sizeof(T))) + x * pitch;
  for (std::int64_t i = 0; i < inside; ++i) {
    T value;
    std::memcpy(&value, from + i * pitch, sizeof(T));
    out[i] = static_cast<double>(value) - static_cast<double>(offset_of<T>);
  }
  std::fill(out + inside, out + count, 0.0);
}

/// A whole number of -2^15 to 2^15 - 1 as 256 high + low, both of at most 2^7 in magnitude.
void split(double value, double& high, double& low) {
  high = std::floor((value + 128) / 256);
  low = value - 256 * high;
}

/// Threads that share work: those of a request, or the caller's alone, whose slot is `own`.
struct Team {
  int threads, own;
  /// body(i, slot) for each i below n.
  template <class Body>
  void each(std::int64_t n, const Body& body) const {
    if (threads == 1) {
      for (std::int64_t i = 0; i < n; ++i) body(i, own);
      return;
    }
    std::atomic<std::int64_t> next{0};
    const auto run = [&] {
      const int mine = slot();
      for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;) body(i, mine);
    };
    on_threads(threads, n, std::ref(run));
  }
};

/// Positions of a tile's windows along one axis.
formulas::WindowAxis valid_axis(std::int64_t positions, std::int64_t size) {
  return {positions + size - 1, size, 0, positions, Edge::valid};
}

}  // namespace

Match::Match(const MatchRequest& request) : request_(request) {
  const MatchRequest& r = request_;
  const bool floats = is_float(r.in);
  const std::int64_t channels = r.image.channels, tile = r.width * r.height, positions = r.step_x * r.step_y;
  const std::int64_t tiles_of_unit = two_tiles() ? 2 : 1;
  const int all = slots(r.threads);

  std::size_t end = 0;
  if (r.fft) layout_.planes = place(end, std::max<std::int64_t>(channels, r.parts) * tile, sizeof(Complex));
  layout_.products = place(end, tiles_of_unit * positions, sizeof(double));
  if (floats || !r.fft) layout_.pixels = place(end, tile, sizeof(double));
  if (floats) {
    layout_.means = place(end, channels * positions, sizeof(double));
    layout_.deviations = place(end, positions, sizeof(double));
    layout_.variances = place(end, positions, sizeof(double));
    layout_.shifts = place(end, tiles_of_unit * channels, sizeof(double));
    layout_.norms = place(end, 2 * r.height, sizeof(double));
  }
  const std::size_t without_blocks = end;
  unit_a_thread_ =
      all == 1 || (units() >= all && without_blocks <= most_bytes_of_units / static_cast<std::size_t>(all));
  if (floats) {
    FilterRequest of_tile;
    of_tile.columns = valid_axis(r.step_x, r.templ.width), of_tile.rows = valid_axis(r.step_y, r.templ.height);
    of_tile.image = {of_tile.columns.extent, of_tile.rows.extent};
    of_tile.in = of_tile.out = Type::f64;
    of_tile.threads = unit_a_thread_ ? 1 : r.threads;
    of_tile.filter = filter::Mean{}, means_.emplace(of_tile);
    of_tile.filter = filter::Variance{}, variances_.emplace(of_tile);
    const std::size_t bytes = std::max(means_->workspace_bytes(), variances_->workspace_bytes());
    layout_.blocks = place(end, static_cast<std::int64_t>(bytes), 1);
  }
  layout_.unit = end;

  end = 0;
  if (r.fft) {
    along_.emplace(r.width), down_.emplace(r.height);
    layout_.line = place(end, 2 * std::max(r.width, r.height), sizeof(Complex));
    layout_.columns = place(end, (1 + r.parts) * columns_at_once * r.height, sizeof(Complex));
  }
  layout_.row = place(end, std::max(r.width, r.templ.width), sizeof(double));
  layout_.other_row = place(end, std::max(r.width, r.templ.width), sizeof(double));
  if (!floats) {
    layout_.sums = place(end, 2 * channels * r.width, sizeof(std::int64_t));
    layout_.window = place(end, r.step_x, sizeof(WindowOfIntegers));
  }
  layout_.thread = end;

  end = 0;
  layout_.values = place(end, channels * r.templ.width * r.templ.height, sizeof(double));
  layout_.channels = place(end, channels, sizeof(ChannelOfTemplate));
  if (r.fft) layout_.spectra = place(end, r.parts * channels * tile, sizeof(Complex));
  layout_.first_unit = end;
  layout_.first_thread = layout_.first_unit + layout_.unit * static_cast<std::size_t>(unit_a_thread_ ? all : 1);
  layout_.bytes = layout_.first_thread + layout_.thread * static_cast<std::size_t>(all) + cache_line;
}

/// An execute with pixels of type T.
template <class T>
class Match::Work {
  static constexpr bool integers = std::is_integral_v<T>;
  using Product = std::conditional_t<integers, std::int64_t, double>;

 public:
  Work(const Match& match, const MatchArguments& arguments, void* workspace)
      : m(match), r(match.request_), l(match.layout_), arguments_(arguments) {
    const auto at = reinterpret_cast<std::uintptr_t>(workspace);
    memory_ = static_cast<char*>(workspace) + (cache_line - at % cache_line) % cache_line;
    pixels_of_template_ = r.templ.width * r.templ.height;
  }

  void run() {
    const Team everyone{slots(r.threads), 0};
    read_template();
    if (r.fft) transform_template(everyone);
    Cancellation* const cancellation = Cancellation::current();
    std::atomic<std::int64_t> next{0};
    const auto units_of = [&](const Team& team) {
      for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < m.units();) {
        if (cancellation != nullptr && !cancellation->go_on()) return;
        match_unit(i, team);
      }
    };
    const auto alone = [&] { units_of({1, slot()}); };
    if (m.unit_a_thread_)
      on_threads(r.threads, m.units(), std::ref(alone));
    else
      units_of(everyone);
    if (cancellation != nullptr) cancellation->check();
  }

 private:
  /// A tile: its image, first position and number of positions.
  struct Tile {
    std::int64_t n, x, y, columns, rows;
  };
  Tile tile(std::int64_t i) const {
    const std::int64_t of_image = i % (r.across * r.down);
    const std::int64_t x = of_image % r.across * r.step_x, y = of_image / r.across * r.step_y;
    return {i / (r.across * r.down), x, y, std::min(r.step_x, r.image.width - r.templ.width + 1 - x),
            std::min(r.step_y, r.image.height - r.templ.height + 1 - y)};
  }

  template <class Element>
  Element* shared(std::size_t place) const {
    return reinterpret_cast<Element*>(memory_ + place);
  }
  template <class Element>
  Element* of_unit(const Team& team, std::size_t place) const {
    return shared<Element>(l.first_unit + l.unit * static_cast<std::size_t>(m.unit_a_thread_ ? team.own : 0) + place);
  }
  template <class Element>
  Element* of_thread(int slot, std::size_t place) const {
    return shared<Element>(l.first_thread + l.thread * static_cast<std::size_t>(slot) + place);
  }
  ChannelOfTemplate& channel(std::int64_t c) const { return shared<ChannelOfTemplate>(l.channels)[c]; }
  const double* values(std::int64_t c) const { return shared<double>(l.values) + c * pixels_of_template_; }

  void read_template() {
    of_template_ = {};
    squares_ = deviations_ = 0;
    for (std::int64_t c = 0; c < r.image.channels; ++c) {
      double* const to = shared<double>(l.values) + c * pixels_of_template_;
      for (std::int64_t y = 0; y < r.templ.height; ++y)
        load<T>(arguments_.templ, 0, c, y, 0, r.templ.width, to + y * r.templ.width);
      ChannelOfTemplate& of = *new (&channel(c)) ChannelOfTemplate;
      if constexpr (integers) {
        for (std::int64_t i = 0; i < pixels_of_template_; ++i) {
          const auto value = static_cast<std::int64_t>(to[i]);
          of.sum += value, of_template_.squares += value * value;
        }
        of_template_.sum += of.sum, of_template_.squared_sums += static_cast<Signed128>(of.sum) * of.sum;
      } else {
        // Less the first value, so that the mean of equal values is that value.
        const double first = to[0], n = static_cast<double>(pixels_of_template_);
        double sum = 0;
        for (std::int64_t i = 0; i < pixels_of_template_; ++i) sum += to[i] - first;
        of.mean = first + sum / n;
        for (std::int64_t i = 0; i < pixels_of_template_; ++i) {
          to[i] -= of.mean;
          of.rest += to[i], of.squares += to[i] * to[i];
        }
        deviations_ += std::max(0.0, of.squares - of.rest * of.rest / n);
        squares_ += of.squares + n * of.mean * of.mean;
      }
    }
  }

  Complex* spectrum(int part, std::int64_t c, std::int64_t column) const {
    return shared<Complex>(l.spectra) + ((part * r.image.channels + c) * r.width + column) * r.height;
  }

  /// The conjugate spectra of the template, one column after another, divided by the elements of a transform.
  void transform_template(const Team& team) const {
    const double scale = 1 / (static_cast<double>(r.width) * static_cast<double>(r.height));
    auto* const plane = of_unit<Complex>({1, 0}, l.planes);
    for (int part = 0; part < r.parts; ++part)
      for (std::int64_t c = 0; c < r.image.channels; ++c) {
        team.each(r.templ.height, [&](std::int64_t y, int slot) {
          auto* const line = of_thread<Complex>(slot, l.line);
          std::fill(line, line + r.width, Complex());
          for (std::int64_t x = 0; x < r.templ.width; ++x) {
            double value = values(c)[y * r.templ.width + x], low = 0;
            if (r.parts == 2) split(value, value, low);
            line[x] = part == 0 ? value : low;
          }
          m.along_->forward(line, plane + y * r.width);
        });
        team.each(groups(), [&](std::int64_t group, int slot) {
          auto* const columns = of_thread<Complex>(slot, l.columns);
          const std::int64_t first = group * columns_at_once, count = std::min(columns_at_once, r.width - first);
          std::fill(columns, columns + columns_at_once * r.height, Complex());
          gather(plane, first, count, r.templ.height, columns);
          for (std::int64_t k = 0; k < count; ++k) {
            Complex* const to = spectrum(part, c, first + k);
            m.down_->forward(columns + k * r.height, to);
            for (std::int64_t i = 0; i < r.height; ++i) to[i] = std::conj(to[i]) * scale;
          }
        });
      }
  }

  std::int64_t groups() const { return (r.width + columns_at_once - 1) / columns_at_once; }
  void gather(const Complex* plane, std::int64_t first, std::int64_t count, std::int64_t rows, Complex* columns) const {
    for (std::int64_t y = 0; y < rows; ++y)
      for (std::int64_t k = 0; k < count; ++k) columns[k * r.height + y] = plane[y * r.width + first + k];
  }

  void match_unit(std::int64_t unit, const Team& team) const {
    const std::int64_t each = m.two_tiles() ? 2 : 1, first = unit * each, count = std::min(each, m.tiles() - first);
    Tile tiles[2] = {tile(first), tile(first + count - 1)};
    if constexpr (!integers) {
      for (std::int64_t k = 0; k < count; ++k) find_shifts(tiles[k], k, team);
    }
    double error = 0;
    if (r.fft)
      error = multiply_spectra(tiles, count, team);
    else
      for (std::int64_t k = 0; k < count; ++k) add_products(tiles[k], k, team);
    for (std::int64_t k = 0; k < count; ++k) {
      const Tile& t = tiles[k];
      if constexpr (!integers) find_deviations(t, team);
      // Integers begin with the rows of a window.
      const std::int64_t rows =
          team.threads == 1 ? t.rows : std::max<std::int64_t>(integers ? r.templ.height / 2 : 1, 16);
      team.each((t.rows + rows - 1) / rows, [&](std::int64_t chunk, int slot) {
        const std::int64_t begin = chunk * rows, end = std::min(t.rows, begin + rows);
        if constexpr (integers)
          score_integers(t, k, begin, end, team, slot);
        else
          score_floats(t, k, begin, end, error, team, slot);
      });
    }
  }

  double& shift(std::int64_t k, std::int64_t c, const Team& team) const {
    return of_unit<double>(team, l.shifts)[k * r.image.channels + c];
  }
  Product* products(std::int64_t k, const Team& team) const {
    return of_unit<Product>(team, l.products) + k * r.step_x * r.step_y;
  }

  /// The mean of a tile's finite pixels, which is subtracted from each.
  void find_shifts(const Tile& t, std::int64_t k, const Team& team) const {
    const std::int64_t width = std::min(r.width, r.image.width - t.x), rows = std::min(r.height, r.image.height - t.y);
    auto* const sums = of_unit<double>(team, l.norms);
    double* const counts = sums + r.height;
    for (std::int64_t c = 0; c < r.image.channels; ++c) {
      team.each(rows, [&](std::int64_t y, int slot) {
        auto* const row = of_thread<double>(slot, l.row);
        load<T>(arguments_.image, t.n, c, t.y + y, t.x, width, row);
        double sum = 0, count = 0;
        for (std::int64_t x = 0; x < width; ++x)
          if (std::isfinite(row[x])) sum += row[x], count += 1;
        sums[y] = sum, counts[y] = count;
      });
      double sum = 0, count = 0;
      for (std::int64_t y = 0; y < rows; ++y) sum += sums[y], count += counts[y];
      const double mean = count > 0 ? sum / count : 0;
      shift(k, c, team) = std::isfinite(mean) ? mean : 0;
    }
  }

  /// A row of a tile for the products: integers, or floats less the shift. Pixels beyond the image do not matter.
  void load_shifted(const Tile& t, std::int64_t k, std::int64_t c, std::int64_t y, double* row,
                    const Team& team) const {
    load<T>(arguments_.image, t.n, c, t.y + y, t.x, r.width, row);
    if constexpr (!integers) {
      const double mean = shift(k, c, team);
      const std::int64_t inside = t.y + y < r.image.height ? std::min(r.width, r.image.width - t.x) : std::int64_t{0};
      for (std::int64_t x = 0; x < inside; ++x) row[x] = std::isfinite(row[x]) ? row[x] - mean : 0;
    }
  }

  /// The sums of products of a unit's tiles by FFT; returns the largest error of one.
  double multiply_spectra(const Tile* tiles, std::int64_t count, const Team& team) const {
    double error = 0;
    auto* const norms = integers ? nullptr : of_unit<double>(team, l.norms);
    for (std::int64_t c = 0; c < r.image.channels; ++c) {
      Complex* const plane = of_unit<Complex>(team, l.planes) + c * r.width * r.height;
      team.each(r.height, [&](std::int64_t y, int slot) {
        auto* const line = of_thread<Complex>(slot, l.line);
        auto *const real = of_thread<double>(slot, l.row), *const imaginary = of_thread<double>(slot, l.other_row);
        load_shifted(tiles[0], 0, c, y, real, team);
        if (!m.two_tiles())
          for (std::int64_t x = 0; x < r.width; ++x) split(real[x], real[x], imaginary[x]);
        else if (count == 2)
          load_shifted(tiles[1], 1, c, y, imaginary, team);
        else
          std::fill(imaginary, imaginary + r.width, 0.0);
        double norm = 0;
        for (std::int64_t x = 0; x < r.width; ++x) {
          line[x] = {real[x], imaginary[x]};
          if constexpr (!integers) norm += real[x] * real[x] + imaginary[x] * imaginary[x];
        }
        if constexpr (!integers) norms[y] = norm;
        m.along_->forward(line, plane + y * r.width);
      });
      if constexpr (!integers) {
        double norm = 0;
        for (std::int64_t y = 0; y < r.height; ++y) norm += norms[y];
        error += r.error * std::sqrt(norm) * std::sqrt(channel(c).squares);
      }
    }
    team.each(groups(), [&](std::int64_t group, int slot) { multiply_columns(group, team, slot); });
    team.each(std::max(tiles[0].rows, tiles[1].rows), [&](std::int64_t y, int slot) {
      auto* const line = of_thread<Complex>(slot, l.line);
      Product *const first = products(0, team) + y * r.step_x, *const second = count == 2
                                                                                   ? products(1, team) + y * r.step_x
                                                                                   : nullptr;
      for (int part = 0; part < r.parts; ++part) {
        m.along_->inverse(of_unit<Complex>(team, l.planes) + (part * r.height + y) * r.width, line);
        const std::int64_t columns = std::max(tiles[0].columns, tiles[1].columns);
        for (std::int64_t x = 0; x < columns; ++x) {
          if constexpr (!integers) {
            first[x] = line[x].real();
            if (second != nullptr) second[x] = line[x].imag();
          } else {
            const auto real = std::llrint(line[x].real()), imaginary = std::llrint(line[x].imag());
            if (m.two_tiles()) {
              first[x] = real;
              if (second != nullptr) second[x] = imaginary;
            } else {
              const std::int64_t both = 256 * real + imaginary;
              first[x] = part == 0 ? both : 256 * first[x] + both;
            }
          }
        }
      }
    });
    return error;
  }

  /// Some columns of a unit: transformed, multiplied with the template's, added over channels, and transformed back.
  void multiply_columns(std::int64_t group, const Team& team, int slot) const {
    const std::int64_t first = group * columns_at_once, count = std::min(columns_at_once, r.width - first);
    auto* const columns = of_thread<Complex>(slot, l.columns);
    Complex* const sums = columns + columns_at_once * r.height;
    auto* const line = of_thread<Complex>(slot, l.line);
    auto* const planes = of_unit<Complex>(team, l.planes);
    std::fill(sums, sums + r.parts * columns_at_once * r.height, Complex());
    for (std::int64_t c = 0; c < r.image.channels; ++c) {
      gather(planes + c * r.width * r.height, first, count, r.height, columns);
      for (std::int64_t k = 0; k < count; ++k) {
        m.down_->forward(columns + k * r.height, line);
        for (int part = 0; part < r.parts; ++part) {
          const Complex* const with = spectrum(part, c, first + k);
          Complex* const sum = sums + (part * columns_at_once + k) * r.height;
          for (std::int64_t i = 0; i < r.height; ++i) {
            const double a = line[i].real(), b = line[i].imag(), re = with[i].real(), im = with[i].imag();
            sum[i] = {sum[i].real() + (a * re - b * im), sum[i].imag() + (a * im + b * re)};
          }
        }
      }
    }
    for (int part = 0; part < r.parts; ++part) {
      for (std::int64_t k = 0; k < count; ++k)
        m.down_->inverse(sums + (part * columns_at_once + k) * r.height, columns + k * r.height);
      Complex* const plane = planes + part * r.width * r.height;
      for (std::int64_t y = 0; y < r.step_y; ++y)
        for (std::int64_t k = 0; k < count; ++k) plane[y * r.width + first + k] = columns[k * r.height + y];
    }
  }

  /// The sums of products of a tile, one after another.
  void add_products(const Tile& t, std::int64_t k, const Team& team) const {
    auto* const pixels = of_unit<double>(team, l.pixels);
    Product* const out = products(k, team);
    const std::int64_t w = r.templ.width, h = r.templ.height;
    // Blocks of the template whose products add without rounding, if they are integers.
    const std::int64_t block_width = std::min(w, most_exact), block_height = std::max<std::int64_t>(1, most_exact / w);
    std::fill(out, out + r.step_x * r.step_y, Product{});
    for (std::int64_t c = 0; c < r.image.channels; ++c) {
      team.each(r.height, [&](std::int64_t y, int) { load_shifted(t, k, c, y, pixels + y * r.width, team); });
      for (std::int64_t v0 = 0; v0 < h; v0 += block_height)
        for (std::int64_t u0 = 0; u0 < w; u0 += block_width) {
          const std::int64_t v1 = std::min(h, v0 + block_height), u1 = std::min(w, u0 + block_width);
          team.each(t.rows, [&](std::int64_t y, int) {
            std::int64_t x = 0;
            for (; x + lanes <= t.columns; x += lanes)
              add_block<lanes>(pixels + y * r.width + x, values(c), v0, v1, u0, u1, out + y * r.step_x + x);
            for (; x < t.columns; ++x)
              add_block<1>(pixels + y * r.width + x, values(c), v0, v1, u0, u1, out + y * r.step_x + x);
          });
        }
    }
  }
  static constexpr std::int64_t lanes = 16;

  /// Adjacent positions: out[i] += the sum of products over a block of the template.
  template <std::int64_t count>
  void add_block(const double* pixels, const double* templ, std::int64_t v0, std::int64_t v1, std::int64_t u0,
                 std::int64_t u1, Product* out) const {
    double sums[count] = {};
    for (std::int64_t v = v0; v < v1; ++v) {
      const double *const row = pixels + v * r.width, *const factors = templ + v * r.templ.width;
      for (std::int64_t u = u0; u < u1; ++u) {
        const double factor = factors[u];
        for (std::int64_t i = 0; i < count; ++i) sums[i] += factor * row[u + i];
      }
    }
    for (std::int64_t i = 0; i < count; ++i) out[i] += static_cast<Product>(sums[i]);
  }

  void store(const Tile& t, std::int64_t y, std::int64_t x, double score) const {
    const View& out = arguments_.out;
    char* const to = static_cast<char*>(out.row(t.y + y, 0, t.n)) + (t.x + x) * out.column_pitch();
    if (r.out == Type::f64) {
      std::memcpy(to, &score, sizeof(score));
    } else {
      const auto rounded = static_cast<float>(score);
      std::memcpy(to, &rounded, sizeof(rounded));
    }
  }

  /// Adds a row of pixels to the sums of columns, or subtracts it.
  void slide(const Tile& t, std::int64_t c, std::int64_t y, std::int64_t columns, std::int64_t sign, int slot) const {
    auto* const row = of_thread<double>(slot, l.row);
    auto* const sums = of_thread<std::int64_t>(slot, l.sums) + 2 * c * r.width;
    std::int64_t* const squares = sums + r.width;
    load<T>(arguments_.image, t.n, c, t.y + y, t.x, columns, row);
    for (std::int64_t x = 0; x < columns; ++x) {
      const auto value = static_cast<std::int32_t>(row[x]);
      sums[x] += sign * value, squares[x] += sign * (static_cast<std::int64_t>(value) * value);
    }
  }

  void score_integers(const Tile& t, std::int64_t k, std::int64_t begin, std::int64_t end, const Team& team,
                      int slot) const {
    const std::int64_t w = r.templ.width, h = r.templ.height, columns = t.columns + w - 1;
    auto* const sums = of_thread<std::int64_t>(slot, l.sums);
    auto* const windows = of_thread<WindowOfIntegers>(slot, l.window);
    std::fill(sums, sums + 2 * r.image.channels * r.width, 0);
    for (std::int64_t c = 0; c < r.image.channels; ++c)
      for (std::int64_t v = 0; v < h - 1; ++v) slide(t, c, begin + v, columns, 1, slot);
    for (std::int64_t y = begin; y < end; ++y) {
      std::uninitialized_fill_n(windows, t.columns, WindowOfIntegers{});
      for (std::int64_t c = 0; c < r.image.channels; ++c) {
        slide(t, c, y + h - 1, columns, 1, slot);
        const std::int64_t *const s1 = sums + 2 * c * r.width, *const s2 = s1 + r.width, of_template = channel(c).sum;
        std::int64_t sum = 0, squares = 0;
        for (std::int64_t x = 0; x < w - 1; ++x) sum += s1[x], squares += s2[x];
        for (std::int64_t x = 0; x < t.columns; ++x) {
          sum += s1[x + w - 1], squares += s2[x + w - 1];
          WindowOfIntegers& window = windows[x];
          window.sums.sum += sum, window.sums.squares += squares;
          window.sums.squared_sums += static_cast<Signed128>(sum) * sum;
          window.cross += static_cast<Signed128>(sum) * of_template;
          sum -= s1[x], squares -= s2[x];
        }
        slide(t, c, y, columns, -1, slot);
      }
      const Product* const product = products(k, team) + y * r.step_x;
      for (std::int64_t x = 0; x < t.columns; ++x)
        store(t, y, x,
              formulas::match_score(r.method, static_cast<std::int64_t>(product[x]), windows[x].sums, windows[x].cross,
                                    of_template_, pixels_of_template_, r.image.channels, offset_of<T>));
    }
  }

  /// The means of each channel's windows, and the sum of their squared deviations. NaN where a pixel is not finite.
  void find_deviations(const Tile& t, const Team& team) const {
    auto *const pixels = of_unit<double>(team, l.pixels), *const means = of_unit<double>(team, l.means),
                *const deviations = of_unit<double>(team, l.deviations),
                *const variances = of_unit<double>(team, l.variances);
    const auto n = static_cast<double>(pixels_of_template_);
    const std::int64_t positions = r.step_x * r.step_y;
    const formulas::WindowAxis across = valid_axis(r.step_x, r.templ.width),
                               down = valid_axis(r.step_y, r.templ.height);
    const ConstView of_tile(pixels, Type::f64, {across.extent, down.extent});
    const Shape shape{across.outputs, down.outputs};
    auto* const blocks = of_unit<char>(team, l.blocks);
    for (std::int64_t c = 0; c < r.image.channels; ++c) {
      team.each(down.extent, [&](std::int64_t y, int) {
        load<T>(arguments_.image, t.n, c, t.y + y, t.x, across.extent, pixels + y * across.extent);
      });
      m.means_->execute({of_tile, View(means + c * positions, Type::f64, shape)}, blocks, FilterRows::all(down));
      m.variances_->execute({of_tile, View(variances, Type::f64, shape)}, blocks, FilterRows::all(down));
      for (std::int64_t i = 0; i < positions; ++i) deviations[i] = (c == 0 ? 0 : deviations[i]) + n * variances[i];
    }
  }

  void score_floats(const Tile& t, std::int64_t k, std::int64_t begin, std::int64_t end, double error, const Team& team,
                    int slot) const {
    const double nan = std::numeric_limits<double>::quiet_NaN(), n = static_cast<double>(pixels_of_template_);
    const std::int64_t channels = r.image.channels, positions = r.step_x * r.step_y;
    const double* const means = of_unit<double>(team, l.means);
    for (std::int64_t y = begin; y < end; ++y)
      for (std::int64_t x = 0; x < t.columns; ++x) {
        const std::int64_t i = y * r.step_x + x;
        formulas::FloatSums window;
        window.deviations = of_unit<double>(team, l.deviations)[i];
        window.coefficient = products(k, team)[i];
        double shifted = window.deviations;  // the sum of squares less the shift
        bool finite = std::isfinite(window.deviations) && std::isfinite(deviations_);
        for (std::int64_t c = 0; c < channels; ++c) {
          const double mean = means[c * positions + i], of_template = channel(c).mean;
          finite = finite && std::isfinite(mean);
          const double off = mean - shift(k, c, team);
          window.coefficient -= off * channel(c).rest;
          shifted += n * off * off;
          window.means += n * mean * of_template;
          window.apart += n * (mean - of_template) * (mean - of_template);
          window.squares += n * mean * mean;
        }
        window.squares += window.deviations;
        if (!finite) {
          store(t, y, x, nan);
          continue;
        }
        const double root = formulas::is_of_deviations(r.method)
                                ? formulas::root_of_product(window.deviations, deviations_)
                                : formulas::root_of_product(window.squares, squares_);
        if (window.deviations == 0 || deviations_ == 0) {
          window.coefficient = 0;
        } else {
          const double of_sum =
              static_cast<double>(channels) * n * 0x1p-52 * std::sqrt(shifted) * std::sqrt(deviations_);
          if (!((r.fft ? error : of_sum) <= most_error * root))
            window.coefficient = coefficient_of(t, x, y, means + i, slot);
        }
        store(t, y, x, formulas::match_score(r.method, window, deviations_, squares_));
      }
  }

  /// The sum of products of deviations of one window, pixel by pixel.
  double coefficient_of(const Tile& t, std::int64_t x, std::int64_t y, const double* means, int slot) const {
    auto* const row = of_thread<double>(slot, l.row);
    double sum = 0;
    for (std::int64_t c = 0; c < r.image.channels; ++c) {
      const double mean = means[c * r.step_x * r.step_y];
      for (std::int64_t v = 0; v < r.templ.height; ++v) {
        load<T>(arguments_.image, t.n, c, t.y + y + v, t.x + x, r.templ.width, row);
        const double* const factors = values(c) + v * r.templ.width;
        for (std::int64_t u = 0; u < r.templ.width; ++u) sum += (row[u] - mean) * factors[u];
      }
    }
    return sum;
  }

  const Match& m;
  const MatchRequest& r;
  const decltype(Match::layout_)& l;
  const MatchArguments& arguments_;
  char* memory_;
  std::int64_t pixels_of_template_ = 0;
  IntegerSums of_template_;
  double deviations_ = 0, squares_ = 0;  ///< of a template of floats
};

void Match::execute(const MatchArguments& arguments, void* workspace) const {
  switch (request_.in) {
    case Type::u8:
      return Work<std::uint8_t>(*this, arguments, workspace).run();
    case Type::u16:
      return Work<std::uint16_t>(*this, arguments, workspace).run();
    case Type::f32:
      return Work<float>(*this, arguments, workspace).run();
    default:
      return Work<double>(*this, arguments, workspace).run();
  }
}

}  // namespace areal::cpu
