#include "view/page_file.hpp"

#include <areal/binning.hpp>
#include <cstring>
#include <nlohmann/json.hpp>
#include "view/element.hpp"

namespace areal::command::page {
namespace {

constexpr std::int64_t most_pixels = std::int64_t{1} << 22;
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;
constexpr std::string_view place = "<!--DATA-->";

/// Browsers' arrays have no 16f.
Type stored_type(Type type) noexcept { return type == Type::f16 ? Type::f32 : type; }

/// The pixels of a channel, row by row.
std::string bytes_of(const ConstView& channel) {
  const Type stored = stored_type(channel.type);
  const std::size_t row = static_cast<std::size_t>(channel.shape.width) * size_of(stored);
  std::string bytes(row * static_cast<std::size_t>(channel.shape.height), '\0');
  char* to = bytes.data();
  for (std::int64_t y = 0; y < channel.shape.height; ++y, to += row) {
    if (stored == channel.type) {
      std::memcpy(to, channel.row(y), row);
      continue;
    }
    for (std::int64_t x = 0; x < channel.shape.width; ++x) {
      const auto value = static_cast<float>(view::element<Half>(channel.row(y), x));
      std::memcpy(to + static_cast<std::size_t>(x) * sizeof value, &value, sizeof value);
    }
  }
  return bytes;
}

std::string base64_of(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += i + k > bytes.size() ? '=' : digits[three >> (18 - 6 * k) & 63];
  }
  return text;
}

}  // namespace

bool fits_page_file(const view::Scene& picture) {
  const std::int64_t pixels = picture.width() * picture.height();
  return picture.pixels(0) && pixels <= most_pixels &&
         static_cast<std::uint64_t>(pixels) * picture.channels() * size_of(stored_type(picture.type())) <= most_bytes;
}

std::string page_file(std::string_view page, const view::Scene& picture, std::string_view facts,
                      std::string_view regions) {
  const auto [lo, hi] = picture.range();
  nlohmann::json planes = nlohmann::json::array();
  for (std::size_t c = 0; c < picture.channels(); ++c) planes.push_back(base64_of(bytes_of(*picture.pixels(c))));
  const nlohmann::json edges = Binning::uniform(picture.bins(), lo, hi).bin_edges();
  std::string data = R"({"picture":)";
  data.append(facts).append(R"(,"regions":)").append(regions).append(R"(,"edges":)").append(edges.dump());
  data.append(R"(,"stored":")")
      .append(name_of(stored_type(picture.type())))
      .append(R"(","planes":)")
      .append(planes.dump())
      .append("}");
  const std::size_t at = page.find(place);
  std::string text(page.substr(0, at));
  text += R"(<script type="application/json" id="picture-data">)";
  for (const char c : data)  // a name may be </script>
    c == '<' ? text.append("\\u003c") : text.append(1, c);
  return text.append("</script>").append(page.substr(at + place.size()));
}

}  // namespace areal::command::page
