#include "cpu/filter/walk.hpp"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include "cpu/filter/byte_means.hpp"
#include "cpu/filter/element.hpp"
#include "cpu/filter/finish.hpp"
#include "cpu/filter/marks.hpp"
#include "cpu/filter/strips.hpp"
#include "cpu/query/modular.hpp"
#include "cpu/threads.hpp"
#include "formulas/variance.hpp"

namespace areal::cpu {
namespace {

std::int64_t most_pixels(const formulas::WindowAxis& axis) {
  return axis.edge == Edge::shrink ? std::min(axis.size, axis.extent) : axis.size;
}

// The pixel beyond the edge, with edge `constant`, as its type's bits.
std::uint64_t beyond_pixel(const FilterRequest& request) {
  return request.columns.edge == Edge::constant ? static_cast<std::uint64_t>(static_cast<std::int64_t>(request.value))
                                                : 0;
}

}  // namespace

Walk::Walk(const FilterRequest& request) : request_(request), finish_(finish_of(request)) {
  const auto pixels =
      static_cast<double>(most_pixels(request.columns)) * static_cast<double>(most_pixels(request.rows));
  const int bits = static_cast<int>(8 * size_of(request.in));
  const double most = is_signed_integer(request.in) ? std::ldexp(1, bits - 1) : std::ldexp(1, bits) - 1;
  const bool wide = pixels * most >= (is_signed_integer(request.in) ? 0x1p31 : 0x1p32);
  add_term(Power::pixel, wide);
  if (finish_.needs_squares()) {
    if (bits == 32)
      add_term(Power::low_of_square, true), add_term(Power::high_of_square, true);
    else
      add_term(Power::square, pixels * most * most >= 0x1p32);
    const double largest = pixels * pixels * most * most;
    numerator_ = bits < 32 && largest <= 0x1p53  ? Numerator::exact
                 : bits < 32 && largest < 0x1p64 ? Numerator::integers
                                                 : Numerator::wide_integers;
  }
  if (counts()) {
    const bool valid_beyond = request.columns.edge == Edge::constant || request.columns.edge == Edge::zero;
    terms_[static_cast<std::size_t>(term_count_++)] = {Power::pixel, pixels >= 0x1p32, true, Type::u8, valid_beyond};
  }
  means_of_integers_ = finish_.statistic == Statistic::mean && request.rounding == Rounding::nearest && !counts() &&
                       request.in == request.out && (request.in == Type::u8 || request.in == Type::u16) && !wide;

  sums_fit_31_bits_ = !counts() && finish_.statistic != Statistic::count && pixels * most < 0x1p31 &&
                      (!finish_.needs_squares() || (numerator_ == Numerator::exact && pixels * most * most < 0x1p31)) &&
                      (finish_.statistic != Statistic::mean || request.rounding == Rounding::nearest);

  const std::int64_t channels = request.image.layout == areal::Layout::interleaved ? request.image.channels : 1;
  const std::int64_t width = request.image.width * channels, outputs = request.columns.outputs * channels;
  chunk_ = std::max<std::int64_t>(512, channels);
  std::size_t end = 0;
  const std::size_t size = size_of(request.in);
  for (int i = 0; i < term_count_; ++i) {
    const auto t = static_cast<std::size_t>(i);
    const std::size_t sum = terms_[t].wide ? 8 : 4;
    layout_.columns[t] = place(end, width, sum);
    layout_.prefix[t] = place(end, width + channels, sum);
  }
  for (std::size_t& one : layout_.integers) one = place(end, chunk_, 8);
  layout_.left = place(end, chunk_, 8), layout_.right = place(end, chunk_, 8);
  for (std::size_t i = 0; i < 2; ++i) {
    layout_.rows[i] = place(end, width, size);
    layout_.marks[i] = place(end, counts() ? width : 0, 1);
  }
  layout_.beyond_pixels = place(end, width, size);
  layout_.beyond_marks = place(end, counts() ? width : 0, 1);
  for (std::size_t* one :
       {&layout_.count, &layout_.sum, &layout_.squares, &layout_.numerator, &layout_.pixels, &layout_.values})
    *one = place(end, chunk_, 8);
  layout_.out = place(end, std::min(chunk_, outputs), 8);
  by_bytes_ = ByteMeans::serves(request);
  if (by_bytes_) end = std::max(end, whole_lines(ByteMeans::scratch_bytes(request, channels)));
  layout_.bytes = end;
  const std::int64_t planes = is_wolf(request.filter) ? request.image.channels * request.image.batch : 0;
  workspace_bytes_ = cache_line + (end + static_cast<std::size_t>(planes) * sizeof(Survey)) *
                                      static_cast<std::size_t>(slots(request.threads));
}

void Walk::add_term(Power power, bool wide) {
  Term term{power, wide};
  term.type = request_.in;
  const std::uint64_t pixel = beyond_pixel(request_), square = pixel * pixel;
  term.beyond = power == Power::pixel           ? pixel
                : power == Power::square        ? square
                : power == Power::low_of_square ? square & 0xffffffffu
                                                : square >> 32;
  terms_[static_cast<std::size_t>(term_count_++)] = term;
}

// One thread's work on strips.
class Walk::Strip {
 public:
  Strip(const Walk& walk, const FilterArguments& arguments, const FilterRows& rows, std::int64_t plane,
        std::int64_t together, char* memory)
      : walk_(walk),
        rows_(rows),
        request_(walk.request_),
        layout_(walk.layout_),
        image_(plane_of(arguments.image, plane, together > 1)),
        out_(plane_of(arguments.out, plane, together > 1)),
        mask_(arguments.mask),
        memory_(memory),
        together_(together),
        width_(walk.request_.image.width * together) {
    if (request_.mask) mask_ = plane_of(mask_, together > 1 ? plane : plane / request_.image.channels, false);
    for (int i = 0; i < walk.term_count_; ++i) {
      const Term& term = walk.terms_[static_cast<std::size_t>(i)];
      kernels_[static_cast<std::size_t>(i)] = term_kernels(term.type, term.power, term.wide);
    }
    const std::uint64_t pixel = beyond_pixel(request_);
    const std::size_t size = size_of(request_.in);
    char* const beyond = memory_ + layout_.beyond_pixels;
    for (std::int64_t i = 0; i < width_; ++i)
      std::memcpy(beyond + static_cast<std::size_t>(i) * size, &pixel, size);  // little-endian
    if (walk.counts()) {
      const bool valid = request_.columns.edge == Edge::constant || request_.columns.edge == Edge::zero;
      std::memset(memory_ + layout_.beyond_marks, valid ? 1 : 0, static_cast<std::size_t>(width_));
    }
  }

  /// Writes output rows [begin, end).
  void write(std::int64_t begin, std::int64_t end, const Finish& finish) {
    finish_ = &finish;
    run(begin, end);
  }
  /// Adds the windows of these output rows to the survey.
  void look(std::int64_t begin, std::int64_t end, Survey& survey) {
    finish_ = &walk_.finish_;
    survey_ = &survey;
    run(begin, end);
  }
  /// Adds the valid pixels of these rows of the image.
  void look_at_pixels(std::int64_t begin, std::int64_t end, Survey& survey) {
    double* const pixels = array<double>(layout_.pixels);
    const std::int64_t step = step_of(image_);
    for (std::int64_t y = begin; y < end; ++y) {
      const char* const valid = request_.mask ? mask_row(y) : nullptr;
      for (std::int64_t x = 0; x < width_; x += walk_.chunk_) {
        const std::int64_t n = std::min(walk_.chunk_, width_ - x);
        finish_kernels().reals(image_row(y) + x * step, step, request_.in, n, pixels);
        for (std::int64_t i = 0; i < n; ++i)
          if (valid == nullptr || valid[x + i] != 0) survey.least_pixel = std::min(survey.least_pixel, pixels[i]);
      }
    }
  }

 private:
  struct Row {
    const char *pixels, *marks;
  };

  void run(std::int64_t begin, std::int64_t end) {
    start(begin);
    for (std::int64_t y = begin; y < end; ++y) {
      if (y > begin) step(y);
      row(y);
    }
  }

  template <class T>
  T* array(std::size_t offset) const {
    return reinterpret_cast<T*>(memory_ + offset);
  }
  std::size_t terms() const { return static_cast<std::size_t>(walk_.term_count_); }

  const char* image_row(std::int64_t y) const {
    return static_cast<const char*>(image_.row(rows_.held(y, request_.rows.extent)));
  }
  const char* mask_row(std::int64_t y) const {
    return static_cast<const char*>(mask_.row(rows_.held(y, request_.rows.extent)));
  }

  // Bytes between neighbours of a row.
  template <class Void>
  std::int64_t step_of(const BasicView<Void>& view) const {
    return together_ > 1 ? static_cast<std::int64_t>(size_of(view.type)) : view.column_pitch();
  }

  // Row y of the image, -1 beyond the edge: contiguous, with zeros where the mask has zeros.
  Row source(std::int64_t y, std::size_t buffer) const {
    if (y < 0) return {memory_ + layout_.beyond_pixels, memory_ + layout_.beyond_marks};
    const char* const from = image_row(y);
    const auto size = static_cast<std::int64_t>(size_of(image_.type)), step = step_of(image_);
    if (!request_.mask && step == size) return {from, nullptr};
    char* const to = memory_ + layout_.rows[buffer];
    char* const marks = memory_ + layout_.marks[buffer];
    const bool is_contiguous = step == size;
    if (!is_contiguous) copy_elements(from, step, width_, size, to, size);
    if (!request_.mask) return {to, nullptr};
    const char* const valid = mask_row(y);
    if (together_ == 1)
      mark_kernels().of_mask(valid, width_, marks);
    else
      for (std::int64_t x = 0, i = 0; x < request_.image.width; ++x)
        for (std::int64_t c = 0; c < together_; ++c, ++i) marks[i] = valid[x] != 0 ? 1 : 0;
    const std::uint64_t nothing = 0;
    mark_kernels().keep(is_contiguous ? from : to, marks, width_, static_cast<std::size_t>(size), &nothing, to);
    return {to, marks};
  }

  void add(const Row& row, std::uint64_t times) {
    for (std::size_t t = 0; t < terms(); ++t)
      kernels_[t]->add(memory_ + layout_.columns[t], walk_.terms_[t].counts ? row.marks : row.pixels, width_, times);
  }

  // The columns' sums of the windows of row y.
  void start(std::int64_t y) {
    for (std::size_t t = 0; t < terms(); ++t)
      std::memset(memory_ + layout_.columns[t], 0, static_cast<std::size_t>(width_) * kernels_[t]->bytes);
    const formulas::Pieces pieces = request_.rows.pieces(y);
    for (int i = 0; i < pieces.count; ++i)
      for (std::int64_t r = pieces.piece[i].begin; r < pieces.piece[i].end; ++r)
        add(source(r, 0), pieces.piece[i].times);
    const bool has_beyond = request_.rows.edge == Edge::constant || request_.rows.edge == Edge::zero;
    const std::uint64_t beyond = static_cast<std::uint64_t>(request_.rows.size) - request_.rows.inside(y);
    if (has_beyond && beyond > 0) add(source(-1, 0), beyond);
  }

  // From row y - 1 to row y.
  void step(std::int64_t y) {
    const formulas::WindowAxis& rows = request_.rows;
    const std::int64_t leaves = y - 1 - rows.before;
    const std::int64_t leaving = formulas::shown_pixel(leaves, rows.extent, rows.edge),
                       entering = formulas::shown_pixel(leaves + rows.size, rows.extent, rows.edge);
    if (leaving == entering) return;
    const Row in = source(entering, 0), out = source(leaving, 1);
    for (std::size_t t = 0; t < terms(); ++t) {
      const bool counts = walk_.terms_[t].counts;
      kernels_[t]->step(memory_ + layout_.columns[t], counts ? in.marks : in.pixels, counts ? out.marks : out.pixels,
                        width_);
    }
  }

  void row(std::int64_t y) {
    for (std::size_t t = 0; t < terms(); ++t)
      kernels_[t]->prefix(memory_ + layout_.columns[t], memory_ + layout_.prefix[t], width_, together_);
    const formulas::WindowAxis& columns = request_.columns;
    const std::int64_t inner_begin = columns.inner_begin(), inner_end = std::max(inner_begin, columns.inner_end());
    const std::int64_t most = walk_.chunk_ / together_;
    const auto part = [&](std::int64_t begin, std::int64_t end, bool inside) {
      for (std::int64_t x = begin; x < end; x += most) chunk(y, x, std::min(most, end - x), inside);
    };
    part(0, inner_begin, false);
    part(inner_begin, inner_end, true);
    part(inner_end, columns.outputs, false);
  }

  /// The prefix sums at the left and the right ends of windows x .. x + n.
  std::pair<const void*, const void*> ends(std::size_t t, std::int64_t x, std::int64_t n, bool inside) const {
    const formulas::WindowAxis& columns = request_.columns;
    const char* const prefix = memory_ + layout_.prefix[t];
    const std::int64_t first = x - columns.before;
    if (inside) {
      const auto bytes = static_cast<std::int64_t>(kernels_[t]->bytes) * together_;
      return {prefix + first * bytes, prefix + (first + columns.size) * bytes};
    }
    Boundary boundary{columns, together_, first, n,
                      walk_.terms_[t].beyond * static_cast<std::uint64_t>(request_.rows.size)};
    if (walk_.terms_[t].counts && columns.edge == Edge::zero) boundary.axis.edge = Edge::constant;
    kernels_[t]->boundary(boundary, prefix, memory_ + layout_.left);
    boundary.first = first + columns.size;
    kernels_[t]->boundary(boundary, prefix, memory_ + layout_.right);
    return {memory_ + layout_.left, memory_ + layout_.right};
  }

  void chunk(std::int64_t y, std::int64_t x, std::int64_t columns, bool inside) {
    const std::uint64_t down = request_.rows.pixels(y);
    if (inside && walk_.means_of_integers_ && store_means(y, x, columns, down)) return;
    const std::int64_t n = columns * together_;
    if (inside && walk_.sums_fit_31_bits_ && survey_ == nullptr && store_inner(y, x, columns, down)) return;
    const FinishKernels& kernels = finish_kernels();
    const WindowTerms terms{array<double>(layout_.count), array<double>(layout_.sum), array<double>(layout_.squares),
                            array<double>(layout_.numerator), array<double>(layout_.pixels)};
    const bool integers = walk_.numerator_ == Numerator::integers || walk_.numerator_ == Numerator::wide_integers;
    std::array<std::uint64_t*, 3> whole{};
    for (std::size_t t = 0; t < sums(); ++t) {
      const auto [left, right] = ends(t, x, columns, inside);
      whole[t] = array<std::uint64_t>(layout_.integers[t]);
      if (t < 2) kernels_[t]->reals(left, right, n, t == 0 ? terms.sum : terms.squares);
      if (integers) kernels_[t]->integers(left, right, n, whole[t]);
    }
    std::uint64_t* const counts = integers ? array<std::uint64_t>(layout_.integers[3]) : nullptr;
    count(x, columns, inside, down, terms.count, counts);
    numerators(n, whole, counts, terms);
    if (survey_ != nullptr) {
      survey_->most_variance = std::max(survey_->most_variance, kernels.most_variance(*finish_, terms, n));
      return;
    }
    if (finish_->decides) centres(y, x, n, terms.pixels);
    double* const values = array<double>(layout_.values);
    kernels.finish(*finish_, terms, n, values);
    output(y, x, n, [&](char* to) { kernels.store(values, n, request_.out, to); });
  }

  // Means by whole numbers, if they serve windows of that size.
  bool store_means(std::int64_t y, std::int64_t x, std::int64_t columns, std::uint64_t down) {
    const std::uint64_t pixels = down * static_cast<std::uint64_t>(request_.columns.size);
    if (pixels < static_cast<std::uint64_t>(request_.min_count) ||
        !formulas::RoundedMean::serves(pixels, request_.in == Type::u8 ? 255 : 65535))
      return false;
    if (mean_.pixels != pixels) mean_ = formulas::RoundedMean(static_cast<std::uint32_t>(pixels));
    const auto [left, right] = ends(0, x, columns, true);
    const std::int64_t n = columns * together_;
    output(y, x, n,
           [&, from = static_cast<const std::uint32_t*>(left), to = static_cast<const std::uint32_t*>(right)](
               char* out) { finish_kernels().means(from, to, mean_, n, request_.out, out); });
    return true;
  }

  // All statistics in one pass, if windows of that size have enough pixels.
  bool store_inner(std::int64_t y, std::int64_t x, std::int64_t columns, std::uint64_t down) {
    const double pixels = static_cast<double>(down * static_cast<std::uint64_t>(request_.columns.size));
    if (pixels < finish_->min_count || pixels <= finish_->ddof) return false;
    const auto end = [](const void* at) { return static_cast<const std::uint32_t*>(at); };
    const auto [left, right] = ends(0, x, columns, true);
    InnerSums inner{end(left), end(right), nullptr, nullptr, pixels, array<double>(layout_.pixels)};
    if (sums() > 1) {
      const auto [squares_left, squares_right] = ends(1, x, columns, true);
      inner.squares_left = end(squares_left), inner.squares_right = end(squares_right);
    }
    const std::int64_t n = columns * together_;
    const std::int64_t step = step_of(image_);
    if (finish_->decides && finish_->local.needs_variance() && request_.in == Type::u8 && request_.out == Type::u8 &&
        step == 1) {
      const auto* const centre =
          reinterpret_cast<const std::uint8_t*>(image_row(y + request_.centre_y)) + (x + request_.centre_x) * together_;
      output(y, x, n, [&](char* to) {
        finish_kernels().decide_bytes(*finish_, inner, centre, n, reinterpret_cast<std::uint8_t*>(to));
      });
      return true;
    }
    if (finish_->decides) centres(y, x, n, array<double>(layout_.pixels));
    double* const values = array<double>(layout_.values);
    finish_kernels().finish_inner(*finish_, inner, n, values);
    output(y, x, n, [&](char* to) { finish_kernels().store(values, n, request_.out, to); });
    return true;
  }

  std::size_t sums() const { return terms() - (walk_.counts() ? 1 : 0); }

  // The pixels of each window, as doubles and as whole numbers, which may be null.
  void count(std::int64_t x, std::int64_t columns, bool inside, std::uint64_t down, double* out,
             std::uint64_t* whole) const {
    const std::int64_t n = columns * together_;
    if (walk_.counts()) {
      const std::size_t t = terms() - 1;
      const auto [left, right] = ends(t, x, columns, inside);
      kernels_[t]->reals(left, right, n, out);
      if (whole != nullptr) kernels_[t]->integers(left, right, n, whole);
      return;
    }
    if (inside || request_.columns.edge != Edge::shrink) {
      const std::uint64_t pixels = down * static_cast<std::uint64_t>(request_.columns.size);
      std::fill_n(out, n, static_cast<double>(pixels));
      if (whole != nullptr) std::fill_n(whole, n, pixels);
      return;
    }
    for (std::int64_t i = 0; i < columns; ++i) {
      const std::uint64_t pixels = down * request_.columns.pixels(x + i);
      std::fill_n(out + i * together_, together_, static_cast<double>(pixels));
      if (whole != nullptr) std::fill_n(whole + i * together_, together_, pixels);
    }
  }

  void numerators(std::int64_t n, const std::array<std::uint64_t*, 3>& whole, const std::uint64_t* counts,
                  const WindowTerms& terms) const {
    switch (walk_.numerator_) {
      case Numerator::none:
        return;
      case Numerator::exact:
        return finish_kernels().exact_numerators(terms, n);
      case Numerator::integers:
        return finish_kernels().numerators(counts, whole[0], whole[1], n, terms.numerator);
      case Numerator::wide_integers:
        break;
    }
    const bool split = size_of(request_.in) == 4, is_signed = is_signed_integer(request_.in);
    for (std::int64_t i = 0; i < n; ++i) {
      using formulas::Wide128;
      const bool negative = is_signed && static_cast<std::int64_t>(whole[0][i]) < 0;
      const std::uint64_t sum = negative ? 0 - whole[0][i] : whole[0][i];
      const Wide128 squares = split ? (static_cast<Wide128>(whole[2][i]) << 32) + whole[1][i] : Wide128{whole[1][i]};
      terms.numerator[i] = static_cast<double>(counts[i] * squares - static_cast<Wide128>(sum) * sum);
      if (split) terms.squares[i] = static_cast<double>(squares);
    }
  }

  // The pixels at the windows' centres.
  void centres(std::int64_t y, std::int64_t x, std::int64_t n, double* out) const {
    const std::int64_t step = step_of(image_);
    finish_kernels().reals(image_row(y + request_.centre_y) + (x + request_.centre_x) * together_ * step, step,
                           request_.in, n, out);
  }

  // Calls write(to) with the outputs' memory, or with a buffer for outputs that are apart.
  template <class Write>
  void output(std::int64_t y, std::int64_t x, std::int64_t n, const Write& write) const {
    const auto size = static_cast<std::int64_t>(size_of(out_.type)), step = step_of(out_);
    char* const to = static_cast<char*>(out_.row(y - rows_.begin)) + x * together_ * step;
    if (step == size) return write(to);
    char* const buffer = memory_ + layout_.out;
    write(buffer);
    copy_elements(buffer, size, n, size, to, step);
  }

  const Walk& walk_;
  const FilterRows& rows_;
  const FilterRequest& request_;
  const Layout& layout_;
  ConstView image_;
  View out_;
  ConstView mask_;
  char* memory_;
  const Finish* finish_ = nullptr;
  Survey* survey_ = nullptr;
  std::int64_t together_, width_;
  std::array<const TermKernels*, 4> kernels_{};
  formulas::RoundedMean mean_;
};

void Walk::execute(const FilterArguments& arguments, void* workspace, const FilterRows& rows) const {
  const Shape& image = request_.image;
  if (arguments.out.shape.empty()) return;
  const bool both = is_interleaved(image) && is_interleaved(arguments.out.shape);
  // The thresholds of wolf differ from channel to channel.
  const std::int64_t together = both && !is_wolf(request_.filter) ? image.channels : 1;
  const Strips strips(image.batch * image.channels / together, rows.begin, rows.end,
                      std::min(request_.rows.size, image.height), slots(request_.threads));
  char* const memory = reinterpret_cast<char*>(whole_lines(reinterpret_cast<std::uintptr_t>(workspace)));
  const auto mine = [&] { return memory + static_cast<std::size_t>(slot()) * layout_.bytes; };
  const auto write = [&](std::int64_t plane, std::int64_t s, const Finish& finish) {
    Strip(*this, arguments, rows, plane, together, mine()).write(strips.begin(s), strips.end(s), finish);
  };
  if (is_wolf(request_.filter)) {
    const auto look = [&](std::int64_t plane, std::int64_t s, Survey& survey) {
      Strip strip(*this, arguments, rows, plane, together, mine());
      strip.look(strips.begin(s), strips.end(s), survey);
      strip.look_at_pixels(s * image.height / strips.count, (s + 1) * image.height / strips.count, survey);
    };
    void* const surveys = memory + static_cast<std::size_t>(slots(request_.threads)) * layout_.bytes;
    return survey_and_write(strips, request_.threads, surveys, finish_, look, write);
  }
  const bool has_gaps = together < image.channels && (is_interleaved(image) || is_interleaved(arguments.out.shape));
  strips.for_each(request_.threads, [&](std::int64_t plane, std::int64_t s) {
    if (!by_bytes_ || has_gaps) return write(plane, s, finish_);
    ByteMeans(request_).strip(plane_of(arguments.image, plane, together > 1),
                              plane_of(arguments.out, plane, together > 1), rows, together, strips.begin(s),
                              strips.end(s), mine());
  });
}

}  // namespace areal::cpu
