// ReadOptions::skip_damage: clips with flipped bytes and with parts cut out go on at the next key frame.
#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include "encoded_clip.hpp"
#include "media/media.hpp"
#include "scratch.hpp"

namespace areal::media {
namespace {

using test::bytes_in;
using test::ClipOptions;
using test::encode_clip;
using test::Scratch;

struct Seen {
  std::map<std::int64_t, std::string> frames;  // pixels by number
  std::vector<double> seconds;
  std::string damage;
  std::int64_t resumptions = 0;
};
Seen watch(const fs::path& path, bool skip, int threads = 0) {
  Seen out;
  ReadOptions options;
  options.skip_damage = skip;
  options.threads = threads;
  const auto video = open_video(path, options);
  for (Frame frame; video->next(frame);) {
    EXPECT_TRUE(out.frames.empty() || frame.number > out.frames.rbegin()->first);
    out.frames[frame.number].assign(static_cast<const char*>(frame.pixels.data()), frame.pixels.bytes());
    out.seconds.push_back(frame.seconds);
  }
  out.damage = video->damage();
  out.resumptions = video->resumptions();
  return out;
}

// A packet of the clip in the order of decoding, from FFmpeg's demuxer.
struct PacketAt {
  std::size_t from, bytes;
  bool is_key;
  std::int64_t frame;  // its number in presentation order
};
std::vector<PacketAt> packets_of(const fs::path& path) {
  std::vector<PacketAt> out;
  std::vector<std::int64_t> times;
  AVFormatContext* file = nullptr;
  if (avformat_open_input(&file, path.c_str(), nullptr, nullptr) < 0) return out;
  (void)avformat_find_stream_info(file, nullptr);
  AVPacket* packet = av_packet_alloc();
  for (; av_read_frame(file, packet) >= 0; av_packet_unref(packet)) {
    times.push_back(packet->pts == AV_NOPTS_VALUE ? packet->dts : packet->pts);
    out.push_back({static_cast<std::size_t>(packet->pos), static_cast<std::size_t>(packet->size),
                   (packet->flags & AV_PKT_FLAG_KEY) != 0, 0});
  }
  av_packet_free(&packet);
  avformat_close_input(&file);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i].frame = std::count_if(times.begin(), times.end(), [&](std::int64_t t) { return t < times[i]; });
  return out;
}

// A texture that moves, so that frames are predicted, with noise, so that packets are long.
void draw_texture(AVFrame& frame, int n) {
  const AVPixFmtDescriptor* format = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  for (int plane = 0; plane < 3 && frame.data[plane]; ++plane) {
    const int right = plane ? format->log2_chroma_w : 0, down = plane ? format->log2_chroma_h : 0;
    for (int y = 0; y < frame.height >> down; ++y)
      for (int x = 0; x < frame.width >> right; ++x) {
        const auto at = static_cast<std::uint32_t>((x + 3 * n) / 4 * 7919 + y / 4 * 104729 + plane);
        const auto noise = static_cast<std::uint32_t>(x * 31 + y * 57 + n * 101) * 2654435761u >> 29;
        frame.data[plane][y * frame.linesize[plane] + x] =
            static_cast<std::uint8_t>(40 + (at * 2654435761u >> 25) + noise);
      }
  }
}

ClipOptions options_of(const char* encoder, int key_every, int b_frames) {
  ClipOptions out;
  out.encoder = encoder;
  out.width = 160;
  out.height = 96;
  out.frames = 40;
  out.key_every = key_every;
  out.b_frames = b_frames;
  out.range = AVCOL_RANGE_MPEG;
  if (out.encoder == "libx264") out.private_options = "preset=veryfast:crf=18:x264-params=scenecut=0";
  if (out.encoder == "mjpeg") {
    out.format = AV_PIX_FMT_YUVJ420P;
    out.range = AVCOL_RANGE_JPEG;
  }
  return out;
}

class Damage : public ::testing::Test {  // which prints nothing
 protected:
  void SetUp() override { testing::internal::CaptureStderr(); }
  void TearDown() override { EXPECT_EQ(testing::internal::GetCapturedStderr(), ""); }
  Scratch scratch;
};

TEST_F(Damage, WholeClipsAreTheSame) {
  const fs::path files = fs::path(AREAL_SOURCE_DIR) / "tests/files";
  for (const fs::path& path : {files / "bframes.mp4", files / "bframes.mkv", files / "rgb.mkv"}) {
    const Seen plain = watch(path, false), skipping = watch(path, true);
    EXPECT_EQ(skipping.frames, plain.frames) << path;
    EXPECT_EQ(skipping.seconds, plain.seconds);
    EXPECT_EQ(skipping.damage, "");
    EXPECT_EQ(skipping.resumptions, 0);
  }
}

// Frames that are missing, or other than in the whole clip, after damage of the packet `hit`.
struct Count {
  int lost = 0, wrong = 0;
};
Count compare(const Seen& seen, const Seen& whole, const std::vector<PacketAt>& packets, std::size_t hit) {
  std::size_t next = hit + 1;
  while (next < packets.size() && !packets[next].is_key) ++next;
  Count out;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const auto at = seen.frames.find(packets[i].frame);
    const bool is_there = at != seen.frames.end();
    // An open group's first frames are presented before its key frame and depend on the group before.
    const bool is_whole = i < hit || (i >= next && packets[i].frame >= packets[next].frame);
    out.lost += is_whole && !is_there ? 1 : 0;
    // Codecs have no check sums: what nobody noticed may be delivered.
    if (is_there && (is_whole || !seen.damage.empty()))
      out.wrong += at->second != whole.frames.at(packets[i].frame) ? 1 : 0;
  }
  return out;
}

struct Case {
  const char *encoder, *file;
  int key_every, b_frames;
};

TEST_F(Damage, FlippedBytes) {
  const Case cases[] = {{"libx264", "a.mp4", 8, 0}, {"libx264", "b.mp4", 8, 3}, {"libx264", "b.mkv", 8, 2},
                        {"mpeg4", "a.avi", 8, 0},   {"mpeg4", "a.mp4", 8, 2},   {"mjpeg", "i.avi", 1, 0}};
  int tried = 0;
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.encoder) + " " + c.file);
    const fs::path clip = scratch / c.file;
    if (!encode_clip(clip, options_of(c.encoder, c.key_every, c.b_frames), 0, draw_texture)) continue;
    ++tried;
    const Seen whole = watch(clip, true);
    ASSERT_EQ(whole.damage, "");
    const std::vector<PacketAt> packets = packets_of(clip);
    ASSERT_EQ(whole.frames.size(), 40u);
    ASSERT_EQ(packets.size(), 40u);
    // The comparison finds a frame that is missing and one that is wrong, before the damage and after it.
    Seen planted = whole;
    planted.frames.erase(0);
    planted.frames.at(39)[5] ^= 1;
    EXPECT_EQ(compare(planted, whole, packets, 9).lost, 1);
    EXPECT_EQ(compare(planted, whole, packets, 9).wrong, 1);

    int noticed = 0, resumed = 0;
    for (unsigned seed = 0; seed < 30; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      std::mt19937 random(seed);
      const std::size_t hit = 1 + random() % (packets.size() - 1);
      std::string bytes = bytes_in(clip);
      // Some bytes, or the whole packet.
      const std::size_t count = seed % 2 ? packets[hit].bytes : 12;
      for (std::size_t i = 0; i < count; ++i)
        bytes[packets[hit].from + (seed % 2 ? i : random() % packets[hit].bytes)] ^=
            static_cast<char>(1 + random() % 255);
      const fs::path path = scratch.write(std::string("d-") + c.file, bytes);
      const Seen seen = watch(path, true);
      const Count count_of = compare(seen, whole, packets, hit);
      EXPECT_EQ(count_of.lost, 0);
      EXPECT_EQ(count_of.wrong, 0);
      if (seen.damage.empty()) {
        EXPECT_EQ(seen.resumptions, 0);
        continue;
      }
      ++noticed;
      EXPECT_LE(seen.resumptions, 1);
      resumed += static_cast<int>(seen.resumptions);
      // The sentence counts the frames that were delivered before the damage, of which B frames may be gone.
      const std::string start = path.string() + ": is damaged or truncated after ";
      ASSERT_TRUE(seen.damage.starts_with(start)) << seen.damage;
      const std::int64_t told = std::stoll(seen.damage.substr(start.size()));
      std::int64_t before = 0;
      while (seen.frames.count(before)) ++before;
      EXPECT_GE(told, before);
      EXPECT_LE(told, before + c.b_frames);
      // Without skip_damage the video ends at the damage.
      try {
        const Seen ending = watch(path, false, 1);
        EXPECT_LT(ending.frames.size(), 40u);
        EXPECT_EQ(ending.resumptions, 0);
        EXPECT_NE(ending.damage, "");
      } catch (const IoError& error) {  // before the first frame came
        EXPECT_NE(std::string(error.what()).find("after 0 frames"), std::string::npos) << error.what();
      }
    }
    EXPECT_GT(noticed, 5) << "of 30; Matroska drops blocks silently";
    EXPECT_GT(resumed, 3);
  }
  EXPECT_GE(tried, 3);
}

// Parts cut out of a transport stream, whose packets say nothing of the file's length: time stamps number the frames.
TEST_F(Damage, CutOut) {
  const fs::path clip = scratch / "a.ts";
  if (!encode_clip(clip, options_of("libx264", 8, 0), 0, draw_texture)) GTEST_SKIP() << "no libx264";
  const Seen whole = watch(clip, true);
  ASSERT_EQ(whole.frames.size(), 40u);
  const std::vector<PacketAt> packets = packets_of(clip);
  ASSERT_EQ(packets.size(), 40u);
  int unnoticed = 0;
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    const std::size_t first = 3 + random() % 20, cut = 1 + random() % 6;  // frames that are not there
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(cut) + " frames from " + std::to_string(first));
    std::string bytes = bytes_in(clip);
    bytes.erase(packets[first].from, packets[first + cut].from - packets[first].from);
    const Seen seen = watch(scratch.write("c.ts", bytes), true);
    if (seen.damage.empty()) {  // transport packets count from 0 to 15
      ++unnoticed;
      continue;
    }
    const std::size_t next = (first + cut + 7) / 8 * 8;  // the key frame after the gap
    for (const auto& [number, pixels] : seen.frames)
      EXPECT_TRUE(pixels == whole.frames.at(number)) << "frame " << number;
    // The parser holds two frames when the gap comes.
    for (std::size_t n = 0; n < packets.size(); ++n)
      EXPECT_TRUE((n + 2 >= first && n < next) || seen.frames.count(static_cast<std::int64_t>(n))) << n;
  }
  EXPECT_LE(unnoticed, 3);
}

TEST_F(Damage, TheEndCutOffIsTheSameEitherWay) {
  const fs::path clip = fs::path(AREAL_SOURCE_DIR) / "data/vtest.avi";
  const std::string bytes = bytes_in(clip);
  const fs::path path = scratch.write("cut.avi", std::string_view(bytes).substr(0, bytes.size() / 5));
  const Seen plain = watch(path, false), skipping = watch(path, true);
  EXPECT_GT(plain.frames.size(), 20u);
  EXPECT_EQ(skipping.frames, plain.frames);
  EXPECT_EQ(skipping.damage, plain.damage);
  EXPECT_NE(skipping.damage, "");
  EXPECT_EQ(skipping.resumptions, 0);
}

TEST_F(Damage, APictureOfAFolder) {
  Array picture(Shape{6, 4}, Type::u8);
  for (int i = 0; i < 6; ++i) {
    std::memset(picture.data(), i, picture.bytes());
    write_picture(scratch / (std::to_string(i) + ".png"), picture.view());
  }
  for (const char* name : {"2.png", "3.png", "5.png"}) scratch.write(name, "not a picture");
  const Seen plain = watch(scratch.path(), false), skipping = watch(scratch.path(), true);
  EXPECT_EQ(plain.frames.size(), 2u);
  ASSERT_EQ(skipping.frames.size(), 3u);
  EXPECT_EQ(skipping.frames.at(4), std::string(24, 4));
  EXPECT_EQ(skipping.resumptions, 1);
  EXPECT_EQ(skipping.damage, plain.damage);
  EXPECT_TRUE(skipping.damage.starts_with((scratch / "2.png").string())) << skipping.damage;
}

}  // namespace
}  // namespace areal::media
