#include "cpu/filter/guided.hpp"
#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <variant>
#include "cpu/filter/element.hpp"
#include "cpu/filter/guided_rows.hpp"
#include "cpu/filter/strips.hpp"
#include "cpu/filter/walk_rows.hpp"

namespace areal::cpu {
namespace {

// Columns of a panel: its rows and their sums stay in the second-level cache.
constexpr std::int64_t usual_panel = 1024;

formulas::WindowAxis reversed(formulas::WindowAxis axis) {
  axis.before = axis.size - 1 - axis.before;
  return axis;
}

BlockWindows along(const Positions& positions, const formulas::WindowAxis& axis, std::int64_t outputs) {
  return {positions.count, positions.covered_begin - positions.start, axis.size, outputs,
          formulas::block_of_window(axis.size)};
}

}  // namespace

Guided::Guided(const FilterRequest& request)
    : request_(request),
      eps_(std::get<filter::Guided>(request.filter).eps),
      channels_(request.guide == 3 ? 3 : 1),
      again_columns_(reversed(request.columns)),
      again_rows_(reversed(request.rows)),
      panel_(std::max<std::int64_t>(1, request.columns.outputs)) {
  // Copies of the image lie at its other end. Halves of a panel may be as wide as one.
  const std::int64_t most = std::max(usual_panel, 8 * request.columns.size);
  if (request.columns.edge != Edge::wrap && panel_ > most + most / 2) panel_ = most;

  const auto channels = static_cast<int>(channels_);
  if (request.guide == 0) {
    add_term(0, none), add_term(0, 0);
  } else {
    add_term(p, none);
    for (int c = 0; c < channels; ++c) add_term(c, none);
    for (int c = 0; c < channels; ++c) add_term(c, p);
    for (int c = 0; c < channels; ++c)
      for (int d = c; d < channels; ++d) add_term(c, d);
  }
  by_bytes_ = request.in == Type::u8 && (request.guide == 0 || request.guide_type == Type::u8) &&
              static_cast<double>(request.columns.size) * static_cast<double>(request.rows.size) * 255 * 255 < 0x1p32;
  // Windows that hold one pixel, and as many rows more as an edge may show them.
  ring_ = again_rows_.size + 16;

  std::int64_t length = 0, again_length = 0, count = 0, again_count = 0, centres = 0, outputs = 0;
  for (std::int64_t panel = 0; panel < panels(); ++panel) {
    const Positions second = again(panel), pixels = first(second);
    length = std::max(length, pixels.length), count = std::max(count, pixels.count);
    again_length = std::max(again_length, second.length), again_count = std::max(again_count, second.count);
    centres = std::max(centres, second.columns());
    outputs = std::max(outputs, std::min(panel_, request.columns.outputs - panel * panel_));
  }
  std::size_t end = 0;
  const auto doubles = [&](std::int64_t n) { return place(end, n, sizeof(double)); };
  for (std::size_t t = 0; t < term_count_; ++t) {
    if (by_bytes_) {
      layout_.columns[t] = place(end, count, sizeof(std::uint32_t));
      layout_.prefixes[t] = place(end, count + 1, sizeof(std::uint32_t));
    } else {
      layout_.terms[t] = RowBlocks::Layout::of_sums(end, request.rows.size, count);
      layout_.sums[t] = doubles(centres);
    }
  }
  if (by_bytes_)
    for (std::size_t s = 0; s < most_coefficients; ++s)
      layout_.entering[s] = place(end, length, 1), layout_.leaving[s] = place(end, length, 1);
  layout_.ring_pitch = again_length + 8;
  for (std::size_t c = 0; c <= channels_; ++c) {
    layout_.coefficients[c] = RowBlocks::Layout::of_sums(end, again_rows_.size, again_count);
    layout_.ring[c] = doubles(ring_ * layout_.ring_pitch);
    layout_.beyond[c] = doubles(again_length);
    layout_.means[c] = doubles(outputs);
    layout_.guide[c] = doubles(outputs);
  }
  layout_.one = doubles(length), layout_.other = doubles(length);
  layout_.merged = doubles(std::max(count, again_count));
  layout_.count = doubles(centres), layout_.share = doubles(centres);
  layout_.count_again = doubles(outputs), layout_.share_again = doubles(outputs);
  layout_.values = doubles(outputs), layout_.out = doubles(outputs);
  const std::int64_t most_count = std::max(count, again_count);
  for (std::size_t* one : {&layout_.prefix, &layout_.suffix, &layout_.whole})
    *one = doubles(most_count + BlockScratch::padding);
  for (std::size_t* one : {&layout_.total, &layout_.between, &layout_.longer}) *one = doubles(most_count / 8 + 1);
  layout_.bytes = end;
  workspace_bytes_ = cache_line + end * static_cast<std::size_t>(slots(request.threads));
}

Positions Guided::again(std::int64_t panel) const {
  const std::int64_t begin = panel * panel_;
  return {again_columns_, begin, std::min(request_.columns.outputs, begin + panel_),
          formulas::block_of_window(again_columns_.size)};
}
Positions Guided::first(const Positions& again) const {
  return {request_.columns, again.columns_begin, again.columns_end, formulas::block_of_window(request_.columns.size)};
}

// One thread's work on a strip of a panel of one channel of an image.
class Guided::Strip {
 public:
  Strip(const Guided& guided, const FilterArguments& arguments, const FilterRows& rows, std::int64_t plane,
        std::int64_t panel, char* memory)
      : guided_(guided),
        rows_(rows),
        request_(guided.request_),
        out_(plane_of(arguments.out, plane, false)),
        memory_(memory),
        begin_(panel * guided.panel_),
        outputs_(std::min(guided.panel_, guided.request_.columns.outputs - begin_)),
        again_(guided.again(panel)),
        first_(guided.first(again_)) {
    const std::int64_t image = plane / request_.image.channels;
    sources_[p] = plane_of(arguments.image, plane, false);
    for (std::size_t c = 0; c < guided.channels_; ++c)
      sources_[c] = request_.guide == 0
                        ? sources_[p]
                        : plane_of(arguments.guide, image * request_.guide + static_cast<std::int64_t>(c), false);
    // Beyond the edge a is 0.
    for (std::size_t c = 0; c <= guided.channels_; ++c)
      again_.fill(c == guided.channels_ ? beyond() : 0, array(guided.layout_.beyond[c]));
  }

  /// Writes output rows [begin, end).
  void write(std::int64_t begin, std::int64_t end) {
    // The first of the rows of a and b that the windows of these outputs show.
    const formulas::WindowAxis& rows = guided_.again_rows_;
    next_ = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t v = begin - rows.before; v < end - rows.before + rows.size - 1; ++v)
      if (!is_beyond(v)) next_ = std::min(next_, row_of(v));
    started_ = false;
    for (std::size_t t = 0; t < guided_.term_count_ && !guided_.by_bytes_; ++t)
      sums_[t].emplace(guided_.layout_.terms[t], memory_, first_.count);
    for (std::size_t c = 0; c <= guided_.channels_; ++c)
      means_[c].emplace(guided_.layout_.coefficients[c], memory_, again_.count);
    for (std::int64_t y = begin; y < end; ++y) row(y);
  }

 private:
  std::int64_t held(std::int64_t y) const { return rows_.held(y, request_.rows.extent); }
  double* array(std::size_t offset) const { return reinterpret_cast<double*>(memory_ + offset); }
  std::uint32_t* integers(std::size_t offset) const { return reinterpret_cast<std::uint32_t*>(memory_ + offset); }

  /// Of pixels and of b, with edges `zero` and `constant`; what the others show adds nothing.
  double beyond() const { return request_.columns.edge == Edge::constant ? request_.value : 0; }
  bool is_beyond(std::int64_t v) const {
    return formulas::shown_pixel(v, request_.rows.extent, request_.rows.edge) < 0;
  }
  // The row of a and b at a position. Those of copies of the image are computed there, as they come in order.
  std::int64_t row_of(std::int64_t v) const {
    return request_.rows.edge == Edge::wrap ? v : formulas::shown_pixel(v, request_.rows.extent, request_.rows.edge);
  }
  double* ring(std::size_t c, std::int64_t row) const {
    const std::int64_t size = guided_.ring_;
    return array(guided_.layout_.ring[c]) + (row % size + size) % size * guided_.layout_.ring_pitch;
  }

  BlockScratch scratch() const {
    const auto& layout = guided_.layout_;
    return {memory_ + layout.prefix, memory_ + layout.suffix,  memory_ + layout.whole,
            memory_ + layout.total,  memory_ + layout.between, memory_ + layout.longer};
  }

  // A row of pixels at its positions.
  const double* pixels(int source, std::int64_t position, double* to) const {
    const ConstView& view = sources_[static_cast<std::size_t>(source)];
    const std::int64_t y = formulas::shown_pixel(position, request_.rows.extent, request_.rows.edge);
    if (y < 0) {
      // As the type has it: 32f may round the value.
      first_.fill(view.type == Type::f32 ? static_cast<float>(beyond()) : beyond(), to);
    } else {
      const std::int64_t step = view.column_pitch();
      finish_kernels().reals(static_cast<const char*>(view.row(held(y))) + first_.columns_begin * step, step, view.type,
                             first_.columns(), to + first_.first_column());
      first_.spread(request_.columns, view.type == Type::f32 ? static_cast<float>(beyond()) : beyond(), to);
    }
    return to + first_.lead;
  }

  // Of a term, the rows at a position.
  const double* load(std::size_t t, std::int64_t position) const {
    const Term& term = guided_.terms_[t];
    double* const one = array(guided_.layout_.one);
    const double* const from = pixels(term.one, position, one);
    if (term.other == none) return from;
    double* const other = array(guided_.layout_.other);
    const double* by = from;
    if (term.other != term.one) by = pixels(term.other, position, other);
    if (by == from)
      guided_kernels().square(one + first_.lead, first_.count);
    else
      guided_kernels().multiply(one + first_.lead, by, first_.count);
    return from;
  }

  // A row of bytes at its positions.
  const std::uint8_t* bytes(std::size_t source, std::int64_t position, std::size_t buffer) const {
    auto* const to = reinterpret_cast<std::uint8_t*>(memory_ + buffer);
    const ConstView& view = sources_[source];
    const std::int64_t y = formulas::shown_pixel(position, request_.rows.extent, request_.rows.edge);
    const auto outside = static_cast<std::uint8_t>(beyond());
    if (y < 0) {
      first_.fill(outside, to);
    } else {
      const std::int64_t step = view.column_pitch(), n = first_.columns();
      const auto* const from = static_cast<const std::uint8_t*>(view.row(held(y))) + first_.columns_begin * step;
      std::uint8_t* const columns = to + first_.first_column();
      if (step == 1)
        std::memcpy(columns, from, static_cast<std::size_t>(n));
      else
        for (std::int64_t i = 0; i < n; ++i) columns[i] = from[i * step];
      first_.spread(request_.columns, outside, to);
    }
    return to + first_.lead;
  }
  bool uses(std::size_t source) const { return source == p ? request_.guide > 0 : source < guided_.channels_; }

  // Adds the row at a position to the sums of columns, and subtracts another.
  void step_columns(std::int64_t entering, std::optional<std::int64_t> leaving) {
    const auto& layout = guided_.layout_;
    std::array<const std::uint8_t*, 4> in{}, out{};
    for (std::size_t s = 0; s < in.size(); ++s) {
      if (!uses(s)) continue;
      in[s] = bytes(s, entering, layout.entering[s]);
      if (leaving)
        out[s] = bytes(s, *leaving, layout.leaving[s]);
      else
        out[s] = static_cast<std::uint8_t*>(
            std::memset(memory_ + layout.leaving[s], 0, static_cast<std::size_t>(first_.count)));
    }
    for (std::size_t t = 0; t < guided_.term_count_; ++t) {
      const auto one = static_cast<std::size_t>(guided_.terms_[t].one);
      auto* const columns = integers(layout.columns[t]);
      if (guided_.terms_[t].other == none) {
        guided_kernels().step(columns, in[one], out[one], first_.count);
      } else {
        const auto other = static_cast<std::size_t>(guided_.terms_[t].other);
        guided_kernels().step_products(columns, in[one], in[other], out[one], out[other], first_.count);
      }
    }
  }

  // The sums of the columns of the windows of row `row`, which follows the last one.
  void advance_columns(std::int64_t row) {
    const std::int64_t begin = row - request_.rows.before, end = begin + request_.rows.size;
    if (started_) return step_columns(end - 1, begin - 1);
    started_ = true;
    for (std::size_t t = 0; t < guided_.term_count_; ++t)
      std::fill_n(integers(guided_.layout_.columns[t]), first_.count, 0u);
    for (std::int64_t v = begin; v < end; ++v) step_columns(v, std::nullopt);
  }

  // The pixels of n windows of `down` rows, from column `begin` on, and their shares.
  static void count(const formulas::WindowAxis& columns, std::int64_t begin, std::int64_t n, std::uint64_t down,
                    double* counts, double* shares) {
    for (std::int64_t i = 0; i < n; ++i) {
      counts[i] = static_cast<double>(columns.pixels(begin + i)) * static_cast<double>(down);
      shares[i] = 1 / counts[i];
    }
  }

  // Where each term's sums go.
  template <class Sums, class Of>
  void distribute(Sums& sums, const Of& of) const {
    const std::size_t channels = guided_.channels_;
    if (request_.guide == 0) {
      sums.p = sums.guide[0] = of(0), sums.cross[0] = sums.squares[0] = of(1);
    } else {
      sums.p = of(0);
      for (std::size_t c = 0; c < channels; ++c) sums.guide[c] = of(1 + c), sums.cross[c] = of(1 + channels + c);
      for (std::size_t s = 0; s < (channels == 3 ? 6 : 1); ++s) sums.squares[s] = of(1 + 2 * channels + s);
    }
    sums.count = array(guided_.layout_.count), sums.share = array(guided_.layout_.share);
    sums.eps = guided_.eps_;
  }

  // Computes the next row of a and b.
  void advance() {
    const auto& layout = guided_.layout_;
    const std::int64_t row = next_++;
    const std::size_t channels = guided_.channels_;
    std::array<double*, most_coefficients> to{};
    for (std::size_t c = 0; c <= channels; ++c) to[c] = ring(c, row) + again_.first_column();
    if (const std::uint64_t down = request_.rows.pixels(row); down != down_) {
      down_ = down;
      count(request_.columns, again_.columns_begin, again_.columns(), down, array(layout.count), array(layout.share));
    }
    if (guided_.by_bytes_) {
      advance_columns(row);
      for (std::size_t t = 0; t < guided_.term_count_; ++t)
        term_kernels(Type::u8, Power::pixel, false)
            ->prefix(memory_ + layout.columns[t], memory_ + layout.prefixes[t], first_.count, 1);
      GuidedPrefixSums sums{};
      distribute(sums,
                 [&](std::size_t t) { return integers(layout.prefixes[t]) + (first_.covered_begin - first_.start); });
      sums.size = request_.columns.size;
      guided_kernels().coefficients_of_bytes(static_cast<std::int64_t>(channels), sums, again_.columns(), to.data());
    } else {
      const BlockWindows windows = along(first_, request_.columns, again_.columns());
      double* const merged = array(layout.merged);
      for (std::size_t t = 0; t < guided_.term_count_; ++t) {
        sums_[t]->sums(
            row - request_.rows.before, [&](std::int64_t v) { return load(t, v); }, merged);
        block_kernels(Merge::sum).windows(windows, merged, scratch(), array(layout.sums[t]));
      }
      GuidedSums sums{};
      distribute(sums, [&](std::size_t t) { return array(layout.sums[t]); });
      guided_kernels().coefficients(static_cast<std::int64_t>(channels), sums, again_.columns(), to.data());
    }
    for (std::size_t c = 0; c <= channels; ++c)
      again_.spread(guided_.again_columns_, c == channels ? beyond() : 0.0, ring(c, row));
  }

  // The row of a or b at a position.
  const double* coefficients(std::size_t c, std::int64_t position) {
    if (is_beyond(position)) return array(guided_.layout_.beyond[c]) + again_.lead;
    const std::int64_t row = row_of(position);
    while (next_ <= row) advance();
    return ring(c, row) + again_.lead;
  }

  void row(std::int64_t y) {
    const auto& layout = guided_.layout_;
    const formulas::WindowAxis& rows = guided_.again_rows_;
    const BlockWindows windows = along(again_, guided_.again_columns_, outputs_);
    double* const merged = array(layout.merged);
    std::array<const double*, most_coefficients> means{}, guide{};
    // All rows are there before the first sums, which use the same scratch memory.
    for (std::int64_t v = y - rows.before; v < y - rows.before + rows.size; ++v) coefficients(0, v);
    for (std::size_t c = 0; c <= guided_.channels_; ++c) {
      means_[c]->sums(
          y - rows.before, [&](std::int64_t v) { return coefficients(c, v); }, merged);
      double* const to = array(layout.means[c]);
      block_kernels(Merge::sum).windows(windows, merged, scratch(), to);
      means[c] = to;
      if (c == guided_.channels_) continue;
      const ConstView& view = sources_[c];
      const std::int64_t step = view.column_pitch();
      finish_kernels().reals(static_cast<const char*>(view.row(held(y))) + begin_ * step, step, view.type, outputs_,
                             array(layout.guide[c]));
      guide[c] = array(layout.guide[c]);
    }
    double* const values = array(layout.values);
    if (const std::uint64_t down = rows.pixels(y); down != down_again_) {
      down_again_ = down;
      count(guided_.again_columns_, begin_, outputs_, down, array(layout.count_again), array(layout.share_again));
    }
    guided_kernels().outputs(static_cast<std::int64_t>(guided_.channels_), means.data(), guide.data(),
                             array(layout.share_again), outputs_, values);
    const auto size = static_cast<std::int64_t>(size_of(out_.type)), step = out_.column_pitch();
    char* const to = static_cast<char*>(out_.row(y - rows_.begin)) + begin_ * step;
    if (step == size) return finish_kernels().store(values, outputs_, out_.type, to);
    char* const buffer = memory_ + layout.out;
    finish_kernels().store(values, outputs_, out_.type, buffer);
    copy_elements(buffer, size, outputs_, size, to, step);
  }

  const Guided& guided_;
  const FilterRows& rows_;
  const FilterRequest& request_;
  std::array<ConstView, 4> sources_;  // channels of the guide, and p
  View out_;
  char* memory_;
  std::int64_t begin_, outputs_;
  Positions again_, first_;
  std::array<std::optional<RowBlocks>, most_terms> sums_;
  std::array<std::optional<RowBlocks>, most_coefficients> means_;
  std::int64_t next_ = 0;                    // row of a and b
  bool started_ = false;                     // the sums of columns
  std::uint64_t down_ = 0, down_again_ = 0;  // rows of the windows that were counted last
};

void Guided::execute(const FilterArguments& arguments, void* workspace, const FilterRows& rows) const {
  if (arguments.out.shape.empty()) return;
  const std::int64_t first_rows = std::min(2 * request_.rows.size, request_.image.height);
  const Strips strips(request_.image.batch * request_.image.channels * panels(), rows.begin, rows.end, first_rows,
                      slots(request_.threads));
  char* const memory = reinterpret_cast<char*>(whole_lines(reinterpret_cast<std::uintptr_t>(workspace)));
  strips.for_each(request_.threads, [&](std::int64_t i, std::int64_t s) {
    Strip(*this, arguments, rows, i / panels(), i % panels(), memory + static_cast<std::size_t>(slot()) * layout_.bytes)
        .write(strips.begin(s), strips.end(s));
  });
}

}  // namespace areal::cpu
