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

  /// Adds --region, --regions, --outside, and --draw if `with_draw`.
  void add_to(CLI::App& verb, bool with_draw);
  /// Reads the texts and the file, in that order. Throws InvalidArgument, IoError.
  void resolve();

  bool named() const noexcept { return !texts.empty() || !file.empty(); }
  /// For queries of tables in host memory.
  QueryOptions query(const Settings& settings) const;
  /// Is --outside clip?
  bool clips() const noexcept { return outside_ == Outside::clip; }
  std::vector<media::NamedRegion> regions;
  /// The regions for an image of that size: `regions`, clipped with --outside clip so that a row shows the part that
  /// counts; or the whole image if none is named. Returns `regions` or, after filling it, `buffer`.
  const std::vector<media::NamedRegion>& for_image(const Shape& image, std::vector<media::NamedRegion>& buffer) const;

 private:
  Outside outside_ = Outside::error;
};

/// The part of a region that lies inside an image of that size.
Region clipped(const Region& region, const Shape& image) noexcept;
/// The regions without their names.
std::vector<Region> plain(const std::vector<media::NamedRegion>& regions);
/// The region's name, or `index` if it has none.
std::string label(const media::NamedRegion& region, std::size_t index);
/// Puts frame, and seconds of a video, if the input is a sequence.
void put_frame(RowWriter& rows, const Item& item, bool is_sequence);
/// Puts region, x, y, width and height.
void put_region(RowWriter& rows, const media::NamedRegion& region, std::size_t index);
/// Draws the regions, their means (for a picture of one channel) and histograms on the picture and writes it to `path`.
/// If `picture` is the luma of an input that can be read again, draws on the colour picture.
void draw_to(const std::string& path, const InputOptions& input, const Settings& settings, const ConstView& picture,
             const std::vector<media::NamedRegion>& regions, const std::vector<std::vector<double>>& histograms = {});

}  // namespace areal::command
