#pragma once
// A table spread over as many devices, all of them the CPU, as an image has parts below each other.

#include <areal/spread.hpp>
#include <optional>
#include <vector>
#include "piece_matrix/cuts.hpp"

namespace areal::piece_matrix {

class Spread {
 public:
  Spread(const Shape& image, Type type, const SatOptions& options, const Cut& cut, Backend backend,
         const ConstView& pixels, const ConstView& mask)
      : sat_(image, type, options, options_of(image, cut, backend)), sum_(sat_.allocate()) {
    if (sat_.squares_type()) squares_ = sat_.allocate(SpreadTable::squares);
    if (options.mask || options.ignore_nan) count_ = sat_.allocate(SpreadTable::count);
    for (std::size_t i = 0; i < sum_.size(); ++i) {
      const SpreadStrip& strip = sat_.strips()[i];
      const auto rows = [&](const ConstView& of) { return part(of, 0, strip.first, image.width, strip.pixels.height); };
      SatArguments& views = arguments_.emplace_back();
      views.image = rows(pixels), views.sum = sum_[i].view();
      if (options.mask) views.mask = rows(mask);
      if (!squares_.empty()) views.squares = squares_[i].view();
      if (!count_.empty()) views.count = count_[i].view();
    }
  }
  void execute() {
    running([&] { sat_.execute(arguments_); });
  }
  const SpreadSat& sat() const { return sat_; }
  /// The sums of each device.
  std::vector<ConstView> tables() const {
    std::vector<ConstView> views;
    for (const DeviceArray& strip : sum_) views.push_back(strip.view());
    return views;
  }
  Values sum() const { return gathered(sum_, sat_.types().table, sat_.table_shape()); }
  std::optional<Values> squares() const {
    if (squares_.empty()) return {};
    return gathered(squares_, *sat_.squares_type(), sat_.table_shape());
  }
  std::optional<Values> count() const {
    if (count_.empty()) return {};
    return gathered(count_, Type::u32, sat_.count_shape());
  }

 private:
  static SpreadOptions options_of(const Shape& image, const Cut& cut, Backend backend) {
    SpreadOptions spread{.band_width = cut.width, .parts = 2};
    for (std::int64_t y = 0; y < image.height; y += cut.height)
      spread.rows.push_back(std::min(cut.height, image.height - y));
    if (spread.rows.empty()) spread.rows = {0, 0};
    spread.devices.assign(spread.rows.size(), {.backend = backend, .threads = backend == Backend::cpu ? 1 : 0});
    return spread;
  }
  Values gathered(const std::vector<DeviceArray>& strips, Type type, const Shape& shape) const {
    Gathered whole(type, shape);
    for (std::size_t i = 0; i < strips.size(); ++i) whole.put(strips[i].view(), 0, sat_.strips()[i].table_row);
    return whole.values();
  }

  SpreadSat sat_;
  std::vector<DeviceArray> sum_, squares_, count_;
  std::vector<SatArguments> arguments_;
};

}  // namespace areal::piece_matrix
