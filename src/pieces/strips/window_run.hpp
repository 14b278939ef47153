#pragma once
// Outputs around every pixel, strip by strip: what StripWindows and StripFilter share.

#include <areal/strips.hpp>
#include <memory>
#include <utility>
#include "api/core/require.hpp"
#include "pieces/strips/driver.hpp"

namespace areal::pieces {

struct WindowRun {
  Shape out;          ///< of the whole image
  const char* these;  ///< "windows", for messages
  Progress progress;
  std::int64_t height;
  StripDriver driver;

  /// `second` as StripDriver's.
  WindowRun(std::unique_ptr<const Work> work, const Shape& image, const Shape& out_, const char* these_,
            const char* second, const PieceOptions& strips)
      : out(out_),
        these(these_),
        progress(strips.progress),
        height(StripHeights(*work, image, strips).chosen()),
        driver(std::move(work), image, strips, height, second) {
    require_no_bins(strips, these);
  }

  void run(const ImageReader& read, const WindowStripSink& sink, const ImageReader& read_second) {
    driver.run(read, read_second, use(sink));
  }
  void begin(const WindowStripSink& sink) {
    const Halo& halo = driver.work().form().halo;
    require(halo.beyond != Halo::Beyond::wrap && !halo.is_whole, these,
            " with edge `wrap` need the last rows before the first: the image must be read, not pushed");
    driver.begin(use(sink));
  }
  StripUse use(const WindowStripSink& sink) const {
    require(static_cast<bool>(sink), "sink: there is none");
    const auto give = [width = out.width, has_halo = driver.work().form().halo.is_made, sink](
                          const Part& strip, const std::vector<ConstView>& outputs) {
      if (width == 0 || strip.pixels.height == 0) return true;
      WindowStrip given{strip.pixels.y, {}};
      for (const ConstView& rows : outputs) {
        given.values.push_back(has_halo ? rows_of(rows, strip.above, strip.pixels.height) : rows);
        given.values.back().shape.width = width;
      }
      return sink(given);
    };
    return {.give = give, .done = reporter(progress, out.height)};
  }
};

}  // namespace areal::pieces
