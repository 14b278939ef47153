// Raw frames from files and pipes.
#include <sys/stat.h>
#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include "media/media.hpp"
#include "scratch.hpp"

namespace areal::media {
namespace {

using test::expect_sentence;
using test::Scratch;

std::string random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::string out(count, '\0');
  for (char& c : out) c = static_cast<char>(random());
  return out;
}
std::string_view bytes_of_view(const ConstView& view) {
  return {static_cast<const char*>(view.data), static_cast<std::size_t>(view.shape.height * view.row_pitch)};
}

TEST(RawFramesText, SizesAndTypes) {
  const RawFrames plain = parse_raw_frames("1920x1080x16u");
  EXPECT_EQ(plain.width, 1920);
  EXPECT_EQ(plain.height, 1080);
  EXPECT_EQ(plain.type, Type::u16);
  EXPECT_FALSE(plain.is_nv12);
  for (const char* name : {"8u", "8s", "16u", "16s", "32u", "32s", "64u", "64s", "16f", "32f", "64f"})
    EXPECT_EQ(name_of(parse_raw_frames("2x3x" + std::string(name)).type), name);
  const RawFrames nv12 = parse_raw_frames("64x48xnv12");
  EXPECT_TRUE(nv12.is_nv12);
  EXPECT_EQ(nv12.type, Type::u8);
  EXPECT_FALSE(nv12.is_limited);
  for (const char* bad : {"", "x", "1920", "1920x1080", "1920x1080x", "1920x1080x8", "0x4x8u", "4x-1x8u", " 4x4x8u",
                          "4x4x8u,", "4x4xNV12", "99999999999999999999x1x8u", "axbx8u", "4,4,8u"}) {
    const std::string what = test::sentence_of<InvalidArgument>([&] { parse_raw_frames(bad); });
    EXPECT_TRUE(what.starts_with("raw frames '" + std::string(bad) + "': ")) << what;
  }
}

TEST(RawVideos, EveryFrameOfAnyType) {
  const Scratch scratch;
  for (const char* type : {"8u", "16s", "32f", "64u"}) {
    const RawFrames frames = parse_raw_frames("7x5x" + std::string(type));
    const std::size_t each = 35 * size_of(frames.type);
    const std::string bytes = random_bytes(4 * each, 3);
    const fs::path path = scratch.write("a.raw", bytes);
    const auto video = open_raw(path, frames), held_video = open_raw(path, frames);
    EXPECT_EQ(video->frame_count(), 4);
    EXPECT_EQ(video->width(), 7);
    EXPECT_EQ(video->height(), 5);
    EXPECT_EQ(video->frames_per_second(), 0);
    Frame frame;
    std::vector<LumaFrame> held(5);
    for (std::size_t n = 0; n < 4; ++n) {
      ASSERT_TRUE(video->next(frame) && held_video->next(held[n]));
      EXPECT_EQ(frame.number, static_cast<std::int64_t>(n));
      EXPECT_EQ(held[n].number, static_cast<std::int64_t>(n));
      EXPECT_EQ(frame.pixels.shape(), (Shape{7, 5}));
      EXPECT_EQ(frame.pixels.type(), frames.type);
      EXPECT_EQ(bytes_of_view(std::as_const(frame.pixels).view()), bytes.substr(n * each, each));
      EXPECT_EQ(held[n].range, nullptr);
    }
    EXPECT_FALSE(video->next(frame));
    EXPECT_FALSE(held_video->next(held[4]));
    EXPECT_EQ(video->damage(), "");
    for (std::size_t n = 0; n < 4; ++n)  // all are held at once
      EXPECT_EQ(bytes_of_view(held[n].pixels), bytes.substr(n * each, each)) << n;
  }
}

TEST(RawVideos, Nv12GivesItsLuma) {
  const Scratch scratch;
  for (const std::int64_t width : {6, 7}) {
    const RawFrames frames = parse_raw_frames(std::to_string(width) + "x4xnv12");
    const std::size_t luma = static_cast<std::size_t>(width) * 4;
    const std::size_t step = luma + 2 * (width == 6 ? 6 : 8);  // chroma: two rows of pairs
    const std::string bytes = random_bytes(3 * step, 5);
    const auto video = open_raw(scratch.write("a.nv12", bytes), frames);
    EXPECT_EQ(video->frame_count(), 3);
    Frame frame;
    for (std::size_t n = 0; n < 3; ++n) {
      ASSERT_TRUE(video->next(frame));
      EXPECT_EQ(bytes_of_view(std::as_const(frame.pixels).view()), bytes.substr(n * step, luma)) << n;
    }
    EXPECT_FALSE(video->next(frame));
    EXPECT_EQ(video->damage(), "");
  }
}

// Limited range is expanded as swscale does: by the table of a video with the same bytes.
TEST(RawVideos, LimitedRangeIsThatOfAVideo) {
  const Scratch scratch;
  std::string ramp(256, '\0');
  for (int v = 0; v < 256; ++v) ramp[static_cast<std::size_t>(v)] = static_cast<char>(v);
  const std::string chroma(128, '\x80');
  RawFrames frames = parse_raw_frames("16x16xnv12");
  frames.is_limited = true;
  const auto raw = open_raw(scratch.write("a.nv12", ramp + chroma), frames);
  const auto video = open_video(
      scratch.write("a.y4m", "YUV4MPEG2 W16 H16 F5:1 Ip A1:1 C420mpeg2 XCOLORRANGE=LIMITED\nFRAME\n" + ramp + chroma));
  LumaFrame luma, expected_luma;
  ASSERT_TRUE(raw->next(luma) && video->next(expected_luma));
  ASSERT_TRUE(luma.range && expected_luma.range);
  EXPECT_EQ(*luma.range, *expected_luma.range);
  EXPECT_NE((*luma.range)[100], 100);
  Frame frame;
  const auto again = open_raw(scratch / "a.nv12", frames);
  ASSERT_TRUE(again->next(frame));
  EXPECT_EQ(std::memcmp(frame.pixels.data(), expected_luma.range->data(), 256), 0);
}

TEST(RawVideos, ACutFrameIsDamage) {
  const Scratch scratch;
  const RawFrames frames = parse_raw_frames("7x5x16u");
  const std::string bytes = random_bytes(3 * 70, 7);
  for (const std::size_t left : {1u, 35u, 69u}) {
    const fs::path path = scratch.write("a.raw", std::string_view(bytes).substr(0, 140 + left));
    const auto video = open_raw(path, frames);
    Frame frame;
    ASSERT_TRUE(video->next(frame) && video->next(frame));
    EXPECT_EQ(bytes_of_view(std::as_const(frame.pixels).view()), bytes.substr(70, 70));
    EXPECT_FALSE(video->next(frame));
    EXPECT_FALSE(video->next(frame));
    EXPECT_EQ(video->damage(), path.string() + ": is damaged or truncated after 2 frames (the last frame is cut: " +
                                   std::to_string(left) + " of 70 bytes)");
  }
}

// A writer that writes odd pieces, and closes in the midst of a frame.
TEST(RawVideos, Pipes) {
  const std::string bytes = random_bytes(5 * 35 + 11, 9);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::thread writer([&] {
    for (std::size_t at = 0; at < bytes.size(); at += 13)
      if (::write(ends[1], bytes.data() + at, std::min<std::size_t>(13, bytes.size() - at)) < 0) break;
    ::close(ends[1]);
  });
  std::FILE* const stream = ::fdopen(ends[0], "rb");
  ASSERT_NE(stream, nullptr);
  {
    const auto video = open_raw(stream, "standard input", parse_raw_frames("7x5x8u"));
    EXPECT_EQ(video->frame_count(), std::nullopt);
    LumaFrame frame;
    for (std::size_t n = 0; n < 5; ++n) {
      ASSERT_TRUE(video->next(frame));
      EXPECT_EQ(bytes_of_view(frame.pixels), bytes.substr(n * 35, 35)) << n;
    }
    EXPECT_FALSE(video->next(frame));
    EXPECT_EQ(video->damage(),
              "standard input: is damaged or truncated after 5 frames (the last frame is cut: 11 of 35 bytes)");
  }
  writer.join();
  std::fclose(stream);
}

TEST(RawVideos, WrongUse) {
  const Scratch scratch;
  const RawFrames frames = parse_raw_frames("4x4x8u");
  expect_sentence<IoError>(scratch / "none", "no such file", [&] { open_raw(scratch / "none", frames); });
  const fs::path path = scratch.write("a.raw", "0123456789abcdef");
  expect_sentence<InvalidArgument>(path, "the number must be even",
                                   [&] { open_raw(path, parse_raw_frames("4x3xnv12")); });
  expect_sentence<InvalidArgument>(path, "hold no pixel", [&] { open_raw(path, RawFrames{}); });
  expect_sentence<OutOfMemory>(path, "bytes that were allowed", [&] { open_raw(path, frames, 15); });
  EXPECT_THROW(open_raw(path, parse_raw_frames("9000000000000000000x9000000000000000000x64f")), InvalidArgument);
}

}  // namespace
}  // namespace areal::media
