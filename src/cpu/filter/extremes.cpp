#include "cpu/filter/extremes.hpp"
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <variant>
#include "cpu/filter/cut_axis.hpp"
#include "cpu/filter/element.hpp"
#include "cpu/filter/extreme_rows.hpp"
#include "cpu/filter/strips.hpp"

namespace areal::cpu {
namespace {

constexpr std::int64_t most_size = 1023;            // rows and columns of a window
constexpr std::int64_t most_merged = 4;             // rows that are merged one by one
constexpr std::int64_t bytes_of_block = 384 << 10;  // so that a block of rows stays in the L2
constexpr std::int64_t least_panel_bytes = 2048;

// The pixels that the edge shows at places [first, first + n).
std::vector<std::int32_t> shown(const formulas::WindowAxis& axis, std::int64_t first, std::int64_t n) {
  std::vector<std::int32_t> pixels(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i)
    pixels[static_cast<std::size_t>(i)] =
        static_cast<std::int32_t>(formulas::shown_pixel(first + i, axis.extent, axis.edge));
  return pixels;
}

}  // namespace

std::string Extremes::takes(const FilterRequest& request) {
  const formulas::WindowAxis columns = cut_axis(request.columns), rows = cut_axis(request.rows);
  if (request.mask || request.omit_nan) return "it takes neither masks nor nan omit";
  if (columns.size > most_size || rows.size > most_size)
    return "it takes windows of up to " + std::to_string(most_size) + " rows and columns";
  if (request.image.width > std::numeric_limits<std::int32_t>::max()) return "it takes rows of up to 2^31 - 1 pixels";
  return {};
}

Extremes::Extremes(const FilterRequest& request)
    : request_(request),
      least_(std::holds_alternative<filter::Minimum>(request.filter)),
      columns_(cut_axis(request.columns)),
      rows_(cut_axis(request.rows)) {
  const std::int64_t after = columns_.edge == Edge::valid ? 0 : columns_.size - 1 - columns_.before;
  left_ = shown(columns_, -columns_.before, columns_.before);
  right_ = shown(columns_, columns_.extent, after);
  const auto size = static_cast<std::int64_t>(size_of(request.in));
  const std::int64_t channels = request.image.layout == Layout::interleaved ? request.image.channels : 1;
  const std::int64_t most = std::max({bytes_of_block / rows_.size, least_panel_bytes, 4 * columns_.size * size});
  panel_ = std::min(columns_.outputs, std::max<std::int64_t>(1, most / (size * channels)));
  const std::int64_t block_rows = std::max(rows_.size, most_merged);
  std::size_t end = 0;
  const auto add = [&](std::int64_t elements) {
    const std::size_t at = place(end, elements, static_cast<std::size_t>(size));
    end += extreme_padding;
    return at;
  };
  row_bytes_ = whole_lines(static_cast<std::size_t>(panel_ * channels * size) + extreme_padding) + cache_line;
  block_ = end, end += row_bytes_ * static_cast<std::size_t>(block_rows);
  prefix_ = add(panel_ * channels);
  row_ = add((panel_ + columns_.size - 1) * channels);
  out_ = add(panel_ * channels);
  slot_bytes_ = end;
  workspace_bytes_ = cache_line + end * static_cast<std::size_t>(slots(request.threads));
}

// One thread's work on a strip of a plane, which may be several interleaved channels.
class Extremes::Strip {
 public:
  Strip(const Extremes& extremes, const FilterArguments& arguments, const FilterRows& held, std::int64_t plane,
        std::int64_t together, char* memory)
      : e_(extremes),
        held_(held),
        request_(extremes.request_),
        kernels_(extreme_kernels(extremes.least_, extremes.request_.in)),
        image_(plane_of(arguments.image, plane, together > 1)),
        out_(plane_of(arguments.out, plane, together > 1)),
        memory_(memory),
        together_(together),
        size_(static_cast<std::int64_t>(size_of(extremes.request_.in))) {
    double beyond =
        extremes.least_ ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
    if (request_.columns.edge == Edge::zero) beyond = 0;
    if (request_.columns.edge == Edge::constant) beyond = request_.value;
    put_element(request_.in, beyond, beyond_.data());
    put_element(request_.in, request_.fill, fill_.data());
  }

  void write(std::int64_t begin, std::int64_t end) {
    for (x_ = 0; x_ < e_.columns_.outputs; x_ += e_.panel_) {
      columns_ = std::min(e_.panel_, e_.columns_.outputs - x_);
      n_ = columns_ * together_;
      if (e_.rows_.size <= most_merged)
        write_few(begin, end);
      else
        write_blocks(begin, end);
    }
  }

 private:
  char* block_row(std::int64_t i) const { return memory_ + e_.block_ + static_cast<std::size_t>(i) * e_.row_bytes_; }

  // Windows of few rows, which a ring keeps.
  void write_few(std::int64_t begin, std::int64_t end) {
    const std::int64_t size = e_.rows_.size, first = begin - e_.rows_.before;
    const void* rows[most_merged];
    for (std::int64_t i = 0; i < size; ++i) rows[i] = block_row(i);
    for (std::int64_t i = 0; i < size - 1; ++i) load(first + i, block_row(i));
    for (std::int64_t y = begin; y < end; ++y) {
      const std::int64_t last = y - begin + size - 1;
      load(first + last, block_row(last % size));
      char* const out = target(y);
      kernels_.across(rows, static_cast<int>(size), n_, out);
      finish(y, out);
    }
  }

  // Row j of a block becomes the extreme of the rows from j to the block's end; meanwhile rows of the next block take
  // the places of those that no window needs any more.
  void write_blocks(std::int64_t begin, std::int64_t end) {
    const std::int64_t size = e_.rows_.size;
    char* const prefix = memory_ + e_.prefix_;
    std::int64_t next = begin - e_.rows_.before, j = 0;
    for (; j < size; ++j) load(next++, block_row(j));
    for (std::int64_t y = begin; y < end; ++y, ++j) {
      if (j == size) {
        if (y > begin) load(next++, block_row(size - 1));
        for (std::int64_t i = size - 2; i >= 0; --i) {
          const void* const both[2] = {block_row(i), block_row(i + 1)};
          kernels_.across(both, 2, n_, block_row(i));
        }
        j = 0;
        char* const out = target(y);
        std::memcpy(out, block_row(0), static_cast<std::size_t>(n_ * size_));
        finish(y, out);
        continue;
      }
      load(next++, block_row(j - 1));
      if (j == 1) std::memcpy(prefix, block_row(0), static_cast<std::size_t>(n_ * size_));
      char* const out = target(y);
      kernels_.advance(prefix, block_row(j - 1), block_row(j), n_, out);
      finish(y, out);
    }
  }

  // The extremes along the row at a place.
  void load(std::int64_t place, char* to) {
    const std::int64_t y = formulas::shown_pixel(place, e_.rows_.extent, e_.rows_.edge);
    if (y < 0) {
      for (std::int64_t i = 0; i < n_; ++i) kernels_.order(beyond_.data(), 1, to + i * size_);
      return;
    }
    const std::int64_t size = e_.columns_.size, extent = e_.columns_.extent;
    const std::int64_t first = x_ - e_.columns_.before;
    const std::int64_t end = first + columns_ + size - 1;
    char* const row = memory_ + e_.row_;
    const char* const from = static_cast<const char*>(image_.row(held_.held(y, e_.rows_.extent)));
    const std::int64_t cell = together_ * size_;
    const std::int64_t left = std::min<std::int64_t>(end, 0), right = std::max(first, extent);
    const auto before = static_cast<std::int64_t>(e_.left_.size());
    for (std::int64_t p = first; p < left; ++p)
      put(from, e_.left_[static_cast<std::size_t>(p + before)], row + (p - first) * cell);
    copy(from, std::max<std::int64_t>(first, 0), std::min(end, extent), first, row);
    for (std::int64_t p = right; p < end; ++p)
      put(from, e_.right_[static_cast<std::size_t>(p - extent)], row + (p - first) * cell);
    kernels_.along(row, n_, size, together_, to);
  }
  std::int64_t step() const { return together_ > 1 ? together_ * size_ : image_.column_pitch(); }
  void put(const char* from, std::int32_t pixel, char* to) const {
    if (pixel >= 0) return kernels_.order(from + pixel * step(), together_, to);
    for (std::int64_t c = 0; c < together_; ++c) kernels_.order(beyond_.data(), 1, to + c * size_);
  }
  void copy(const char* from, std::int64_t begin, std::int64_t end, std::int64_t first, char* row) const {
    if (begin >= end) return;
    const std::int64_t cell = together_ * size_;
    char* to = row + (begin - first) * cell;
    if (step() == cell) return kernels_.order(from + begin * cell, (end - begin) * together_, to);
    for (std::int64_t x = begin; x < end; ++x, to += size_) kernels_.order(from + x * step(), 1, to);
  }

  // Where a row of outputs is computed: in place, or in a buffer for outputs that are apart.
  std::int64_t out_step() const { return together_ > 1 ? together_ * size_ : out_.column_pitch(); }
  char* out_row(std::int64_t y) const { return static_cast<char*>(out_.row(y - held_.begin)) + x_ * out_step(); }
  char* target(std::int64_t y) const { return out_step() == together_ * size_ ? out_row(y) : memory_ + e_.out_; }
  void finish(std::int64_t y, char* values) {
    kernels_.restore(values, n_);
    if (request_.min_count > 1) fill(y, values);
    char* to = out_row(y);
    if (values == to) return;
    for (std::int64_t i = 0; i < n_; ++i, to += out_step(), values += size_)
      std::memcpy(to, values, static_cast<std::size_t>(size_));
  }
  void fill(std::int64_t y, char* values) const {
    const std::uint64_t down = request_.rows.pixels(y), least = static_cast<std::uint64_t>(request_.min_count);
    for (std::int64_t i = 0; i < n_; ++i)
      if (down * request_.columns.pixels(x_ + i / together_) < least)
        std::memcpy(values + i * size_, fill_.data(), static_cast<std::size_t>(size_));
  }

  const Extremes& e_;
  const FilterRows& held_;
  const FilterRequest& request_;
  const ExtremeKernels& kernels_;
  ConstView image_;
  View out_;
  char* memory_;
  std::int64_t together_, size_;
  std::int64_t x_ = 0, columns_ = 0, n_ = 0;  ///< the panel's first output column, its columns and elements
  std::array<char, 8> beyond_{}, fill_{};
};

void Extremes::execute(const FilterArguments& arguments, void* workspace, const FilterRows& rows) const {
  const Shape& image = request_.image;
  if (arguments.out.shape.empty()) return;
  const bool both = image.layout == Layout::interleaved && arguments.out.shape.layout == Layout::interleaved;
  const std::int64_t together = both ? image.channels : 1;
  const Strips strips(image.batch * image.channels / together, rows.begin, rows.end, std::min(rows_.size, image.height),
                      slots(request_.threads));
  char* const memory = reinterpret_cast<char*>(whole_lines(reinterpret_cast<std::uintptr_t>(workspace)));
  strips.for_each(request_.threads, [&](std::int64_t plane, std::int64_t s) {
    Strip(*this, arguments, rows, plane, together, memory + static_cast<std::size_t>(slot()) * slot_bytes_)
        .write(strips.begin(s), strips.end(s));
  });
}

}  // namespace areal::cpu
