// areal bench cluster --figure poostchi: Figures 16 and 17 of Poostchi et al. 2017 on any number of devices, and beyond
// them tensors larger than host memory, images whose tensors fit no device, and unequal workers.
//
// Time of each part on an H200: one to two minutes, most of it the CPU's versions (figure-17) and the checks.

#include <fmt/format.h>
#include <algorithm>
#include <areal/device.hpp>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <areal/region_histogram.hpp>
#include <areal/tiled.hpp>
#include <chrono>
#include <mutex>
#include <random>
#include <set>
#include "bench/harness/cpu_groups.hpp"
#include "bench/harness/device_floors.hpp"
#include "bench/harness/frames_in_memory.hpp"
#include "bench/harness/noise.hpp"
#include "bench/harness/tensor_check.hpp"
#include "bench/papers/bins_queue.hpp"
#include "bench/papers/figure.hpp"

namespace areal::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double run_seconds = 0.5;                              // of the timed frames of a case
constexpr std::uint64_t most_in_slots = std::uint64_t{2} << 30;  // of a tensor that goes whole through four slots
constexpr int frame_slots = 4, answer_slots = 8;                 // the latter for each worker

struct Case {
  Size size;
  std::int64_t bins;
};

std::string text_of(const Case& of) { return fmt::format("{}, {} bins", bench::text_of(of.size), of.bins); }
std::uint64_t tensor_bytes(const Case& of) {
  return 4 * static_cast<std::uint64_t>(of.size.width * of.size.height * of.bins);
}

class Cluster {
 public:
  Cluster(const Options& options, Report& report) : options_(options), report_(report), workers_(options.workers) {
    if (workers_.empty()) workers_ = {{.backend = options.backend, .device = options.device}};
    for (Worker& worker : workers_)
      if (worker.backend == Backend::cpu && worker.threads == 0) worker.threads = options.threads.back();
    try {
      for (const Worker& worker : workers_) OwnedStream(execution_of(worker)).wait();
    } catch (const Unavailable& error) {
      throw Unavailable(fmt::format("--figure poostchi: {}; --backend simt or cpu, or --devices, runs it without a GPU",
                                    error.what()));
    }
    for (const char* id : {"wf-tis", "auto"}) {
      const bool asked = options.algorithms.empty() || std::find(options.algorithms.begin(), options.algorithms.end(),
                                                                 id) != options.algorithms.end();
      const bool there = id == std::string_view("auto") ||
                         std::none_of(workers_.begin(), workers_.end(),
                                      [](const Worker& worker) { return worker.backend == Backend::cpu; });
      if (asked && !there) report.note("wf-tis is not on the CPU");
      if (asked && there) algorithms_.emplace_back(id);
    }
    if (algorithms_.empty()) throw InvalidArgument("--algorithm: bench cluster has auto and, not on the CPU, wf-tis");
  }

  /// Begins the part's records if the options select the part; returns whether they do.
  bool begin(const std::string& part) {
    part_ = part;
    return options_.parts.empty() ||
           std::find(options_.parts.begin(), options_.parts.end(), part) != options_.parts.end();
  }
  std::vector<Case> cases(const std::vector<Case>& of_part) const {
    if (options_.sizes.empty() && options_.bins.empty()) return of_part;
    std::vector<Case> chosen;
    for (const Case& of : of_part) {
      const auto same = [&](const Size& size) { return size.width == of.size.width && size.height == of.size.height; };
      const bool sized = options_.sizes.empty() || std::any_of(options_.sizes.begin(), options_.sizes.end(), same);
      const bool binned = options_.bins.empty() ||
                          std::find(options_.bins.begin(), options_.bins.end(), of.bins) != options_.bins.end();
      if (sized && binned) chosen.push_back(of);
    }
    if (!chosen.empty()) return chosen;
    const std::vector<std::int64_t> bins =
        options_.bins.empty() ? std::vector<std::int64_t>{of_part[0].bins} : options_.bins;
    for (const Size& size : options_.sizes.empty() ? std::vector<Size>{of_part[0].size} : options_.sizes)
      for (const std::int64_t b : bins) chosen.push_back({size, b});
    return chosen;
  }

  void figure_16(const std::vector<Case>& all);
  void figure_17(const std::vector<Case>& all);
  void answers(const std::vector<Case>& all, std::uint64_t device_bytes);
  void frames(const Case& of, const Case& unequal);
  void tiles(const Case& of);
  void table(const Size& size);

 private:
  static Execution execution_of(const Worker& worker) {
    return {.backend = worker.backend, .device = worker.device, .threads = worker.threads};
  }
  /// How many frames take about that long, within the limits and --items.
  std::int64_t frames_in(double seconds, double of_one, std::int64_t least, std::int64_t most) const {
    const auto fit = static_cast<std::int64_t>(seconds / std::max(of_one, 1e-6));
    return std::clamp(fit, least, std::max(least, std::min(most, options_.regions.value_or(most))));
  }
  int runs() const { return std::min(options_.repetitions, 3); }  // of each case
  int slots() const {                                             // the simulated machine runs a launch on one thread
    return std::any_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.backend == Backend::simt; })
               ? 1
               : 2;
  }
  Record record_of(const Case& of, const std::string& algorithm, const std::vector<Worker>& workers) const;
  /// The microseconds of each run.
  template <class Run>
  std::vector<double> times(const Run& run) const {
    std::vector<double> all;
    for (int i = 0; i < runs(); ++i) all.push_back(run(i));
    return all;
  }
  void keep(Record record, const std::vector<double>& times, const std::string& order, int in_slots,
            std::int64_t frames);
  void report_wrong(const Case& of, const std::string& what);
  Times link_of(std::uint64_t bytes) const;
  void down(const Case& of, const std::string& algorithm, const Times& link);
  void in_slots(const Case& of, const Times& link);
  void pieces(const Case& of, const Times& link, const PieceOptions& options);
  void answered(const Case& of, const std::vector<Worker>& workers, const char* what);

  const Options& options_;
  Report& report_;
  std::vector<Worker> workers_;
  std::vector<std::string> algorithms_;
  std::string part_;
  std::mutex telling_;
};

Record Cluster::record_of(const Case& of, const std::string& algorithm, const std::vector<Worker>& workers) const {
  Record record{"cluster", algorithm, "8u32u", of.size.width, of.size.height, of.bins};
  record.threads = workers[0].backend == Backend::cpu ? workers[0].threads : 0;
  record.backend = workers[0].backend;
  if (record.backend == Backend::cuda) record.device = device_name(workers[0].device);
  record.border = Border::none;
  record.shown = options_.shown;
  record.part = part_;
  record.devices = names_of(workers);
  record.bytes = static_cast<std::uint64_t>(of.size.width * of.size.height) + tensor_bytes(of);
  return record;
}

void Cluster::keep(Record record, const std::vector<double>& times, const std::string& order, int in_slots,
                   std::int64_t frames) {
  record.time = times_of(times);
  record.pipelined = Pipelined{in_slots, order, frames};
  report_.add(record);
}

void Cluster::report_wrong(const Case& of, const std::string& what) {
  const std::lock_guard lock(telling_);
  if (!what.empty() && options_.wrong) options_.wrong(fmt::format("{}: {}", text_of(of), what));
}

// The tensors of frames, in groups of bins by the queue of 4.6.
void Cluster::down(const Case& of, const std::string& algorithm, const Times& link) {
  try {
    std::vector<PinnedArray> images;
    std::vector<TensorCheck> checks;
    for (std::uint64_t i = 0; i < 2; ++i) {
      images.emplace_back(Shape{of.size.width, of.size.height}, Type::u8, execution_of(workers_[0]));
      fill_noise(images.back().view(), i + 1);
      checks.emplace_back(images.back().as<std::uint8_t>(), of.size, of.bins);
    }
    const auto which = [](std::int64_t frame) { return static_cast<std::size_t>(frame % 2); };
    const auto image = [&](std::int64_t frame) { return ConstView(images[which(frame)].view()); };
    BinsQueue queue(of.size, {of.bins, algorithm, workers_, options_.group_bytes, slots()});
    std::mutex counting;
    const auto run = [&](std::int64_t first, std::int64_t count, bool whole) {
      std::vector<int> came(static_cast<std::size_t>(count * queue.groups()));
      const double seconds = queue.run(first, count, image, [&](const BinsPiece& piece) {
        const TensorCheck& check = checks[which(piece.frame)];
        std::string wrong = check.entries(piece.tensor, piece.first);
        if (whole && wrong.empty()) wrong = check.whole(piece.tensor, piece.first);
        report_wrong(of, wrong);
        const std::lock_guard lock(counting);
        ++came[static_cast<std::size_t>((piece.frame - first) * queue.groups() + piece.first / queue.group_bins())];
      });
      if (!std::all_of(came.begin(), came.end(), [](int n) { return n == 1; }))
        report_wrong(of, "a group of bins did not come once");
      return seconds;
    };
    run(0, 1, true);
    const double first = run(1, 1, false);
    const std::int64_t count = frames_in(run_seconds, first, 2, 100);
    const std::vector<double> frame_us =
        times([&](int i) { return run(2 + i * count, count, false) * 1e6 / static_cast<double>(count); });
    run(2 + runs() * count, 1, true);
    Record record = record_of(of, queue.algorithm(), workers_);
    record.floor = "link", record.floor_time = link;
    keep(record, frame_us, "bins", slots(), count);
  } catch (const OutOfMemory& error) {
    report_.note(fmt::format("{}: {} by groups of bins did not run: {}", text_of(of), algorithm, error.what()));
  }
}

// The tensors of frames, each whole on one worker.
void Cluster::in_slots(const Case& of, const Times& link) {
  if (tensor_bytes(of) > most_in_slots) return;
  try {
    FramesInMemory frames({of.size, of.bins, true, workers_}, [&](const std::string& what) { report_wrong(of, what); });
    const double first = frames.run(frame_slots, 4 * frame_slots).frame_us;
    const std::int64_t count = frames_in(run_seconds, first * 1e-6, 4 * frame_slots, 200);
    const std::vector<double> frame_us = times([&](int) { return frames.run(frame_slots, count).frame_us; });
    Record record = record_of(of, "auto", workers_);
    record.floor = "link", record.floor_time = link;
    keep(record, frame_us, "ring", frame_slots, count);
  } catch (const OutOfMemory& error) {
    report_.note(fmt::format("{}: whole frames in slots did not run: {}", text_of(of), error.what()));
  }
}

// The tensor of one image piece by piece, by the library.
void Cluster::pieces(const Case& of, const Times& link, const PieceOptions& options) {
  try {
    Array image({of.size.width, of.size.height}, Type::u8);
    fill_noise(image.view(), 5);
    TensorCheck check(image.as<std::uint8_t>(), of.size, of.bins);
    const ImageReader read = image_in_memory(image.view());
    const TiledHistogram tiled({of.size.width, of.size.height}, Type::u8, Binning::uniform(of.bins, 0, 256), {},
                               options);
    std::set<std::int64_t> begins;
    std::vector<TensorEntry> known;
    const auto run = [&](bool whole) {
      std::vector<TensorEntry> last;
      std::int64_t entries = 0;
      const auto begin = Clock::now();
      tiled.pieces(read, [&](const Piece& piece) {
        const ConstView& tensor = piece.values;
        const Shape& box = tensor.shape;
        entries += box.width * box.height * box.channels;
        for (std::int64_t b = 0; b < box.channels; ++b)
          last.push_back({piece.x + box.width - 1, piece.y + box.height - 1, piece.first_bin + b,
                          static_cast<const std::uint32_t*>(tensor.row(box.height - 1, b))[box.width - 1]});
        begins.insert(piece.y);
        report_wrong(of, check.entries(tensor, piece.first_bin, piece.x, piece.y));
        if (whole) report_wrong(of, check.whole(tensor, piece.first_bin, piece.x, piece.y));
        return true;
      });
      const double microseconds = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
      if (entries != of.size.width * of.size.height * of.bins) report_wrong(of, "the pieces are not the whole tensor");
      std::sort(last.begin(), last.end());
      if (known.empty()) {  // every run has the same pieces
        report_wrong(of, check_entries(image.as<std::uint8_t>(), of.size, of.bins, last));
        known = std::move(last);
      } else if (last != known) {
        report_wrong(of, "a piece's last entry differs from the run before");
      }
      return microseconds;
    };
    run(false);  // finds where pieces begin
    check.begin_at(begins);
    run(true);
    const std::vector<double> piece_us = times([&](int) { return run(false); });
    run(true);
    const TiledGrid grid = tiled.piece_grid();
    Record record = record_of(of, "auto", workers_);
    record.floor = "link", record.floor_time = link;
    record.time = times_of(piece_us);
    record.pipelined = Pipelined{0, grid.rows * grid.columns == 1 ? "pieces" : grid.columns == 1 ? "rows" : "tiles", 1};
    report_.add(record);
  } catch (const OutOfMemory& error) {
    report_.note(fmt::format("{}: pieces did not run: {}", text_of(of), error.what()));
  }
}

Times Cluster::link_of(std::uint64_t bytes) const {
  std::vector<Execution> on;
  for (const Worker& worker : workers_) on.push_back(execution_of(worker));
  return links_floor(bytes, on, runs());
}

void Cluster::figure_16(const std::vector<Case>& all) {
  for (const Case& of : all) {
    const Times link = link_of(tensor_bytes(of));
    for (const std::string& algorithm : algorithms_) down(of, algorithm, link);
    pieces(of, link, {.workers = workers_});
    in_slots(of, link);
  }
}

void Cluster::figure_17(const std::vector<Case>& all) {
  std::vector<int> threads;
  for (const int n : {1, 2, 4, 8, 16})
    if (n <= options_.threads.back()) threads.push_back(n);
  for (const Case& of : all) {
    Array image({of.size.width, of.size.height}, Type::u8);
    fill_noise(image.view(), 1);
    try {
      CpuGroups groups(image, of.bins, options_.group_bytes, threads.back());
      const auto time = [&](const std::string& algorithm, int n) {
        const auto wrong = [&](const std::string& what) { report_wrong(of, what); };
        keep(record_of(of, algorithm, {{.threads = n}}), times([&](int) { return groups.time(algorithm, n, wrong); }),
             "bins", 1, 1);
      };
      time("serial", 1);
      for (const int n : threads) time("parallel", n);
      time("fused", threads.back());
    } catch (const OutOfMemory& error) {
      report_.note(fmt::format("{}: not timed on the CPU: {}", text_of(of), error.what()));
    }
    const Times link = link_of(tensor_bytes(of));
    for (const std::string& algorithm : algorithms_) down(of, algorithm, link);
  }
}

// Regions of images whose tensors stay on the devices, tile by tile.
void Cluster::answers(const std::vector<Case>& all, std::uint64_t device_bytes) {
  constexpr std::size_t regions_checked = 8;
  for (const Case& of : all) try {
      Array image({of.size.width, of.size.height}, Type::u8);
      fill_noise(image.view(), 3);
      const std::vector<Region> regions = random_regions(of.size, 100);
      const TiledHistogram tiled({of.size.width, of.size.height}, Type::u8, Binning::uniform(of.bins, 0, 256), {},
                                 {.workers = workers_, .memory = device_bytes});
      const ImageReader read = image_in_memory(image.view());
      std::vector<std::uint64_t> counts(regions.size() * static_cast<std::size_t>(of.bins));
      const std::vector<double> answer_us = times([&](int i) {
        std::fill(counts.begin(), counts.end(), 0);
        const auto begin = Clock::now();
        tiled.answers(read, regions, counts);
        const double microseconds = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
        for (std::size_t r = 0; r < regions.size() && r < regions_checked; ++r) {
          const std::vector<std::uint64_t> expected =
              i == 0 ? counts_of(image.as<std::uint8_t>(), of.size, of.bins, regions[r]) : std::vector<std::uint64_t>();
          if (i == 0 && !std::equal(expected.begin(), expected.end(),
                                    counts.begin() + static_cast<std::ptrdiff_t>(r * expected.size())))
            report_wrong(of, fmt::format("the counts of region {}", r));
        }
        return microseconds;
      });
      Times floor = memset_floor(tensor_bytes(of), options_.group_bytes, execution_of(workers_[0]), runs());
      for (double* const time : {&floor.min, &floor.median, &floor.max, &floor.low, &floor.high})
        *time /= static_cast<double>(workers_.size());
      Record record = record_of(of, "answers", workers_);
      record.floor = "memset", record.floor_time = floor;
      record.time = times_of(answer_us);
      record.pipelined = Pipelined{0, "tiles", 1};
      record.batch = 1;
      report_.add(record);
    } catch (const OutOfMemory& error) {
      report_.note(fmt::format("{}: answers did not run: {}", text_of(of), error.what()));
    }
}

// Answers of frames.
void Cluster::answered(const Case& of, const std::vector<Worker>& workers, const char* what) {
  FramesInMemory frames({of.size, of.bins, false, workers}, [&](const std::string& wrong) { report_wrong(of, wrong); });
  const int slots = answer_slots * static_cast<int>(workers.size());
  const double first = frames.run(slots, 4 * slots).frame_us;
  const std::int64_t count = frames_in(2 * run_seconds, first * 1e-6, 4 * slots, 20000);
  keep(record_of(of, what, workers), times([&](int) { return frames.run(slots, count).frame_us; }), "ring", slots,
       count);
}

void Cluster::frames(const Case& of, const Case& unequal) {
  const auto add = [&](const Case& what, const std::vector<Worker>& workers, const char* name) {
    if (workers.size() > 1)
      for (const Worker& worker : workers) answered(what, {worker}, name);
    answered(what, workers, name);
  };
  add(of, workers_, "frames");
  if (workers_[0].backend != Backend::cpu)
    add(unequal, {workers_[0], {.threads = std::min(16, options_.threads.back())}}, "unequal");
}

// A tensor of which not even one bin fits a worker, so that tiles hand sums on to their neighbours: as rows of tiles,
// and in columns, too.
void Cluster::tiles(const Case& of) {
  const Times link = link_of(tensor_bytes(of));
  const auto part = [](std::int64_t n, std::int64_t parts) { return (n + parts - 1) / parts; };
  for (const bool columns : {false, true}) {  // of 512 MiB in the largest case: two of them fit 2 GiB
    PieceOptions options{.workers = workers_, .memory = 2 * options_.group_bytes};
    options.height = part(of.size.height, columns ? 8 : 64);
    if (columns) options.width = part(of.size.width, 8);
    pieces(of, link, options);
  }
}

// A table of 64u that fits no device.
void Cluster::table(const Size& size) {
  const auto pixels = static_cast<std::uint64_t>(size.width * size.height);
  const Case of{size, 0};
  const Times link = link_of(8 * pixels);
  PinnedArray image({size.width, size.height}, Type::u8, execution_of(workers_[0]));
  fill_noise(image.view(), 7);
  std::vector<TableEntry> seeded, claims;
  std::mt19937_64 random(4096);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (int row = 0; row < TensorCheck::rows; ++row) {
    const std::int64_t y = below(size.height);
    for (int i = 0; i < TensorCheck::entries_of_row; ++i) seeded.push_back({below(size.width), y, 0});
  }
  const TiledSat tiled({size.width, size.height}, Type::u8,
                       {.border = Border::none, .types = TypePair{Type::u8, Type::u64}}, {.workers = workers_});
  std::mutex taking;
  const std::vector<double> table_us = times([&](int) {
    std::int64_t entries = 0;
    const auto begin = Clock::now();
    tiled.pieces(image_in_memory(image.view()), [&](const Piece& piece) {
      const Shape& box = piece.values.shape;
      const auto at = [&](std::int64_t x, std::int64_t y) {
        return static_cast<const std::uint64_t*>(piece.values.row(y))[x];
      };
      const std::lock_guard lock(taking);
      entries += box.width * box.height;
      claims.push_back({piece.x + box.width - 1, piece.y + box.height - 1, at(box.width - 1, box.height - 1)});
      for (const TableEntry& e : seeded)
        if (e.x >= piece.x && e.x < piece.x + box.width && e.y >= piece.y && e.y < piece.y + box.height)
          claims.push_back({e.x, e.y, at(e.x - piece.x, e.y - piece.y)});
      return true;
    });
    const double microseconds = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    if (entries != size.width * size.height) report_wrong(of, "the pieces are not the whole table");
    return microseconds;
  });
  report_wrong(of, check_sums(image.as<std::uint8_t>(), size, std::move(claims)));
  Record record = record_of(of, "auto", workers_);
  record.types = "8u64u";
  record.bytes = 9 * pixels;
  record.floor = "link", record.floor_time = link;
  keep(record, table_us, "table", 0, 1);
}

}  // namespace

void bench_cluster_poostchi(const Options& options, Report& report) {
  Options checked = options;
  checked.algorithms.clear();
  check_figure(checked);
  Cluster cluster(options, report);
  const std::vector<Size> large{{4096, 3072}, {6400, 4800}, {8192, 8192}}, first{{1280, 720}, {1920, 1080}};
  std::vector<Case> figure_16, figure_17;
  for (const Size& size : first) figure_16.push_back({size, 32});
  for (const Size& size : large) figure_16.push_back({size, 32});
  for (const Size& size : first)
    for (const std::int64_t bins : {16, 64, 128, 256}) figure_16.push_back({size, bins});
  for (const Size& size : first) figure_17.push_back({size, 128});
  for (const Size& size : large) figure_17.push_back({size, 128});
  const Case whole{{8192, 8192}, 128};

  if (cluster.begin("figure-16")) cluster.figure_16(cluster.cases(figure_16));
  if (cluster.begin("figure-17")) cluster.figure_17(cluster.cases(figure_17));
  if (cluster.begin("down")) cluster.figure_16(cluster.cases({whole}));
  if (cluster.begin("answers")) cluster.answers(cluster.cases({whole, {{16384, 16384}, 256}}), 0);
  if (cluster.begin("frames"))
    cluster.frames(cluster.cases({{{1920, 1080}, 32}}).front(), cluster.cases({{{1024, 1024}, 32}}).front());
  const std::vector<Case> wide{{{32768, 32768}, 8}};
  if (cluster.begin("tiles")) {
    cluster.answers(cluster.cases(wide), 2 * options.group_bytes);
    cluster.tiles(cluster.cases(wide).front());
  }
  if (cluster.begin("table")) cluster.table(options.sizes.empty() ? Size{131072, 131072} : options.sizes.front());
}

}  // namespace areal::bench
