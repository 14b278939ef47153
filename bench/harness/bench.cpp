// areal bench: times algorithms against their floor and their peers, checks their results, keeps records.

#include "bench/harness/bench.hpp"
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include "io/help.hpp"
#include "io/laboratory.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "io/types.hpp"
#include "media/media.hpp"
#include "verbs/verbs.hpp"

namespace areal::bench {

std::string device_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "CPU";
}
std::string device_name(int number) {
  static const std::vector<DeviceInfo> all = devices();  // every record needs a name
  for (const DeviceInfo& device : all)
    if (device.number == number) return device.name;
  return {};
}

std::optional<Type> squares_type(TypePair types, Squares squares) {
  return SatPlan({1, 1}, types.input, {.types = types, .squares = squares}, {.backend = Backend::cpu}).squares_type();
}
std::string name_of(TypePair types, std::optional<Type> squares) {
  return name_of(types) + (squares ? "+" + std::string(name_of(*squares)) : "");
}

Array random_image(const Size& size, Type type) {
  Array image({size.width, size.height}, type);
  std::mt19937_64 random(20180514);
  const std::int64_t n = size.width * size.height;
  if (type == Type::f32) {
    for (std::int64_t i = 0; i < n; ++i) image.as<float>()[i] = static_cast<float>(random() >> 40) * 0x1p-24f;
  } else if (type == Type::f64) {
    for (std::int64_t i = 0; i < n; ++i) image.as<double>()[i] = static_cast<double>(random() >> 11) * 0x1p-53;
  } else if (type == Type::f16) {
    for (std::int64_t i = 0; i < n; ++i) image.as<Half>()[i] = to_half(static_cast<float>(random() >> 40) * 0x1p-24f);
  } else {
    auto* const bytes = static_cast<unsigned char*>(image.data());
    for (std::size_t i = 0; i < image.bytes(); ++i) bytes[i] = static_cast<unsigned char>(random() >> 56);
  }
  return image;
}

void Report::add(const Record& r) {
  if (records_.empty())
    command::write_out(fmt::format("{:<10} {:<32} {:<12} {:>11} {:>5} {:>3} {:>11} {:>11} {:>9}\n", "what", "algorithm",
                                   "lane", "size", "bins", "thr", "median us", "floor us", "fraction"));
  const std::string floor = r.floor.empty() ? "" : fmt::format("{:.1f}", r.floor_time.median);
  const std::string fraction = r.floor.empty() ? "" : fmt::format("{:.2f}", r.floor_time.median / r.time.median);
  std::string algorithm = r.algorithm;
  if (r.r) algorithm += fmt::format(" r={:.3f}", *r.r);
  if (r.tile != 0) algorithm += fmt::format(" tile={} by {}", r.tile, r.tile_threads);
  if (r.group != 0) algorithm += fmt::format(" k={}", r.group);
  if (!r.scan.empty()) algorithm += " " + r.scan;
  if (r.pipelined) algorithm += fmt::format(" {} {}", r.pipelined->order, r.pipelined->slots);
  if (!r.devices.empty()) algorithm += " " + r.devices;
  command::write_out(fmt::format("{:<10} {:<32} {:<12} {:>11} {:>5} {:>3} {:>11.1f} {:>11} {:>9}\n", r.what, algorithm,
                                 r.types, fmt::format("{}x{}", r.width, r.height), r.bins, r.threads, r.time.median,
                                 floor, fraction));
  command::flush_out();
  keep(r);
}

void Report::note(const std::string& words) const { settings_.note("{}", words); }

void Report::keep(const Record& record) {
  records_.push_back(record);
  const auto now = std::chrono::steady_clock::now();
  if (file_.empty() || now - written_ < std::chrono::seconds(10)) return;
  write();
  written_ = now;
}

void Report::wrong(const std::string& what) {
  if (wrong_.empty()) wrong_ = what;
  note("wrong: " + what);
}

void Report::rescue() noexcept {
  if (file_.empty() || records_.empty()) return;
  try {
    write();
  } catch (...) {  // the error that ended the run matters more
  }
}

void Report::finish() {
  if (!file_.empty()) write();
  if (!wrong_.empty()) throw Error("a result is wrong: " + wrong_);
}

void Report::write() const {
  const char* const commit = std::getenv("AREAL_COMMIT");
  const auto times = [](const Times& t) {
    nlohmann::ordered_json all{{"min", t.min}, {"median", t.median}, {"max", t.max}};
    if (t.rounds != 0) all["between"] = {t.low, t.high}, all["rounds"] = t.rounds;
    return all;
  };
  nlohmann::ordered_json all = nlohmann::json::array();
  for (const Record& r : records_) {
    nlohmann::ordered_json row{{"what", r.what},
                               {"algorithm", r.algorithm},
                               {"backend", name_of(r.backend)},
                               {"device", r.device.empty() ? device_name() : r.device},
                               {"lane", r.types},
                               {"width", r.width},
                               {"height", r.height},
                               {"bins", r.bins},
                               {"batch", r.batch},
                               {"threads", r.threads},
                               {"border", name_of(r.border)}};
    row["time_us"] = times(r.time);
    if (r.areal.rounds != 0) row["areal_us"] = times(r.areal);
    if (!r.floor.empty()) {
      row["floor"] = r.floor;
      row["floor_us"] = r.floor_time.median;
      if (r.floor_time.rounds != 0) row["floor_between"] = {r.floor_time.low, r.floor_time.high};
      row["fraction"] = r.floor_time.median / r.time.median;
    }
    if (!r.source.empty()) row["source"] = r.source;
    if (!r.shown.empty()) row["shown"] = r.shown;
    if (r.r) row["r"] = *r.r;
    if (r.tile != 0) row["tile"] = r.tile;
    if (r.group != 0) row["k"] = r.group;
    if (r.tile_threads != 0) row["tile_threads"] = r.tile_threads;
    if (!r.scan.empty()) row["scan"] = r.scan;
    for (const LaunchTime& l : r.launches) {
      row["launches"].push_back({{"kernel", l.kernel},
                                 {"launches", l.launches},
                                 {"blocks", l.blocks},
                                 {"threads", l.threads},
                                 {"occupancy", l.occupancy},
                                 {"time_us", times(l.time)}});
      if (!l.phase.empty()) row["launches"].back()["phase"] = l.phase;
    }
    if (!r.part.empty()) row["part"] = r.part;
    if (!r.devices.empty()) row["devices"] = r.devices;
    if (const auto& p = r.pipelined) {
      row["slots"] = p->slots;
      row["order"] = p->order;
      row["frames"] = p->frames;
      row["stages_us"] = {
          {"read", p->read}, {"up", p->up}, {"initialise", p->initialise}, {"scan", p->scan}, {"down", p->down}};
    }
    for (const Timeline& of : r.timelines) {
      nlohmann::ordered_json spans = nlohmann::json::array();
      for (const Timeline::Span& s : of.spans) spans.push_back({s.stage, s.slot, s.frame, s.begin, s.end});
      row["timelines"].push_back({{"slots", of.slots}, {"spans", spans}});
    }
    // Nanoseconds: events have no finer resolution.
    const auto us = [](double time) { return std::round(time * 1000) / 1000; };
    for (const SweepRow& of : r.rows) {
      nlohmann::ordered_json one{{"algorithm", of.algorithm}};
      if (!of.chose.empty()) one["chose"] = of.chose;
      one["median"] = us(of.time.median), one["min"] = us(of.time.min);
      one["between"] = {us(of.time.low), us(of.time.high)};
      one["rounds"] = of.time.rounds, one["launches"] = of.launches;
      row["rows"].push_back(one);
    }
    if (r.tracked) {
      row["family"] = r.tracked->family;
      row["iou"] = r.tracked->iou;
      if (r.tracked->must_reach) row["must_reach"] = *r.tracked->must_reach;
      if (r.tracked->back_pixels) row["back_pixels"] = *r.tracked->back_pixels;
      row["sequences"] = r.tracked->sequences;
      row["lost"] = r.tracked->lost;
    }
    row["bytes"] = r.bytes;
    row["commit"] = commit != nullptr ? commit : "";
    all.push_back(row);
  }
  std::string text = all.dump(1) + "\n";
  if (!records_.empty() && !records_[0].rows.empty()) {  // one line per case of a sweep
    text = "[";
    for (const auto& row : all) text += (text.size() == 1 ? "\n" : ",\n") + row.dump();
    text += "\n]\n";
  }
  media::OutputFile file(file_, text.size());
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace areal::bench

namespace areal::command {
namespace {

struct Texts {
  std::string what, json, video;
  std::vector<std::string> sizes, pairs, algorithms;
  std::vector<std::string> bins, counters, threads;
  std::vector<std::string> slots, parts, cuts;
  std::string regions, repetitions, border, batch, squares, table, figure, devices, order, group_bytes;
  bool no_peers = false;
};

/// A paper's table or figure.
struct Shown {
  const char *what, *option, *name;
  void (*make)(const bench::Options& options, bench::Report& report);
};
constexpr Shown all_shown[] = {
    {"sat", "--table", "all", bench::bench_all_tables},
    {"sat", "--table", "sweep", bench::bench_sweep},
    {"sat", "--table", "kasagi", bench::bench_kasagi},
    {"sat", "--figure", "chen", bench::bench_chen},
    {"histogram", "--table", "all", bench::bench_all_tensors},
    {"histogram", "--figure", "lee-choe", bench::bench_lee_choe},
    {"histogram", "--figure", "poostchi", bench::bench_poostchi},
    {"region", "--table", "stores", bench::bench_stores},
    {"scan", "--table", "all", bench::bench_all_lines},
    {"region", "--table", "medians", bench::bench_medians},
    {"sequence", "--figure", "poostchi", bench::bench_sequence_poostchi},
    {"cluster", "--figure", "poostchi", bench::bench_cluster_poostchi},
};

/// The table or figure that --table or --figure names, or nullptr.
const Shown* shown(const Texts& texts) {
  if (texts.table.empty() && texts.figure.empty()) return nullptr;
  if (!texts.table.empty() && !texts.figure.empty()) refuse("--table and --figure: may not be given together");
  std::string may;
  for (const Shown& s : all_shown) {
    if (texts.what != s.what) continue;
    if ((s.option == std::string_view("--table") ? texts.table : texts.figure) == s.name) return &s;
    may += fmt::format("{}{} {}", may.empty() ? "" : ", ", s.option, s.name);
  }
  refuse(texts.table.empty() ? "--figure " + texts.figure : "--table " + texts.table, ": bench ", texts.what, " has ",
         may.empty() ? "no tables or figures" : may);
}

Squares squares_of(const std::string& text) {
  for (const auto& [name, squares] : {std::pair{"auto", Squares::automatic},
                                      {"32u", Squares::u32},
                                      {"64u", Squares::u64},
                                      {"32f", Squares::f32},
                                      {"64f", Squares::f64}})
    if (text == name) return squares;
  refuse("--squares=", text, ": may be auto, 32u, 64u, 32f or 64f");
}

/// Of an image for bench filter.
Type filtered_type(const std::string& text) {
  for (const Type type : {Type::u8, Type::u16, Type::f16, Type::f32, Type::f64})
    if (text == name_of(type)) return type;
  refuse("--types ", text, ": of filter it may be 8u, 16u, 16f, 32f or 64f");
}

bench::Options options_of(const Texts& texts, const Settings& settings) {
  bench::Options options;
  if (const Shown* const figure = shown(texts))
    options.shown = figure->name;
  else if (texts.what == "scan" || texts.what == "cluster")
    throw InvalidArgument("bench " + texts.what + " needs " +
                          (texts.what == "scan" ? "--table all" : "--figure poostchi"));
  for (const std::string& text : texts.sizes) {
    const Size one = size("--size", text);
    options.sizes.push_back({one.width, one.height});
  }
  for (const std::string& text : texts.what == "filter" ? texts.pairs : std::vector<std::string>())
    options.types.push_back(filtered_type(text));
  for (const std::string& text : texts.what == "filter" ? std::vector<std::string>() : texts.pairs)
    if (const std::optional<TypePair> types = parse_types(text)) options.pairs.push_back(*types);
  for (const std::string& text : texts.bins) options.bins.push_back(whole_number("--bins", text, 1, 65535));
  for (const std::string& text : texts.counters) {
    const auto counter = text == "16u" ? Type::u16 : text == "32u" ? Type::u32 : Type::f32;
    if (counter == Type::f32 && text != "32f") refuse("--counter ", text, ": bench has 16u, 32u and 32f");
    options.counters.push_back(counter);
  }
  const std::string family = texts.figure == "poostchi" ? "histogram" : texts.what == "spread" ? "sat" : texts.what;
  for (const std::string& id : texts.algorithms) {
    if ((id != "auto" || texts.what == "scan") && find_algorithm(family, id) == nullptr)
      throw InvalidArgument("--algorithm " + id + " is not in the family " + family + "; areal algorithms lists them");
    options.algorithms.push_back(id);
  }
  if (settings.threads > 0)
    options.threads = {settings.threads};
  else if (default_threads() > 1)
    options.threads = {1, default_threads()};
  else
    options.threads = {1};
  if (!texts.regions.empty()) options.regions = whole_number("--items", texts.regions, 1, 1 << 30);
  options.is_repetitions_given = !texts.repetitions.empty();
  if (!texts.repetitions.empty())
    options.repetitions = static_cast<int>(whole_number("--repetitions", texts.repetitions, 1, 10000));
  const bool on_cpu_by_default = options.shown.empty() && texts.counters.empty();
  options.backend = settings.backend != Backend::automatic ? settings.backend
                    : on_cpu_by_default                    ? Backend::cpu
                                                           : Backend::cuda;
  // These run on every backend, to be tried without a GPU, or to be timed on the CPU.
  const bool anywhere =
      !options.shown.empty() && (texts.what == "sequence" || texts.what == "cluster" || options.shown == "stores");
  if (!options.shown.empty() && options.backend != Backend::cuda && !anywhere)
    throw InvalidArgument(
        fmt::format("--backend {}: --table and --figure are timed on a GPU", name_of(options.backend)));
  // A round takes seconds.
  if (!options.is_repetitions_given && texts.what == "spread") options.repetitions = 15;
  options.device = settings.device;
  if (options.backend == Backend::cuda && texts.what == "window")
    throw InvalidArgument("--backend cuda: bench window is timed on the CPU");
  if (options.backend != Backend::cuda && texts.what == "filter")
    throw InvalidArgument("bench filter is timed on a GPU: add --backend cuda");
  if (options.backend == Backend::simt && !anywhere)
    throw InvalidArgument("--backend simt: it counts memory accesses and cannot be timed");
  if (!texts.devices.empty()) {
    if (texts.what != "cluster" && texts.what != "spread" && (texts.what != "sequence" || anywhere))
      throw InvalidArgument("--devices: only bench sequence without --figure, bench cluster and bench spread take it");
    options.workers = workers_named(texts.devices);
  }
  for (const std::string& text : texts.cuts) {
    if (texts.what != "spread") throw InvalidArgument("--cut: only bench spread takes it");
    const Size one = size("--cut", text);
    options.cuts.push_back({one.width, one.height});
  }
  for (const std::string& text : texts.slots)
    options.slots.push_back(static_cast<int>(whole_number("--slots", text, 1, 64)));
  options.order = texts.order;
  if (!(texts.slots.empty() && texts.order.empty()) && !(texts.what == "sequence" && anywhere))
    throw InvalidArgument("--slots and --order: only bench sequence --figure takes them");
  options.parts = texts.parts;
  if (!texts.group_bytes.empty())
    options.group_bytes =
        static_cast<std::uint64_t>(whole_number("--group-bytes", texts.group_bytes, 1, std::int64_t{1} << 40));
  if (!(texts.parts.empty() && texts.group_bytes.empty()) && texts.what != "cluster")
    throw InvalidArgument("--part and --group-bytes: only bench cluster takes them");
  options.border = options.backend == Backend::cuda || anywhere ? Border::none : Border::zero;
  if (!texts.border.empty()) {
    const std::optional<Border> border = border_named(texts.border);
    if (!border) throw InvalidArgument("--border " + texts.border + ": may be none, zero or exclusive");
    if (options.backend != Backend::cuda && *border != Border::zero)
      throw InvalidArgument("--border " + texts.border + ": on the CPU only border zero is timed");
    options.border = *border;
    options.is_border_given = true;
  }
  options.is_batch_given = !texts.batch.empty();
  if (options.is_batch_given) {
    options.batch = whole_number("--batch", texts.batch, 1, 1 << 20);
    if (options.backend != Backend::cuda) throw InvalidArgument("--batch " + texts.batch + ": needs --backend cuda");
  }
  if (!texts.counters.empty() &&
      (texts.what != "histogram" || options.backend != Backend::cuda || !options.shown.empty()))
    throw InvalidArgument("--counter: only bench histogram on cuda takes it, without a table or figure");
  if (!texts.squares.empty()) {
    if (texts.what != "sat") throw InvalidArgument("--squares: only bench sat takes it");
    options.squares = squares_of(texts.squares);
  }
  options.peers = !texts.no_peers;
  options.video = texts.video;
  return options;
}

void run(const Texts& texts, const bench::Options& options, bench::Report& report) {
  const bool cuda = options.backend == Backend::cuda;
  if (const Shown* const figure = shown(texts))
    figure->make(options, report);
  else if (texts.what == "sat")
    (cuda ? bench::bench_cuda_sat : bench::bench_sat)(options, report);
  else if (texts.what == "histogram")
    (cuda ? bench::bench_cuda_histogram : bench::bench_histogram)(options, report);
  else if (texts.what == "region")
    (cuda ? bench::bench_cuda_region : bench::bench_region)(options, report);
  else if (texts.what == "window")
    bench::bench_window(options, report);
  else if (texts.what == "filter")
    bench::bench_cuda_filter(options, report);
  else if (texts.what == "strips")
    bench::bench_strips(options, report);
  else if (texts.what == "spread")
    bench::bench_spread(options, report);
  else if (texts.what == "sequence")
    bench::bench_sequence(options, report);
  else if (texts.what == "track")
    (cuda ? bench::bench_cuda_track : bench::bench_track)(options, report);
  else
    (cuda ? bench::bench_cuda_video : bench::bench_video)(options, report);
}

}  // namespace

void add_bench(CLI::App& app, Settings& settings) {
  auto texts = std::make_shared<Texts>();
  CLI::App* verb = app.add_subcommand("bench", bench_description);
  begin_group(*verb, group::what);
  verb->add_option("WHAT", texts->what,
                   "sat, histogram, scan, region, window, filter, strips, spread, sequence, cluster, track or video")
      ->required()
      ->check(CLI::IsMember({"sat", "histogram", "scan", "region", "window", "filter", "strips", "spread", "sequence",
                             "cluster", "track", "video"}));
  begin_group(*verb, group::input);
  verb->add_option("INPUT", texts->video,
                   "The video, for bench video; the folder of pictures, by default data, for bench track");
  begin_group(*verb, group::what);
  verb->add_option(
      "--size", texts->sizes,
      "Image size WxH, several allowed; by default on the CPU 1920x1080, 4096x4096 and 8192x8192 for sat, "
      "1920x1080 for histogram and window, 8192x8192 for region, 1024x1024 to 65536x65536 for strips, 8192x8192 for "
      "spread, 320x240 for "
      "track; on cuda 1024x1024 to 16384x16384 for filter, 1920x1080 for track, 65536x65536 for spread, with --bins "
      "8192x8192");
  verb->add_option(
      "--types", texts->pairs,
      "Type pair of sat, several allowed; by default on the CPU 8u32s (also with squares), 32f64f, 8u32u, 64f64f. Of "
      "filter the images' type, by default 8u and 32f");
  verb->add_option("--lane", texts->pairs)->group("");  // its old name
  verb->add_flag("--squares{auto}", texts->squares,
                 "Also the table of squares, for 8u32u unless --types is given; --squares=64f names its type");
  verb->add_option("--bins", texts->bins,
                   "Bins of histogram, and of region on cuda; by default 32. Of spread: a tensor's bins over devices");
  verb->add_option("--counter", texts->counters,
                   "Counters of histogram, on cuda, several allowed: 16u, 32u, or 32f, which adds weights of 32f; by "
                   "default 32u");
  verb->add_option("--algorithm", texts->algorithms,
                   "Algorithm id, several allowed; by default auto for sat, and for histogram on cuda, else all");
  verb->add_option("--border", texts->border,
                   "Border of the tables of sat on cuda: none, zero or exclusive; by default none");
  verb->add_option("--batch", texts->batch, "Images in one call, on cuda; by default 1");
  verb->add_option("--items", texts->regions,
                   "Number of regions; by default 1000000 for sums, 10000 for histograms, 1000 for strips. Of track: "
                   "frames, by default "
                   "120; on cuda boxes, by default 16. Of a sequence's figure: "
                   "frames of a run, by default 100; of a cluster's: at most 10");
  begin_group(*verb, group::where);
  verb->add_option("--devices", texts->devices,
                   "What takes the frames of sequence, the work of cluster or the rows of spread: several of "
                   "cpu:THREADS and a CUDA "
                   "device's number; of spread by default all GPUs with --backend cuda, and two halves of the CPU")
      ->type_name("LIST");
  verb->add_option("--cut", texts->cuts,
                   "For spread: bands of columns and parts of each strip as BANDSxPARTS, several allowed, besides the "
                   "library's choice; by default, on cuda, seven");
  verb->add_option("--slots", texts->slots,
                   "Slots of a sequence's figure, several allowed: frames on their way at once; by default 1, 2 and 4");
  verb->add_option("--order", texts->order,
                   "How their work is queued: breadth, a stage of all slots before the next, as in Algorithm 6 of "
                   "Poostchi 2017, or depth; by default breadth")
      ->check(CLI::IsMember({"breadth", "depth"}));
  begin_group(*verb, group::what);
  verb->add_option("--part", texts->parts,
                   "Parts of cluster, several allowed, by default all: figure-16, figure-17, down (a tensor of 32 GiB "
                   "to the host), answers (regions of tensors of 32 and 256 GiB), frames (answers by all devices), "
                   "tiles (of a tensor in 2 GiB), table (128 GiB)")
      ->check(CLI::IsMember({"figure-16", "figure-17", "down", "answers", "frames", "tiles", "table"}));
  verb->add_option("--group-bytes", texts->group_bytes,
                   "Of cluster: bytes of the tensor of a group of bins, a task; by default 1073741824");
  verb->add_option(
      "--repetitions", texts->repetitions,
      "Rounds, each in random order; by default 30, of spread 15, of strips 3. Of track: sequences a family, "
      "by default 8");
  verb->add_flag("--no-peers", texts->no_peers,
                 "Leave out other libraries: OpenCV, NumPy, scikit-image; on cuda NPP, CUB, PyTorch, CuPy");
  verb->add_option(
      "--table", texts->table,
      "Make a table, on a GPU, stores also on the CPU: kasagi is Table II of Kasagi 2014 (sat; 64f64f, 1024x1024 to "
      "65536x65536); all has "
      "every algorithm of the catalogue (sat, histogram; scan, for lines of 2048 to 268435456 elements, --size Nx1); "
      "sweep has what auto may choose, and auto (sat; 256x256 to 16384x16384, both borders, nine type pairs); medians "
      "has medians of boxes from rank stores of 8u, 16u and 32f (region; 1920x1080 to 8192x8192); stores has every "
      "store of histograms and, with --backend cpu, of quantiles (region; 512x512 to 4096x4096, 1 to 100,000 boxes)");
  verb->add_option(
      "--figure", texts->figure,
      "Make a paper's figures, on a GPU: chen (sat), lee-choe or poostchi (histogram), poostchi (sequence, cluster; "
      "also "
      "with --backend simt or cpu), by default with the paper's sizes and bins; poostchi also times 1 to 16 threads of "
      "the CPU, --threads at most");
  begin_group(*verb, group::output);
  verb->add_option("--json", texts->json, "Write the records to this file");
  verb->footer(
      "--figure chen reproduces Figures 6 to 8 of Chen 2018. It times the paper's algorithms, its baseline scan-scan,\n"
      "NPP and areal's default for seven type pairs from 1024x1024 to 20480x20480, and each launch of 32f32f up to\n"
      "4096x4096. --size, --types and --repetitions choose fewer of them; --no-peers leaves out NPP. The sources'\n"
      "bench/pages/show.py prints and draws a table or figure from its records.\n\n"
      "Example:\n  areal bench sat --size 640x480 --types 8u32u --repetitions 3 --no-peers");
  verb->callback([texts, &settings] {
    settings.resolve();
    bench::Options options = options_of(*texts, settings);
    if (!texts->json.empty()) media::OutputFile(texts->json, 0);  // refuse an impossible path before the work
    bench::Report report(settings, texts->json);
    options.wrong = [&](const std::string& what) { report.wrong(what); };
    try {
      run(*texts, options, report);
    } catch (...) {  // keep the measurements
      report.rescue();
      throw;
    }
    report.finish();
  });
}

}  // namespace areal::command
