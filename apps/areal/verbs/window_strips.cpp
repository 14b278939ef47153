#include "window_strips.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <areal/sat.hpp>
#include <cstring>
#include <optional>
#include "io/input_image.hpp"
#include "io/memory_limit.hpp"
#include "io/numbers.hpp"
#include "io/progress.hpp"

namespace areal::command {
namespace {

constexpr std::uint64_t default_memory = std::uint64_t{256} << 20;
constexpr std::uint64_t writer_bytes = std::uint64_t{12} << 20;  // the bands of the output's format

struct Rows {
  std::int64_t first = 0, last = 0;  // the latter is not among them
  std::int64_t count() const noexcept { return last - first; }
};

/// The rows of the image that rows [y, end) of the output need. A strip of them is an image by itself: where it ends
/// inside the image, no window of these rows looks beyond. One row more on both sides is for reflections off an edge.
/// With `wrap`, rows below 0 and above the last are those of the other end.
Rows needed(const Window& window, std::int64_t height, std::int64_t y, std::int64_t end) {
  if (window.edge == Edge::valid) return {y, end + window.height - 1};
  const std::int64_t anchor = window.height / 2;
  const Rows rows{y - anchor - 1, end - anchor + window.height};
  if (window.edge == Edge::wrap) return rows;
  return {std::max<std::int64_t>(0, rows.first), std::min(height, rows.last)};
}

class WindowStrips {
 public:
  WindowStrips(const WindowRequest& request, const InputImage& image, const Settings& settings)
      : request_(request),
        image_(image),
        settings_(settings),
        shape_(image.shape()),
        window_(window_for(request, shape_)),
        type_(output_type(request, image.type(), request.to_npy())),
        out_shape_(window_shape(shape_.width, shape_.height, window_)) {
    out_shape_.channels = shape_.channels;
  }
  const Shape& out_shape() const { return out_shape_; }
  Type type() const { return type_; }
  const Window& window() const { return window_; }

  /// Chooses the rows of a strip.
  void fit(const Limits& limits) {
    const std::uint64_t memory = limits.memory;
    const std::uint64_t least = bytes(1) + writer_bytes;
    std::uint64_t limit = memory;
    if (memory == 0)
      limit = std::max(default_memory, bytes(std::min(window_.height, out_shape_.height)) + writer_bytes);
    else if (memory <= image_.memory() + least)
      throw OutOfMemory(
          fmt::format("{}: windows of {} rows of {} pixels need at least {}M", limits.memory_option, window_.height,
                      shape_.width, ((process_bytes + image_.memory() + least) >> 20) + 1),
          process_bytes + image_.memory() + least);
    else
      limit -= image_.memory();
    if (const std::uint64_t free = free_memory(); limit > free)
      throw OutOfMemory(fmt::format("{}: windows of {} rows of {} pixels need {} bytes, and {} are free",
                                    request_.input.path, window_.height, shape_.width, limit, free),
                        limit);
    std::int64_t fits = 1, too_many = out_shape_.height + 1;
    while (too_many - fits > 1) {
      const std::int64_t rows = fits + (too_many - fits) / 2;
      (bytes(rows) + writer_bytes <= limit ? fits : too_many) = rows;
    }
    height_ = fits;
  }
  std::int64_t height() const { return height_; }

  /// `write` gets the output's rows from the top down.
  template <class Write>
  void run(const Write& write) {
    const std::int64_t rows = most_rows(height_);
    pixels_ = Array({shape_.width, rows, shape_.channels}, image_.type());
    result_ = Array({out_shape_.width, out_rows(rows), shape_.channels}, type_);
    TableMaker maker(tables_for(request_));
    WorkBar bar("rows", settings_.quiet);
    for (std::int64_t y = 0; y < out_shape_.height; y += height_) {
      const std::int64_t end = std::min(y + height_, out_shape_.height);
      const Rows in = needed(window_, shape_.height, y, end);
      load(in);
      View strip = pixels_.view(), out = result_.view();
      strip.shape.height = in.count();
      out.shape.height = out_rows(in.count());
      answer_windows(request_, strip, maker, window_, out, settings_);
      out.data = out.row(window_.edge == Edge::valid ? 0 : y - in.first);
      out.shape.height = end - y;
      write(y, ConstView(out));
      bar.update(end, out_shape_.height);
    }
  }

 private:
  std::int64_t out_rows(std::int64_t rows) const {
    return window_.edge == Edge::valid ? rows - window_.height + 1 : rows;
  }
  /// Of a strip that gives so many rows of the output.
  std::int64_t most_rows(std::int64_t height) const {
    const std::int64_t rows = height + window_.height + (window_.edge == Edge::valid ? -1 : 1);
    return window_.edge == Edge::wrap ? rows : std::min(rows, shape_.height);
  }

  /// What such a strip takes: pixels, their copy of another type, tables, workspace, the output.
  std::uint64_t bytes(std::int64_t height) const {
    const std::int64_t rows = most_rows(height);
    const Shape strip{shape_.width, rows, shape_.channels};
    const Type pixel = image_.type();
    SatOptions options;
    options.types = default_types(strip, pixel);
    options.squares = request_.deviation ? Squares::automatic : Squares::no;
    options.ignore_nan = request_.ignore_nan;
    const SatPlan plan(strip, options.types->input, options, settings_.execution());
    std::uint64_t sum = bytes_of(strip, pixel) + plan.table_bytes() + plan.workspace_bytes();
    if (options.types->input != pixel) sum += bytes_of(strip, options.types->input);
    const Shape out{out_shape_.width, out_rows(rows), shape_.channels};
    sum += bytes_of(out, type_);
    if (!request_.threshold.empty())
      sum += bytes_of({out.width, out.height}, Type::f64) + bytes_of({out.width, out.height}, Type::u8);
    return sum + 64 * static_cast<std::uint64_t>(shape_.width);  // single rows as doubles
  }

  /// Rows that the strip before had, too, are moved up; the others are read.
  void load(const Rows& rows) {
    const View view = pixels_.view();
    std::int64_t from = rows.first;
    if (there_ && rows.first >= there_->first && rows.first < there_->last) {
      const std::int64_t kept = std::min(there_->last, rows.last) - rows.first;
      std::memmove(view.data, view.row(rows.first - there_->first), static_cast<std::size_t>(kept * view.row_pitch));
      from += kept;
    }
    const ImageReader read = image_.reader();
    while (from < rows.last) {
      const std::int64_t y = ((from % shape_.height) + shape_.height) % shape_.height;
      View part = view;
      part.data = view.row(from - rows.first);
      part.shape.height = std::min(rows.last - from, shape_.height - y);
      read(0, y, part);
      from += part.shape.height;
    }
    there_ = rows;
  }

  const WindowRequest& request_;
  const InputImage& image_;
  const Settings& settings_;
  Shape shape_;
  Window window_;
  Type type_;
  Shape out_shape_;
  std::int64_t height_ = 1;
  Array pixels_, result_;
  std::optional<Rows> there_;
};

}  // namespace

void windows_by_strips(const WindowRequest& request, const Limits& limits, const Settings& settings) {
  const std::uint64_t memory = limits.memory;
  const InputImage image(request.input, memory / 4, settings);
  if (image.shape().empty()) refuse(request.input.path, ": is empty; a window needs pixels");
  WindowStrips strips(request, image, settings);
  strips.fit(limits);
  const Shape& shape = strips.out_shape();
  settings.detail("{}: in strips of {} rows", request.input.path, strips.height());
  if (request.to_npy()) {
    media::ArrayWriter writer(request.output, shape, strips.type());
    strips.run([&](std::int64_t y, const ConstView& rows) { writer.write(0, y, rows); });
    writer.finish();
  } else {
    media::PictureWriter writer(request.output, shape, strips.type());
    strips.run([&](std::int64_t, const ConstView& rows) { writer.write(rows); });
    writer.finish();
  }
  settings.detail("wrote {}: {}x{} {}, windows of {}x{}", request.output, shape.width, shape.height,
                  name_of(strips.type()), strips.window().width, strips.window().height);
}

}  // namespace areal::command
