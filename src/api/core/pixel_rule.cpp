#include "api/core/pixel_rule.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"

namespace areal {
namespace {

constexpr std::int64_t most_bins = 65535;

// The value of an 8- or 16-bit pixel by its bits.
double value_of(Type type, std::uint32_t bits) {
  switch (type) {
    case Type::s8:
      return static_cast<std::int8_t>(bits);
    case Type::s16:
      return static_cast<std::int16_t>(bits);
    case Type::f16:
      return static_cast<double>(to_float(Half{static_cast<std::uint16_t>(bits)}));
    default:
      return bits;
  }
}

cpu::ChannelBins channel_bins(const Binning& binning, Type type) {
  const auto kind = binning.kind();
  const bool small = size_of(type) <= 2;
  require(kind != Binning::Kind::lookup || (small && !is_float(type)),
          "binning by a look-up table reads 8- and 16-bit integer images, not ", name_of(type));
  require(kind != Binning::Kind::labels || !is_float(type), "binning by labels reads integer images, not ",
          name_of(type));
  cpu::ChannelBins rule;
  rule.bins = binning.bins();
  rule.clamped = binning.is_clamped();
  if (small) {
    // From the definition, so these are right by construction.
    rule.table.resize(std::size_t{1} << (8 * size_of(type)));
    for (std::size_t bits = 0; bits < rule.table.size(); ++bits) {
      const std::int64_t bin = binning.bin_of(value_of(type, static_cast<std::uint32_t>(bits)));
      rule.table[bits] = bin < 0 ? cpu::ChannelBins::none : static_cast<std::uint16_t>(bin);
    }
    return rule;
  }
  if (kind == Binning::Kind::labels) {
    rule.kind = cpu::ChannelBins::Kind::labels;
    rule.ignored = binning.ignored_label();
  } else {
    rule.kind = kind == Binning::Kind::uniform ? cpu::ChannelBins::Kind::equal : cpu::ChannelBins::Kind::edges;
    rule.edges = binning.bin_edges();
  }
  return rule;
}

}  // namespace

cpu::PixelBins pixel_bins(const Binning& binning, Type type, std::int64_t channels) {
  require(channels == binning.channels(), "an image of ", channels, " channels: this binning reads ",
          binning.channels());
  require(binning.bins() <= most_bins, "binning of ", binning.bins(), " bins: it may have at most ", most_bins);
  cpu::PixelBins rule;
  rule.type = type;
  rule.bins = binning.bins();
  if (binning.kind() == Binning::Kind::joint)
    for (const Binning& part : binning.parts()) rule.channels.push_back(channel_bins(part, type));
  else
    rule.channels.push_back(channel_bins(binning, type));
  return rule;
}

void check_weights(const ConstView& weights, const Shape& image) {
  require(
      weights.type == Type::u8 || weights.type == Type::u16 || weights.type == Type::f32 || weights.type == Type::f64,
      "weights type ", name_of(weights.type), ": it may be 8u, 16u, 32f or 64f");
  check_view("weights", weights, {image.width, image.height, 1, image.batch}, weights.type);
}

}  // namespace areal
