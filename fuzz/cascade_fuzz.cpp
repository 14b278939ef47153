// Cascades: any bytes give either a cascade that can search an image or one sentence.
#include <areal/cascade.hpp>
#include <areal/error.hpp>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const auto pixels = [] {
    std::array<std::uint8_t, 64 * 48> made{};
    std::uint32_t state = 1;
    for (std::uint8_t& pixel : made) pixel = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
    return made;
  }();
  try {
    const areal::Cascade cascade = areal::Cascade::parse(text);
    if (cascade.window().width < 1 || cascade.stages() < 1) std::abort();
    for (const areal::Detection& box :
         areal::detect(cascade, areal::ConstView(pixels.data(), 64, 48), {1.3, 0}, areal::Execution{.threads = 1}))
      if (box.x < 0 || box.y < 0 || box.width < 1 || box.x + box.width > 64 || box.y + box.height > 48) std::abort();
  } catch (const areal::InvalidArgument& error) {
    const std::string what = error.what();
    if (what.empty() || what.find('\n') != std::string::npos || what.size() > 400) std::abort();
  } catch (const areal::Unavailable&) {
  }
  return 0;
}
