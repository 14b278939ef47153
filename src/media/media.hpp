#pragma once
// Pictures, video and tables on disk. This header is all that apps/ and video/ include of media/. libareal_files, which
// is linked, handles files that need no library (.npy, raw, CSV, sidecars). Pictures and video are in two plug-ins
// (areal_pictures.so, areal_video.so), opened by dlopen with the first picture or video. Everything throws
// areal::IoError (unreadable, truncated, hostile, full disk), areal::InvalidArgument (wrong use) or areal::OutOfMemory
// (more bytes than the limit), each one sentence that starts with the path; areal::Unavailable if a plug-in is missing.
// Nothing is printed.

#include <areal/array.hpp>
#include <areal/binning.hpp>
#include <areal/border.hpp>
#include <areal/histogram_store.hpp>
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
#include "media/pixel_size.hpp"
#include "media/read_ahead.hpp"

namespace areal::media {

namespace fs = std::filesystem;

// ---------------------------------------------------------------- plug-ins
struct PlugIns {
  fs::path folder;                 // where they are opened; empty: none can be
  std::vector<std::string> files;  // those in it, e.g. "areal_pictures.so"; whether they open is not tried
};
PlugIns plug_ins();

// ---------------------------------------------------------------- pictures
enum class Colour : std::uint8_t {
  luma,     // colour becomes one channel as by `luma`
  channel,  // one chosen channel
  all       // every colour channel, interleaved; alpha only with keep_alpha
};

struct ReadOptions {
  Colour colour = Colour::luma;
  int channel = 0;                 // for Colour::channel; an alpha channel must be named by its number to be read
  bool keep_alpha = false;         // Colour::all keeps a 4th channel; otherwise alpha is dropped, never summed silently
  std::uint64_t memory_limit = 0;  // most bytes of the decoded picture; 0: free_memory()
  int threads = 0;                 // that decode a video or a large picture; 0: as many as there are cores
  bool skip_damage = false;        // a video continues after damage, at the next key frame
  // The CUDA device whose NVDEC decodes a video, if it can: luma of H.264 and H.265 in 8-bit 4:2:0, without
  // skip_damage; otherwise the CPU decodes, and Video::decoding() says why. Frames equal the CPU's byte for byte, but
  // damage inside a coded picture is not detected.
  std::optional<int> decode_on = {};
  // The most LumaFrames of NVDEC held at once. With more, or if it has surfaces for fewer (at least 2), next() waits
  // until one is dropped.
  int most_held = 9;
  // For a large picture: the level of a pyramid (a TIFF's sub-IFD, or its page without any), 0 the first and usually
  // the largest, and the position along the axes t and z of an OME-Zarr.
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

// The channels of an array that `options` choose, for every image of its batch; interleaved. Colour::all keeps every
// channel. Luma is of 1, of 3, or of 4 channels, the last one alpha, which `notes` then mentions. Throws
// InvalidArgument, with the name, for a missing channel and for channels without luma.
Array choose_channels(Array image, const ReadOptions& options, const std::string& name,
                      std::vector<std::string>& notes);

// Reads PNG, JPEG, TIFF, BigTIFF, EXR and PNM, recognised by their first bytes. Sizes are checked against the limit and
// the file's own size before a decoder allocates.
Picture read_picture(const fs::path& path, const ReadOptions& options = {});
// The extension selects the format: .png .jpg .tif .exr .pgm .ppm. 1, 3 or 4 interleaved channels, 8u, 16u or 32f. The
// file is complete or absent.
void write_picture(const fs::path& path, const ConstView& picture);

// Writes rows of a picture to a file of some format.
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
  void write(const ConstView& rows);  // the next rows, of full width
  void finish();                      // after all rows; without it the file does not appear

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// ---------------------------------------------------------------- large pictures
struct BlockSize {
  std::int64_t width = 0, height = 0;
  friend bool operator==(const BlockSize&, const BlockSize&) = default;
};

// A picture that is read block by block and need not fit memory. Channels as in ReadOptions, interleaved, no batch.
class LargePicture {
 public:
  virtual ~LargePicture() = default;
  virtual const Shape& shape() const = 0;
  virtual Type type() const = 0;
  // Blocks of this size, at multiples of it, are read without decoding anything twice. Others are supported too.
  virtual BlockSize block() const = 0;
  // The pixels from column x and row y on, of `into`'s width and height, type and channels, in either layout, in host
  // memory. For one thread at a time. Throws IoError for damage in the block's data; `into` then holds unspecified
  // values.
  void read(std::int64_t x, std::int64_t y, const View& into);
  virtual std::vector<std::string> notes() const { return {}; }
  // Of TIFF (OME's, ImageJ's, or a resolution in pixels per centimetre), slides and OME-Zarr, of the level that is
  // read.
  virtual std::optional<PixelSize> pixel_size() const { return {}; }
  // The most bytes that reading holds, excluding the caller's block and the libraries' own caches, such as OpenSlide's
  // of 32 MiB.
  virtual std::uint64_t memory() const = 0;
  // The number of tiles or strips decoded so far; 0 for formats without decoding.
  virtual std::uint64_t tiles_decoded() const { return 0; }

 private:
  virtual const std::string& name() const = 0;
  virtual void read_checked(std::int64_t x, std::int64_t y, const View& into) = 0;  // not empty, inside the picture
};

// Recognised by content: .npy (2-D or 3-D, by plain reads), TIFF, BigTIFF and EXR by tiles or strips, slides that
// OpenSlide knows, a folder that holds a Zarr array or an OME-Zarr picture. Any other picture is read whole, within
// memory_limit. Here memory_limit is for `memory()`; 0: a quarter of free_memory().
std::unique_ptr<LargePicture> open_large_picture(const fs::path& path, const ReadOptions& options = {});

// True for a folder that holds a Zarr array or group, or a slide by its name: open_large_picture reads these,
// read_picture does not.
bool is_large_format(const fs::path& path);

// ---------------------------------------------------------------- video
struct Frame {
  Array pixels;             // luma 8u by default, or interleaved RGB 8u
  std::int64_t number = 0;  // 0, 1, 2, ... every frame once, in presentation order
  double seconds = 0;       // presentation time
};

// What decodes a video.
struct Decoding {
  std::optional<int> device = {};  // the CUDA device whose NVDEC decodes; none: the CPU
  std::string why_not = {};        // why not the device of ReadOptions::decode_on
  bool is_format = false;          // because of the format of this video's pixels
};

// A frame in the decoder's memory, the host's or, from NVDEC, a device's; complete. A Frame holds range[v] for each
// byte v of `pixels` (null: v itself). For luma only: if the decoder has no plane of 8-bit luma, `pixels` are those of
// a Frame and `range` is null.
struct LumaFrame {
  ConstView pixels;
  std::shared_ptr<const void> keep;  // while it is held, pixels and range are valid, also after the Video is gone
  const std::array<std::uint8_t, 256>* range = nullptr;
  std::int64_t number = 0;
  double seconds = 0;
};

class Video {
 public:
  virtual ~Video() = default;
  // The next frame, or false at the end. A damaged or truncated file ends after the frames before the damage, and
  // `damage()` then describes it. Throws IoError if the frame size changes midway. With skip_damage, damaged frames and
  // those decoded from them are skipped, up to the next key frame, and `damage()` describes the first damage. Numbers
  // then follow the time stamps, with gaps, if the frame rate is constant; otherwise they continue without a gap.
  // Frames of another size are damage. For one thread at a time.
  virtual bool next(Frame& frame) = 0;
  // The same without a copy. Allocates only while more frames are held at once than ever before. A video decoded by
  // NVDEC supports only LumaFrames, and throws InvalidArgument for a Frame.
  virtual bool next(LumaFrame& frame) = 0;
  virtual std::int64_t width() const = 0;
  virtual std::int64_t height() const = 0;
  virtual double frames_per_second() const = 0;                 // 0 if unknown
  virtual std::optional<std::int64_t> frame_count() const = 0;  // as the container declares it
  virtual std::string damage() const = 0;                       // empty if there is none
  virtual std::int64_t resumptions() const { return 0; }        // how often frames continued after damage
  virtual Decoding decoding() const { return {}; }
};

// Luma is the video's own (Y', expanded to 0..255: `ffmpeg -pix_fmt gray`), or that of a picture if the video is stored
// as RGB. A folder opens as a video of its pictures, in natural order of their names (f2 before f10), all of one size.
// They keep their type, `seconds` is 0, and an unreadable picture counts as damage.
std::unique_ptr<Video> open_video(const fs::path& path, const ReadOptions& options = {});

// A video from pictures: H.264 if this FFmpeg has libx264, else MPEG-4, in 4:2:0, in the container of the extension:
// .mp4, .avi or .mkv. An odd width or height grows by one, repeating the last column or row. The file is complete or
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

// Consecutive frames without headers: pixels of one channel, or nv12: a plane of 8-bit luma, which a frame holds, and
// then chroma, which is skipped: interleaved pairs, half as many rows.
struct RawFrames {
  std::int64_t width = 0, height = 0;
  Type type = Type::u8;
  bool is_nv12 = false;
  bool is_limited = false;  // for nv12: its luma is 16..235 and is expanded as a video's; otherwise unchanged
};
RawFrames parse_raw_frames(std::string_view text);  // WxHxTYPE or WxHxnv12, e.g. 1920x1080x8u
// A file or a pipe; the stream (`-`) is borrowed. Nothing is read before the first frame is requested. Frames have no
// time. An incomplete last frame is damage. `memory_limit` is for one frame.
std::unique_ptr<Video> open_raw(const fs::path& path, const RawFrames& frames, std::uint64_t memory_limit = 0);
std::unique_ptr<Video> open_raw(std::FILE* stream, const std::string& name, const RawFrames& frames,
                                std::uint64_t memory_limit = 0);

// The length of a file and its CRC-32C.
struct FileSum {
  std::uint64_t bytes = 0;
  std::uint32_t crc32c = 0;
  friend bool operator==(const FileSum&, const FileSum&) = default;
};

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
// True if the file begins as an .npy. False for anything but a regular file.
bool is_npy(const fs::path& path);
// A file that stays on disk: pages are read on access, so it may be larger than memory. If the file is truncated
// meanwhile, the process ends by SIGBUS.
class MappedArray {
 public:
  virtual ~MappedArray() = default;
  virtual const ConstView& view() const = 0;
};
std::unique_ptr<MappedArray> map_npy(const fs::path& path, Axes axes = Axes::hwc);
// Raw pixels, as read_raw.
std::unique_ptr<MappedArray> map_raw(const fs::path& path, const Shape& shape, Type type);
// The shape is written in numpy's order: (h, w), (h, w, c) interleaved, (c, h, w) planar, with a leading batch if > 1.
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
  // Writes elements from (x, y) on, of all channels; in a planar array of channel `channel` and the next ones, as many
  // as the piece has.
  void write(std::int64_t x, std::int64_t y, const ConstView& piece, std::int64_t channel = 0);
  // As TableWriter's.
  std::uint64_t share();
  // As OutputFile's; none for an array that was shared.
  std::optional<FileSum> sum();
  void flush();
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
  // Tables of one run belong together: all have its `run`, and the table of sums names the kinds of the others.
  // Sidecars of earlier versions have neither.
  std::string run;
  std::vector<std::string> companions;
  std::optional<PixelRange> pixels;  // none: any of the input type
};
// A new `run`.
std::string new_run();
// Throws InvalidArgument if one of the outputs is one of the inputs: the same file by device and inode, under any name.
// Ignores empty names and "-".
void require_other_files(const std::vector<fs::path>& outputs, const std::vector<fs::path>& inputs);
// A table, its sidecar, and those of its companions: all files that writing it may replace.
std::vector<fs::path> files_of_table(const fs::path& path);
// T.npy and "squares": T.squares.npy.
fs::path companion_path(const fs::path& path, const std::string& kind);
// Throws InvalidArgument for a table that the path's format cannot hold, before anything is written.
void require_table_format(const fs::path& path, const ConstView& table);
void write_table(const fs::path& path, const ConstView& table,
                 const TableFile& description);  // description.table unused
TableFile read_table(const fs::path& path, std::uint64_t memory_limit = 0);
// True for an .npy or a .tif with its own sidecar, as tables have. Throws IoError for an invalid sidecar.
bool is_table(const fs::path& path);

// S.npy, the bytes of a compact or a rank store as a line of 8u, and its sidecar S.json.
struct StoreFile {
  StorePlan plan;
  HistogramStore store;
  std::string source;  // the input's file name
};
// True for a table, as `is_table`, that is a store.
bool is_store(const fs::path& path);
// Throws InvalidArgument for a path that a store may not have, before anything is written.
void require_store_format(const fs::path& path);
// Throws InvalidArgument for a store without bytes.
void write_store(const fs::path& path, const StorePlan& plan, const HistogramStore& store, const std::string& source);
// The store lies where the execution runs. `memory_limit` is for its bytes in host memory.
StoreFile read_store(const fs::path& path, const Execution& execution = {}, std::uint64_t memory_limit = 0);

// A table in pieces, in any order, by one thread at a time: batch 1, .npy only. Both files are complete or absent.
class TableWriter {
 public:
  // `temporary`: as for OutputFile.
  TableWriter(const fs::path& path, const Shape& shape, Type type, const TableFile& description,
              const fs::path& temporary = {});
  ~TableWriter();
  TableWriter(TableWriter&&) noexcept;
  // As ArrayWriter's.
  void write(std::int64_t x, std::int64_t y, const ConstView& piece, std::int64_t channel = 0);
  // For several processes that write one table: the whole table counts as written from now on, and others may write
  // entries to `temporary()`, from the returned byte on.
  std::uint64_t share();
  const fs::path& temporary() const;
  void finish();  // without it the files do not appear

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The text of a file or a pipe. Throws IoError if it cannot be read, or has more bytes than `most`.
std::string read_text(const fs::path& path, std::uint64_t most);
// Of regions, boxes and tracks: some 30 million lines.
inline constexpr std::uint64_t most_csv_bytes = 1 << 30;

// ---------------------------------------------------------------- regions
// One region a line: x,y,width,height; a header line and an optional 5th column `name` are allowed, as are blank lines,
// CRLF and # comments. A bad line throws InvalidArgument that names its number and what was wrong.
struct NamedRegion {
  Region region;
  std::string name;  // "" or as given
};
std::vector<NamedRegion> read_regions_csv(const fs::path& path);
std::vector<NamedRegion> parse_regions_csv(std::string_view text, const std::string& name);
NamedRegion parse_region(std::string_view text);  // "x,y,w,h", as for --region

// Moving boxes: one a line, for a frame. With a header, columns frame,id,x,y,width,height in any order; others,
// including `stream`, are ignored; frames from 0, fractions of pixels rounded to the nearest (halves up). Without a
// header, the MOT challenge's columns: frame, id, left, top, width, height, and up to four more; frame, left and top
// from 1, fractions likewise, lines of confidence (the 7th column) 0 skipped. Blank lines, CRLF, # comments and bad
// lines as for regions.
struct Box {
  std::int64_t frame = 0;
  std::string id;
  Region region;
};
std::vector<Box> read_boxes_csv(const fs::path& path);  // by frame, and as in the file within a frame
std::vector<Box> parse_boxes_csv(std::string_view text, const std::string& name);

// A file that appears under its name only when complete. It is written in the same folder under a temporary name, with
// space reserved first and plain writes; commit() flushes it to the disk, renames it and flushes the folder. Otherwise
// the destructor (or an interrupt) removes it.
class OutputFile {
 public:
  // `temporary`: the name to write under, from temporary_for, if others must know it before the file exists.
  explicit OutputFile(const fs::path& path, std::uint64_t reserve_bytes = 0, const fs::path& temporary = {});
  // An unused name in the folder of the path; empty for a device or a pipe.
  static fs::path temporary_for(const fs::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  void write(const void* data, std::size_t bytes);
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes);  // does not move the position of `write`
  const fs::path& temporary() const;                                         // for libraries that write by name
  // The same file, for libraries that create the file that they write: one that an interrupt has removed is not created
  // again.
  fs::path by_descriptor() const;
  // Length and checksum (CRC-32C) of what has been written, read back from the file; none for a device or a pipe.
  // Nothing may be written afterwards.
  std::optional<FileSum> sum();
  // Writes to the disk what has been written. Nothing may be written afterwards.
  void flush();
  // `another_follows`: another file of the same folder is committed next, which flushes the folder for both.
  void commit(bool another_follows = false);

 private:
  struct State;
  std::unique_ptr<State> state_;
};
// Outputs of this process need not be on the disk when it ends (--no-sync).
void leave_out_sync() noexcept;
bool outputs_are_synced() noexcept;
// Writes a file's contents to the disk, unless that is left out. Throws IoError.
void flush_to_disk(int fd, const std::string& name);
// Removes the temporary files of this process, which must end then: threads that would create or commit one block.
// Async-signal-safe, for the command's handler of SIGINT and SIGTERM.
void remove_unfinished_outputs() noexcept;

// ---------------------------------------------------------------- drawing
// A copy of the picture (1 or 3 channels, 8u) as RGB with the regions outlined and, where given, each one's histogram
// (bins counts) as a small bar chart inside or next to it, and its mean next to its number. Parts outside it are
// left out.
Array draw_regions(const ConstView& picture, const std::vector<NamedRegion>& regions,
                   const std::vector<std::vector<double>>& histograms = {}, const std::vector<double>& means = {});
// Values from their smallest, bright, to their largest, dark, as RGB; NaN is black. One channel, 32f.
Array heat_map(const ConstView& values);

}  // namespace areal::media
