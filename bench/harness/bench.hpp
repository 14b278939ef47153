#pragma once
// The options and records of all benchmarks.

#include <areal/array.hpp>
#include <areal/border.hpp>
#include <areal/execution.hpp>
#include <areal/region.hpp>
#include <areal/sat.hpp>
#include <areal/sequence.hpp>
#include <areal/type_pair.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>
#include "bench/harness/measure.hpp"
#include "io/settings.hpp"

namespace areal::bench {

struct Size {
  std::int64_t width = 0, height = 0;
};

struct Options {
  std::vector<Size> sizes;
  std::vector<TypePair> pairs;
  std::vector<Type> types;  // of filter's images
  std::vector<std::int64_t> bins;
  std::vector<Type> counters;           // of histogram on cuda; 32f adds weights
  std::vector<std::string> algorithms;  // "auto", ids of the catalogue
  std::vector<int> threads;
  std::optional<std::int64_t> regions;
  int repetitions = 30;
  bool is_repetitions_given = false;
  Backend backend = Backend::cpu;
  int device = 0;
  Border border = Border::zero;
  bool is_border_given = false;
  std::int64_t batch = 1;
  bool is_batch_given = false;
  Squares squares = Squares::no;  // also tables of squares
  bool peers = true;
  std::string video;
  std::vector<Worker> workers;     // for a sequence; empty: by backend
  std::string shown;               // a paper's table or figure to reproduce: "kasagi"; "all": every row; "": none
  std::vector<int> slots;          // for a sequence's figure
  std::string order;               // "breadth", "depth"; "": the figure's own
  std::vector<std::string> parts;  // for a cluster's figure; empty: all
  std::uint64_t group_bytes = std::uint64_t{1} << 30;  // of a cluster's group of bins
  std::vector<Size> cuts;                              // bands x parts of a spread table, besides the library's choice
  std::function<void(const std::string& what)> wrong =
      {};  // reports a wrong result; the run continues and fails at the end
};

/// A launch of an execute; if it has more than 16, consecutive launches of one kernel together.
struct LaunchTime {
  std::string kernel;
  std::int64_t launches = 1;
  std::int64_t blocks = 0;  // of all launches
  int threads = 0;          // per block
  double occupancy = 0;     // resident warps of a multiprocessor / the most possible
  Times time = {};          // between events after the previous launch and after this one
  std::string phase = {};   // in the paper's algorithm; "" if unknown
};

/// A tracker's results in a family of sequences.
struct Tracked {
  std::string family;
  double iou = 0;  // the mean over all steps
  int sequences = 0;
  std::int64_t lost = 0;  // sequences
  std::optional<double> must_reach = {};
  std::optional<double> back_pixels = {};  // median distance from the start after tracking forth and back
};

/// A pipeline of frames through slots; times are microseconds per frame.
struct Pipelined {
  int slots = 0;
  std::string order;        // of the slots' work: breadth, depth; ring: HistogramSequence; bins, tiles
  std::int64_t frames = 0;  // per run
  double read = 0, up = 0, initialise = 0, scan = 0, down = 0;  // the stages; 0 if not measured separately
};

/// When the stages of some frames ran, in a pipeline of so many slots.
struct Timeline {
  struct Span {
    std::string stage;
    int slot = 0;
    std::int64_t frame = 0;
    double begin = 0, end = 0;  // microseconds
  };
  int slots = 0;
  std::vector<Span> spans = {};
};

/// An algorithm in a sweep, timed in the same rounds as all others of the case.
struct SweepRow {
  std::string algorithm;  // or "auto"
  std::string chose;      // by auto; "" for others
  Times time = {};
  std::int64_t launches = 0;  // per execute
};

/// One line of the result: an algorithm, its time, and the floor measured in turns with it.
struct Record {
  std::string what, algorithm, types;
  std::int64_t width = 0, height = 0, bins = 0, batch = 1;
  int threads = 1;
  Times time = {};
  Times areal = {};        // of a peer's record: areal's in the same rounds, if the peer has rounds of its own
  std::string floor = {};  // copy, widen, memset, gather; "": none
  Times floor_time = {};
  std::uint64_t bytes = 0;  // the least that is read and written
  Backend backend = Backend::cpu;
  std::string device = {};  // the GPU's name
  Border border = Border::zero;
  std::string source = {};       // of the algorithm, from the catalogue; "areal": ours; "": not in the catalogue
  std::string shown = {};        // the paper's table or figure: "kasagi"; "": none
  std::optional<double> r = {};  // for algorithms with an r
  int tile = 0;                  // 0: none
  std::int64_t group = 0;        // k; 0: none
  int tile_threads = 0;          // per block on a tile; 0: none
  std::string scan = {};         // "": none
  std::vector<LaunchTime> launches = {};
  std::string part = {};            // of a figure with several
  std::string devices = {};         // the workers, if there can be several: "cuda:0,cpu:16"
  std::vector<SweepRow> rows = {};  // of a sweep's case, whose `time` is that of auto
  std::optional<Pipelined> pipelined = {};
  std::vector<Timeline> timelines = {};
  std::optional<Tracked> tracked = {};  // then `batch` is the frames of a sequence, `time` that of a step
};

/// Prints and keeps records. Rewrites the file, if one is named, every ten seconds, so that a long run that is killed
/// leaves its records.
class Report {
 public:
  Report(const command::Settings& settings, std::string file) : settings_(settings), file_(std::move(file)) {}
  void add(const Record& record);
  /// Keeps a record without printing it.
  void keep(const Record& record);
  void note(const std::string& words) const;
  /// Reports a wrong result.
  void wrong(const std::string& what);
  /// Writes all records to the file, if one is named, as a JSON array. Throws Error if a result was wrong.
  void finish();
  /// Writes the records of a failed run.
  void rescue() noexcept;
  bool quiet() const { return settings_.quiet; }

 private:
  void write() const;

  const command::Settings& settings_;
  std::string file_;
  std::chrono::steady_clock::time_point written_ = std::chrono::steady_clock::now();
  std::string wrong_;  // the first
  std::vector<Record> records_;
};

void bench_sat(const Options& options, Report& report);
/// On a GPU.
void bench_cuda_sat(const Options& options, Report& report);
void bench_cuda_histogram(const Options& options, Report& report);
void bench_cuda_region(const Options& options, Report& report);
/// Medians of boxes from rank stores, over sizes and types.
void bench_medians(const Options& options, Report& report);
/// Every row of the catalogue that a GPU runs, against the default (sat, histogram) or CUB (scan).
void bench_all_tables(const Options& options, Report& report);
/// What `auto` may choose, and `auto`, over sizes, type pairs and borders.
void bench_sweep(const Options& options, Report& report);
void bench_all_tensors(const Options& options, Report& report);
void bench_all_lines(const Options& options, Report& report);
/// The papers' tables and figures.
void bench_kasagi(const Options& options, Report& report);
void bench_chen(const Options& options, Report& report);
void bench_lee_choe(const Options& options, Report& report);
void bench_poostchi(const Options& options, Report& report);
void bench_histogram(const Options& options, Report& report);
void bench_region(const Options& options, Report& report);
/// Every store of histograms and of quantiles, on the CPU or on a GPU.
void bench_stores(const Options& options, Report& report);
void bench_window(const Options& options, Report& report);
void bench_cuda_filter(const Options& options, Report& report);
void bench_strips(const Options& options, Report& report);
/// One table, or a tensor's bins, over several devices.
void bench_spread(const Options& options, Report& report);
void bench_track(const Options& options, Report& report);
/// On a GPU; measures the time of a step, not the accuracy.
void bench_cuda_track(const Options& options, Report& report);
void bench_video(const Options& options, Report& report);
void bench_cuda_video(const Options& options, Report& report);
void bench_sequence(const Options& options, Report& report);
void bench_sequence_poostchi(const Options& options, Report& report);
void bench_cluster_poostchi(const Options& options, Report& report);

/// The type of the table of squares for a table of these types; none without squares.
std::optional<Type> squares_type(TypePair types, Squares squares);
/// "8u32u", "8u32u+64f": sums and squares.
std::string name_of(TypePair types, std::optional<Type> squares);
/// Seeded random pixels; floats in [0, 1).
Array random_image(const Size& size, Type type);
/// Seeded random regions inside the image, from column and row `first` on.
std::vector<Region> random_regions(const Size& size, std::int64_t count, std::int64_t first = 0);
/// Seeded random squares of that side inside the image.
std::vector<Region> random_squares(const Size& size, std::int64_t count, std::int64_t side);
/// The name of this machine's CPU.
std::string device_name();
/// The name of a CUDA device; "" if it does not exist.
std::string device_name(int number);

}  // namespace areal::bench
