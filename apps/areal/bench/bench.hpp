#pragma once
// What the benchmarks share: their options, and the records that come out.

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
#include "io/settings.hpp"
#include "measure.hpp"

namespace areal::bench {

struct Size {
  std::int64_t width = 0, height = 0;
};

struct Options {
  std::vector<Size> sizes;
  std::vector<TypePair> pairs;
  std::vector<std::int64_t> bins;
  std::vector<Type> counters;           // of histogram on cuda; 32f adds weights
  std::vector<std::string> algorithms;  // "auto", ids of the catalogue
  std::vector<int> threads;
  std::optional<std::int64_t> regions;
  int repetitions = 15;
  bool is_repetitions_given = false;
  Backend backend = Backend::cpu;
  int device = 0;
  Border border = Border::zero;
  bool is_border_given = false;
  std::int64_t batch = 1;
  bool is_batch_given = false;
  Squares squares = Squares::no;  // tables of squares beside the sums
  bool peers = true;
  std::string video;
  std::vector<Worker> workers;     // of a sequence; empty: what backend says
  std::string shown;               // a paper's table or figure to make again: "kasagi"; "all" for all rows; "" for none
  std::vector<int> slots;          // of a sequence's figure
  std::string order;               // "breadth", "depth"; "" for the figure's own
  std::vector<std::string> parts;  // of a cluster's figure; empty: all
  std::uint64_t group_bytes = std::uint64_t{1} << 30;  // of a group of bins there
  std::vector<Size> cuts;                              // of a spread table: bands x parts, beside the library's choice
  std::string plot;                                    // the file that its picture goes to; "" for none
  std::function<void(const std::string& what)> wrong =
      {};  // told of a wrong result: the run goes on, and fails in the end
};

/// A launch of an execute; of one that has more than 16, all launches of one kernel in a row.
struct LaunchTime {
  std::string kernel;
  std::int64_t launches = 1;
  std::int64_t blocks = 0;  // of all of them
  int threads = 0;          // of a block
  double occupancy = 0;     // warps that a multiprocessor holds of it, of those that it can hold
  Times time = {};          // from an event behind the launch before it to an event behind it
  std::string phase = {};   // what it is of the paper's algorithm; "" where nobody says
};

/// How a tracker did in a family of sequences.
struct Tracked {
  std::string family;
  double iou = 0;  // the mean over all steps
  int sequences = 0;
  std::int64_t lost = 0;  // sequences
  std::optional<double> must_reach = {};
  std::optional<double> back_pixels = {};  // from the start to where it returns when it goes back, the median
};

/// How frames went through slots, in microseconds of a frame.
struct Pipelined {
  int slots = 0;
  std::string order;        // in which the slots' work is queued: breadth, depth; ring: HistogramSequence; bins, tiles
  std::int64_t frames = 0;  // of a run
  double read = 0, up = 0, initialise = 0, scan = 0, down = 0;  // of its stages; 0 where it was not told apart
};

/// An algorithm in a sweep: what it took in rounds that all of a case share.
struct SweepRow {
  std::string algorithm;  // "auto", too
  std::string chose;      // what auto was; "" for others
  Times time = {};
  MedianInterval between = {};
  std::int64_t rounds = 0, launches = 0;  // launches: of one execute
};

/// One line of the result: a kernel, its time, and the floor that was measured beside it.
struct Record {
  std::string what, algorithm, types;
  std::int64_t width = 0, height = 0, bins = 0, batch = 1;
  int threads = 1;
  Times time = {};
  std::string floor = {};  // copy, widen, memset, gather; "" where there is none
  Times floor_time = {};
  std::uint64_t bytes = 0;  // read and written at the least
  Backend backend = Backend::cpu;
  std::string device = {};  // its name, where it is not the CPU
  Border border = Border::zero;
  std::string source = {};       // the catalogue's of the algorithm, "areal" for ours; "" for what is not in it
  std::string shown = {};        // the paper's table or figure that it belongs to: "kasagi"; "" for none
  std::optional<double> r = {};  // what the algorithm took, where it takes that
  int tile = 0;                  // 0: none
  std::int64_t group = 0;        // k; 0: none
  int tile_threads = 0;          // of a block on such a tile; 0: none
  std::string scan = {};         // "": none
  std::vector<LaunchTime> launches = {};
  std::string part = {};            // of the figure, where it has several
  std::string devices = {};         // what took the work, where there may be several: "cuda:0,cpu:16"
  std::vector<SweepRow> rows = {};  // of a sweep, whose record is of a case: its time is that of auto
  std::optional<Pipelined> pipelined = {};
  std::optional<Tracked> tracked = {};  // `batch` is then the frames of a sequence, the time that of a step
};

/// Receives records as they come: prints them and keeps them, in a file, too, where one is named: written anew every
/// ten seconds, so that what ends a long run early does not take them all.
class Report {
 public:
  Report(const command::Settings& settings, std::string file) : settings_(settings), file_(std::move(file)) {}
  void add(const Record& record);
  /// Keeps it, unprinted: what a figure is made of, which is printed whole.
  void keep(const Record& record);
  void note(const std::string& words) const;
  /// Says that a result is wrong.
  void wrong(const std::string& what);
  /// All records as a JSON array in the file, where one is named. Throws Error where a result was wrong.
  void finish();
  /// Where the run has failed: those that there are.
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
/// The same on a GPU.
void bench_cuda_sat(const Options& options, Report& report);
void bench_cuda_histogram(const Options& options, Report& report);
void bench_cuda_region(const Options& options, Report& report);
/// Every row of the catalogue that a GPU runs, beside the default: sat and histogram; beside CUB's: scan.
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
void bench_window(const Options& options, Report& report);
void bench_strips(const Options& options, Report& report);
/// One table, or a tensor's bins, over several devices.
void bench_spread(const Options& options, Report& report);
void bench_track(const Options& options, Report& report);
/// On a GPU, where not how well they follow is asked, but what a step takes.
void bench_cuda_track(const Options& options, Report& report);
void bench_video(const Options& options, Report& report);
void bench_cuda_video(const Options& options, Report& report);
void bench_sequence(const Options& options, Report& report);
void bench_sequence_poostchi(const Options& options, Report& report);
void bench_cluster_poostchi(const Options& options, Report& report);

/// The type of the table of squares beside a table of these types; none where there is no such table.
std::optional<Type> squares_type(TypePair types, Squares squares);
/// "8u32u", "8u32u+64f": sums and squares.
std::string name_of(TypePair types, std::optional<Type> squares);
/// Random pixels of that type (seeded: the same in every run); floats in [0, 1).
Array random_image(const Size& size, Type type);
/// Random regions (seeded) that lie inside the image and begin at column and row `first` or beyond.
std::vector<Region> random_regions(const Size& size, std::int64_t count, std::int64_t first = 0);
/// The name of this machine's CPU.
std::string device_name();
/// The name of that device of cuda; "" where there is none.
std::string device_name(int number);

}  // namespace areal::bench
