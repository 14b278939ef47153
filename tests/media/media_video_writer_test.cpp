// Videos that are written: read back they are close, their frames are counted, and what fails leaves nothing.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmath>
#include <random>
#include "media/media.hpp"
#include "scratch.hpp"

namespace areal::media {
namespace {

using test::expect_sentence;
using test::Scratch;

// Frame n: smooth colours that move, of one or three channels.
Array drawn(std::int64_t width, std::int64_t height, int channels, int n) {
  Array out(Shape{width, height, channels}, Type::u8);
  std::uint8_t* to = out.as<std::uint8_t>();
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) {
        const double wave =
            std::sin(static_cast<double>(x + 3 * n) / (9 + 4 * c)) * std::cos(static_cast<double>(y) / 11);
        *to++ = static_cast<std::uint8_t>(128 + 100 * wave);
      }
  return out;
}

// Of the part that both have.
double psnr(const Array& a, const Array& b) {
  const Shape &s = a.shape(), &t = b.shape();
  double squares = 0;
  for (std::int64_t y = 0; y < s.height; ++y)
    for (std::int64_t i = 0; i < s.width * s.channels; ++i) {
      const double d =
          a.as<std::uint8_t>()[y * s.width * s.channels + i] - b.as<std::uint8_t>()[y * t.width * t.channels + i];
      squares += d * d;
    }
  return 10 *
         std::log10(255.0 * 255.0 * static_cast<double>(s.width * s.height * s.channels) / std::max(squares, 1e-9));
}

class Writers : public ::testing::Test {  // which print nothing
 protected:
  void SetUp() override { testing::internal::CaptureStderr(); }
  void TearDown() override { EXPECT_EQ(testing::internal::GetCapturedStderr(), ""); }
  Scratch scratch;
};

TEST_F(Writers, ReadBackTheFramesAreClose) {
  for (const char* name : {"a.mp4", "a.avi", "a.mkv", "A.MP4"})
    for (const int channels : {1, 3}) {
      SCOPED_TRACE(std::string(name) + ", channels " + std::to_string(channels));
      const fs::path path = scratch / name;
      const auto writer = open_video_writer(path, 96, 64, 12.5);
      for (int n = 0; n < 60; ++n) writer->write(drawn(96, 64, channels, n).view());
      writer->finish();
      ReadOptions options;
      if (channels == 3) options.colour = Colour::all;
      const auto video = open_video(path, options);
      EXPECT_EQ(video->width(), 96);
      EXPECT_EQ(video->height(), 64);
      EXPECT_NEAR(video->frames_per_second(), 12.5, 1e-6);
      Frame frame;
      int count = 0;
      for (; video->next(frame); ++count) {
        EXPECT_GT(psnr(drawn(96, 64, channels, count), frame.pixels), 30) << count;
        EXPECT_LT(psnr(drawn(96, 64, channels, count + 2), frame.pixels), 30) << "the comparison can fail";
        EXPECT_NEAR(frame.seconds, count / 12.5, 0.001);
      }
      EXPECT_EQ(count, 60);
      EXPECT_EQ(video->damage(), "");
    }
}

TEST_F(Writers, OddSizesGrowByOne) {
  const auto writer = open_video_writer(scratch / "a.mp4", 97, 63, 25);
  for (int n = 0; n < 5; ++n) writer->write(drawn(97, 63, 1, n).view());
  writer->finish();
  const auto video = open_video(scratch / "a.mp4");
  EXPECT_EQ(video->width(), 98);
  EXPECT_EQ(video->height(), 64);
  Frame frame;
  int count = 0;
  for (; video->next(frame); ++count) {
    EXPECT_GT(psnr(drawn(97, 63, 1, count), frame.pixels), 30);
    const std::uint8_t* last = frame.pixels.as<std::uint8_t>() + 30 * 98 + 96;
    EXPECT_NEAR(last[0], last[1], 12) << "the last column again";
  }
  EXPECT_EQ(count, 5);
}

// A padded, planar view, and gray beside colour in one video.
TEST_F(Writers, AnyLayout) {
  const Array colour = drawn(96, 64, 3, 1), gray = drawn(96, 64, 1, 2);
  std::vector<std::uint8_t> planes(3 * 64 * 128);
  for (std::size_t y = 0; y < 64; ++y)
    for (std::size_t x = 0; x < 96; ++x)
      for (std::size_t c = 0; c < 3; ++c)
        planes[(c * 64 + y) * 128 + x] = colour.as<std::uint8_t>()[(y * 96 + x) * 3 + c];
  const auto writer = open_video_writer(scratch / "a.mkv", 96, 64, 25);
  writer->write(ConstView(planes.data(), Type::u8, Shape{96, 64, 3, 1, Layout::planar}, 128));
  writer->write(gray.view());
  writer->finish();
  ReadOptions options;
  options.colour = Colour::all;
  const auto video = open_video(scratch / "a.mkv", options);
  Frame frame;
  ASSERT_TRUE(video->next(frame));
  EXPECT_GT(psnr(colour, frame.pixels), 30);
  ASSERT_TRUE(video->next(frame));
  for (std::size_t i = 0; i < 96 * 64; ++i)
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_NEAR(frame.pixels.as<std::uint8_t>()[3 * i + c], gray.as<std::uint8_t>()[i], 24) << i;
}

TEST_F(Writers, CompleteOrAbsent) {
  const fs::path path = scratch.write("a.mp4", "precious");
  {
    const auto writer = open_video_writer(path, 96, 64, 25);
    writer->write(drawn(96, 64, 1, 0).view());
    EXPECT_EQ(test::bytes_in(path), "precious");
  }
  EXPECT_EQ(test::bytes_in(path), "precious");
  EXPECT_EQ(scratch.names().size(), 1u);
  const auto writer = open_video_writer(path, 96, 64, 25);
  expect_sentence<InvalidArgument>(path, "a video without frames", [&] { writer->finish(); });
  expect_sentence<InvalidArgument>(path, "a frame is 64x96, but the video is 96x64",
                                   [&] { writer->write(drawn(64, 96, 1, 0).view()); });
  expect_sentence<InvalidArgument>(path, "a frame is of 8u and has channels: 4",
                                   [&] { writer->write(drawn(96, 64, 4, 0).view()); });
  expect_sentence<InvalidArgument>(path, "a frame is of 16u", [&] {
    writer->write(Array(Shape{96, 64}, Type::u16).view());
  });
  writer->write(drawn(96, 64, 1, 0).view());
  writer->finish();
  writer->finish();
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"a.mp4"});
  expect_sentence<InvalidArgument>(path, "is finished", [&] { writer->write(drawn(96, 64, 1, 0).view()); });
  Frame frame;
  EXPECT_TRUE(open_video(path)->next(frame));
}

TEST_F(Writers, WrongUseIsOneSentence) {
  const auto refused = [&](const char* name, std::int64_t width, std::int64_t height, double rate, const char* words) {
    expect_sentence<InvalidArgument>(scratch / name, words,
                                     [&] { open_video_writer(scratch / name, width, height, rate); });
  };
  refused("a.gif", 4, 4, 25, "must be .mp4, .avi or .mkv");
  refused("a", 4, 4, 25, "must be .mp4, .avi or .mkv");
  refused("a.mp4", 0, 4, 25, "frames of 0x4");
  refused("a.mp4", 4, 20000, 25, "frames of 4x20000");
  refused("a.mp4", 4, 4, 0, "0 frames a second");
  refused("a.mp4", 4, 4, std::nan(""), "frames a second");
  expect_sentence<IoError>(scratch / "none/a.mp4", "its folder does not exist",
                           [&] { open_video_writer(scratch / "none/a.mp4", 4, 4, 25); });
  EXPECT_TRUE(scratch.names().empty());
}

// Where the disk ends, be it at the header, at a frame or at the end: one sentence, and nothing is left.
TEST_F(Writers, NoRoom) {
  for (const char* name : {"a.mp4", "a.avi", "a.mkv"})
    for (const rlim_t room : {rlim_t{10}, rlim_t{20000}, rlim_t{60000}}) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(room));
      const pid_t child = ::fork();
      if (child == 0) {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{room, room};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        int result = 1;
        try {
          const auto writer = open_video_writer(scratch / name, 160, 96, 25);
          std::mt19937 random(1);
          for (int n = 0; n < 30; ++n) {
            Array noise(Shape{160, 96}, Type::u8);
            for (std::size_t i = 0; i < noise.bytes(); ++i)
              noise.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(random());
            writer->write(noise.view());
          }
          writer->finish();
        } catch (const IoError& error) {
          const std::string what = (scratch / name).string() + ": could not be written (File too large)";
          result = error.what() == what ? 0 : 2;
        } catch (...) {
          result = 3;
        }
        ::_exit(result);
      }
      int status = 0;
      ::waitpid(child, &status, 0);
      EXPECT_EQ(WEXITSTATUS(status), 0);
      EXPECT_TRUE(scratch.names().empty());
    }
}

}  // namespace
}  // namespace areal::media
