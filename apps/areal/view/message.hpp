#pragma once
// The JSON between a page and its server: docs/view.md lists the messages.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>
#include "view/film.hpp"
#include "view/layer.hpp"
#include "view/regions.hpp"
#include "view/scene.hpp"

namespace areal::command::page {

inline constexpr std::size_t most_message_bytes = std::size_t{64} << 10;
inline constexpr int most_message_depth = 8;
inline constexpr std::size_t most_regions_asked = 64, most_options = 24, longest_option = 64;

struct AskedRegion {
  std::int64_t id = 0;  // the client's; comes back with the answer
  Region box;
};
/// Statistics of regions. Of several that wait, the newest is answered.
struct Ask {
  std::int64_t n = 0;
  std::size_t channel = 0;
  std::vector<AskedRegion> regions;
  bool final = false;
  std::optional<std::int64_t> reference = {};  // one of `regions`: the answer has their distances to it
};
struct SetRegion {
  std::int64_t n = 0, id = 0;  // id 0: a new one
  std::string name;
  Region box;
};
struct RemoveRegion {
  std::int64_t n = 0, id = 0;
};
/// The histogram's range, for all pages.
struct SetRange {
  std::int64_t n = 0;
  std::pair<double, double> range;
};
/// Of a video: play, pause, show a frame, or another one as many frames later.
struct Play {
  enum class Act : std::uint8_t { play, pause, seek, step };
  std::int64_t n = 0;
  Act act = Act::play;
  std::int64_t frames = 0;  // of seek the frame's number, of step the distance
};
/// Of a video: follow a region, or stop following it.
struct FollowRegion {
  std::int64_t n = 0, id = 0;
  std::string algorithm;  // empty: stop
};
/// A layer over the visible part. Of several that a page requests, the newest is computed.
struct AskLayer {
  enum class Kind : std::uint8_t { filter, match, histogram };
  std::int64_t n = 0;
  Kind kind = Kind::filter;
  std::size_t channel = 0;
  Region view;
  std::string name;                                          // of the filter, the method or the distance
  std::vector<std::pair<std::string, std::string>> options;  // of a filter
  Region region;                                             // that is searched
};
/// A message that cannot be answered.
struct Wrong {
  std::int64_t n = 0;  // 0 if it has none
  std::string sentence;
};
using Message = std::variant<Ask, SetRegion, RemoveRegion, SetRange, Play, FollowRegion, AskLayer, Wrong>;

/// Of a picture with that many channels, or a video. Does not throw.
Message read_message(std::string_view text, std::size_t channels, bool is_video);

/// {"n", "final", "channel", "range", "regions": [{"id", "pixels", "sum", ..}]}; `range` is the histogram's. A rounded
/// answer has "about": [x, y, w, h], and a pending one only "id" and "pending". Of a video also "frame", the number of
/// the frame that it is about.
std::string answer_text(const Ask& ask, std::span<const view::Answer> answers, std::pair<double, double> range,
                        std::optional<std::int64_t> frame = {});
/// {"regions": [{"id", "name", "box"}], "revision"}
std::string regions_text(const view::Regions& regions);
/// [{"id", "name", "box"}]
std::string regions_text(const std::vector<view::DrawnRegion>& regions);
/// {"range": [low, high]}
std::string range_text(std::pair<double, double> range);
/// {"survey": {"rows", "of", "problem"}}
std::string survey_text(const view::Surveyed& surveyed);
/// {"frame": {"number", "seconds", "frames", "plays", "seeks", "problem", "followed": [id], "boxes": [{"id", "box",
/// "distance"}]}}
std::string frame_text(const view::FilmState& state);
/// {"n", "layer": id, "level", "box", "range": [least, most], "places": [[x, y, w, h, score]]}
std::string layer_text(const AskLayer& ask, std::uint64_t id, const view::Layer& layer,
                       std::optional<std::int64_t> frame);
/// {"n", "id"}: a region was set or removed.
std::string set_text(std::int64_t n, std::int64_t id);
/// {"n"}: done.
std::string done_text(std::int64_t n);
/// {"n", "error": a sentence}
std::string error_text(std::int64_t n, std::string_view sentence);
/// picture.json
std::string picture_text(view::Scene& picture, std::string_view name, std::span<const std::string> notes);

}  // namespace areal::command::page
