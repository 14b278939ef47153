#include "cpu/filter/gaussian.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>
#include <variant>
#include "cpu/filter/element.hpp"
#include "cpu/filter/gaussian_rows.hpp"
#include "cpu/filter/strips.hpp"
#include "cpu/filter/walk_rows.hpp"

namespace areal::cpu {
namespace {

// Columns of a panel: its rows stay in the second-level cache.
constexpr std::int64_t usual_panel = 1024;
constexpr std::int64_t most_together = 16;  // channels
// Columns of a panel that are convolved along the column at a time.
constexpr std::int64_t convolved_columns = 128;

const filter::Gaussian& gaussian_of(const FilterRequest& request) { return std::get<filter::Gaussian>(request.filter); }

}  // namespace

Gaussian::Along::Along(const Axis& axis, double sigma, const formulas::WindowAxis& window) : Axis(axis) {
  if (passes == 0) weights = formulas::gaussian_weights(sigma, reach);
  if (window.edge == Edge::shrink) shares = formulas::gaussian_shares(axis, weights, window);
}

Gaussian::Gaussian(const FilterRequest& request)
    : request_(request),
      elements_(request.of_elements()),
      columns_(Axis(gaussian_of(request), gaussian_of(request).sigma_x, request.algorithm),
               gaussian_of(request).sigma_x, request.columns),
      rows_(Axis(gaussian_of(request), gaussian_of(request).sigma_y, request.algorithm), gaussian_of(request).sigma_y,
            request.rows),
      panel_(std::max<std::int64_t>(1, takes_elements() ? elements_.columns.outputs : request.columns.outputs)) {
  // Copies of the image lie at its other end. Halves of a panel may be as wide as one.
  const std::int64_t most = std::max(usual_panel, 8 * columns_.reach * (takes_elements() ? elements_.together : 1));
  if (request.columns.edge != Edge::wrap && panel_ > most + most / 2) panel_ = most;
  std::int64_t length = 0, count = 0;
  const auto make_room = [&](const FilterRequest& of) {
    for (std::int64_t panel = 0; panel < panels(of); ++panel) {
      const Positions one = positions(of, panel);
      length = std::max(length, one.length), count = std::max(count, one.count);
    }
  };
  make_room(request_);
  if (takes_elements()) {
    make_room(elements_);
    for (const double share : columns_.shares)
      element_shares_.insert(element_shares_.end(), static_cast<std::size_t>(elements_.together), share);
  }
  std::size_t end = 0;
  const auto doubles = [&](std::int64_t n) { return place(end, n, sizeof(double)); };
  layout_.pitch = length + static_cast<std::int64_t>(cache_line / sizeof(double));
  for (std::int64_t stage = 0; stage < rows_.stages(); ++stage) {
    if (rows_.passes > 0) layout_.stages.push_back(RowBlocks::Layout::of_sums(end, rows_.window(), count));
    layout_.rings.push_back(doubles(rows_.ring() * layout_.pitch));
  }
  layout_.pointers = doubles(std::max(rows_.size() + rows_.together() - 1, columns_.size()));
  layout_.merged = doubles(rows_.together() * layout_.pitch), layout_.other = doubles(length),
  layout_.sums = doubles(length);
  layout_.values = doubles(length), layout_.out = doubles(length);
  for (std::size_t* one : {&layout_.prefix, &layout_.suffix, &layout_.whole})
    *one = doubles(count + BlockScratch::padding);
  for (std::size_t* one : {&layout_.total, &layout_.between, &layout_.longer}) *one = doubles(count / 8 + 1);
  layout_.bytes = end;
  workspace_bytes_ = cache_line + end * static_cast<std::size_t>(slots(request.threads));
}

bool Gaussian::takes_elements() const {
  return is_interleaved(request_.image) && request_.image.channels <= most_together && columns_.passes == 0;
}

Positions Gaussian::positions(const FilterRequest& request, std::int64_t panel) const {
  const std::int64_t begin = panel * panel_;
  return {request.columns, begin, std::min(request.columns.outputs, begin + panel_),
          formulas::block_of_window(columns_.window()), request.together};
}

// One thread's work on a strip of a panel of one channel of an image, or of all as elements.
class Gaussian::Strip {
 public:
  Strip(const Gaussian& gaussian, const FilterRequest& request, const FilterArguments& arguments,
        const FilterRows& rows, std::int64_t plane, std::int64_t panel, char* memory)
      : gaussian_(gaussian),
        rows_(rows),
        request_(request),
        image_(plane_of(arguments.image, plane, false)),
        out_(plane_of(arguments.out, plane, false)),
        memory_(memory),
        begin_(panel * gaussian.panel_),
        outputs_(std::min(gaussian.panel_, request.columns.outputs - begin_)),
        positions_(gaussian.positions(request, panel)) {}

  /// Writes output rows [begin, end).
  void write(std::int64_t begin, std::int64_t end) {
    const Along& rows = gaussian_.rows_;
    for (std::int64_t stage = 0; stage < rows.stages(); ++stage) {
      const auto s = static_cast<std::size_t>(stage);
      next_[s] = begin - request_.rows.before + stage * rows.box.reach();
      if (rows.passes > 0) boxes_[s].emplace(gaussian_.layout_.stages[s], memory_, positions_.count);
    }
    for (std::int64_t y = begin; y < end; y += rows.together()) {
      const std::int64_t count = std::min(rows.together(), end - y);
      merge_rows(y - request_.rows.before + rows.reach, count, array(gaussian_.layout_.merged));
      for (std::int64_t r = 0; r < count; ++r)
        row(y + r, array(gaussian_.layout_.merged) + r * gaussian_.layout_.pitch);
    }
  }

 private:
  double* array(std::size_t offset) const { return reinterpret_cast<double*>(memory_ + offset); }

  /// As a pixel of the image's type.
  double beyond() const {
    if (request_.columns.edge != Edge::constant) return 0;
    if (request_.in == Type::f32) return static_cast<float>(request_.value);
    if (request_.in == Type::f16) return to_float(to_half(static_cast<float>(request_.value)));
    return request_.value;
  }

  BlockScratch scratch() const {
    const auto& layout = gaussian_.layout_;
    return {memory_ + layout.prefix, memory_ + layout.suffix,  memory_ + layout.whole,
            memory_ + layout.total,  memory_ + layout.between, memory_ + layout.longer};
  }

  // The row of pixels at a position.
  void load(std::int64_t position, double* to) const {
    const std::int64_t y = formulas::shown_pixel(position, request_.rows.extent, request_.rows.edge);
    if (y < 0) return positions_.fill(beyond(), to);
    const std::int64_t step = image_.column_pitch();
    finish_kernels().reals(
        static_cast<const char*>(image_.row(rows_.held(y, request_.rows.extent))) + positions_.columns_begin * step,
        step, request_.in, positions_.columns(), to + positions_.first_column());
    positions_.spread(request_.columns, beyond(), to);
  }

  double* ring(std::int64_t stage, std::int64_t position) const {
    const std::int64_t size = gaussian_.rows_.ring();
    return array(gaussian_.layout_.rings[static_cast<std::size_t>(stage)]) +
           (position % size + size) % size * gaussian_.layout_.pitch;
  }

  // Row `position` of the pixels, or after so many boxes.
  const double* after(std::int64_t stage, std::int64_t position) {
    std::int64_t& next = next_[static_cast<std::size_t>(stage)];
    for (; next <= position; ++next) {
      if (stage == 0)
        load(next, ring(0, next));
      else
        box(stage, next, ring(stage, next));
    }
    return ring(stage, position) + (stage == 0 ? positions_.lead : 0);
  }

  // The box number `stage`, from 1 on, of a row.
  void box(std::int64_t stage, std::int64_t position, double* to) {
    const Along& rows = gaussian_.rows_;
    boxes_[static_cast<std::size_t>(stage) - 1]->sums(
        position - rows.box.inside, [&](std::int64_t v) { return after(stage - 1, v); }, to);
    const double* const below = after(stage - 1, position + rows.box.reach());
    const double* const above = after(stage - 1, position - rows.box.reach());
    gaussian_kernels().extend(to, above, below, rows.box.inner, rows.box.outer, positions_.count, to);
  }

  // `count` rows of columns that are filtered, at their positions, a pitch apart.
  void merge_rows(std::int64_t centre, std::int64_t count, double* to) {
    const Along& rows = gaussian_.rows_;
    if (rows.passes > 0) return box(rows.passes, centre, to);
    auto* const pointers = reinterpret_cast<const double**>(memory_ + gaussian_.layout_.pointers);
    for (std::int64_t k = 0; k < rows.size() + count - 1; ++k) pointers[k] = after(0, centre - rows.reach + k);
    for (std::int64_t x = 0; x < positions_.count; x += convolved_columns)
      for (std::int64_t r = 0; r < count; ++r)
        gaussian_kernels().convolve(pointers + r, rows.weights.data(), rows.reach, x,
                                    std::min(positions_.count, x + convolved_columns),
                                    to + r * gaussian_.layout_.pitch);
  }

  // The boxes along a row, in turn from one buffer to the other.
  void box_columns(double* from, double* to, double* values) const {
    const Along& columns = gaussian_.columns_;
    const std::int64_t block = formulas::block_of_window(columns.window()), reach = columns.box.reach();
    double* const sums = array(gaussian_.layout_.sums);
    std::int64_t start = positions_.start, begin = positions_.covered_begin, end = positions_.covered_end;
    for (int pass = 1; pass <= columns.passes; ++pass) {
      const std::int64_t used = (end - start + block - 1) / block * block;
      const double* const row = from - start;
      begin += reach, end -= reach;
      const BlockWindows windows{used, begin - columns.box.inside - start, columns.window(), end - begin, block};
      block_kernels(Merge::sum).windows(windows, from, scratch(), sums);
      start = formulas::floor_div(begin, block) * block;
      double* const out = pass == columns.passes ? values : to + (begin - start);
      gaussian_kernels().extend(sums, row + begin - reach, row + begin + reach, columns.box.inner, columns.box.outer,
                                end - begin, out);
      std::swap(from, to);
    }
  }

  // Writes a row of the output from its columns.
  void row(std::int64_t y, double* merged) {
    const auto& layout = gaussian_.layout_;
    const Along &rows = gaussian_.rows_, &columns = gaussian_.columns_;
    double* const values = array(layout.values);
    if (columns.passes > 0) {
      box_columns(merged, array(layout.other), values);
    } else {
      auto* const pointers = reinterpret_cast<const double**>(memory_ + layout.pointers);
      const double* const first = merged + (positions_.covered_begin - positions_.start);
      for (std::int64_t k = 0; k < columns.size(); ++k) pointers[k] = first + k * request_.together;
      gaussian_kernels().convolve(pointers, columns.weights.data(), columns.reach, 0, outputs_, values);
    }
    const std::vector<double>& shares = request_.together > 1 ? gaussian_.element_shares_ : columns.shares;
    if (request_.columns.edge == Edge::shrink)
      gaussian_kernels().scale(values, shares.data() + begin_, rows.shares[static_cast<std::size_t>(y)], outputs_);
    const auto size = static_cast<std::int64_t>(size_of(out_.type)), step = out_.column_pitch();
    char* const to = static_cast<char*>(out_.row(y - rows_.begin)) + begin_ * step;
    if (step == size) return finish_kernels().store(values, outputs_, out_.type, to);
    char* const buffer = memory_ + layout.out;
    finish_kernels().store(values, outputs_, out_.type, buffer);
    copy_elements(buffer, size, outputs_, size, to, step);
  }

  const Gaussian& gaussian_;
  const FilterRows& rows_;
  const FilterRequest& request_;
  ConstView image_;
  View out_;
  char* memory_;
  std::int64_t begin_, outputs_;
  Positions positions_;
  std::array<std::int64_t, most_passes + 1> next_{};  // positions of rows, by the boxes before
  std::array<std::optional<RowBlocks>, most_passes> boxes_;
};

void Gaussian::execute(const FilterArguments& arguments, void* workspace, const FilterRows& rows) const {
  if (arguments.out.shape.empty()) return;
  const bool together = takes_elements() && is_interleaved(arguments.out.shape);
  const FilterRequest& request = together ? elements_ : request_;
  FilterArguments of = arguments;
  if (together) of.image = elements_of(of.image), of.out = elements_of(of.out);
  const std::int64_t across = panels(request);
  const Strips strips(request.image.batch * request.image.channels * across, rows.begin, rows.end,
                      std::min(rows_.size(), request.image.height), slots(request.threads));
  char* const memory = reinterpret_cast<char*>(whole_lines(reinterpret_cast<std::uintptr_t>(workspace)));
  strips.for_each(request.threads, [&](std::int64_t i, std::int64_t s) {
    char* const mine = memory + static_cast<std::size_t>(slot()) * layout_.bytes;
    Strip(*this, request, of, rows, i / across, i % across, mine).write(strips.begin(s), strips.end(s));
  });
}

}  // namespace areal::cpu
