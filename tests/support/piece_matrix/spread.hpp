#pragma once
// A table spread over as many devices, all of them the CPU, as an image has parts below each other.

#include <areal/spread.hpp>
#include <vector>
#include "piece_matrix/cuts.hpp"

namespace areal::piece_matrix {

class Spread {
 public:
  Spread(const Shape& image, Type type, const SatOptions& options, const Cut& cut, Backend backend,
         const ConstView& pixels)
      : sat_(image, type, options, options_of(image, cut, backend)), arrays_(sat_.allocate()) {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      const SpreadStrip& strip = sat_.strips()[i];
      pixels_.push_back(part(pixels, 0, strip.first, image.width, strip.pixels.height));
      into_.push_back(arrays_[i].view());
    }
    tables_.assign(into_.begin(), into_.end());
  }
  void execute() {
    running([&] { sat_.execute(pixels_, into_); });
  }
  const SpreadSat& sat() const { return sat_; }
  /// Of each device.
  const std::vector<ConstView>& tables() const { return tables_; }

 private:
  static SpreadOptions options_of(const Shape& image, const Cut& cut, Backend backend) {
    SpreadOptions spread{.band_width = cut.width, .parts = 2};
    for (std::int64_t y = 0; y < image.height; y += cut.height)
      spread.rows.push_back(std::min(cut.height, image.height - y));
    if (spread.rows.empty()) spread.rows = {0, 0};
    spread.devices.assign(spread.rows.size(), {.backend = backend, .threads = backend == Backend::cpu ? 1 : 0});
    return spread;
  }
  SpreadSat sat_;
  std::vector<DeviceArray> arrays_;
  std::vector<ConstView> pixels_, tables_;
  std::vector<View> into_;
};

}  // namespace areal::piece_matrix
