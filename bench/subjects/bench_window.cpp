// areal bench window: box filters of 8-bit images, table included, against OpenCV's. The floor is the table's: a pass
// that reads the pixels and writes its type.

#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/plan.hpp>
#include <areal/window.hpp>
#include <cmath>
#include <random>
#include "bench/harness/bench.hpp"
#include "bench/harness/floors.hpp"
#include "bench/harness/peers.hpp"

namespace areal::bench {
namespace {

// Window means, of the pixels into 8u or of their squares into 32f.
struct Filter {
  std::int64_t side;
  bool squared;
  Type output() const { return squared ? Type::f32 : Type::u8; }
  std::string name() const { return fmt::format("{} {}x{}", squared ? "squares" : "means", side, side); }
  Window window() const { return {side, side, -1, -1, Edge::reflect, 0, Rounding::opencv}; }
};

// Some pixels and the corners, from the image alone.
void check(const Array& image, const Filter& filter, const Array& out, const std::string& name) {
  const std::int64_t width = image.shape().width, height = image.shape().height;
  const auto shown = [](std::int64_t i, std::int64_t extent) {
    while (i < 0 || i >= extent) i = extent == 1 ? 0 : i < 0 ? -i : 2 * (extent - 1) - i;
    return i;
  };
  std::mt19937_64 random(5);
  for (int k = 0; k < 100; ++k) {
    const std::int64_t x = k < 4 ? (k % 2) * (width - 1)
                                 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(width)),
                       y = k < 4 ? (k / 2) * (height - 1)
                                 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(height));
    double sum = 0;
    for (std::int64_t r = y - filter.side / 2; r < y - filter.side / 2 + filter.side; ++r)
      for (std::int64_t c = x - filter.side / 2; c < x - filter.side / 2 + filter.side; ++c) {
        const double pixel = image.as<std::uint8_t>()[shown(r, height) * width + shown(c, width)];
        sum += filter.squared ? pixel * pixel : pixel;
      }
    const double mean = sum / static_cast<double>(filter.side * filter.side);
    const std::int64_t at = y * width + x;
    const double got = filter.squared ? static_cast<double>(out.as<float>()[at]) : out.as<std::uint8_t>()[at];
    if (!(std::fabs(got - mean) <= (filter.squared ? 1e-5 * mean : 1)))  // see Rounding::opencv
      throw Error(fmt::format("{}: {} at {},{}, where the mean is {}", name, got, x, y, mean));
  }
}

void run(const Size& size, const Filter& filter, const Options& options, CvBoxFilter opencv, Report& report) {
  const Shape shape{size.width, size.height};
  const Array image = random_image(size, Type::u8);
  Array out(shape, filter.output());
  const TypePair types = type_pair("8u32u");
  const Squares squares = filter.squared ? Squares::u32 : Squares::no;  // which no window of 256x256 exceeds
  for (const int threads : options.threads) {
    const Execution execution{.backend = Backend::cpu, .threads = threads};
    const SatPlan plan(shape, Type::u8, {.types = types, .squares = squares}, execution);
    Workspace workspace(plan);
    SatTable table = plan.allocate();
    const auto filtered = [&] {
      const SatView view = table;
      window_means(filter.squared ? SatView(*view.squares) : view, filter.window(), out.view(), execution);
    };
    std::vector<Contestant> contestants{
        {"floor",
         [&] {
           const View sum(const_cast<void*>(table.sum().data), Type::u32, shape);
           widen(image.data(), sum.data, size.width * size.height, types, threads);
         }},
        {filter.name(),
         [&] {
           plan.execute(image.view(), table, workspace);
           filtered();
         }},
        {filter.name() + " of a table", filtered, [&] { plan.execute(image.view(), table, workspace); }}};
    const auto peer = [&] {
      return opencv(image.data(), size.width, size.height, filter.side, filter.squared, out.data(), threads);
    };
    if (opencv != nullptr && peer())
      contestants.push_back(
          {fmt::format("opencv {} {} {}x{}", opencv_version(), filter.squared ? "cv::sqrBoxFilter" : "cv::boxFilter",
                       filter.side, filter.side),
           peer});
    const std::vector<Times> times = measure(contestants, options.repetitions);
    Record record{"window", "", name_of(types, squares_type(types, squares)), size.width, size.height};
    record.threads = threads;
    record.floor = "widen";
    record.floor_time = times[0];
    record.bytes = image.bytes() + out.bytes();
    for (std::size_t i = 1; i < contestants.size(); ++i) {
      std::fill_n(static_cast<unsigned char*>(out.data()), out.bytes(), static_cast<unsigned char>(0xa5));
      if (contestants[i].before) contestants[i].before();
      contestants[i].run();
      check(image, filter, out, contestants[i].name);
      record.algorithm = contestants[i].name;
      record.time = times[i];
      report.add(record);
    }
  }
}

}  // namespace

void bench_window(const Options& options, Report& report) {
  std::string missing;
  const CvBoxFilter opencv = options.peers ? find_opencv_box_filter(missing) : nullptr;
  if (!missing.empty()) report.note(missing);
  for (const Size& size : options.sizes.empty() ? std::vector<Size>{{1920, 1080}} : options.sizes)
    for (const bool squared : {false, true})
      for (const std::int64_t side : {3, 16, 31, 101}) run(size, {side, squared}, options, opencv, report);
}

}  // namespace areal::bench
