#include "bench/harness/frames_in_memory.hpp"
#include <fmt/format.h>
#include <algorithm>
#include <areal/region_histogram.hpp>
#include <chrono>
#include <cstring>
#include <map>
#include <utility>

namespace areal::bench {
namespace {
constexpr int images = 4;  // that the slots' memory holds in turns
}

FramesInMemory::FramesInMemory(const FramesCase& of, std::function<void(const std::string&)> wrong)
    : case_(of),
      wrong_(std::move(wrong)),
      binning_(Binning::uniform(of.bins, 0, 256)),
      regions_(random_regions(of.size, 100)) {
  for (int i = 0; i < images; ++i) {
    Array image = random_image(of.size, Type::u8);
    for (std::size_t at = 0; at < image.bytes(); ++at)  // others of the same values
      image.as<std::uint8_t>()[at] = static_cast<std::uint8_t>(image.as<std::uint8_t>()[at] + 31 * i);
    expected_.push_back(
        region_histograms(std::as_const(image).view(), binning_, regions_, {.execution = {.backend = Backend::cpu}}));
    images_.push_back(std::move(image));
  }
}

FrameTimes FramesInMemory::run(int slots, std::int64_t frames) {
  HistogramSequence sequence({case_.size.width, case_.size.height}, Type::u8, binning_,
                             {.workers = case_.workers, .slots = slots, .tensors = case_.tensors});
  std::map<const void*, int> holds;  // slot's memory to the image in it
  std::int64_t next = 0, answers = 0;
  using Clock = std::chrono::steady_clock;
  Clock::time_point first, last;
  const std::int64_t warm = std::min<std::int64_t>(2 * slots, frames / 2);
  const auto source = [&](const View& buffer, Frame& frame) {
    if (next == frames) return false;
    if (const auto [at, is_new] = holds.emplace(buffer.data, static_cast<int>(holds.size()) % images); is_new)
      std::memcpy(buffer.data, images_[static_cast<std::size_t>(at->second)].data(), images_[0].bytes());
    frame.number = next++;
    return true;
  };
  const auto boxes = [&](const Frame&, std::vector<Region>& out) { out.assign(regions_.begin(), regions_.end()); };
  const SequenceReport report = sequence.run(source, boxes, [&](const FrameAnswer& answer) {
    check(answer, holds.at(answer.frame.pixels.data), answers);
    if (++answers == warm) first = Clock::now();
    last = Clock::now();
    return true;
  });
  FrameTimes measured;
  measured.frame_us =
      std::chrono::duration<double, std::micro>(last - first).count() / static_cast<double>(frames - warm);
  const double n = static_cast<double>(frames);
  measured.up = report.stage_seconds[StageTime::upload] * 1e6 / n;
  measured.compute = report.stage_seconds[StageTime::compute] * 1e6 / n;
  measured.down = report.stage_seconds[StageTime::download] * 1e6 / n;
  return measured;
}

// Every frame's number and first counts; of every hundredth and of the tensors' corners all.
void FramesInMemory::check(const FrameAnswer& answer, int image, std::int64_t answers) const {
  const std::vector<std::uint64_t>& expected = expected_[static_cast<std::size_t>(image)];
  const std::size_t compared = answers % 100 == 0 ? expected.size() : static_cast<std::size_t>(case_.bins);
  bool right =
      answer.frame.number == answers && answer.counts.size() == expected.size() &&
      std::equal(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(compared), answer.counts.begin());
  if (answer.tensor) {  // a bin's last entry counts the whole image
    const ConstView& tensor = answer.tensor->view;
    std::uint64_t pixels = 0;
    for (std::int64_t bin = 0; bin < case_.bins; ++bin)
      pixels += static_cast<const std::uint32_t*>(tensor.row(case_.size.height - 1, bin))[case_.size.width - 1];
    right = right && pixels == static_cast<std::uint64_t>(case_.size.width * case_.size.height);
  }
  if (!right)
    wrong_(
        fmt::format("sequence: frame {} of {}x{}, {} bins", answers, case_.size.width, case_.size.height, case_.bins));
}

std::string names_of(const std::vector<Worker>& workers) {
  std::string names;
  for (const Worker& worker : workers) names += (names.empty() ? "" : ",") + name_of(worker);
  return names;
}

}  // namespace areal::bench
