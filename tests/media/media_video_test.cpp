// Video through the plug-in: every frame once and in order, time stamps, colours, damage; folders of pictures.
#include <dlfcn.h>
#include <sys/inotify.h>
#include <unistd.h>
#include <algorithm>
#include <areal/error.hpp>
#include <array>
#include <cmath>
#include <cstring>
#include "media/media.hpp"
#include "scratch.hpp"

namespace areal::media {
namespace {

using test::bytes_in;
using test::expect_sentence;
using test::Scratch;
const fs::path source = AREAL_SOURCE_DIR;
const fs::path clip = source / "data/vtest.avi", files = source / "tests/files";

std::uint64_t digest(const Array& a) {  // FNV-1a
  std::uint64_t h = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < a.bytes(); ++i) h = (h ^ static_cast<const unsigned char*>(a.data())[i]) * 0x100000001b3u;
  return h;
}

struct Seen {
  std::vector<std::uint64_t> frames;  // a digest of each
  std::vector<double> seconds;
  std::vector<int> first_bytes;
  std::string damage;
};
Seen watch(const fs::path& path, const ReadOptions& options = {}) {
  Seen out;
  const auto video = open_video(path, options);
  Frame frame;
  while (video->next(frame)) {
    EXPECT_EQ(frame.number, static_cast<std::int64_t>(out.frames.size()));
    EXPECT_EQ(frame.pixels.shape().width, video->width());
    EXPECT_EQ(frame.pixels.shape().height, video->height());
    out.frames.push_back(digest(frame.pixels));
    out.seconds.push_back(frame.seconds);
    out.first_bytes.push_back(frame.pixels.as<std::uint8_t>()[0]);
  }
  EXPECT_FALSE(video->next(frame)) << "the end stays the end";
  out.damage = video->damage();
  return out;
}
bool begins_like(const Seen& part, const Seen& whole) {
  return part.frames.size() <= whole.frames.size() &&
         std::equal(part.frames.begin(), part.frames.end(), whole.frames.begin());
}

// One video with raw frames (YUV4MPEG2): an oracle without a codec.
std::string y4m(const char* colours, const std::vector<std::string>& frames) {
  std::string out = std::string("YUV4MPEG2 W4 H2 F5:1 Ip A1:1 ") + colours + "\n";
  for (const std::string& frame : frames) out += "FRAME\n" + frame;
  return out;
}

class Videos : public ::testing::Test {  // which print nothing
 protected:
  void SetUp() override { testing::internal::CaptureStderr(); }
  void TearDown() override { EXPECT_EQ(testing::internal::GetCapturedStderr(), ""); }
  Scratch scratch;
};

TEST_F(Videos, TheShippedClip) {
  const auto video = open_video(clip);
  EXPECT_EQ(video->width(), 768);
  EXPECT_EQ(video->height(), 576);
  EXPECT_EQ(video->frames_per_second(), 10);
  EXPECT_EQ(video->frame_count(), 285);
  const Seen seen = watch(clip);
  ASSERT_EQ(seen.frames.size(), 285u);
  EXPECT_EQ(seen.damage, "");
  for (std::size_t i = 0; i < 285; ++i) EXPECT_NEAR(seen.seconds[i], static_cast<double>(i) / 10, 1e-9);
  // It is a camera: no two neighbouring frames are equal, so none came twice.
  for (std::size_t i = 1; i < 285; ++i) EXPECT_NE(seen.frames[i], seen.frames[i - 1]) << i;
}

TEST_F(Videos, PresentationOrderAndTheLastFrames) {
  for (const char* name : {"bframes.mp4", "bframes.mkv"}) {
    SCOPED_TRACE(name);
    const Seen seen = watch(files / name);
    ASSERT_EQ(seen.frames.size(), 20u) << "what the decoder held at the end is there, too";
    for (int i = 0; i < 20; ++i) {
      // Luma 16 + 10 i of limited range.
      EXPECT_NEAR(seen.first_bytes[static_cast<std::size_t>(i)], i * 10 * 255 / 219.0, 3) << i;
      EXPECT_NEAR(seen.seconds[static_cast<std::size_t>(i)], i / 25.0, 0.001);
    }
    EXPECT_TRUE(std::is_sorted(seen.first_bytes.begin(), seen.first_bytes.end()));
  }
}

// Threads of this process.
std::int64_t count_threads() { return std::distance(fs::directory_iterator("/proc/self/task"), {}); }

TEST_F(Videos, AnyNumberOfThreadsDecodesTheSame) {
  const std::int64_t alone = count_threads();
  const Seen seen = watch(files / "bframes.mp4");
  for (const int threads : {1, 2, 5}) {
    ReadOptions options;
    options.threads = threads;
    const Seen other = watch(files / "bframes.mp4", options);
    EXPECT_EQ(other.frames, seen.frames) << threads;
    EXPECT_EQ(other.seconds, seen.seconds) << threads;
    const auto video = open_video(files / "bframes.mp4", options);
#ifndef __SANITIZE_THREAD__  // there it is always one
    EXPECT_EQ(count_threads() - alone, threads == 1 ? 0 : threads);
#endif
  }
  ReadOptions negative;
  negative.threads = -1;
  expect_sentence<InvalidArgument>(clip, "-1 threads", [&] { open_video(clip, negative); });
}

TEST_F(Videos, WithoutADriverTheCpuDecodes) {
  if (::dlopen("libcuda.so.1", RTLD_NOW)) GTEST_SKIP() << "there is a driver";
  ReadOptions options;
  options.decode_on = 0;
  const auto video = open_video(files / "bframes.mp4", options);
  EXPECT_EQ(video->decoding().device, std::nullopt);
  EXPECT_EQ(video->decoding().why_not, "there is no NVIDIA driver (libcuda.so.1)");
  EXPECT_FALSE(video->decoding().is_format);
  EXPECT_EQ(watch(files / "bframes.mp4", options).frames, watch(files / "bframes.mp4").frames);
  EXPECT_EQ(open_video(clip, options)->decoding().why_not,
            "it is coded as msmpeg4v3, and NVDEC is used for h264 and hevc");
}

TEST_F(Videos, LumaIsOfFullRange) {
  const std::string luma = "\x10\xeb\x7d\x7e\x10\xff\xfe\x80", chroma(4, '\x80');
  Frame frame;
  auto limited = open_video(scratch.write("l.y4m", y4m("C420mpeg2", {luma + chroma})));
  ASSERT_TRUE(limited->next(frame));
  EXPECT_EQ(frame.pixels.shape(), (Shape{4, 2}));
  for (int i = 0; i < 8; ++i) {
    const double wide = std::clamp((static_cast<unsigned char>(luma[i]) - 16) * 255 / 219.0, 0.0, 255.0);
    EXPECT_NEAR(frame.pixels.as<std::uint8_t>()[i], wide, 1) << i;
  }
  EXPECT_EQ(frame.pixels.as<std::uint8_t>()[0], 0);
  EXPECT_EQ(frame.pixels.as<std::uint8_t>()[1], 255);
  auto grey = open_video(scratch.write("g.y4m", y4m("Cmono", {luma, std::string(8, 'x')})));
  ASSERT_TRUE(grey->next(frame));
  EXPECT_EQ(std::memcmp(frame.pixels.data(), luma.data(), 8), 0) << "already full range";
  ASSERT_TRUE(grey->next(frame));
  EXPECT_EQ(std::memcmp(frame.pixels.data(), "xxxxxxxx", 8), 0);
  EXPECT_DOUBLE_EQ(frame.seconds, 0.2);
}

TEST_F(Videos, RgbAllOfItOneOfItOrItsLuma) {
  ReadOptions all, green;
  all.colour = Colour::all;
  green.colour = Colour::channel;
  green.channel = 1;
  const auto a = open_video(files / "rgb.mkv", all), g = open_video(files / "rgb.mkv", green);
  const auto l = open_video(files / "rgb.mkv");
  Frame rgb, one, luma;
  for (int n = 0; n < 3; ++n) {
    ASSERT_TRUE(a->next(rgb) && g->next(one) && l->next(luma));
    ASSERT_EQ(rgb.pixels.shape(), (Shape{16, 12, 3}));
    ASSERT_EQ(one.pixels.shape(), (Shape{16, 12}));
    EXPECT_NEAR(rgb.seconds, n / 4.0, 0.001);
    for (int y = 0; y < 12; ++y)
      for (int x = 0; x < 16; ++x) {
        const std::uint8_t* p = rgb.pixels.as<std::uint8_t>() + (y * 16 + x) * 3;
        ASSERT_EQ(p[0], x * 16);
        ASSERT_EQ(p[1], y * 20);
        ASSERT_EQ(p[2], n * 80);
        ASSERT_EQ(one.pixels.as<std::uint8_t>()[y * 16 + x], y * 20);
        ASSERT_EQ(luma.pixels.as<std::uint8_t>()[y * 16 + x],
                  static_cast<int>((x * 16 * 299 + y * 20 * 587 + n * 80 * 114) / 1000.0 + 0.5));
      }
  }
  green.channel = 3;
  expect_sentence<InvalidArgument>(clip, "a video has 3 channels (R, G, B)", [&] { open_video(clip, green); });
}

TEST_F(Videos, TruncatedGivesTheFramesBeforeAndSaysSo) {
  const Seen whole = watch(clip);
  const std::string bytes = bytes_in(clip);
  for (const double share : {0.2, 0.5, 0.83}) {
    SCOPED_TRACE(share);
    const fs::path path = scratch.write(
        "cut.avi",
        std::string_view(bytes).substr(0, static_cast<std::size_t>(share * static_cast<double>(bytes.size()))));
    const Seen part = watch(path);
    EXPECT_GT(static_cast<double>(part.frames.size()), (share - 0.1) * 285);
    EXPECT_LT(part.frames.size(), 285u);
    EXPECT_TRUE(begins_like(part, whole));
    EXPECT_TRUE(part.damage.starts_with(path.string() + ": is damaged or truncated after " +
                                        std::to_string(part.frames.size()) + " frames"))
        << part.damage;
  }
  Seen wrong = whole;
  wrong.frames[3] ^= 1;  // the comparison can fail
  EXPECT_FALSE(begins_like(whole, wrong));
  // Cut exactly between two packets: only the header's declaration shows it.
  const std::size_t third = bytes.find("00dc", bytes.find("00dc", bytes.find("00dc", bytes.find("movi")) + 4) + 4);
  const Seen two = watch(scratch.write("two.avi", std::string_view(bytes).substr(0, third)));
  EXPECT_EQ(two.frames.size(), 2u);
  EXPECT_NE(two.damage.find("declares 285 frames and holds 2"), std::string::npos) << two.damage;
}

TEST_F(Videos, TruncatedInOtherContainers) {
  for (const char* name : {"bframes.mp4", "bframes.mkv"}) {
    const Seen whole = watch(files / name);
    const std::string bytes = bytes_in(files / name);
    for (const std::size_t missing : {30u, 60u, 110u}) {
      SCOPED_TRACE(std::string(name) + " without its last " + std::to_string(missing));
      const std::size_t length = bytes.size() - missing;
      const fs::path path = scratch.write(name, std::string_view(bytes).substr(0, length));
      const Seen part = watch(path);
      EXPECT_GT(part.frames.size(), 0u);
      EXPECT_LT(part.frames.size(), 20u);
      EXPECT_TRUE(part.damage.starts_with(path.string() + ": is damaged or truncated after ")) << part.damage;
    }
  }
}

TEST_F(Videos, BadFilesAreOneSentence) {
  const auto refused = [&](const char* name, const std::string& bytes, const char* words) {
    const fs::path path = scratch.write(name, bytes);
    expect_sentence<IoError>(path, words, [&] { open_video(path); });
  };
  expect_sentence<IoError>(scratch / "none.avi", "no such file", [&] { open_video(scratch / "none.avi"); });
  expect_sentence<IoError>("http://localhost/a.avi", "no such file", [&] { open_video("http://localhost/a.avi"); });
  refused("a.avi", "", "is empty");
  refused("a.avi", "not a video, only words", "is not a video");
  refused("a.txt", std::string(500, 'a') + "\n", "is not a video");  // FFmpeg would draw the text
  refused("a.m3u8", "#EXTM3U\n#EXTINF:1,\n/etc/passwd\n", "is not a video");
  refused("head.avi", bytes_in(clip).substr(0, 2000), "");
  refused("none.y4m", y4m("Cmono", {}), "");
  expect_sentence<IoError>(files / "sound.wav", "is not a video", [&] { open_video(files / "sound.wav"); });
  ReadOptions little;
  little.memory_limit = 1000;
  EXPECT_THROW(open_video(clip, little), Error);
}

// Does `body` open the file?
template <class Body>
bool is_opened(const fs::path& path, const Body& body) {
  const int watch = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  EXPECT_GE(::inotify_add_watch(watch, path.c_str(), IN_OPEN), 0);
  body();
  std::array<char, 4096> events;
  const bool opened = ::read(watch, events.data(), events.size()) > 0;
  ::close(watch);
  return opened;
}

TEST_F(Videos, NoOtherFileIsOpened) {
  const fs::path other = scratch.write("other.avi", bytes_in(clip));
  ASSERT_TRUE(is_opened(other, [&] { open_video(other); }));
  const std::string concat = "ffconcat version 1.0\nfile other.avi\n";
  const std::string hls =
      "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nother.avi\n#EXT-X-ENDLIST\n";
  const std::string dash =
      "<?xml version=\"1.0\"?><MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\" "
      "profiles=\"dash:profile\"><Period>"
      "<AdaptationSet><Representation id=\"0\" mimeType=\"video/mp4\"><BaseURL>other.avi</BaseURL></Representation>"
      "</AdaptationSet></Period></MPD>";
  for (const std::string* text : {&concat, &hls, &dash})
    for (const char* name : {"list.mp4", "list.m3u8", "list.ffconcat", "list.avi"}) {
      SCOPED_TRACE(*text);
      const fs::path list = scratch.write(name, *text);
      EXPECT_FALSE(is_opened(other, [&] {
        expect_sentence<IoError>(list, "is not a video of a format that areal reads", [&] { open_video(list); });
      }));
    }
}

std::string jpeg_of(const Scratch& scratch, std::int64_t width, std::int64_t height, int value) {
  Array picture(Shape{width, height}, Type::u8);
  std::memset(picture.data(), value, picture.bytes());
  write_picture(scratch / "frame.jpg", picture.view());
  const std::string out = bytes_in(scratch / "frame.jpg");
  fs::remove(scratch / "frame.jpg");
  return out;
}

TEST_F(Videos, AChangeOfSizeMidwayIsRefused) {
  const std::string a = jpeg_of(scratch, 64, 48, 50), b = jpeg_of(scratch, 64, 48, 90),
                    c = jpeg_of(scratch, 32, 48, 90);
  EXPECT_EQ(watch(scratch.write("same.mjpeg", a + b + a)).frames.size(), 3u);
  const fs::path path = scratch.write("other.mjpeg", a + b + c);
  const auto video = open_video(path);
  Frame frame;
  EXPECT_TRUE(video->next(frame));
  EXPECT_TRUE(video->next(frame));
  expect_sentence<IoError>(path, "frame 2 is 32x48, but the frames before it are 64x48", [&] { video->next(frame); });
}

TEST_F(Videos, DamageInTheMiddleEndsThere) {
  std::string bytes = bytes_in(files / "bframes.mp4");
  const std::size_t data = bytes.find("mdat");
  ASSERT_NE(data, std::string::npos);
  for (std::size_t i = bytes.size() - 200; i < bytes.size() - 100; ++i) bytes[i] = static_cast<char>(0xa5 ^ i);
  const fs::path path = scratch.write("d.mp4", bytes);
  const Seen part = watch(path);
  EXPECT_LT(part.frames.size(), 20u);
  EXPECT_TRUE(part.damage.starts_with(path.string() + ": is damaged")) << part.damage;
}

TEST_F(Videos, AFolderOfPicturesInNaturalOrder) {
  Array picture(Shape{6, 4}, Type::u8);
  const char* names[] = {"f1.png", "f2.png", "f10.png", "f011.png", "g1.PNG"};
  for (int i = 4; i >= 0; --i) {
    std::memset(picture.data(), 10 * i, picture.bytes());
    write_picture(scratch / names[i], picture.view());
  }
  scratch.write("notes.txt", "not a picture");
  scratch.write(".hidden.png", "not a picture");
  const auto video = open_video(scratch.path());
  EXPECT_EQ(video->frame_count(), 5);
  EXPECT_EQ(video->frames_per_second(), 0);
  EXPECT_EQ(watch(scratch.path()).first_bytes, (std::vector<int>{0, 10, 20, 30, 40}));

  // A broken picture is damage after the frames before it; another size is refused.
  const fs::path broken = scratch.write("f3.png", "not a picture");
  const Seen part = watch(scratch.path());
  EXPECT_EQ(part.first_bytes, (std::vector<int>{0, 10}));
  EXPECT_TRUE(part.damage.starts_with(broken.string() + ": is not a picture")) << part.damage;
  write_picture(broken, Array(Shape{6, 5}, Type::u8).view());
  const auto refused_as = [&](const char* sentence) {
    expect_sentence<IoError>(broken, sentence, [&] { watch(scratch.path()); });
  };
  refused_as("is 6x5, but the folder's first picture is 6x4");
  // What is alike is not named.
  write_picture(broken, Array(Shape{6, 4}, Type::u16).view());
  refused_as("is of 16u, but the folder's first picture is of 8u");
  const Scratch empty;
  expect_sentence<IoError>(empty.path(), "the folder holds no picture", [&] { open_video(empty.path()); });
}

}  // namespace
}  // namespace areal::media
