#pragma once
// The interface of `areal bench` to its CUDA plug-in.

#include <areal/border.hpp>
#include <areal/filter.hpp>
#include <areal/region.hpp>
#include <areal/research/warp_scan.hpp>
#include <areal/sat.hpp>
#include <areal/track.hpp>
#include <areal/type_pair.hpp>
#include <areal/window.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace areal::bench {

/// Another library's kernel, timed in the same rounds.
struct CudaPeer {
  std::string name;                  ///< library, version, function
  std::vector<double> times, floor;  ///< microseconds; no floor if its tables have another geometry than ours
  Border border;                     ///< of its tables
  std::optional<Type> squares;
  bool whole;                         ///< else `table` is only the last entry
  const void *table, *squares_table;  ///< host, contiguous: of the type pair's type, and of the squares'
};

/// Tables of one image by every algorithm, the floors and other libraries, in rounds of random order, one execute
/// between two events.
struct CudaSat {
  TypePair types;
  Squares squares;  ///< also the table of squares
  Border border;
  std::int64_t width, height, batch;
  const void* image;            ///< host, contiguous
  void *table, *squares_table;  ///< host, contiguous: the results for `done`
  std::vector<std::string> algorithms;
  int repetitions, device;
  bool peers;                                             ///< of one image
  std::function<void(const std::vector<double>&)> floor;  ///< microseconds of the fastest floor
  /// Called with each algorithm's microseconds; its tables are in `table` and `squares_table`.
  std::function<void(const std::string& id, const std::vector<double>&)> done;
  std::function<void(const CudaPeer&)> peer;
  std::function<void(const std::string&)> note;  ///< which peer is missing, and why
};

/// Integral histograms of one image (8u, uniform bins over 0 to 256), in turns with a memset of their tensor.
struct CudaHistogram {
  std::int64_t width, height, batch, bins;
  Type counter;                         ///< 16u, 32u; 32f adds weights
  const void* image;                    ///< host, contiguous
  const float* weights;                 ///< one per pixel; nullptr unless the counter is 32f
  std::vector<std::string> algorithms;  ///< ids, or auto
  int repetitions, device;
  std::function<void(const std::vector<double>&)> floor;  ///< microseconds of the memset
  /// Called with the algorithm that ran and its microseconds. `at(bin, x, y, n)` is an entry of its tensor. Throws if
  /// the tensor is wrong.
  std::function<void(const std::string& id, const std::vector<double>&,
                     const std::function<double(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& at)>
      done;
  std::function<void(std::size_t i, const std::string& why)> refused;
};

/// Random regions of one image (8u): their sums from its table (32u, border zero) against a plain kernel of four random
/// loads each; if `bins` is not 0, also their histograms (uniform bins over 0 to 256) from its tensor (32u, border
/// none) against a plain kernel of four loads per bin.
struct CudaRegions {
  std::int64_t width, height, bins;
  const void* image;  ///< host, contiguous
  std::span<const Region> regions;
  int repetitions, device;
  std::span<std::uint64_t> answers;  ///< host: one per region, or per region and bin
  /// Called with the microseconds of the plain kernel and of ours, whose results are in `answers`. Throws if they are
  /// wrong.
  std::function<void(const std::vector<double>& floor, const std::vector<double>& ours)> done;
};

/// Queries on 32u tables of one image (8u), in turns with a plain kernel of the same accesses. The image's bytes also
/// serve as a volume.
struct CudaQueries {
  std::int64_t width, height;
  Shape volume;       ///< width x height x depth (its batch), as many pixels as the image has
  const void* image;  ///< host, contiguous
  std::span<const Region> regions, rotated;
  std::span<const Box> boxes;
  Window window;
  int repetitions, device;
  /// The microseconds of a query and of the plain kernel; `answers` is on the host.
  struct Done {
    const char *query, *floor;
    std::uint64_t bytes;  ///< the least that the query reads and writes
    std::vector<double> times, floor_times;
    const void* answers;
    std::size_t answers_bytes;
  };
  std::function<void(const Done&)> done;  ///< throws if the answers are wrong
};

/// Histograms of boxes of one image (8u) in `bins` equal bins: straight from the pixels, from a tensor and from a
/// compact store that are built for them, and from a compact store that is there, in rounds of random order with a
/// kernel that only reads the boxes' pixels. The query `build` is the build of the compact store, beside a fill of its
/// bytes.
struct CudaBoxes {
  static constexpr const char* build = "compact store";
  static constexpr const char* of_pixels = "boxes of pixels";
  static constexpr const char* of_tensor = "boxes of a tensor";
  static constexpr const char* of_new_store = "boxes of a new compact store";
  std::int64_t width, height, bins;
  const void* image;  ///< host, contiguous
  std::span<const Region> boxes;
  int repetitions, device;
  std::span<std::uint64_t> answers;  ///< boxes x bins, of the last query
  /// The microseconds of a query and of the floor. Throws if the answers are wrong.
  std::function<void(const char* query, const std::vector<double>& times, const std::vector<double>& floor)> done;
};

/// Medians of boxes of one image: from a rank store that is built for them, beside a fill of its bytes, and from
/// one that is there, beside a kernel that reads as many sectors of it at random; in rounds of random order. The query
/// `build` is the build alone.
struct CudaMedians {
  static constexpr const char* build = "rank store";
  static constexpr const char* from_store = "medians of a rank store";
  Type type;
  std::int64_t width, height;
  const void* image;  ///< host, contiguous
  std::span<const Region> boxes;
  int repetitions, device;
  std::span<double> answers;  ///< of the last query
  /// The microseconds of a query and of its floor. Throws if the answers are wrong.
  std::function<void(const char* query, const std::vector<double>& times, const std::vector<double>& floor)> done;
};

/// A racer and its parameters.
struct CudaRacer {
  std::string algorithm;
  double r;
  WarpScan scan;
  int tile, tile_threads;
  std::int64_t group;
};
struct CudaLaunchTimes {
  std::string kernel;
  std::int64_t launches;  ///< consecutive launches, reported as one if an execute has more than 16
  std::int64_t blocks;    ///< of all these launches
  int threads;
  double occupancy;
  std::vector<double> times;
};

/// A race: see race.hpp. The device makes the image and checks the results.
struct CudaRace {
  TypePair types;
  std::int64_t width, height, bins, batch;  ///< bins 0: tables
  std::vector<CudaRacer> racers;
  int repetitions, device;
  bool launches, line;
  std::function<void(const std::vector<double>&)> floor;  ///< microseconds of the fastest floor, in most racers' turns
  /// Called with the microseconds of a racer with a right result, and of the floor in its turns. Throws nothing.
  std::function<void(std::size_t racer, const std::string& algorithm, const std::vector<double>& times,
                     const std::vector<double>& floor, const std::vector<CudaLaunchTimes>&)>
      done;
  std::function<void(std::size_t racer, const std::string& why)> refused;
  std::function<void(std::size_t racer, const std::string& why)> wrong;  ///< its result is
};

/// Tables of one image by several algorithms and the floors, in rounds of random order. The device makes the image and
/// checks the results.
struct CudaSweep {
  TypePair types;
  Squares squares;  ///< also the table of squares
  Border border;    ///< none or zero
  std::int64_t width, height, batch;
  std::vector<std::string> algorithms;  ///< ids, or "auto"
  int repetitions, device;
  double most_us;                                         ///< of all rounds: sets their number, at least 30
  std::function<void(const std::vector<double>&)> floor;  ///< microseconds of the fastest floor
  struct Row {
    std::string algorithm;             ///< that ran: for "auto" its choice
    std::vector<std::string> kernels;  ///< of one execute, in their order
    std::vector<double> times;         ///< microseconds by round; slow algorithms have few rounds
  };
  /// Called with the times of `algorithms[i]`, whose result is right.
  std::function<void(std::size_t i, const Row&)> done;
  std::function<void(std::size_t i, const std::string& why)> refused;
  std::function<void(std::size_t i, const std::string& why)> wrong;  ///< its result is
};

/// Boxes tracked by their fragments through frames (8u), whose tensors (16 bins of 32u, border none) the device
/// computes. Times, on the last frame and in turns: the tensor alone; the tensor and a plain kernel with the loads of a
/// step at these boxes, three scales and 7 pixels around; the tensor and a step.
struct CudaTrack {
  std::int64_t width, height;
  std::span<const void* const> frames;  ///< host, contiguous
  std::span<const Region> boxes;        ///< at least 16 pixels from the image's edges
  int repetitions, device;
  std::span<TrackedBox> found;  ///< host: the boxes after each step, frame by frame from the second on
  std::function<void(const std::vector<double>& tensor, const std::vector<double>& loads,
                     const std::vector<double>& step)>
      done;  ///< microseconds; the boxes are there. Throws where these are wrong
};

/// A filter of square windows, with edge reflect.
struct CudaFilterCase {
  std::string name;  ///< mean 15x15
  Filter filter;
  Type out;
  std::int64_t side;
};

/// Filters of one image, and for each the copy of as many bytes as it reads and writes, in rounds of random order.
struct CudaFilters {
  std::int64_t width, height;
  Type in;
  const void* image;  ///< host, contiguous
  std::vector<CudaFilterCase> cases;
  int repetitions, device;
  bool peers;     ///< NPP, of means of 8u for which it takes less than a second
  void* outputs;  ///< host: those of the case that is done; 8 bytes a pixel are enough
  /// Called with the algorithm, or the peer's name, and the microseconds of the case and of the faster copy; the
  /// outputs are there, for a peer only those of windows inside the image. Throws if they are wrong.
  std::function<void(const std::string& algorithm, const CudaFilterCase& one, const std::vector<double>& times,
                     const std::vector<double>& copy, bool peer)>
      done;
  std::function<void(const std::string&)> note;  ///< which case or peer is missing, and why
};

/// Copies between pinned host memory and the device: microseconds of each.
struct CudaLink {
  std::uint64_t up_bytes, down_bytes;
  int repetitions, device;
  std::function<void(const std::vector<double>& up, const std::vector<double>& down)> done;
};

using CudaBenchRegions = void (*)(const CudaRegions* what, char* error, std::size_t size);
using CudaBenchQueries = void (*)(const CudaQueries* what, char* error, std::size_t size);
using CudaBenchBoxes = void (*)(const CudaBoxes* what, char* error, std::size_t size);
using CudaBenchMedians = void (*)(const CudaMedians* what, char* error, std::size_t size);
using CudaBenchHistogram = void (*)(const CudaHistogram* what, char* error, std::size_t size);
using CudaBenchSat = void (*)(const CudaSat* what, char* error, std::size_t size);
using CudaBenchRace = void (*)(const CudaRace* what, char* error, std::size_t size);
using CudaBenchSweep = void (*)(const CudaSweep* what, char* error, std::size_t size);
using CudaBenchFilters = void (*)(const CudaFilters* what, char* error, std::size_t size);
using CudaBenchTrack = void (*)(const CudaTrack* what, char* error, std::size_t size);
using CudaBenchLink = void (*)(const CudaLink* what, char* error, std::size_t size);

}  // namespace areal::bench
