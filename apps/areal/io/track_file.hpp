#pragma once
// Files of boxes by frame: what areal track writes, MOT's and OTB's.

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

/// Frames, left and top from 0, whatever the file counts from; in the file's order.
///   a header line: areal's CSV, by its columns frame, x, y, width, height and, optionally, id
///   6 to 10 numbers a line: MOT's frame, id, left, top, width, height, confidence, ..; frame, left and top from 1,
///     those with confidence 0 left out
///   4 numbers a line: OTB's x, y, width, height of frame 0, 1, ..; x and y taken as they are
/// Numbers are separated by commas, tabs or spaces. Boxes without an area, or with NaN, are left out: nothing is there.
/// Throws IoError for a file that cannot be read, InvalidArgument for a bad line, naming it.
std::vector<FrameBox> read_frame_boxes(const std::string& path);
std::vector<FrameBox> parse_frame_boxes(const std::string& text, const std::string& name);

enum class TrackFormat : std::uint8_t { csv, mot, json };
/// The header, or nothing.
std::string header_of(TrackFormat format);
/// One line; without seconds their cell is empty, null in JSON.
std::string line_of(TrackFormat format, const FrameBox& row, std::optional<double> seconds);

}  // namespace areal::command
