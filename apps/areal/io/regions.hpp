#pragma once
// The options that name regions, and the cells of a row that name its image and region.

#include <areal/region.hpp>
#include <string>
#include <vector>
#include "input.hpp"
#include "media/media.hpp"
#include "rows.hpp"

namespace areal::command {

struct RegionOptions {
  std::vector<std::string> texts;
  std::string file, outside_text, draw;

  /// Adds --region, --regions, --outside; and --draw where there is a picture.
  void add_to(CLI::App& verb, bool with_draw);
  /// Reads the texts and the file, in that order. Throws InvalidArgument, IoError.
  void resolve();

  bool named() const noexcept { return !texts.empty() || !file.empty(); }
  /// For queries of tables in host memory.
  QueryOptions query(const Settings& settings) const;
  /// Is --outside clip?
  bool clips() const noexcept { return outside_ == Outside::clip; }
  std::vector<media::NamedRegion> regions;
  /// The regions to answer for an image of that size: those that were named, clipped with --outside clip, so that a row
  /// shows the part that was counted; without any the whole image. `room` holds what is not `regions` itself.
  const std::vector<media::NamedRegion>& for_image(const Shape& image, std::vector<media::NamedRegion>& room) const;

 private:
  Outside outside_ = Outside::error;
};

/// The part of a region that lies inside an image of that size.
Region clipped(const Region& region, const Shape& image) noexcept;
/// The regions without their names.
std::vector<Region> plain(const std::vector<media::NamedRegion>& regions);
/// The name, or its place among the regions, counted from 0.
std::string label(const media::NamedRegion& region, std::size_t index);
/// frame, and the seconds of a video, where the input is a sequence.
void put_frame(RowWriter& rows, const Item& item, bool is_sequence);
/// region, x, y, width, height.
void put_region(RowWriter& rows, const media::NamedRegion& region, std::size_t index);
/// Writes the picture with its regions, their means (of a picture with one channel) and histograms drawn on it to
/// `path`; in colour where `picture` is the luma of an input that can be read again.
void draw_to(const std::string& path, const InputOptions& input, const Settings& settings, const ConstView& picture,
             const std::vector<media::NamedRegion>& regions, const std::vector<std::vector<double>>& histograms = {});

}  // namespace areal::command
