#pragma once
// Pictures, video and tables on disk. This header is all that apps/ and video/ include of media/. libareal_files, which
// is linked, handles files that need no library (.npy, raw, CSV, sidecars). Pictures and video are in two plug-ins
// (areal_pictures.so, areal_video.so), which dlopen opens with the first picture or video. Everything throws
// areal::IoError (unreadable, truncated, hostile, full disk), areal::InvalidArgument (wrong use) or areal::OutOfMemory
// (more bytes than the limit), each one sentence that starts with the path; areal::Unavailable if a plug-in is missing.
// Nothing is printed.

#include <areal/array.hpp>
#include <areal/binning.hpp>
#include <areal/border.hpp>
#include <areal/region.hpp>
#include <areal/type_pair.hpp>
#include <areal/view.hpp>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "media/read_ahead.hpp"

namespace areal::media {

namespace fs = std::filesystem;

// ---------------------------------------------------------------- pictures
enum class Colour : std::uint8_t {
  luma,     // colour becomes one channel as `luma` gives it
  channel,  // one chosen channel
  all       // every colour channel, interleaved; alpha only with keep_alpha
};

struct ReadOptions {
  Colour colour = Colour::luma;
  int channel = 0;                 // for Colour::channel; an alpha channel must be named by its number to be read
  bool keep_alpha = false;         // Colour::all keeps a 4th channel; otherwise alpha is dropped, never summed silently
  std::uint64_t memory_limit = 0;  // bytes the decoded picture may take; 0: free_memory()
  int threads = 0;                 // that decode a video or a large picture; 0: as many as there are cores
  bool skip_damage = false;        // a video goes on after damage, with the next key frame
  // The CUDA device whose NVDEC decodes a video, if it can: luma of H.264 and H.265 in 8-bit 4:2:0, without
  // skip_damage; else the CPU does, and Video::decoding() says why. Frames are the CPU's, byte for byte, but damage
  // inside a coded picture is not found there.
  std::optional<int> decode_on = {};
  // LumaFrames of NVDEC that are to be held at once. With more, or where it has surfaces for fewer (at least 2), next()
  // waits until one is dropped.
  int most_held = 9;
  // Of a large picture: the level of a pyramid (a TIFF's sub-IFD, or page where there is none), 0 the first and as a
  // rule the largest, and the position along the axes t and z of an OME-Zarr.
  int level = 0;
  std::int64_t t = 0, z = 0;
};

struct Picture {
  Array pixels;                    // interleaved, 8u, 16u, 16f, 32f or 64f
  std::vector<std::string> notes;  // surprising conversions: "alpha channel left out", "CMYK converted"
};

// 0.299 R + 0.587 G + 0.114 B of the first three channels: integers exactly, halves rounded up; floats in double. Every
// picture, frame of RGB and array gets its luma by this formula. Throws InvalidArgument for fewer channels.
Array luma(const ConstView& image);

// The channels of an array that `options` choose, for every image of its batch; interleaved. Colour::all takes every
// channel. Luma is of 1, of 3, or of 4 channels whose last is taken for alpha, which `notes` says. Throws
// InvalidArgument, with the name, for a channel that is not there and for what has no luma.
Array choose_channels(Array image, const ReadOptions& options, const std::string& name,
                      std::vector<std::string>& notes);

// PNG, JPEG, TIFF, BigTIFF, EXR, PNM, known by their first bytes. Sizes are held to the limit and to the file's own
// size before a decoder allocates.
Picture read_picture(const fs::path& path, const ReadOptions& options = {});
// The extension selects the format: .png .jpg .tif .exr .pgm .ppm. 1, 3 or 4 interleaved channels, 8u, 16u or 32f. The
// file is complete or absent.
void write_picture(const fs::path& path, const ConstView& picture);

// Rows of a picture on their way into a file of some format.
class PictureRows {
 public:
  virtual ~PictureRows() = default;
  virtual void write(const ConstView& rows) = 0;
  virtual void finish() = 0;
};

// The same as write_picture by rows, from the top down. The file is complete or absent.
class PictureWriter {
 public:
  PictureWriter(const fs::path& path, const Shape& shape, Type type);
  ~PictureWriter();
  PictureWriter(PictureWriter&&) noexcept;
  void write(const ConstView& rows);  // the next ones, of full width
  void finish();                      // when all rows are there; without it the file does not appear

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// ---------------------------------------------------------------- large pictures
struct BlockSize {
  std::int64_t width = 0, height = 0;
  friend bool operator==(const BlockSize&, const BlockSize&) = default;
};

// A picture that is read block by block and need not fit memory. Channels as ReadOptions says, interleaved, no batch.
class LargePicture {
 public:
  virtual ~LargePicture() = default;
  virtual const Shape& shape() const = 0;
  virtual Type type() const = 0;
  // Blocks of this size, at multiples of it, are read without decoding anything twice. Others are read as well.
  virtual BlockSize block() const = 0;
  // The pixels from column x and row y on, of `into`'s width and height, type and channels, in either layout, in host
  // memory. One thread calls. Throws IoError for damage in what the block needs; `into` then holds unspecified values.
  void read(std::int64_t x, std::int64_t y, const View& into);
  virtual std::vector<std::string> notes() const { return {}; }
  // Bytes that reading holds at most, apart from the caller's block and from what the libraries keep themselves, such
  // as OpenSlide's cache of 32 MiB.
  virtual std::uint64_t memory() const = 0;
  // How many tiles or strips have been decoded so far; 0 where nothing is.
  virtual std::uint64_t tiles_decoded() const { return 0; }

 private:
  virtual const std::string& name() const = 0;
  virtual void read_checked(std::int64_t x, std::int64_t y, const View& into) = 0;  // not empty, inside the picture
};

// Known by its content: .npy (2-D or 3-D, by plain reads), TIFF, BigTIFF and EXR by tiles or strips, slides that
// OpenSlide knows, a folder that holds a Zarr array or an OME-Zarr picture. Any other picture is read whole, within
// memory_limit. Here memory_limit is for `memory()`; 0: a quarter of free_memory().
std::unique_ptr<LargePicture> open_large_picture(const fs::path& path, const ReadOptions& options = {});

// A folder that holds a Zarr array or group, or a slide by its name: what open_large_picture reads and read_picture
// does not.
bool is_large_format(const fs::path& path);

// ---------------------------------------------------------------- video
struct Frame {
  Array pixels;             // luma 8u by default, or interleaved RGB 8u
  std::int64_t number = 0;  // 0, 1, 2, ... every frame once, in presentation order
  double seconds = 0;       // presentation time
};

// What decodes a video.
struct Decoding {
  std::optional<int> device = {};  // the CUDA device whose NVDEC does; none: the CPU
  std::string why_not = {};        // why not that of ReadOptions::decode_on
  bool is_format = false;          // because of the format of this video's pixels
};

// A frame where the decoder left it, in host memory or, from NVDEC, in a device's: complete there. range[v] of each
// byte v of `pixels` (null: v itself) is what a Frame holds. That is for luma alone: where the decoder has no plane of
// 8-bit luma, `pixels` are those of a Frame and `range` is null.
struct LumaFrame {
  ConstView pixels;
  std::shared_ptr<const void> keep;  // pixels and range are valid while it is held, also after the Video is gone
  const std::array<std::uint8_t, 256>* range = nullptr;
  std::int64_t number = 0;
  double seconds = 0;
};

class Video {
 public:
  virtual ~Video() = default;
  // The next frame, or false at the end. A damaged or truncated file ends after the frames before the damage, and
  // `damage()` then describes it. Throws IoError if the frame size changes midway.
  // With skip_damage, what is damaged and what was decoded from it are left out, up to the next key frame, and
  // `damage()` describes the first damage. Numbers then follow the time stamps, with gaps, where the frame rate is
  // constant; otherwise they go on without a gap. Frames of another size are damage. One thread decodes.
  virtual bool next(Frame& frame) = 0;
  // The same without a copy. Allocates only while more frames are held at once than ever before. A video
  // that NVDEC decodes gives LumaFrames alone, and throws InvalidArgument for a Frame.
  virtual bool next(LumaFrame& frame) = 0;
  virtual std::int64_t width() const = 0;
  virtual std::int64_t height() const = 0;
  virtual double frames_per_second() const = 0;                 // 0 if unknown
  virtual std::optional<std::int64_t> frame_count() const = 0;  // as the container declares it
  virtual std::string damage() const = 0;                       // empty if there is none
  virtual std::int64_t resumptions() const { return 0; }        // how often frames went on after damage
  virtual Decoding decoding() const { return {}; }
};

// Luma is the video's own (Y', expanded to 0..255: `ffmpeg -pix_fmt gray`), or that of a picture if the video is stored
// as RGB. A folder opens as a video of the pictures in it, in natural order of their names (f2 before f10), all of one
// size. Their type is that of the pictures, `seconds` is 0, and an unreadable picture counts as damage.
std::unique_ptr<Video> open_video(const fs::path& path, const ReadOptions& options = {});

// A video of pictures: H.264 if this FFmpeg has libx264, else MPEG-4, in 4:2:0, in the container of the extension:
// .mp4, .avi or .mkv. An odd width or height grows by one, its last column or row again. The file is complete or
// absent.
class VideoWriter {
 public:
  virtual ~VideoWriter() = default;
  virtual void write(const ConstView& picture) = 0;  // 8u of the video's size, 1 or 3 channels (RGB)
  virtual void finish() = 0;                         // without it the file does not appear
};
// Throws InvalidArgument for another extension, a size outside 1..16384 and a rate outside 0.01..1000.
std::unique_ptr<VideoWriter> open_video_writer(const fs::path& path, std::int64_t width, std::int64_t height,
                                               double frames_per_second);

// Frames that follow one another without a header: pixels of one channel, or nv12: a plane of 8-bit luma, which is what
// a frame holds, and then chroma, which is left out: interleaved pairs, half as many rows.
struct RawFrames {
  std::int64_t width = 0, height = 0;
  Type type = Type::u8;
  bool is_nv12 = false;
  bool is_limited = false;  // nv12 alone: its luma is 16..235 and is expanded as that of a video; otherwise as it is
};
RawFrames parse_raw_frames(std::string_view text);  // WxHxTYPE or WxHxnv12, e.g. 1920x1080x8u
// A file or a pipe; the stream (`-`) is borrowed. Nothing is read before the first frame is asked for. Frames have no
// time. A last frame that is not whole is damage. `memory_limit` is for one frame.
std::unique_ptr<Video> open_raw(const fs::path& path, const RawFrames& frames, std::uint64_t memory_limit = 0);
std::unique_ptr<Video> open_raw(std::FILE* stream, const std::string& name, const RawFrames& frames,
                                std::uint64_t memory_limit = 0);

// ---------------------------------------------------------------- arrays without a library
// .npy versions 1 to 3, little-endian, C order, bool/u1..u8/i1..i8/f2/f4/f8, 2-D (h, w), 3-D or 4-D as `axes` says.
enum class Axes : std::uint8_t {
  hwc,
  chw,
  nhw,
  line
};  // a 3-D array is (height, width, channels), (channels|bins, h, w) or (batch|depth, h, w); `line`: 1-D alone, n x 1
Array read_npy(const fs::path& path, Axes axes = Axes::hwc, std::uint64_t memory_limit = 0);
Array read_npy(std::FILE* stream, const std::string& name, Axes axes = Axes::hwc,
               std::uint64_t memory_limit = 0);  // `-`; at end of stream: an Array without memory, and std::feof
// Does the file begin as an .npy does? False for what is no regular file.
bool is_npy(const fs::path& path);
// A .npy file that stays on disk: pages are read when they are touched, so that it may be larger than memory. It must
// not be cut short meanwhile, or the process ends by SIGBUS.
class MappedArray {
 public:
  virtual ~MappedArray() = default;
  virtual const ConstView& view() const = 0;
};
std::unique_ptr<MappedArray> map_npy(const fs::path& path, Axes axes = Axes::hwc);
// The shape is written as numpy sees it: (h, w), (h, w, c) interleaved, (c, h, w) planar, with a leading batch if > 1.
void write_npy(const fs::path& path, const ConstView& array);
// n x 1 as a 1-D array.
void write_npy_line(const fs::path& path, const ConstView& line);
// An .npy in pieces, in any order, by one thread at a time. The file is complete or absent.
class ArrayWriter {
 public:
  // Batch 1. `temporary`: as for OutputFile.
  ArrayWriter(const fs::path& path, const Shape& shape, Type type, const fs::path& temporary = {});
  ~ArrayWriter();
  ArrayWriter(ArrayWriter&&) noexcept;
  // Elements from (x, y) on, of all channels; of a planar array those of channel `channel` and the next ones, as many
  // as the piece has.
  void write(std::int64_t x, std::int64_t y, const ConstView& piece, std::int64_t channel = 0);
  // As TableWriter's.
  std::uint64_t share();
  const fs::path& temporary() const;
  void finish();  // without it the file does not appear

 private:
  struct State;
  std::unique_ptr<State> state_;
};
// WxHxTYPE, e.g. 1920x1080x8u, no header.
Array read_raw(const fs::path& path, const Shape& shape, Type type, std::uint64_t memory_limit = 0);

// ---------------------------------------------------------------- tables on disk
// T.npy and its sidecar T.json; or T.tif (tables of 32u, 32s, 32f, 64f that a TIFF can hold; the sidecar as well).
// The pixels of an image of integers lie between these: `least` is at most 0, `most` at least 0.
struct PixelRange {
  std::int64_t least = 0;
  std::uint64_t most = 0;
};
struct TableFile {
  Array table;
  std::string kind;  // "sum", "squares", "tilted", "count" or "histogram"
  Border border = Border::zero;
  std::string types;  // "8u32u"; for histograms "8u-32u"
  std::string algorithm;
  std::string source;  // the input's file name
  std::int64_t image_width = 0, image_height = 0;
  std::vector<double> bin_edges;  // histograms
  // Tables of one run belong together: all have its `run`, and that of sums names the kinds of the others. Sidecars of
  // earlier versions have neither.
  std::string run;
  std::vector<std::string> companions;
  std::optional<PixelRange> pixels;  // none: any of the input type
};
// A new `run`.
std::string new_run();
// Throws InvalidArgument if one of the outputs is one of the inputs: the same file by device and inode, whatever its
// name. Empty names and "-" are none.
void require_other_files(const std::vector<fs::path>& outputs, const std::vector<fs::path>& inputs);
// A table, its sidecar, and those of its companions: all that writing it may replace.
std::vector<fs::path> files_of_table(const fs::path& path);
// T.npy and "squares": T.squares.npy.
fs::path beside(const fs::path& path, const std::string& kind);
// Throws InvalidArgument for a table that the format of that path does not hold, before anything is written.
void require_table_format(const fs::path& path, const ConstView& table);
void write_table(const fs::path& path, const ConstView& table,
                 const TableFile& description);  // description.table unused
TableFile read_table(const fs::path& path, std::uint64_t memory_limit = 0);
// An .npy or a .tif that has a sidecar, as tables do, and not that of another file. Throws IoError for a sidecar that
// is none.
bool is_table(const fs::path& path);
// The same in pieces, in any order, by one thread at a time: batch 1, .npy alone. Both files are complete or absent.
class TableWriter {
 public:
  // `temporary`: as for OutputFile.
  TableWriter(const fs::path& path, const Shape& shape, Type type, const TableFile& description,
              const fs::path& temporary = {});
  ~TableWriter();
  TableWriter(TableWriter&&) noexcept;
  // As ArrayWriter's.
  void write(std::int64_t x, std::int64_t y, const ConstView& piece, std::int64_t channel = 0);
  // For several processes that write one table: from now on all of it counts as written, and others may write entries
  // to `temporary()`, from that byte on.
  std::uint64_t share();
  const fs::path& temporary() const;
  void finish();  // without it the files do not appear

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// ---------------------------------------------------------------- regions
// One region a line: x,y,width,height; a header line and an optional 5th column `name` are allowed, as are blank lines,
// CRLF and # comments. A bad line throws InvalidArgument that names its number and what was wrong.
struct NamedRegion {
  Region region;
  std::string name;  // "" or as given
};
std::vector<NamedRegion> read_regions_csv(const fs::path& path);
std::vector<NamedRegion> parse_regions_csv(std::string_view text, const std::string& name);
NamedRegion parse_region(std::string_view text);  // "x,y,w,h", as --region takes it

// Boxes that move: one a line, for a frame. With a header, columns frame,id,x,y,width,height in any order, and others,
// which are ignored (`stream`, too); frames from 0, fractions of pixels rounded to the nearest (halves up). Without
// one, the MOT challenge's columns: frame, id, left, top, width, height, and up to four more; frame, left and top from
// 1, fractions likewise, lines of confidence (the 7th column) 0 left out. Blank lines, CRLF, # comments and bad lines
// as for regions.
struct Box {
  std::int64_t frame = 0;
  std::string id;
  Region region;
};
std::vector<Box> read_boxes_csv(const fs::path& path);  // by frame, and as in the file within a frame
std::vector<Box> parse_boxes_csv(std::string_view text, const std::string& name);

// A file that appears under its name only when complete. It is written beside that name under a temporary one, with
// space reserved first and plain writes; commit() renames it. Otherwise the destructor (or an interrupt) removes it.
class OutputFile {
 public:
  // `temporary`: the name to write under, of temporary_for, where others must know it before the file is there.
  explicit OutputFile(const fs::path& path, std::uint64_t reserve_bytes = 0, const fs::path& temporary = {});
  // A name beside that of the path which no other file has; empty for a device or a pipe.
  static fs::path temporary_for(const fs::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  void write(const void* data, std::size_t bytes);
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes);  // which `write` does not go on from
  const fs::path& temporary() const;                                         // for libraries that write by name
  // The same file, for libraries that make what they write: one that an interrupt has removed does not come again.
  fs::path by_descriptor() const;
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};
// Removes the temporary files of this process, which must end then: threads that would make or commit one wait for
// that. Async-signal-safe, for the command's handler of SIGINT and SIGTERM.
void remove_unfinished_outputs() noexcept;

// ---------------------------------------------------------------- drawing
// A copy of the picture (1 or 3 channels, 8u) as RGB with the regions outlined and, where given, each one's histogram
// (bins counts) as a small bar chart inside or beside it, and its mean beside its number. What lies outside the picture
// is left out.
Array draw_regions(const ConstView& picture, const std::vector<NamedRegion>& regions,
                   const std::vector<std::vector<double>>& histograms = {}, const std::vector<double>& means = {});
// Values from their smallest, bright, to their largest, dark, as RGB; NaN is black. One channel, 32f.
Array heat_map(const ConstView& values);

}  // namespace areal::media
