// The decoder's luma plane as it is: through its range table it equals the converted frame, bit for bit.
#include <algorithm>
#include <areal/error.hpp>
#include <cstring>
#include <deque>
#include <thread>
#include <utility>
#include <vector>
#include "encoded_clip.hpp"
#include "media/media.hpp"
#include "scratch.hpp"

namespace areal::media {
namespace {

using test::ClipOptions;
using test::encode_clip;
using test::Scratch;
const fs::path source = AREAL_SOURCE_DIR;
const fs::path clip = source / "data/vtest.avi", files = source / "tests/files";

// Bytes of `held`, through its table, that differ from those of `frame`.
std::int64_t differences(const LumaFrame& held, const Frame& frame) {
  if (held.pixels.shape != frame.pixels.shape() || held.pixels.type != frame.pixels.type()) return -1;
  const Shape& s = held.pixels.shape;
  std::int64_t count = 0;
  const std::uint8_t* expected = frame.pixels.as<std::uint8_t>();
  for (std::int64_t y = 0; y < s.height; ++y) {
    const auto* row = static_cast<const std::uint8_t*>(held.pixels.row(y));
    for (std::int64_t i = 0; i < s.width * s.channels; ++i)
      count += (held.range ? (*held.range)[row[i]] : row[i]) != *expected++;
  }
  return count;
}

// How a video's luma came.
struct Way {
  bool plane, table;
  friend bool operator==(const Way&, const Way&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Way& way) {
    return out << (way.plane ? "the plane" : "converted") << (way.table ? ", with a table" : "");
  }
};
constexpr Way plane{true, false}, ranged{true, true}, converted{false, false};

// Reads the video both ways. The clips are 130 wide: a decoder pads its rows, an Array does not.
void expect_same(const fs::path& path, Way way, std::int64_t frames, const ReadOptions& options = {}) {
  const auto held_video = open_video(path, options), frame_video = open_video(path, options);
  LumaFrame held;
  Frame frame;
  std::int64_t count = 0;
  for (; frame_video->next(frame); ++count) {
    ASSERT_TRUE(held_video->next(held)) << count;
    ASSERT_EQ(differences(held, frame), 0) << count;
    ASSERT_EQ(held.number, frame.number);
    ASSERT_EQ(held.seconds, frame.seconds);
    const bool is_plane = held.pixels.row_pitch != held.pixels.shape.width * held.pixels.shape.channels;
    ASSERT_EQ((Way{is_plane, held.range != nullptr}), way);
  }
  EXPECT_FALSE(held_video->next(held));
  EXPECT_EQ(held.keep, nullptr) << "the end holds nothing";
  EXPECT_EQ(count, frames);
  EXPECT_EQ(held_video->damage(), frame_video->damage());
}

class LumaPlanes : public ::testing::Test {  // which print nothing
 protected:
  void SetUp() override { testing::internal::CaptureStderr(); }
  void TearDown() override { EXPECT_EQ(testing::internal::GetCapturedStderr(), ""); }
  Scratch scratch;
};

TEST_F(LumaPlanes, TheCheckFindsAWrongTableAndAWrongByte) {
  const fs::path path = scratch / "a.mkv";
  ASSERT_TRUE(encode_clip(path, {}, 1));
  const auto held_video = open_video(path), frame_video = open_video(path);
  LumaFrame held;
  Frame frame;
  ASSERT_TRUE(held_video->next(held) && frame_video->next(frame));
  ASSERT_NE(held.range, nullptr);
  EXPECT_EQ(differences(held, frame), 0);
  auto wrong = *held.range;
  wrong[static_cast<const std::uint8_t*>(held.pixels.row(49))[129]] ^= 1;
  const auto* right = std::exchange(held.range, &wrong);
  EXPECT_GT(differences(held, frame), 0);
  held.range = nullptr;
  EXPECT_GT(differences(held, frame), 0);
  held.range = right;
  frame.pixels.as<std::uint8_t>()[130 * 50 - 1] ^= 1;
  EXPECT_EQ(differences(held, frame), 1);
}

TEST_F(LumaPlanes, TheShippedClips) {
  ASSERT_EQ(open_video(clip)->width() % 64, 0) << "its rows need no padding";
  const auto held_video = open_video(clip), frame_video = open_video(clip);
  LumaFrame held;
  Frame frame;
  int count = 0;
  for (; frame_video->next(frame) && held_video->next(held); ++count) ASSERT_EQ(differences(held, frame), 0) << count;
  EXPECT_EQ(count, 285);
  expect_same(files / "bframes.mp4", ranged, 20);
  expect_same(files / "rgb.mkv", converted, 3);
}

TEST_F(LumaPlanes, PixelFormatsAndRanges) {
  struct Case {
    const char *encoder, *file;
    AVPixelFormat format;
    AVColorRange range;
    AVColorSpace space;
    Way way;
  };
  constexpr AVColorRange none = AVCOL_RANGE_UNSPECIFIED, limited = AVCOL_RANGE_MPEG, full = AVCOL_RANGE_JPEG;
  constexpr AVColorSpace any = AVCOL_SPC_UNSPECIFIED, bt709 = AVCOL_SPC_BT709, bt2020 = AVCOL_SPC_BT2020_NCL;
  const Case cases[] = {
      {"ffv1", "a.mkv", AV_PIX_FMT_YUV420P, none, any, ranged},
      {"ffv1", "a.mkv", AV_PIX_FMT_YUV420P, limited, bt709, ranged},
      {"ffv1", "a.mkv", AV_PIX_FMT_YUV420P, full, bt709, plane},
      {"ffv1", "a.mkv", AV_PIX_FMT_YUV422P, limited, bt2020, ranged},
      {"ffv1", "a.mkv", AV_PIX_FMT_YUV444P, limited, any, ranged},
      {"ffv1", "a.mkv", AV_PIX_FMT_YUV444P, full, any, plane},
      {"ffv1", "a.mkv", AV_PIX_FMT_YUV411P, limited, any, ranged},
      {"ffv1", "a.mkv", AV_PIX_FMT_YUV440P, none, any, ranged},
      {"ffv1", "a.mkv", AV_PIX_FMT_YUVA420P, limited, any, ranged},
      {"ffv1", "a.mkv", AV_PIX_FMT_GRAY8, full, any, plane},
      {"ffv1", "a.mkv", AV_PIX_FMT_YUV420P10LE, limited, any, converted},
      {"ffv1", "a.mkv", AV_PIX_FMT_GRAY16LE, full, any, converted},
      {"ffv1", "a.mkv", AV_PIX_FMT_BGR0, none, any, converted},
      {"libx264", "a.mp4", AV_PIX_FMT_YUV420P, limited, bt709, ranged},
      {"libx264", "a.mp4", AV_PIX_FMT_YUV420P, full, bt709, plane},
      {"libx264", "a.mp4", AV_PIX_FMT_YUV422P, none, any, ranged},
      {"mpeg4", "a.avi", AV_PIX_FMT_YUV420P, none, any, ranged},
      {"mjpeg", "a.avi", AV_PIX_FMT_YUVJ420P, full, any, plane},
      {"mjpeg", "a.avi", AV_PIX_FMT_YUVJ444P, full, any, plane},
      {"huffyuv", "a.avi", AV_PIX_FMT_YUV422P, none, any, ranged},
      {"rawvideo", "a.nut", AV_PIX_FMT_YUYV422, none, any, converted},
      {"rawvideo", "a.nut", AV_PIX_FMT_YA8, none, any, converted},
      {"rawvideo", "a.nut", AV_PIX_FMT_RGB24, none, any, converted},
      {"rawvideo", "a.nut", AV_PIX_FMT_MONOWHITE, none, any, converted},
  };
  int seen = 0;
  for (const Case& c : cases) {
    ClipOptions options;
    options.encoder = c.encoder;
    options.format = c.format;
    options.range = c.range;
    options.space = c.space;
    SCOPED_TRACE(std::string(c.encoder) + " " + av_get_pix_fmt_name(c.format) + " range " + std::to_string(c.range));
    const fs::path path = scratch / c.file;
    if (!encode_clip(path, options, 7)) continue;  // a FFmpeg without it
    ++seen;
    expect_same(path, c.way, options.frames);
  }
  EXPECT_GE(seen, 18) << "of " << std::size(cases);
}

// Luma is the stream's own, whatever its matrix and its chroma: 0..255 of 16..235, or as it is.
TEST_F(LumaPlanes, TheMatrixLeavesLumaAlone) {
  for (const AVColorSpace space : {AVCOL_SPC_UNSPECIFIED, AVCOL_SPC_SMPTE170M, AVCOL_SPC_BT709, AVCOL_SPC_BT2020_NCL})
    for (const AVColorRange range : {AVCOL_RANGE_MPEG, AVCOL_RANGE_JPEG}) {
      SCOPED_TRACE(std::string(av_color_space_name(space)) + " " + av_color_range_name(range));
      ClipOptions options;
      options.space = space;
      options.range = range;
      options.frames = 1;
      std::vector<std::uint8_t> drawn;
      const fs::path path = scratch / "a.mkv";
      ASSERT_TRUE(encode_clip(path, options, 0, [&](AVFrame& frame, int) {
        std::uint64_t state = 11;
        test::fill_randomly(frame, state);
        for (int y = 0; y < 50; ++y)
          drawn.insert(drawn.end(), frame.data[0] + y * frame.linesize[0], frame.data[0] + y * frame.linesize[0] + 130);
      }));
      Frame frame;
      ASSERT_TRUE(open_video(path)->next(frame));
      for (std::size_t i = 0; i < drawn.size(); ++i) {
        const double wide =
            range == AVCOL_RANGE_JPEG ? drawn[i] : std::clamp((drawn[i] - 16) * 255 / 219.0, 0.0, 255.0);
        ASSERT_NEAR(frame.pixels.as<std::uint8_t>()[i], wide, range == AVCOL_RANGE_JPEG ? 0 : 1) << i;
      }
    }
}

// Widths whose last columns swscale takes by other loops, and semi-planar formats: raw, so that a decoder's rows are
// those of the file and may be unpadded.
TEST_F(LumaPlanes, OddWidthsAndSemiPlanarFormats) {
  for (const AVPixelFormat format :
       {AV_PIX_FMT_NV12, AV_PIX_FMT_NV21, AV_PIX_FMT_YUV420P, AV_PIX_FMT_GRAY8, AV_PIX_FMT_P010LE})
    for (const int width : {1, 2, 3, 7, 16, 17, 31, 33, 100, 257, 1001}) {
      SCOPED_TRACE(std::string(av_get_pix_fmt_name(format)) + " " + std::to_string(width));
      ClipOptions options;
      options.encoder = "rawvideo";
      options.format = format;
      options.width = width;
      options.height = 6;
      options.frames = 2;
      const fs::path path = scratch / "a.nut";
      ASSERT_TRUE(encode_clip(path, options, static_cast<std::uint64_t>(width)));
      const auto held_video = open_video(path), frame_video = open_video(path);
      LumaFrame held;
      Frame frame;
      for (int n = 0; n < 2; ++n) {
        ASSERT_TRUE(held_video->next(held) && frame_video->next(frame));
        ASSERT_EQ(differences(held, frame), 0);
      }
      EXPECT_EQ(held.range != nullptr, format != AV_PIX_FMT_GRAY8 && format != AV_PIX_FMT_P010LE);
    }
}

TEST_F(LumaPlanes, ChannelsAndFoldersAreConverted) {
  const fs::path path = scratch / "a.mkv";
  ASSERT_TRUE(encode_clip(path, {}, 3));
  ReadOptions options;
  options.colour = Colour::all;
  expect_same(path, converted, 4, options);
  options.colour = Colour::channel;
  expect_same(path, converted, 4, options);
  fs::remove(path);
  Array picture(Shape{6, 4}, Type::u8);
  for (int i = 0; i < 3; ++i) {
    std::memset(picture.data(), 40 + i, picture.bytes());
    write_picture(scratch / (std::to_string(i) + ".png"), picture.view());
  }
  expect_same(scratch.path(), converted, 3);
}

// Frames that a consumer holds while later ones are decoded, on another thread, and after the Video is gone.
TEST_F(LumaPlanes, HeldFramesOutliveLaterFramesAndTheVideo) {
  ClipOptions lossless, rgb;
  lossless.frames = rgb.frames = 12;
  rgb.format = AV_PIX_FMT_BGR0;
  const fs::path plain = scratch / "p.mkv", other = scratch / "c.mkv";
  ASSERT_TRUE(encode_clip(plain, lossless, 5) && encode_clip(other, rgb, 6));
  for (const fs::path& path : {plain, other, files / "bframes.mp4"}) {
    SCOPED_TRACE(path.string());
    std::deque<LumaFrame> held;
    std::vector<std::thread> readers;
    std::vector<std::uint64_t> sums(20);
    {
      const auto video = open_video(path);
      for (LumaFrame frame; video->next(frame);) {
        held.push_back(frame);
        if (held.size() > 5) {  // another thread reads and drops the oldest
          readers.emplace_back([&sums, old = std::move(held.front())]() mutable {
            for (std::int64_t y = 0; y < old.pixels.shape.height; ++y)
              sums[static_cast<std::size_t>(old.number)] += static_cast<const std::uint8_t*>(old.pixels.row(y))[0];
            old.keep.reset();
          });
          held.pop_front();
        }
      }
    }
    for (std::thread& reader : readers) reader.join();
    const auto video = open_video(path);
    const std::int64_t first_held = held.front().number;
    for (Frame frame; video->next(frame);) {
      if (frame.number < first_held) continue;
      ASSERT_EQ(held.front().number, frame.number);
      ASSERT_EQ(differences(held.front(), frame), 0) << frame.number;
      held.pop_front();
    }
    EXPECT_TRUE(held.empty());
  }
}

// The converted pixels of dropped frames come again at the same place: no memory for each frame.
TEST_F(LumaPlanes, BuffersAreUsedAgain) {
  ClipOptions options;
  options.format = AV_PIX_FMT_BGR0;
  options.frames = 10;
  const fs::path path = scratch / "a.mkv";
  ASSERT_TRUE(encode_clip(path, options, 9));
  const auto video = open_video(path);
  LumaFrame older, frame;
  std::vector<const void*> places;
  while (video->next(frame)) {
    places.push_back(frame.pixels.data);
    older = frame;  // the one before is dropped, this one is held
  }
  ASSERT_EQ(places.size(), 10u);
  EXPECT_NE(places[0], places[1]) << "the first was held while the second was made";
  for (std::size_t i = 2; i < places.size(); ++i) EXPECT_EQ(places[i], places[i - 2]);
}

}  // namespace
}  // namespace areal::media
