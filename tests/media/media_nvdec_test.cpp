// ReadOptions::decode_on, without a GPU: FFmpeg's hwaccel on libraries that stand in for the driver's, which paint each
// picture when its stream is waited for. cuda_video_test compares with what the CPU decodes, on a GPU.
#include <dlfcn.h>
#include <algorithm>
#include <areal/error.hpp>
#include <cstring>
#include <deque>
#include <future>
#include <utility>
#include <vector>
#include "build_tree.hpp"
#include "encoded_clip.hpp"
#include "media/media.hpp"
#include "nvdec_stand_in/nvdec_stand_in.hpp"
#include "scratch.hpp"
extern "C" {
#include <libavcodec/bsf.h>
}

namespace areal::media {
namespace {

using test::bytes_in;
using test::ClipOptions;
using test::encode_clip;
using test::NvdecStandIn;
using test::Scratch;

// Opened by their paths, they are what FFmpeg and areal find by their names.
NvdecStandIn& stand_in() {
  static NvdecStandIn* const opened = [] {
    void* const library = ::dlopen(test::of_build("tests/nvdec_stand_in/libcuda.so.1").c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library || !::dlopen(test::of_build("tests/nvdec_stand_in/libnvcuvid.so.1").c_str(), RTLD_NOW | RTLD_GLOBAL))
      throw std::runtime_error(::dlerror());
    return reinterpret_cast<NvdecStandIn* (*)()>(::dlsym(library, "areal_nvdec_stand_in"))();
  }();
  return *opened;
}

class Nvdec : public ::testing::Test {  // which prints nothing
 protected:
  void SetUp() override {
    testing::internal::CaptureStderr();
    NvdecStandIn& of = stand_in();
    of.refuses_decoders = of.never_writes = false;
    of.fails_at_map = -1;
    of.maps = of.most_mapped = of.wrong = 0;
  }
  void TearDown() override {
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    const NvdecStandIn& of = stand_in();
    EXPECT_EQ(of.wrong, 0);
    EXPECT_EQ(of.mapped, 0);
    EXPECT_EQ(of.decoders, 0);
    EXPECT_EQ(of.events, 0);
    EXPECT_EQ(of.streams, 0);
    EXPECT_EQ(of.contexts, 0);
  }

  fs::path clip(const std::string& name, ClipOptions options = of_x264()) {
    const fs::path path = scratch / name;
    EXPECT_TRUE(encode_clip(path, options, 20261122)) << "no encoder " << options.encoder;
    return path;
  }
  static ClipOptions of_x264() {
    ClipOptions options;
    options.encoder = "libx264";
    options.frames = 30;
    options.key_every = 100;
    options.b_frames = 2;
    options.range = AVCOL_RANGE_MPEG;
    options.private_options = "preset=veryfast:x264-params=scenecut=0:crf=30";
    return options;
  }
  static std::unique_ptr<Video> open(const fs::path& path, ReadOptions options = {}) {
    if (!options.decode_on) options.decode_on = 0;
    return open_video(path, options);
  }

  Scratch scratch;
};

// Bytes that are not those painted for the frame, whose column 0 and row 0 are these of the coded picture.
std::int64_t differences(const LumaFrame& frame, std::int64_t left = 0, std::int64_t top = 0) {
  std::int64_t count = 0;
  const Shape& shape = frame.pixels.shape;
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      count +=
          static_cast<const std::uint8_t*>(frame.pixels.row(y))[x] != test::painted(x + left, y + top, frame.number);
  return count;
}

// Sizes, times, numbers and tables are those of the CPU's decoder; the pixels are the painted ones.
void expect_painted(const fs::path& path, int device = 0, std::int64_t left = 0, std::int64_t top = 0) {
  SCOPED_TRACE(path.filename());
  const auto there = open_video(path, {.decode_on = device}), here = open_video(path);
  ASSERT_EQ(there->decoding().device, device) << there->decoding().why_not;
  EXPECT_EQ(there->decoding().why_not, "");
  EXPECT_EQ(here->decoding().device, std::nullopt);
  LumaFrame frame, expected;
  std::int64_t count = 0;
  for (; here->next(expected); ++count) {
    ASSERT_TRUE(there->next(frame)) << count;
    ASSERT_EQ(frame.pixels.memory, (MemoryPlace{MemoryPlace::cuda, device}));
    ASSERT_EQ(frame.pixels.shape, expected.pixels.shape);
    ASSERT_EQ(frame.pixels.row_pitch % 512, 0);
    ASSERT_EQ(differences(frame, left, top), 0) << count;
    ASSERT_EQ(frame.number, expected.number);
    ASSERT_EQ(frame.seconds, expected.seconds);
    ASSERT_EQ(frame.range == nullptr, expected.range == nullptr);
    if (frame.range) {
      ASSERT_EQ(*frame.range, *expected.range);
    }
  }
  EXPECT_FALSE(there->next(frame));
  EXPECT_EQ(there->damage(), here->damage());
  EXPECT_EQ(there->frame_count(), here->frame_count());
  EXPECT_EQ(there->frames_per_second(), here->frames_per_second());
  EXPECT_GT(count, 0);
}

// Not on a device, for this reason; the frames are the CPU's.
void expect_on_cpu(const fs::path& path, const std::string& why_not, bool is_format, ReadOptions options = {}) {
  SCOPED_TRACE(path.filename());
  const auto plain = open_video(path, options);
  if (!options.decode_on) options.decode_on = 0;
  const auto video = open_video(path, options);
  EXPECT_EQ(video->decoding().device, std::nullopt);
  EXPECT_EQ(video->decoding().why_not, why_not);
  EXPECT_EQ(video->decoding().is_format, is_format);
  LumaFrame frame, expected;
  std::int64_t count = 0;
  for (; plain->next(expected); ++count) {
    ASSERT_TRUE(video->next(frame));
    ASSERT_TRUE(frame.pixels.memory.is_host());
    for (std::int64_t y = 0; y < frame.pixels.shape.height; ++y)
      ASSERT_EQ(std::memcmp(frame.pixels.row(y), expected.pixels.row(y),
                            static_cast<std::size_t>(frame.pixels.shape.width * frame.pixels.shape.channels)),
                0);
  }
  EXPECT_FALSE(video->next(frame));
  EXPECT_GT(count, 0);
}

TEST_F(Nvdec, FramesAreOnTheDeviceAndWritten) {
  expect_painted(clip("limited.mp4"));
  ClipOptions full = of_x264();
  full.range = AVCOL_RANGE_JPEG;
  full.format = AV_PIX_FMT_YUVJ420P;
  expect_painted(clip("full.mkv", full), 1);
  EXPECT_EQ(stand_in().device, 1);
  ClipOptions hd = of_x264();
  hd.width = 1920;
  hd.height = 1080;  // coded as 1088
  hd.frames = 3;
  expect_painted(clip("hd.mp4", hd));
  ClipOptions plain = of_x264();
  plain.b_frames = 0;
  plain.private_options = "preset=ultrafast:tune=zerolatency:profile=baseline";
  expect_painted(clip("baseline.avi", plain));
}

TEST_F(Nvdec, TheCheckFindsFramesThatAreNotWaitedFor) {
  stand_in().never_writes = true;
  const auto video = open(clip("a.mp4"));
  LumaFrame frame;
  ASSERT_TRUE(video->next(frame));
  EXPECT_GT(differences(frame), frame.pixels.shape.width * frame.pixels.shape.height / 2);
  EXPECT_EQ(static_cast<const std::uint8_t*>(frame.pixels.data)[0], test::not_written);
}

// The clip again, with other cropping in its headers.
void crop(const fs::path& from, const fs::path& to, const char* cropping) {
  AVFormatContext *in = nullptr, *out = nullptr;
  ASSERT_GE(avformat_open_input(&in, from.c_str(), nullptr, nullptr), 0);
  ASSERT_GE(avformat_find_stream_info(in, nullptr), 0);
  AVBSFContext* filter = nullptr;
  ASSERT_GE(av_bsf_list_parse_str(cropping, &filter), 0);
  avcodec_parameters_copy(filter->par_in, in->streams[0]->codecpar);
  filter->time_base_in = in->streams[0]->time_base;
  ASSERT_GE(av_bsf_init(filter), 0);
  ASSERT_GE(avformat_alloc_output_context2(&out, nullptr, nullptr, to.c_str()), 0);
  AVStream* const stream = avformat_new_stream(out, nullptr);
  avcodec_parameters_copy(stream->codecpar, filter->par_out);
  stream->codecpar->codec_tag = 0;
  stream->time_base = in->streams[0]->time_base;
  ASSERT_GE(avio_open(&out->pb, to.c_str(), AVIO_FLAG_WRITE), 0);
  ASSERT_GE(avformat_write_header(out, nullptr), 0);
  AVPacket* packet = av_packet_alloc();
  for (bool more = true; more;) {
    more = av_read_frame(in, packet) >= 0;
    ASSERT_GE(av_bsf_send_packet(filter, more ? packet : nullptr), 0);
    while (av_bsf_receive_packet(filter, packet) == 0) {
      av_packet_rescale_ts(packet, in->streams[0]->time_base, stream->time_base);
      ASSERT_GE(av_interleaved_write_frame(out, packet), 0);
    }
  }
  ASSERT_GE(av_write_trailer(out), 0);
  av_packet_free(&packet);
  av_bsf_free(&filter);
  avio_closep(&out->pb);
  avformat_free_context(out);
  avformat_close_input(&in);
}

TEST_F(Nvdec, PicturesThatAreCroppedOnEverySide) {
  ClipOptions options = of_x264();
  options.width = 320;
  options.height = 240;
  options.frames = 5;
  const fs::path whole = clip("whole.mp4", options), path = scratch / "cropped.mp4";
  crop(whole, path, "h264_metadata=crop_left=10:crop_top=6:crop_right=4:crop_bottom=2");
  const auto cpu = open_video(path), uncropped = open_video(whole);
  ASSERT_EQ(cpu->width(), 320 - 14);
  ASSERT_EQ(cpu->height(), 240 - 8);
  expect_painted(path, 0, 10, 6);
  // The CPU's decoder crops at the same place.
  LumaFrame inner, outer;
  ASSERT_TRUE(cpu->next(inner) && uncropped->next(outer));
  for (std::int64_t y = 0; y < 232; ++y)
    ASSERT_EQ(std::memcmp(inner.pixels.row(y), static_cast<const char*>(outer.pixels.row(y + 6)) + 10, 306), 0) << y;
}

TEST_F(Nvdec, AsManyFramesAsWereSaidAreHeldAtOnce) {
  const fs::path path = clip("a.mp4");
  for (const int most : {1, 5, 12}) {
    stand_in().most_mapped = 0;
    const auto video = open(path, {.most_held = most});
    std::deque<LumaFrame> held;
    std::int64_t next = 0;
    for (LumaFrame frame; video->next(frame); ++next) {
      ASSERT_EQ(frame.number, next);
      held.push_back(std::move(frame));
      for (const LumaFrame& old : held) ASSERT_EQ(differences(old), 0) << old.number << " of " << next;
      if (held.size() == static_cast<std::size_t>(most)) held.pop_front();
    }
    EXPECT_EQ(next, 30);
    EXPECT_GE(stand_in().most_mapped, most);
  }
}

// 16 reference frames, and slots for all the others: fewer are held, none is lost.
TEST_F(Nvdec, WhereSurfacesAreFewItWaitsForFrames) {
  ClipOptions options = of_x264();
  options.private_options = "preset=veryfast:x264-params=scenecut=0:ref=16:bframes=3";
  const auto video = open(clip("a.mp4", options), {.most_held = 40});
  ASSERT_EQ(video->decoding().device, 0) << video->decoding().why_not;
  std::deque<LumaFrame> held;
  std::int64_t next = 0;
  for (bool more = true; more;) {
    LumaFrame frame;
    auto waiting = std::async(std::launch::async, [&] { return video->next(frame); });
    while (held.size() > 1 && waiting.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready)
      held.pop_front();
    more = waiting.get();
    if (!more) break;
    ASSERT_EQ(frame.number, next++);
    ASSERT_EQ(differences(frame), 0);
    held.push_back(std::move(frame));
  }
  EXPECT_EQ(next, 30);
  EXPECT_EQ(video->damage(), "");
}

TEST_F(Nvdec, FramesOutliveTheVideo) {
  const fs::path path = clip("a.mp4");
  std::vector<LumaFrame> held;
  {
    const auto video = open(path, {.most_held = 6});
    for (LumaFrame frame; held.size() < 5 && video->next(frame);) held.push_back(frame);
  }
  EXPECT_GT(stand_in().decoders, 0);
  for (const LumaFrame& frame : held) EXPECT_EQ(differences(frame), 0);
}

TEST_F(Nvdec, AVideoEndsAnywhere) {
  const fs::path path = clip("a.mp4");
  for (const int frames : {0, 1, 2, 7}) {
    const auto video = open(path, {.most_held = 2});
    LumaFrame frame;
    for (int i = 0; i < frames; ++i) ASSERT_TRUE(video->next(frame));
  }
  const auto video = open(path);
  Frame frame;
  test::expect_sentence<InvalidArgument>(path, "LumaFrames", [&] { video->next(frame); });
}

TEST_F(Nvdec, WhatItDoesNotTakeTheCpuDecodes) {
  ClipOptions ten = of_x264(), chroma = of_x264(), lossless = of_x264(), mpeg4 = of_x264();
  ten.format = AV_PIX_FMT_YUV420P10LE;
  chroma.format = AV_PIX_FMT_YUV444P;
  lossless.private_options = "preset=ultrafast:qp=0";
  mpeg4.encoder = "mpeg4";
  mpeg4.private_options = "";
  expect_on_cpu(clip("ten.mp4", ten), "its pixels are yuv420p10le, not 8-bit 4:2:0", true);
  expect_on_cpu(clip("chroma.mp4", chroma), "its pixels are yuv444p, not 8-bit 4:2:0", true);
  expect_on_cpu(clip("lossless.mp4", lossless), "High 4:4:4 Predictive is not decoded by NVDEC", true);
  expect_on_cpu(clip("mpeg4.avi", mpeg4), "it is coded as mpeg4, and NVDEC is used for h264 and hevc", false);
  const fs::path path = clip("a.mp4");
  expect_on_cpu(path, "NVDEC decodes luma alone", false, {.colour = Colour::all});
  expect_on_cpu(path, "NVDEC does not tell what is damaged", false, {.skip_damage = true});
  expect_on_cpu(path, "CUDA device 2 cannot be used (invalid device ordinal)", false, {.decode_on = 2});
  ClipOptions large = of_x264();
  large.width = 4112;
  large.height = 64;
  large.frames = 2;
  expect_on_cpu(clip("large.mp4", large), "NVDEC refuses a video of 4112x64", false);
  stand_in().refuses_decoders = true;
  expect_on_cpu(path, "NVDEC refuses a video of 144x64", false);
}

TEST_F(Nvdec, DamageIsToldAsByTheCpu) {
  const std::string whole = bytes_in(clip("whole.mkv"));
  int damaged = 0;
  for (const double part : {0.3, 0.6, 0.9}) {
    const fs::path path =
        scratch.write("cut.mkv", whole.substr(0, static_cast<std::size_t>(part * static_cast<double>(whole.size()))));
    SCOPED_TRACE(part);
    const auto there = open(path), here = open_video(path);
    ASSERT_EQ(there->decoding().device, 0);
    LumaFrame frame;
    while (here->next(frame)) ASSERT_TRUE(there->next(frame));
    EXPECT_EQ(there->damage(), "") << "as there, once next() has told the end";
    EXPECT_FALSE(there->next(frame));
    EXPECT_EQ(there->damage(), here->damage());
    damaged += !here->damage().empty();
  }
  EXPECT_EQ(damaged, 3);
  // What neither decodes has the CPU's sentence.
  const fs::path path = scratch.write("cut.mkv", whole.substr(0, 700));
  EXPECT_EQ(test::sentence_of<IoError>([&] { open(path); }), test::sentence_of<IoError>([&] { open_video(path); }));
}

TEST_F(Nvdec, AFailureOfTheDeviceEndsTheVideo) {
  stand_in().fails_at_map = 11;
  const auto video = open(clip("a.mp4"));
  LumaFrame frame;
  int frames = 0;
  while (video->next(frame)) ASSERT_EQ(frame.number, frames++);
  EXPECT_EQ(frames, 11);
  EXPECT_NE(video->damage().find("after 11 frames (Generic error in an external library)"), std::string::npos)
      << video->damage();
}

}  // namespace
}  // namespace areal::media
