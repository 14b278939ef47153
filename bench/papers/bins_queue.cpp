#include "bench/papers/bins_queue.hpp"
#include <algorithm>
#include <areal/device.hpp>
#include <areal/research/histogram.hpp>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

namespace areal::bench {
namespace {
constexpr int tile = 64;  // the paper's best
}

/// One group's way: a stream, and the memory of the largest group.
struct BinsQueue::Slot {
  Execution on;
  std::shared_ptr<const std::vector<HistogramPlan>> plans;  // the worker's, by group
  OwnedStream stream;
  Event end;
  DeviceArray image, tensor, workspace;
  PinnedArray back;
  std::int64_t frame = -1;  // the frame whose image is on the device

  Slot(const Size& size, const Execution& where, std::int64_t group_bins,
       std::shared_ptr<const std::vector<HistogramPlan>> all)
      : on(where),
        plans(std::move(all)),
        stream(where),
        end(where),
        image({size.width, size.height}, Type::u8, where),
        tensor({size.width, size.height, group_bins, 1, Layout::planar}, Type::u32, where),
        workspace({workspace_bytes(), 1}, Type::u8, where),
        back(tensor.shape(), Type::u32, where) {}

  std::int64_t workspace_bytes() const {
    std::size_t most = 1;
    for (const HistogramPlan& plan : *plans) most = std::max(most, plan.workspace_bytes());
    return static_cast<std::int64_t>(most);
  }

  /// Queues the group and waits for its tensor.
  ConstView group(const HistogramPlan& plan, const ConstView& pixels, std::int64_t of) {
    if (frame != of) copy_view(pixels, image.view(), stream.get());
    frame = of;
    const View memory = workspace.view();
    Workspace work(plan, Span<std::byte>(static_cast<std::byte*>(memory.data), workspace.bytes(), workspace.memory()),
                   stream);
    const View there = View(tensor.view().data, Type::u32, plan.tensor_shape()).in(tensor.memory());
    const View here(back.data(), Type::u32, plan.tensor_shape());
    plan.execute({image.view(), there}, work);
    copy_view(there, here, stream.get());
    end.record(stream);
    end.wait();
    return here;
  }
};

BinsQueue::BinsQueue(const Size& size, const BinsQueueOptions& options) : size_(size) {
  const std::uint64_t bin_bytes = 4 * static_cast<std::uint64_t>(size.width * size.height);
  const auto fit = static_cast<std::int64_t>(std::max<std::uint64_t>(1, options.group_bytes / bin_bytes));
  // Groups of equal size, at least one per worker.
  const auto workers = static_cast<std::int64_t>(options.workers.size());
  groups_ = std::min(options.bins, std::max((options.bins + fit - 1) / fit, workers));
  group_bins_ = (options.bins + groups_ - 1) / groups_;
  groups_ = (options.bins + group_bins_ - 1) / group_bins_;
  const Binning binning = Binning::uniform(options.bins, 0, 256);
  for (const Worker& worker : options.workers) {
    const Execution on{.backend = worker.backend, .device = worker.device, .threads = worker.threads};
    auto plans = std::make_shared<std::vector<HistogramPlan>>();
    for (std::int64_t first = 0; first < options.bins; first += group_bins_)
      plans->push_back(research::histogram_plan({size.width, size.height}, Type::u8,
                                                binning.slice(first, std::min(group_bins_, options.bins - first)),
                                                {.algorithm = options.algorithm}, {.tile = tile}, on));
    for (int i = 0; i < options.slots; ++i) slots_.push_back(std::make_unique<Slot>(size, on, group_bins_, plans));
  }
}

BinsQueue::~BinsQueue() {
  for (const std::unique_ptr<Slot>& slot : slots_) try {
      slot->stream.wait();  // before its memory is freed
    } catch (...) {         // the lost device has been reported
    }
}

const std::string& BinsQueue::algorithm() const { return slots_.front()->plans->front().algorithm(); }

double BinsQueue::run(std::int64_t first, std::int64_t count, const std::function<ConstView(std::int64_t frame)>& image,
                      const std::function<void(const BinsPiece&)>& piece) {
  std::atomic<std::int64_t> next{0};
  const std::int64_t tasks = count * groups_;
  std::mutex failing;
  std::exception_ptr failed;
  const auto work = [&](Slot& slot) {
    try {
      for (std::int64_t task; (task = next.fetch_add(1)) < tasks;) {
        const std::int64_t frame = first + task / groups_, group = task % groups_;
        const ConstView tensor = slot.group((*slot.plans)[static_cast<std::size_t>(group)], image(frame), frame);
        piece({frame, group * group_bins_, tensor});
      }
    } catch (...) {
      next = tasks;
      const std::lock_guard lock(failing);
      if (!failed) failed = std::current_exception();
    }
  };
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (const std::unique_ptr<Slot>& slot : slots_) threads.emplace_back([&, &at = *slot] { work(at); });
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (failed) std::rethrow_exception(failed);
  return seconds;
}

}  // namespace areal::bench
