// areal_clips VIDEO FOLDER: VIDEO again as H.264, vtest.mp4, and its frames side by side as 1080p.mp4: something for
// NVDEC to decode. Chroma is made up.
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>
#include "encoded_clip.hpp"
#include "media/media.hpp"

namespace {

namespace fs = std::filesystem;
using areal::media::Frame;
using areal::test::ClipOptions;

bool write(const fs::path& from, const fs::path& to, int width, int height, const char* encoder = "libx264") {
  const auto video = areal::media::open_video(from);
  std::vector<Frame> frames;
  for (Frame frame; video->next(frame);) frames.push_back(std::move(frame)), frame = {};
  ClipOptions options;
  options.encoder = encoder;
  options.width = width ? width : static_cast<int>(video->width());
  options.height = height ? height : static_cast<int>(video->height());
  options.frames = static_cast<int>(frames.size());
  options.key_every = 50;
  options.b_frames = 2;
  options.range = AVCOL_RANGE_MPEG;
  options.private_options = "preset=veryfast:crf=27";
  if (options.encoder == "libx265") options.private_options = "preset=ultrafast:crf=32:x265-params=log-level=none";
  const std::int64_t w = video->width(), h = video->height();
  return areal::test::encode_clip(to, options, 0, [&](AVFrame& out, int n) {
    const auto pixel = [&](std::int64_t x, std::int64_t y) {
      const bool flip = x / w % 2 == 1;  // so that the tiles meet
      const std::int64_t column = flip ? w - 1 - x % w : x % w, row = y / h % 2 == 1 ? h - 1 - y % h : y % h;
      const int luma = frames[static_cast<std::size_t>(n)].pixels.as<std::uint8_t>()[row * w + column];
      return static_cast<std::uint8_t>(16 + luma * 219 / 255);
    };
    for (int y = 0; y < out.height; ++y)
      for (int x = 0; x < out.width; ++x) out.data[0][y * out.linesize[0] + x] = pixel(x, y);
    for (int plane = 1; plane < 3; ++plane)
      for (int y = 0; y < out.height / 2; ++y)
        for (int x = 0; x < out.width / 2; ++x)
          out.data[plane][y * out.linesize[plane] + x] =
              static_cast<std::uint8_t>(128 + (pixel(2 * x, 2 * y) - 128) / (plane == 1 ? 6 : -5));
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: areal_clips VIDEO FOLDER\n", stderr), 2;
  try {
    const fs::path folder = argv[2];
    fs::create_directories(folder);
    (void)write(argv[1], folder / "hevc.mp4", 0, 0, "libx265");
    if (write(argv[1], folder / "vtest.mp4", 0, 0) && write(argv[1], folder / "1080p.mp4", 1920, 1080)) return 0;
    std::fputs("areal_clips: this FFmpeg has no libx264\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "areal_clips: %s\n", error.what());
  }
  return 1;
}
