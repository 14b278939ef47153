#include "cpu/filter/blocks.hpp"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <variant>
#include "cpu/filter/cut_axis.hpp"
#include "cpu/filter/element.hpp"
#include "cpu/filter/finish.hpp"
#include "cpu/filter/marks.hpp"
#include "cpu/filter/strips.hpp"
#include "cpu/query/modular.hpp"
#include "formulas/block_order.hpp"

namespace areal::cpu {
namespace {

constexpr std::int64_t chunk = 512;

bool is_least(const FilterRequest& request) { return std::holds_alternative<filter::Minimum>(request.filter); }

}  // namespace

Blocks::Blocks(const FilterRequest& request)
    : request_(request), column_block_(formulas::block_of_window(request.columns.size)) {
  const bool extreme = is_least(request) || std::holds_alternative<filter::Maximum>(request.filter);
  if (extreme) {
    add_layer(Kind::extremes, is_least(request) ? Merge::minimum : Merge::maximum);
  } else {
    finish_ = finish_of(request);
    const bool deviations =
        finish_.statistic == Statistic::variance || finish_.statistic == Statistic::standard_deviation;
    const bool thresholds = finish_.statistic == Statistic::threshold;
    const bool variances = deviations || (thresholds && finish_.local.needs_variance());
    const bool moments = variances && request.in == Type::f64;
    if (moments) add_layer(Kind::moments, Merge::moments);
    if (!(deviations && moments) && finish_.statistic != Statistic::count) add_layer(Kind::pixels, Merge::sum);
    if ((variances && !moments) || (thresholds && finish_.local.method == filter::Local::nick))
      add_layer(Kind::squares, Merge::sum);
  }
  if (counts()) add_layer(Kind::counts, Merge::sum);

  const bool adds_nothing = request.columns.edge == Edge::shrink ||
                            (request.columns.edge == Edge::zero && layers_[0].kind != Kind::moments && !counts());
  const bool only_whether = !counts() || request.min_count <= 1;  // a window holds a pixel that counts
  const bool may_cut = (extreme && only_whether) || adds_nothing;
  columns_ = may_cut ? cut_axis(request.columns, column_block_) : request.columns;
  const std::int64_t row_block = formulas::block_of_window(request.rows.size);
  rows_ = may_cut ? cut_axis(request.rows, row_block) : request.rows;

  const std::int64_t width = request.image.width, start = formulas::floor_div(-columns_.before, column_block_);
  along_.block = column_block_;
  along_.first = -columns_.before - start * column_block_;
  along_.size = columns_.size, along_.outputs = columns_.outputs;
  const std::int64_t used = along_.first + along_.outputs + along_.size - 1;
  along_.positions = columns_.outputs == 0 ? 0 : (used + column_block_ - 1) / column_block_ * column_block_;
  shown_.resize(static_cast<std::size_t>(along_.positions));
  for (std::int64_t i = 0; i < along_.positions; ++i) {
    const std::int64_t pixel = formulas::shown_pixel(i + start * column_block_, width, columns_.edge);
    shown_[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(pixel < 0 ? width : pixel);
  }
  inside_begin_ = std::clamp<std::int64_t>(-start * column_block_, 0, along_.positions);
  inside_end_ = std::clamp<std::int64_t>(width - start * column_block_, inside_begin_, along_.positions);

  std::size_t end = 0, widest = 8;
  for (int i = 0; i < layer_count_; ++i) {
    Layer& layer = layers_[static_cast<std::size_t>(i)];
    const std::size_t bytes = block_kernels(layer.merge, request.in).bytes;
    widest = std::max(widest, bytes);
    layer.rows = RowBlocks::Layout::of(end, rows_.size, row_block, width + 1, bytes);
    layer.row = place(end, width + 1, bytes);
    layer.windows = place(end, along_.outputs, bytes);
  }
  layout_.pixels = place(end, std::max(width, chunk), 8);
  layout_.valid = place(end, width, 1);
  for (std::size_t* one : {&layout_.spread, &layout_.prefix, &layout_.suffix, &layout_.whole})
    *one = place(end, along_.positions + BlockScratch::padding, widest);
  for (std::size_t* one : {&layout_.total, &layout_.between, &layout_.longer})
    *one = place(end, along_.positions / column_block_ + 1, widest);
  for (std::size_t* one : {&layout_.count, &layout_.numerator, &layout_.values, &layout_.out})
    *one = place(end, chunk, 8);
  layout_.bytes = end;
  const std::int64_t planes = is_wolf(request.filter) ? request.image.channels * request.image.batch : 0;
  workspace_bytes_ = cache_line + (end + static_cast<std::size_t>(planes) * sizeof(Survey)) *
                                      static_cast<std::size_t>(slots(request.threads));
}

// One thread's work on a strip of one channel of an image.
class Blocks::Strip {
 public:
  Strip(const Blocks& blocks, const FilterArguments& arguments, const FilterRows& rows, std::int64_t plane,
        char* memory)
      : blocks_(blocks),
        rows_(rows),
        request_(blocks.request_),
        image_(plane_of(arguments.image, plane, false)),
        out_(plane_of(arguments.out, plane, false)),
        mask_(arguments.mask),
        memory_(memory),
        width_(blocks.request_.image.width) {
    if (request_.mask) mask_ = plane_of(mask_, plane / request_.image.channels, false);
    for (int i = 0; i < blocks.layer_count_; ++i) {
      const auto l = static_cast<std::size_t>(i);
      kernels_[l] = &block_kernels(blocks.layers_[l].merge, request_.in);
      columns_[l].emplace(blocks.layers_[l].rows, memory, width_ + 1, *kernels_[l]);
    }
  }

  void write(std::int64_t begin, std::int64_t end, const Finish& finish) {
    finish_ = &finish;
    for (std::int64_t y = begin; y < end; ++y) row(y, nullptr);
  }
  void look(std::int64_t begin, std::int64_t end, Survey& survey) {
    finish_ = &blocks_.finish_;
    for (std::int64_t y = begin; y < end; ++y) row(y, &survey);
  }
  void look_at_pixels(std::int64_t begin, std::int64_t end, Survey& survey) {
    for (std::int64_t y = begin; y < end; ++y) {
      const double* const pixels = reals(y);
      const char* const valid = request_.mask ? mask_row(y) : nullptr;
      for (std::int64_t x = 0; x < width_; ++x)
        if ((valid == nullptr || valid[x] != 0) && pixels[x] < survey.least_pixel) survey.least_pixel = pixels[x];
    }
  }

 private:
  template <class T>
  T* array(std::size_t offset) const {
    return reinterpret_cast<T*>(memory_ + offset);
  }
  std::size_t layers() const { return static_cast<std::size_t>(blocks_.layer_count_); }
  bool has(Kind kind, std::size_t& at) const {
    for (at = 0; at < layers(); ++at)
      if (blocks_.layers_[at].kind == kind) return true;
    return false;
  }

  const char* image_row(std::int64_t y) const {
    return static_cast<const char*>(image_.row(rows_.held(y, request_.rows.extent)));
  }
  const char* mask_row(std::int64_t y) const {
    return static_cast<const char*>(mask_.row(rows_.held(y, request_.rows.extent)));
  }

  const double* reals(std::int64_t y) {
    double* const pixels = array<double>(blocks_.layout_.pixels);
    finish_kernels().reals(image_row(y), image_.column_pitch(), request_.in, width_, pixels);
    return pixels;
  }
  /// Which pixels of a row count; null for all.
  const char* valid(std::int64_t y, const double* pixels) {
    if (!blocks_.counts()) return nullptr;
    char* const marks = memory_ + blocks_.layout_.valid;
    if (request_.mask)
      mark_kernels().of_mask(mask_row(y), width_, marks);
    else
      std::memset(marks, 1, static_cast<std::size_t>(width_));
    if (request_.omit_nan) mark_kernels().without_nan(pixels, width_, marks);
    return marks;
  }

  bool is_plain(Kind kind, std::int64_t y) const { return kind == Kind::pixels && y >= 0 && !blocks_.counts(); }

  // to = plus + the row at a position, if that is a row of pixels, all of which count.
  bool add_row(std::size_t l, std::int64_t position, const char* plus, char* to) const {
    const std::int64_t y = formulas::shown_pixel(position, request_.rows.extent, request_.rows.edge);
    if (!is_plain(blocks_.layers_[l].kind, y)) return false;
    const auto* const from = reinterpret_cast<const double*>(plus);
    auto* const out = reinterpret_cast<double*>(to);
    finish_kernels().add_reals(image_row(y), image_.column_pitch(), request_.in, width_, from, out);
    out[width_] = from[width_] + (request_.columns.edge == Edge::constant ? beyond_pixel() : 0);
    return true;
  }

  // The row at a position as elements of a layer, and behind it the pixel beyond the edge.
  void load(std::size_t l, std::int64_t position, void* to) {
    const Kind kind = blocks_.layers_[l].kind;
    const std::int64_t y = formulas::shown_pixel(position, request_.rows.extent, request_.rows.edge);
    if (kind == Kind::extremes) return load_extremes(y, to);
    const Edge edge = request_.columns.edge;
    const double beyond = edge == Edge::constant ? beyond_pixel() : 0;
    const bool counts = (edge == Edge::constant || edge == Edge::zero) && !(request_.omit_nan && beyond != beyond);
    if (is_plain(kind, y)) {
      auto* const out = static_cast<double*>(to);
      finish_kernels().reals(image_row(y), image_.column_pitch(), request_.in, width_, out);
      out[width_] = beyond;
      return;
    }
    const double* const pixels = y < 0 ? nullptr : reals(y);
    const char* const marks = y < 0 ? nullptr : valid(y, pixels);
    const auto each = [&](auto* out, const auto& of) {
      using Element = std::decay_t<decltype(*out)>;
      constexpr Element nothing{};
      const auto outside = counts ? of(beyond) : nothing;
      out[width_] = outside;
      if (y < 0) {
        std::fill_n(out, width_, outside);
        return;
      }
      for (std::int64_t x = 0; x < width_; ++x) out[x] = of(pixels[x]);
      if (marks == nullptr) return;
      if constexpr (sizeof nothing == sizeof(double))
        mark_kernels().keep(out, marks, width_, sizeof nothing, &nothing, out);
      else
        for (std::int64_t x = 0; x < width_; ++x)
          if (!marks[x]) out[x] = nothing;
    };
    switch (kind) {
      case Kind::pixels:
        return each(static_cast<double*>(to), [](double p) { return p; });
      case Kind::squares:
        return each(static_cast<double*>(to), [](double p) { return p * p; });
      case Kind::counts:
        return each(static_cast<double*>(to), [](double) { return 1.0; });
      default:
        return each(static_cast<formulas::Moments*>(to), [](double p) { return formulas::Moments{1, p, p - p}; });
    }
  }

  /// As a pixel of the image's type.
  double beyond_pixel() const {
    if (request_.in == Type::f32) return static_cast<float>(request_.value);
    if (request_.in == Type::f16) return to_float(to_half(static_cast<float>(request_.value)));
    return request_.value;
  }

  void load_extremes(std::int64_t y, void* to) {
    const Edge edge = request_.columns.edge;
    with_element(request_.in, [&](auto zero) {
      using T = decltype(zero);
      T* const out = static_cast<T*>(to);
      T neutral;
      kernels_[0]->clear(&neutral, 1);
      T outside = neutral;
      if (edge == Edge::constant) outside = converted<T>(beyond_pixel());
      if (edge == Edge::zero) outside = 0;
      if constexpr (std::is_floating_point_v<T>)
        if (request_.omit_nan && std::isnan(outside)) outside = neutral;
      out[width_] = outside;
      if (y < 0) {
        std::fill_n(out, width_, outside);
        return;
      }
      const char* const from = image_row(y);
      const std::int64_t step = image_.column_pitch();
      if (step == static_cast<std::int64_t>(sizeof(T)) && request_.in != Type::f16)
        std::memcpy(out, from, static_cast<std::size_t>(width_) * sizeof(T));
      else
        for (std::int64_t x = 0; x < width_; ++x) {
          if constexpr (std::is_same_v<T, float>)
            out[x] = request_.in == Type::f16 ? to_float(cpu::load<Half>(from + x * step))
                                              : cpu::load<float>(from + x * step);
          else
            out[x] = cpu::load<T>(from + x * step);
        }
      if (!blocks_.counts()) return;
      const char* const marks = valid(y, request_.omit_nan ? reals(y) : nullptr);
      mark_kernels().keep(out, marks, width_, sizeof(T), &neutral, out);
    });
  }

  // The rows of a layer, as RowBlocks merges them.
  struct LayerRows {
    Strip& strip;
    std::size_t l;

    void copy(std::int64_t position, void* to) const { strip.load(l, position, to); }
    void before(std::int64_t position, const char* after, char* to) const {
      if (strip.add_row(l, position, after, to)) return;
      strip.load(l, position, to);
      strip.kernels_[l]->merge(to, to, after, strip.width_ + 1);
    }
    void after(std::int64_t position, const char* before, char* to) const {
      if (strip.add_row(l, position, before, to)) return;
      char* const row = strip.memory_ + strip.blocks_.layers_[l].row;
      strip.load(l, position, row);
      strip.kernels_[l]->merge(to, before, row, strip.width_ + 1);
    }
  };

  // Merges the rows of the windows of row y, where the row's positions are, so that `windows` need not copy it.
  const char* merged_rows(std::size_t l, std::int64_t y) {
    char* const out =
        memory_ + blocks_.layout_.spread + static_cast<std::size_t>(blocks_.inside_begin_) * kernels_[l]->bytes;
    columns_[l]->merge(y - blocks_.rows_.before, LayerRows{*this, l}, out);
    return out;
  }

  // The windows of a row of merged rows.
  void windows(std::size_t l, const char* row) {
    const auto& layout = blocks_.layout_;
    const BlockKernels& kernels = *kernels_[l];
    const std::int64_t begin = blocks_.inside_begin_, end = blocks_.inside_end_;
    char* const spread = memory_ + layout.spread;
    kernels.spread(row, blocks_.shown_.data(), begin, spread);
    // The first of these is the pixel beyond the edge, which the others show if they show that.
    kernels.spread(row, blocks_.shown_.data() + end, blocks_.along_.positions - end,
                   spread + static_cast<std::size_t>(end) * kernels.bytes);
    const BlockScratch scratch{memory_ + layout.prefix, memory_ + layout.suffix,  memory_ + layout.whole,
                               memory_ + layout.total,  memory_ + layout.between, memory_ + layout.longer};
    kernels.windows(blocks_.along_, spread, scratch, memory_ + blocks_.layers_[l].windows);
  }

  void row(std::int64_t y, Survey* survey) {
    for (std::size_t l = 0; l < layers(); ++l) windows(l, merged_rows(l, y));
    for (std::int64_t x = 0; x < blocks_.along_.outputs; x += chunk)
      finish(y, x, std::min(chunk, blocks_.along_.outputs - x), survey);
  }

  void count(std::int64_t y, std::int64_t x, std::int64_t n, double* out) const {
    std::size_t l = 0;
    if (has(Kind::counts, l)) {
      std::copy_n(array<double>(blocks_.layers_[l].windows) + x, n, out);
      return;
    }
    const formulas::WindowAxis& columns = request_.columns;
    const double down = static_cast<double>(request_.rows.pixels(y)), across = static_cast<double>(columns.size);
    const std::int64_t begin = std::clamp<std::int64_t>(columns.inner_begin() - x, 0, n),
                       end = std::clamp<std::int64_t>(columns.inner_end() - x, begin, n);
    for (std::int64_t i = 0; i < begin; ++i) out[i] = down * static_cast<double>(columns.pixels(x + i));
    std::fill(out + begin, out + end, down * across);
    for (std::int64_t i = end; i < n; ++i) out[i] = down * static_cast<double>(columns.pixels(x + i));
  }

  void finish(std::int64_t y, std::int64_t x, std::int64_t n, Survey* survey) {
    if (survey == nullptr && store_inner_means(y, x, n)) return;
    const auto& layout = blocks_.layout_;
    const FinishKernels& kernels = finish_kernels();
    WindowTerms terms{array<double>(layout.count), nullptr, nullptr, array<double>(layout.numerator),
                      array<double>(layout.pixels)};
    count(y, x, n, terms.count);
    if (blocks_.is_extreme()) return store_extremes(y, x, n, terms.count);
    std::size_t l = 0;
    if (has(Kind::pixels, l)) terms.sum = array<double>(blocks_.layers_[l].windows) + x;
    if (has(Kind::squares, l)) {
      terms.squares = array<double>(blocks_.layers_[l].windows) + x;
      kernels.exact_numerators(terms, n);
      for (std::int64_t i = 0; i < n; ++i) terms.numerator[i] = terms.numerator[i] < 0 ? 0 : terms.numerator[i];
    }
    if (has(Kind::moments, l)) {
      const auto* const moments = array<formulas::Moments>(blocks_.layers_[l].windows) + x;
      for (std::int64_t i = 0; i < n; ++i) terms.numerator[i] = moments[i].differences * terms.count[i];
    }
    if (survey != nullptr) {
      survey->most_variance = std::max(survey->most_variance, kernels.most_variance(*finish_, terms, n));
      return;
    }
    if (finish_->decides)
      kernels.reals(image_row(y + request_.centre_y) + (x + request_.centre_x) * image_.column_pitch(),
                    image_.column_pitch(), request_.in, n, terms.pixels);
    double* const values = array<double>(layout.values);
    kernels.finish(*finish_, terms, n, values);
    output(y, x, n, [&](char* to) { kernels.store(values, n, request_.out, to); });
  }

  // Means of windows inside the image that all count, in one pass.
  bool store_inner_means(std::int64_t y, std::int64_t x, std::int64_t n) const {
    const formulas::WindowAxis& columns = request_.columns;
    const double count = static_cast<double>(request_.rows.pixels(y)) * static_cast<double>(columns.size);
    const bool same = columns.edge != Edge::shrink || (x >= columns.inner_begin() && x + n <= columns.inner_end());
    if (!same || blocks_.is_extreme() || finish_->statistic != Statistic::mean || blocks_.counts() ||
        !is_float(request_.out) || count < finish_->min_count)
      return false;
    const double* const sums = array<double>(blocks_.layers_[0].windows) + x;
    output(y, x, n, [&](char* to) { finish_kernels().means_of_reals(sums, count, n, request_.out, to); });
    return true;
  }

  void store_extremes(std::int64_t y, std::int64_t x, std::int64_t n, const double* counts) {
    with_element(request_.in, [&](auto zero) {
      using T = decltype(zero);
      T* const values = array<T>(blocks_.layers_[0].windows) + x;
      const T fill = converted<T>(request_.fill);
      const auto least = static_cast<double>(request_.min_count);
      for (std::int64_t i = 0; i < n; ++i)
        if (counts[i] < least) values[i] = fill;
      output(y, x, n, [&](char* to) {
        if constexpr (std::is_same_v<T, float>)
          if (request_.in == Type::f16) {
            for (std::int64_t i = 0; i < n; ++i) {
              const Half half = to_half(values[i]);
              std::memcpy(to + 2 * i, &half, 2);
            }
            return;
          }
        std::memcpy(to, values, static_cast<std::size_t>(n) * sizeof(T));
      });
    });
  }

  // Calls write(to) with the outputs' memory, or with a buffer for outputs that are apart.
  template <class Write>
  void output(std::int64_t y, std::int64_t x, std::int64_t n, const Write& write) const {
    const auto size = static_cast<std::int64_t>(size_of(out_.type)), step = out_.column_pitch();
    char* const to = static_cast<char*>(out_.row(y - rows_.begin)) + x * step;
    if (step == size) return write(to);
    char* const buffer = memory_ + blocks_.layout_.out;
    write(buffer);
    copy_elements(buffer, size, n, size, to, step);
  }

  const Blocks& blocks_;
  const FilterRows& rows_;
  const FilterRequest& request_;
  ConstView image_;
  View out_;
  ConstView mask_;
  char* memory_;
  std::int64_t width_;
  const Finish* finish_ = nullptr;
  std::array<const BlockKernels*, 4> kernels_{};
  std::array<std::optional<RowBlocks>, 4> columns_;
};

void Blocks::execute(const FilterArguments& arguments, void* workspace, const FilterRows& rows) const {
  const Shape& image = request_.image;
  if (arguments.out.shape.empty()) return;
  const Strips strips(image.batch * image.channels, rows.begin, rows.end, std::min(rows_.size, image.height),
                      slots(request_.threads));
  char* const memory = reinterpret_cast<char*>(whole_lines(reinterpret_cast<std::uintptr_t>(workspace)));
  const auto mine = [&] { return memory + static_cast<std::size_t>(slot()) * layout_.bytes; };
  const auto write = [&](std::int64_t plane, std::int64_t s, const Finish& finish) {
    Strip(*this, arguments, rows, plane, mine()).write(strips.begin(s), strips.end(s), finish);
  };
  if (!is_wolf(request_.filter))
    return strips.for_each(request_.threads, [&](std::int64_t plane, std::int64_t s) { write(plane, s, finish_); });
  const auto look = [&](std::int64_t plane, std::int64_t s, Survey& survey) {
    Strip strip(*this, arguments, rows, plane, mine());
    strip.look(strips.begin(s), strips.end(s), survey);
    strip.look_at_pixels(s * image.height / strips.count, (s + 1) * image.height / strips.count, survey);
  };
  void* const surveys = memory + static_cast<std::size_t>(slots(request_.threads)) * layout_.bytes;
  survey_and_write(strips, request_.threads, surveys, finish_, look, write);
}

}  // namespace areal::cpu
