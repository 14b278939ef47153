#include "info_picture.hpp"

#include <areal/error.hpp>
#include <nlohmann/json.hpp>
#include "io/json_line.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "media/media.hpp"

namespace areal::command {

void describe_picture(const std::string& path, bool verify, const Settings& settings) {
  if (verify) refuse("--verify: ", path, " is a picture; chunked tables have checksums");
  constexpr int most_levels = 1000;
  nlohmann::ordered_json json{{"picture", path}};
  std::string text;
  for (int level = 0; level < most_levels; ++level) {
    std::unique_ptr<media::LargePicture> picture;
    try {
      picture = media::open_large_picture(path, {.colour = media::Colour::channel, .level = level});
    } catch (const InvalidArgument&) {  // after the last level
      if (level == 0) throw;
      break;
    }
    const Shape shape = picture->shape();
    const media::BlockSize block = picture->block();
    if (level == 0) {
      json["type"] = name_of(picture->type());
      json["notes"] = picture->notes();
      for (const std::string& note : picture->notes()) settings.note("{}: {}", path, note);
    }
    json["levels"].push_back({{"width", shape.width},
                              {"height", shape.height},
                              {"block_width", block.width},
                              {"block_height", block.height}});
    text += fmt::format("level {:<3} {}x{} {}, read in blocks of {}x{}\n", level, shape.width, shape.height,
                        name_of(picture->type()), block.width, block.height);
  }
  settings.json ? write_json(json) : write_out(text);
}

}  // namespace areal::command
