#include "track_file.hpp"

#include <fmt/format.h>
#include <areal/error.hpp>
#include <cctype>
#include <cmath>
#include "media/media.hpp"
#include "numbers.hpp"

namespace areal::command {
namespace {

using Words = std::vector<std::string_view>;

// Files with a header may have empty cells; in files without, consecutive separators count as one.
Words words_of(std::string_view line, std::string_view separators, bool keeps_empty) {
  Words words;
  for (std::size_t from = 0;;) {
    const std::size_t to = line.find_first_of(separators, from);
    const std::string_view word = line.substr(from, to == std::string_view::npos ? to : to - from);
    if (keeps_empty || !word.empty()) words.push_back(word);
    if (to == std::string_view::npos) return words;
    from = to + 1;
  }
}

class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}

  void take(std::string_view line) {
    ++number_;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') return;
    if (columns_ == 0 && line.find("frame") != std::string_view::npos) return take_header(line);
    const Words words = words_of(line, has_header_ ? "," : ", \t", has_header_);
    if (columns_ == 0) columns_ = words.size();
    if (words.size() != columns_) fail(fmt::format("{} columns, the lines before have {}", words.size(), columns_));
    if (has_header_)
      add(whole(words, frame_), id_ ? whole(words, *id_) : 0, words, x_, y_, width_, height_, 0);
    else if (columns_ == 4)
      add(otb_frame_++, 0, words, 0, 1, 2, 3, 0);
    else if (columns_ >= 6 && columns_ <= 10)
      take_mot(words);
    else
      fail(fmt::format("{} columns; it may have a header, 4 numbers (OTB) or 6 to 10 (MOT)", columns_));
  }
  std::vector<FrameBox> boxes() && { return std::move(boxes_); }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    refuse(name_, ": line ", std::to_string(number_), ": ", what);
  }
  std::string where(std::string_view column) const { return fmt::format("{}: line {}: {}", name_, number_, column); }

  void take_header(std::string_view line) {
    const Words names = words_of(line, ",", true);
    columns_ = names.size();
    has_header_ = true;
    const auto find = [&](std::string_view name) -> std::optional<std::size_t> {
      for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == name) return i;
      return {};
    };
    const auto need = [&](std::string_view name) {
      const auto at = find(name);
      if (!at) fail(fmt::format("no column {}; it needs frame, x, y, width and height", name));
      return *at;
    };
    frame_ = need("frame"), x_ = need("x"), y_ = need("y"), width_ = need("width"), height_ = need("height");
    id_ = find("id");
  }
  void take_mot(const Words& words) {
    if (columns_ > 6 && value(words, 6) == 0) return;
    const std::int64_t frame = whole(words, 0);
    if (frame < 1) fail(fmt::format("frame {}, MOT counts from 1", frame));
    add(frame - 1, whole(words, 1), words, 2, 3, 4, 5, 1);
  }
  void add(std::int64_t frame, std::int64_t id, const Words& words, std::size_t x, std::size_t y, std::size_t width,
           std::size_t height, double first) {
    if (frame < 0) fail(fmt::format("frame {}, frames count from 0", frame));
    const TrackedBox box{value(words, x) - first, value(words, y) - first, value(words, width), value(words, height),
                         0};
    const bool is_there = std::isfinite(box.x) && std::isfinite(box.y) && std::isfinite(box.width) &&
                          std::isfinite(box.height) && box.width > 0 && box.height > 0;
    if (is_there) boxes_.push_back({frame, id, box});
  }
  double value(const Words& words, std::size_t column) const { return number(where("the value"), words[column]); }
  std::int64_t whole(const Words& words, std::size_t column) const {
    constexpr double most = 1e15;
    const double found = value(words, column);
    if (!(std::abs(found) <= most) || found != std::floor(found))
      fail(fmt::format("{}: not a whole number", words[column]));
    return static_cast<std::int64_t>(found);
  }

  const std::string& name_;
  std::int64_t number_ = 0, otb_frame_ = 0;
  std::size_t columns_ = 0;
  bool has_header_ = false;
  std::size_t frame_ = 0, x_ = 0, y_ = 0, width_ = 0, height_ = 0;
  std::optional<std::size_t> id_;
  std::vector<FrameBox> boxes_;
};

}  // namespace

std::vector<FrameBox> parse_frame_boxes(const std::string& text, const std::string& name) {
  Reader reader(name);
  for (const std::string_view line : split(text, '\n')) reader.take(line);
  return std::move(reader).boxes();
}

std::vector<FrameBox> read_frame_boxes(const std::string& path) {
  return parse_frame_boxes(media::read_text(path, media::most_csv_bytes), path);
}

std::string header_of(TrackFormat format) {
  return format == TrackFormat::csv ? "frame,seconds,id,x,y,width,height,distance\n" : "";
}

std::string line_of(TrackFormat format, const FrameBox& row, std::optional<double> seconds) {
  const TrackedBox& box = row.box;
  const std::string time = seconds ? fmt::format("{}", *seconds) : format == TrackFormat::json ? "null" : "";
  switch (format) {
    case TrackFormat::mot:
      return fmt::format("{},{},{},{},{},{},1,-1,-1,-1\n", row.frame + 1, row.id, box.x + 1, box.y + 1, box.width,
                         box.height);
    case TrackFormat::json:
      return fmt::format(
          "{{\"frame\":{},\"seconds\":{},\"id\":{},\"x\":{},\"y\":{},\"width\":{},\"height\":{},\"distance\":{}}}\n",
          row.frame, time, row.id, box.x, box.y, box.width, box.height, box.distance);
    default:
      return fmt::format("{},{},{},{},{},{},{},{}\n", row.frame, time, row.id, box.x, box.y, box.width, box.height,
                         box.distance);
  }
}

}  // namespace areal::command
