#pragma once
// Files of boxes per frame, in the formats of areal track, MOT and OTB.

#include <areal/track.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace areal::command {

struct FrameBox {
  std::int64_t frame = 0, id = 0;
  TrackedBox box;
};

/// Boxes in the file's order; frame, left and top are converted to count from 0.
///   a header line: areal's CSV, by its columns frame, x, y, width, height and, optionally, id
///   6 to 10 numbers a line: MOT's frame, id, left, top, width, height, confidence, ..; frame, left and top from 1,
///     boxes with confidence 0 are skipped
///   4 numbers a line: OTB's x, y, width, height of frame 0, 1, ..; x and y are not shifted
/// Numbers are separated by commas, tabs or spaces. Boxes with an empty area or NaN mean "not visible" and are skipped.
/// Throws IoError for a file that cannot be read, InvalidArgument for a bad line, naming it.
std::vector<FrameBox> read_frame_boxes(const std::string& path);
std::vector<FrameBox> parse_frame_boxes(const std::string& text, const std::string& name);

enum class TrackFormat : std::uint8_t { csv, mot, json };
/// The header line; empty for formats without one.
std::string header_of(TrackFormat format);
/// One line. Without seconds, the cell is empty, or null in JSON.
std::string line_of(TrackFormat format, const FrameBox& row, std::optional<double> seconds);

}  // namespace areal::command
