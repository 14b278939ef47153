// Messages of a page: any bytes give one answer or one sentence of an error, within bounded memory, and regions stay
// inside the picture.
#include <algorithm>
#include <areal/error.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <variant>
#include "view/message.hpp"
#include "view/picture.hpp"

namespace {

using namespace areal;
using namespace areal::command::page;

void require(bool holds) {
  if (!holds) std::abort();
}

view::Picture& picture() {
  static view::Picture shown = [] {
    Array planes(Shape{67, 41, 2, 1, Layout::planar}, Type::u8);
    for (std::size_t i = 0; i < planes.bytes(); ++i)
      static_cast<unsigned char*>(planes.data())[i] = static_cast<unsigned char>(i * 31);
    return view::Picture(std::move(planes), {"a", "b"}, {}, {.store_memory = 1 << 20});
  }();
  return shown;
}

void check_sentence(const std::string& sentence) {
  require(!sentence.empty() && sentence.size() < 400 && sentence.find('\n') == std::string::npos);
}

struct Take {
  view::Regions& regions;

  void operator()(const Ask& ask) const {
    require(ask.n > 0 && ask.channel < picture().channels() && ask.regions.size() <= most_regions_asked);
    std::vector<view::Answer> answers;
    for (const AskedRegion& region : ask.regions) {
      answers.push_back(picture().answer(ask.channel, region.box));
      require(answers.back().moments.pixels == region.box.width * region.box.height);
    }
    require(answer_text(ask, answers, picture().range()).size() < std::size_t{1} << 20);
  }
  void operator()(const SetRegion& set) const {
    const std::int64_t id = regions.set(set.id, set.name, set.box);
    require(id > 0 && set.name.size() <= 4 * view::Regions::longest_name);
    const Region& box = set.box;
    require(box.x >= 0 && box.y >= 0 && box.width > 0 && box.height > 0 && box.x + box.width <= 67 &&
            box.y + box.height <= 41);
  }
  void operator()(const RemoveRegion& remove) const { regions.remove(remove.id); }
  void operator()(const SetRange& set) const { picture().set_range(set.range); }
  void operator()(const Play& play) const {
    require(play.n > 0 && (play.act != Play::Act::seek || play.frames >= 0));
    require(play.frames == 0 || play.act == Play::Act::seek || play.act == Play::Act::step);
  }
  void operator()(const FollowRegion& follow) const {
    const auto known = tracker_names();
    require(follow.id > 0 &&
            (follow.algorithm.empty() || std::find(known.begin(), known.end(), follow.algorithm) != known.end()));
  }
  void operator()(const AskLayer& layer) const {
    require(layer.n > 0 && layer.channel < picture().channels() && layer.view.width > 0 && layer.view.height > 0);
    require(layer.name.size() <= longest_option && layer.options.size() <= most_options);
    for (const auto& [name, value] : layer.options)
      require(name.size() <= longest_option && value.size() <= longest_option);
    if (layer.kind == AskLayer::Kind::filter) return;
    const view::LayerPart part{layer.channel, layer.view, std::uint64_t{1} << 24, 1};
    view::Layer made = view::matched(picture(), part, layer.region, MatchMethod::sqdiff);
    require(made.places.size() <= static_cast<std::size_t>(view::most_places));
    require(layer_text(layer, 1, made, {}).size() < 4096 && view::layer_tile(made).size() < std::size_t{1} << 16);
  }
  void operator()(const Wrong& wrong) const { check_sentence(wrong.sentence); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  view::Regions regions(67, 41);
  regions.set(0, "", {1, 2, 3, 4});
  std::string_view text(reinterpret_cast<const char*>(data), size);
  while (!text.empty()) {  // one message a line
    const std::size_t end = std::min(text.find('\n'), text.size());
    const Message message = read_message(text.substr(0, end), picture().channels(), true);
    try {
      std::visit(Take{regions}, message);
    } catch (const Error& error) {
      check_sentence(error.what());
    }
    require(regions_text(regions).size() < 1 << 20);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return 0;
}
