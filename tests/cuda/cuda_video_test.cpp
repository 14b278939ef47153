// Videos that NVDEC decodes into a GPU's memory: bytes and rows of the CPU's decoder. Clips are encoded here; those of
// the folder AREAL_CLIPS, where it is set, are read as well.
#include <algorithm>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <areal/sequence.hpp>
#include <cstring>
#include <deque>
#include <thread>
#include "cuda/device.hpp"
#include "encoded_clip.hpp"
#include "media/media.hpp"
#include "scratch.hpp"

namespace areal::media {
namespace {

using test::bytes_in;
using test::ClipOptions;
using test::Scratch;

// A texture that moves, with noise.
void draw(AVFrame& frame, int n) {
  for (int plane = 0; plane < 3; ++plane) {
    const int shift = plane ? 1 : 0;
    for (int y = 0; y < frame.height >> shift; ++y)
      for (int x = 0; x < frame.width >> shift; ++x) {
        const auto at = static_cast<std::uint32_t>((x + 3 * n) / 4 * 7919 + (y + n) / 4 * 104729 + plane);
        const auto noise = static_cast<std::uint32_t>(x * 31 + y * 57 + n * 101) * 2654435761u >> 29;
        frame.data[plane][y * frame.linesize[plane] + x] =
            static_cast<std::uint8_t>(16 + (at * 2654435761u >> 25) + noise);
      }
  }
}

struct Case {
  const char* name;
  int width, height, frames, b_frames;
  const char* options;
  AVColorRange range = AVCOL_RANGE_MPEG;
  const char* encoder = "libx264";
};
constexpr Case cases[] = {
    {"small", 130, 50, 40, 0, "preset=ultrafast:tune=zerolatency"},
    {"hd", 1920, 1080, 25, 2, "preset=veryfast"},
    {"odd macroblocks", 1918, 1078, 10, 3, "preset=veryfast"},
    {"baseline", 320, 240, 40, 0, "preset=veryfast:profile=baseline"},
    {"main", 352, 288, 40, 3, "preset=medium:profile=main"},
    {"many references", 256, 256, 60, 4, "preset=veryfast:x264-params=ref=12:b-pyramid=normal:scenecut=0"},
    {"slices", 640, 480, 20, 1, "preset=veryfast:x264-params=slices=7"},
    {"fields", 720, 576, 30, 2, "preset=veryfast:x264-params=interlaced=1"},
    {"fine", 400, 304, 20, 2, "preset=veryfast:qp=4"},
    {"full range", 400, 304, 20, 2, "preset=veryfast", AVCOL_RANGE_JPEG},
    {"hevc", 416, 240, 20, 2, "preset=ultrafast:x265-params=log-level=none", AVCOL_RANGE_MPEG, "libx265"},
};

class CudaVideo : public testing::Test {
 protected:
  void SetUp() override {
    for (const BackendInfo& row : backends())
      if (row.backend == Backend::cuda && !row.available) GTEST_SKIP() << row.why_not;
    const fs::path path = clip(cases[0]);
    if (path.empty()) GTEST_SKIP() << "this FFmpeg has no libx264";
    const Decoding decoding = open_video(path, {.decode_on = 0})->decoding();
    if (!decoding.device) GTEST_SKIP() << decoding.why_not;
  }

  // An empty path where this FFmpeg lacks the encoder.
  fs::path clip(const Case& of, const char* extension = ".mp4") {
    ClipOptions options;
    options.encoder = of.encoder;
    options.width = of.width;
    options.height = of.height;
    options.frames = of.frames;
    options.b_frames = of.b_frames;
    options.key_every = 24;
    options.range = of.range;
    options.format = of.range == AVCOL_RANGE_JPEG ? AV_PIX_FMT_YUVJ420P : AV_PIX_FMT_YUV420P;
    options.private_options = of.options;
    const fs::path path = scratch / (std::string("clip") + extension);
    return test::encode_clip(path, options, 0, draw) ? path : fs::path();
  }

  Scratch scratch;
};

std::string plane_of(const LumaFrame& frame) {
  const ConstView& pixels = frame.pixels;
  const auto bytes = static_cast<std::size_t>((pixels.shape.height - 1) * pixels.row_pitch + pixels.shape.width);
  std::string all(bytes, '\0');
  if (pixels.memory.is_host()) {
    std::memcpy(all.data(), pixels.data, bytes);
  } else {
    const cuda::DeviceScope scope(pixels.memory.device);
    const cuda::OwnedStream stream;  // which waits for no other
    cuda::copy_out(all.data(), pixels.data, bytes, stream.get());
    stream.synchronize();
  }
  std::string rows;
  for (std::int64_t y = 0; y < pixels.shape.height; ++y)
    rows.append(all, static_cast<std::size_t>(y * pixels.row_pitch), static_cast<std::size_t>(pixels.shape.width));
  return rows;
}

// Every frame, its number, time and range.
void expect_same_planes(const fs::path& path) {
  const auto there = open_video(path, {.decode_on = 0}), here = open_video(path);
  ASSERT_EQ(there->decoding().device, 0) << there->decoding().why_not;
  LumaFrame frame, expected;
  std::int64_t count = 0;
  for (; here->next(expected); ++count) {
    ASSERT_TRUE(there->next(frame)) << count;
    ASSERT_EQ(frame.pixels.memory, (MemoryPlace{MemoryPlace::cuda, 0}));
    ASSERT_EQ(frame.pixels.shape, expected.pixels.shape);
    ASSERT_TRUE(plane_of(frame) == plane_of(expected)) << "frame " << count;
    ASSERT_EQ(frame.number, expected.number);
    ASSERT_EQ(frame.seconds, expected.seconds);
    ASSERT_EQ(frame.range == nullptr, expected.range == nullptr);
    if (frame.range) {
      ASSERT_EQ(*frame.range, *expected.range);
    }
  }
  EXPECT_FALSE(there->next(frame));
  EXPECT_EQ(there->damage(), here->damage());
  EXPECT_GT(count, 0);
}

TEST_F(CudaVideo, PlanesAreTheCpusByteForByte) {
  for (const Case& of : cases) {
    SCOPED_TRACE(of.name);
    if (const fs::path path = clip(of); !path.empty()) expect_same_planes(path);
  }
  const char* const folder = std::getenv("AREAL_CLIPS");
  for (const auto& entry : folder ? fs::directory_iterator(folder) : fs::directory_iterator()) {
    SCOPED_TRACE(entry.path().string());
    expect_same_planes(entry.path());
  }
}

TEST_F(CudaVideo, TheCheckCanFail) {
  const auto here = open_video(clip(cases[1]));
  LumaFrame first, second;
  ASSERT_TRUE(here->next(first) && here->next(second));
  EXPECT_FALSE(plane_of(first) == plane_of(second));
}

using Rows = std::vector<std::vector<std::vector<std::uint64_t>>>;  // of streams, frames, regions x bins

// 100 boxes that move, and the whole frame.
Rows rows_of(const fs::path& path, int streams, const SequenceOptions& options, std::optional<int> decode_on) {
  std::vector<std::unique_ptr<Video>> videos;
  for (int i = 0; i < streams; ++i)
    videos.push_back(open_video(path, {.decode_on = decode_on, .most_held = options.slots + 1}));
  const std::int64_t width = videos[0]->width(), height = videos[0]->height();
  HistogramSequence sequence({width, height}, Type::u8, Binning::uniform(32, 0, 256), options);
  std::size_t turn = 0, ended = 0;
  const auto source = [&](const View&, areal::Frame& frame) {
    for (; ended < videos.size(); ++ended) {
      const std::size_t stream = turn++ % videos.size();
      LumaFrame read;
      if (!videos[stream]->next(read)) continue;  // all are as long
      frame.stream = static_cast<int>(stream);
      frame.number = read.number;
      frame.pixels = read.pixels;
      frame.levels = read.range ? read.range->data() : nullptr;
      frame.keep = read.keep;
      return true;
    }
    return false;
  };
  const auto regions = [&](const areal::Frame& frame, std::vector<Region>& out) {
    out.push_back({0, 0, width, height});
    for (std::int64_t i = 0; i < 100; ++i)
      out.push_back({(i * 37 + frame.number * 3) % (width - 20), (i * 53 + frame.number * 5) % (height - 20), 20, 20});
  };
  Rows rows(videos.size());
  sequence.run(source, regions, [&](const FrameAnswer& answer) {
    rows[static_cast<std::size_t>(answer.frame.stream)].emplace_back(answer.counts.begin(), answer.counts.end());
    return true;
  });
  return rows;
}

TEST_F(CudaVideo, RowsAreTheCpusByteForByte) {
  for (const Case& of : {cases[0], cases[1], cases[9]}) {
    SCOPED_TRACE(of.name);
    const fs::path path = clip(of);
    const Rows expected = rows_of(path, 1, {}, std::nullopt);
    ASSERT_EQ(expected[0].size(), static_cast<std::size_t>(of.frames));
    for (const int slots : {1, 3, 8, 24}) {
      const Rows rows = rows_of(path, 1, {.workers = workers_named("0"), .slots = slots}, 0);
      EXPECT_TRUE(rows == expected) << slots << " slots";
    }
    // Beside other workers the frames go to the device that they lie on.
    EXPECT_TRUE(rows_of(path, 1, {.workers = workers_named("cpu:2,0")}, 0) == expected);
  }
}

TEST_F(CudaVideo, SevenStreamsAtOnce) {
  const fs::path path = clip(cases[1]);
  const Rows expected = rows_of(path, 1, {}, std::nullopt);
  const Rows rows = rows_of(path, 7, {.workers = workers_named("0")}, 0);
  ASSERT_EQ(rows.size(), 7u);
  for (const auto& of_stream : rows) EXPECT_TRUE(of_stream == expected[0]);
}

TEST_F(CudaVideo, FramesAreHeldAndOutliveTheVideo) {
  const fs::path path = clip(cases[1]);
  std::vector<std::string> expected;
  {
    const auto here = open_video(path);
    for (LumaFrame frame; here->next(frame);) expected.push_back(plane_of(frame));
  }
  std::deque<LumaFrame> held;
  std::size_t next = 0;
  {
    const auto there = open_video(path, {.decode_on = 0, .most_held = 12});
    ASSERT_EQ(there->decoding().device, 0);
    for (LumaFrame frame; there->next(frame); ++next) {
      held.push_back(std::move(frame));
      if (held.size() < 12) continue;
      // The oldest was written 11 frames ago; another thread drops it.
      EXPECT_TRUE(plane_of(held.front()) == expected[static_cast<std::size_t>(held.front().number)]) << next;
      std::thread([old = std::move(held.front())]() mutable { old.keep.reset(); }).join();
      held.pop_front();
    }
  }
  EXPECT_EQ(next, expected.size());
  EXPECT_EQ(held.size(), 11u);
  for (const LumaFrame& frame : held)
    EXPECT_TRUE(plane_of(frame) == expected[static_cast<std::size_t>(frame.number)]) << frame.number;
}

TEST_F(CudaVideo, AVideoThatIsCutEndsAsOnTheCpu) {
  const std::string whole = bytes_in(clip(cases[4], ".mkv"));
  for (const double part : {0.35, 0.8}) {
    SCOPED_TRACE(part);
    const fs::path path =
        scratch.write("cut.mkv", whole.substr(0, static_cast<std::size_t>(part * static_cast<double>(whole.size()))));
    EXPECT_NE(open_video(path, {.decode_on = 0})->decoding().device, std::nullopt);
    expect_same_planes(path);
    const auto there = open_video(path, {.decode_on = 0});
    for (LumaFrame frame; there->next(frame);) {
    }
    EXPECT_NE(there->damage(), "");
  }
}

// NVDEC conceals what is damaged inside a picture, and says nothing: the frames before it are whole, and the run ends.
TEST_F(CudaVideo, FlippedBytesHarmNoFrameBefore) {
  const fs::path path = clip(cases[3], ".avi");  // whose frames are in the order of decoding
  std::vector<std::string> expected;
  {
    const auto here = open_video(path);
    for (LumaFrame frame; here->next(frame);) expected.push_back(plane_of(frame));
  }
  std::string bytes = bytes_in(path);
  const std::size_t hit = bytes.size() * 6 / 10;
  for (std::size_t i = 0; i < 64; ++i) bytes[hit + i] = static_cast<char>(bytes[hit + i] ^ 0x5a);
  const fs::path broken = scratch.write("broken.avi", bytes);
  const auto here = open_video(broken), there = open_video(broken, {.decode_on = 0});
  ASSERT_EQ(there->decoding().device, 0);
  LumaFrame frame;
  std::size_t whole = 0;
  while (here->next(frame) && plane_of(frame) == expected[whole]) ++whole;
  EXPECT_GT(whole, 10u);
  std::size_t count = 0;
  for (; there->next(frame); ++count)
    if (count < whole) {
      ASSERT_TRUE(plane_of(frame) == expected[count]) << count;
    }
  EXPECT_GE(count, whole);
}

}  // namespace
}  // namespace areal::media
