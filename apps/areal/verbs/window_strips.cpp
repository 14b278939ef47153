#include "window_strips.hpp"

#include <areal/error.hpp>
#include <areal/info.hpp>
#include <areal/strips.hpp>
#include "io/input_image.hpp"
#include "io/memory_limit.hpp"
#include "io/numbers.hpp"
#include "io/pixels.hpp"
#include "io/progress.hpp"

namespace areal::command {
namespace {

constexpr std::uint64_t writer_bytes = std::uint64_t{12} << 20;  // the bands of the output's format

std::vector<WindowStatistic> statistics_of(const WindowRequest& request) {
  if (!request.threshold.empty()) return {WindowStatistic::sum, WindowStatistic::count, WindowStatistic::pixel};
  if (request.sum) return {WindowStatistic::sum};
  return {request.mean ? WindowStatistic::mean : WindowStatistic::standard_deviation};
}

/// Sums, counts and pixels of a strip, thresholded row by row: write(y, row).
template <class Write>
void threshold_rows(double percent, const WindowStrip& strip, const Write& write) {
  const Shape& shape = strip.values[0].shape;
  Array out({shape.width, 1, shape.channels}, Type::u8);
  std::vector<double> sums(static_cast<std::size_t>(shape.width)), counts(sums.size()), pixels(sums.size());
  for (std::int64_t y = 0; y < shape.height; ++y) {
    load_row(strip.values[1], y, 0, 0, counts);
    for (std::int64_t c = 0; c < shape.channels; ++c) {
      load_row(strip.values[0], y, c, 0, sums);
      load_row(strip.values[2], y, c, 0, pixels);
      apply_threshold(percent, pixels, counts, sums);
      store_row(out.view(), 0, c, 0, sums);
    }
    write(strip.y + y, out.view());
  }
}

class WindowStrips {
 public:
  WindowStrips(const WindowRequest& request, const InputImage& image, const Limits& limits, const Settings& settings)
      : request_(request),
        image_(image),
        bar_("rows", settings.quiet),
        window_(window_for(request, image.shape())),
        type_(output_type(request, image.type(), request.to_npy())),
        types_(default_types(image.shape(), image.type())),
        strips_(fitting(limits, settings)),
        exact_(types_, strips_.squares_type(), window_, image.shape()) {}

  const Window& window() const { return window_; }
  const StripWindows& strips() const { return strips_; }
  Type type() const { return type_; }

  /// `write` gets the output's rows from the top down.
  template <class Write>
  void run(const Write& write) {
    const double percent = request_.threshold.empty() ? 0 : number("--threshold", request_.threshold);
    const ImageReader read = [this, image = image_.reader(types_.input)](std::int64_t x, std::int64_t y,
                                                                         const View& block) {
      const ConstView pixels = image(x, y, block);
      exact_.see(pixels);
      return pixels;
    };
    strips_.run(read, [&](const WindowStrip& strip) {
      if (request_.threshold.empty())
        write(strip.y, strip.values[0]);
      else
        threshold_rows(percent, strip, write);
      return true;
    });
  }

 private:
  StripWindows fitting(const Limits& limits, const Settings& settings) {
    const std::uint64_t beside = image_.memory() + writer_bytes;
    PieceOptions how{.workers = {settings.worker()}, .progress = [this](std::int64_t done, std::int64_t total) {
                       bar_.update(done, total);
                       return true;
                     }};
    if (limits.memory > 0) how.memory = limits.memory > beside ? limits.memory - beside : 1;
    StripWindowsOptions options{.statistics = statistics_of(request_), .ignore_nan = request_.ignore_nan};
    options.output = request_.threshold.empty() ? type_ : Type::f64, options.types = types_;
    const std::string words = fmt::format("windows of {} rows of {} pixels", window_.height, image_.shape().width);
    try {
      StripWindows strips(image_.shape(), types_.input, window_, options, how);
      const std::uint64_t bytes = strips.memory_bytes() + beside;
      if (const std::uint64_t free = free_memory(); bytes > free)
        throw OutOfMemory(fmt::format("{}: {} need {} bytes, and {} are free", request_.input.path, words, bytes, free),
                          bytes);
      return strips;
    } catch (const OutOfMemory& error) {
      const std::uint64_t least = process_bytes + beside + error.bytes();
      if (limits.memory == 0 || how.memory >= error.bytes()) throw;
      throw OutOfMemory(fmt::format("{}: {} need at least {}M", limits.memory_option, words, (least >> 20) + 1), least);
    }
  }

  const WindowRequest& request_;
  const InputImage& image_;
  WorkBar bar_;
  Window window_;
  Type type_;
  TypePair types_;
  StripWindows strips_;
  ExactWindows exact_;
};

}  // namespace

void windows_by_strips(const WindowRequest& request, const Limits& limits, const Settings& settings) {
  const InputImage image(request.input, limits.memory / 4, settings);
  if (image.shape().empty()) refuse(request.input.path, ": is empty; a window needs pixels");
  WindowStrips windows(request, image, limits, settings);
  const Shape shape = windows.strips().output_shape();
  settings.detail("{}: in strips of {} rows, types {}, backend {}", request.input.path, windows.strips().strip_height(),
                  name_of(windows.strips().types()), name_of(windows.strips().backend()));
  if (request.to_npy()) {
    media::ArrayWriter writer(request.output, shape, windows.type());
    windows.run([&](std::int64_t y, const ConstView& rows) { writer.write(0, y, rows); });
    writer.finish();
  } else {
    media::PictureWriter writer(request.output, shape, windows.type());
    windows.run([&](std::int64_t, const ConstView& rows) { writer.write(rows); });
    writer.finish();
  }
  settings.detail("wrote {}: {}x{} {}, windows of {}x{}", request.output, shape.width, shape.height,
                  name_of(windows.type()), windows.window().width, windows.window().height);
}

}  // namespace areal::command
