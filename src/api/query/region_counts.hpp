#pragma once
// Histograms of regions straight from an image on a device: the request, for one call and for plans.

#include <areal/binning.hpp>
#include <areal/region.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include "api/core/device_rule.hpp"
#include "cpu/histogram/pixel_bins.hpp"
#include "kernels/query/request.hpp"

namespace areal {

/// A binning prepared for images of one type on any machine.
struct CountedRule {
  cpu::PixelBins bins;
  DeviceRule device;
  std::uint32_t scale = 0;  ///< counts find bins by a product; sums of weights read the tables

  CountedRule(const Binning& binning, Type type, std::int64_t channels, bool weighted);
  /// Those of its tables that kernels read from memory: bytes' tables travel with the launch.
  std::size_t table_bytes() const { return size_of(bins.type) == 1 || scale != 0 ? 0 : device.tables.size(); }
  /// The request without regions and output; `tables` lie in the machine's memory.
  kernels::CountsRequest request(const ConstView& image, const char* tables) const;
};

/// Throws InvalidArgument unless `out` elements hold the histograms of `regions` regions.
void require_histograms_of(std::int64_t regions, std::int64_t bins, std::size_t out);

/// Throws InvalidArgument for a batch, which regions are not answered for at once.
void require_one_image(const Shape& image);

}  // namespace areal
