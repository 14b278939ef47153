// Questions of the host to tables on a device: regions in, answers back.
#include <areal/device_region.hpp>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>
#include "api/core/table_check.hpp"
#include "api/query/region_blocks.hpp"
#include "api/query/region_check.hpp"
#include "api/query/region_device.hpp"
#include "cuda/device.hpp"

namespace areal {

/// Memory of the device for the spans of a call, kept for the next: the k-th span of each call shares a slot.
struct RegionRunner::Device {
  struct Slot {
    std::optional<cuda::Memory> memory;
    std::size_t bytes = 0;
  };
  std::vector<Slot> slots;

  void* room(std::size_t slot, std::size_t bytes) {
    if (slots.size() <= slot) slots.resize(slot + 1);
    Slot& s = slots[slot];
    if (!s.memory || s.bytes < bytes) {
      s = {};  // before the new one, which may need its place
      s.memory.emplace(bytes);
      s.bytes = bytes;
    }
    return s.memory->data();
  }

  template <class Question>
  static void ask(const Place& on, Device* device, const Question& question) {
    Call call(on, device);
    question(call);
    call.finish();
  }

  /// One question: what goes in, what comes back. On simt the host's memory is the device's.
  class Call {
   public:
    Call(const Place& on, Device* device) : stream_(on.stream), device_(device) {
      if (device) scope_.emplace(on.device);
    }
    template <class T>
    std::span<const T> in(std::span<const T> host) {
      if (!device_ || host.empty()) return host;
      void* const twin = device_->room(used_++, host.size_bytes());
      cuda::copy_in(twin, host.data(), host.size_bytes(), stream_);
      return {static_cast<const T*>(twin), host.size()};
    }
    template <class T>
    std::span<T> out(std::span<T> host) {
      if (!device_ || host.empty()) return host;
      void* const twin = device_->room(used_++, host.size_bytes());
      back_ = [this, host, twin] { cuda::copy_out(host.data(), twin, host.size_bytes(), stream_); };
      return {static_cast<T*>(twin), host.size()};
    }
    View out(const View& host) {
      if (!device_ || host.shape.empty()) return host;
      const std::uint64_t bytes = bytes_of(host.shape, host.type);
      const View twin(device_->room(used_++, bytes), host.type, host.shape);
      back_ = [this, host, twin, bytes] {
        rows_.resize(bytes);
        cuda::copy_out(rows_.data(), twin.data, bytes, stream_);
        cuda::synchronize(stream_);
        const std::int64_t planes = host.shape.layout == Layout::planar ? host.shape.channels : 1;
        const char* from = rows_.data();  // contiguous: row after row, plane after plane, image after image
        for (std::int64_t n = 0; n < host.shape.batch; ++n)
          for (std::int64_t c = 0; c < planes; ++c)
            for (std::int64_t y = 0; y < host.shape.height; ++y, from += twin.row_pitch)
              std::memcpy(host.row(y, c, n), from, static_cast<std::size_t>(twin.row_pitch));
      };
      return twin;
    }
    /// The answers are on the host when this returns.
    void finish() {
      if (!device_) return;
      if (back_) back_();
      cuda::synchronize(stream_);
    }

   private:
    Stream stream_;
    Device* device_;
    std::optional<cuda::DeviceScope> scope_;
    std::size_t used_ = 0;
    std::function<void()> back_;
    std::vector<char> rows_;
  };
};

namespace {

/// Throws what the CPU's functions throw: the first region that cannot be is named.
void check_regions(std::span<const Region> regions, const RegionRules& rules) {
  for (std::size_t i = 0; i < regions.size(); ++i)
    if (!rules.allow(regions[i])) [[unlikely]]
      rules.checked(regions[i], static_cast<std::int64_t>(i));
}

bool lacks_last(const TableView* table) { return table && table->border == Border::exclusive; }

RegionRules rules_of(const TableView& table, Outside outside, const TableView* squares = nullptr,
                     const TableView* count = nullptr) {
  return {table.image_width(), table.image_height(), outside,
          lacks_last(&table) || lacks_last(squares) || lacks_last(count)};
}
RegionRules rules_of(const TensorView& tensor, Outside outside) {
  return {tensor.image_width(), tensor.image_height(), outside, tensor.border == Border::exclusive};
}

}  // namespace

RegionRunner::RegionRunner(const Place& on) : on_(on) {
  require_place(on);
  if (on.backend == Backend::cuda) device_ = std::make_shared<Device>();
}

void RegionRunner::region_sums(const TableView& table, std::span<const Region> regions, std::span<std::uint64_t> out,
                               Outside outside) {
  check_regions(regions, rules_of(table, outside));
  Device::ask(on_, device_.get(),
              [&](auto& call) { areal::region_sums(on_, table, call.in(regions), call.out(out), outside); });
}

void RegionRunner::region_sums(const TableView& table, std::span<const Region> regions, std::span<std::int64_t> out,
                               Outside outside) {
  check_regions(regions, rules_of(table, outside));
  Device::ask(on_, device_.get(),
              [&](auto& call) { areal::region_sums(on_, table, call.in(regions), call.out(out), outside); });
}

void RegionRunner::region_sums(const TableView& table, std::span<const Region> regions, std::span<double> out,
                               Outside outside) {
  check_regions(regions, rules_of(table, outside));
  Device::ask(on_, device_.get(),
              [&](auto& call) { areal::region_sums(on_, table, call.in(regions), call.out(out), outside); });
}

void RegionRunner::region_means(const TableView& table, std::span<const Region> regions, std::span<double> out,
                                Outside outside, const TableView* count) {
  check_regions(regions, rules_of(table, outside, nullptr, count));
  Device::ask(on_, device_.get(), [&](auto& call) {
    areal::region_means(on_, table, call.in(regions), call.out(out), outside, nullptr, count);
  });
}

void RegionRunner::region_variances(const TableView& sum, const TableView& squares, std::span<const Region> regions,
                                    std::span<double> out, Outside outside, const TableView* count) {
  check_regions(regions, rules_of(sum, outside, &squares, count));
  Device::ask(on_, device_.get(), [&](auto& call) {
    areal::region_variances(on_, sum, squares, call.in(regions), call.out(out), outside, nullptr, count);
  });
}

void RegionRunner::region_standard_deviations(const TableView& sum, const TableView& squares,
                                              std::span<const Region> regions, std::span<double> out, Outside outside,
                                              const TableView* count) {
  check_regions(regions, rules_of(sum, outside, &squares, count));
  Device::ask(on_, device_.get(), [&](auto& call) {
    areal::region_standard_deviations(on_, sum, squares, call.in(regions), call.out(out), outside, nullptr, count);
  });
}

void RegionRunner::box_sums(const ConstView& volume, Border border, std::span<const Box> boxes, std::span<double> out,
                            Outside outside) {
  const formulas::Extents extents = require_volume(volume, border);
  require_sum_each(out.size(), boxes.size(), "boxes");
  for (std::size_t i = 0; i < boxes.size(); ++i) checked_box(boxes[i], static_cast<std::int64_t>(i), extents, outside);
  Device::ask(on_, device_.get(),
              [&](auto& call) { areal::box_sums(on_, volume, border, call.in(boxes), call.out(out), outside); });
}

void RegionRunner::tilted_sums(const ConstView& tilted, std::span<const Region> regions, std::span<double> out) {
  require_table({tilted, Border::zero}, "tilted");
  require_sum_each(out.size(), regions.size(), "regions");
  for (std::size_t i = 0; i < regions.size(); ++i)
    require_rotated(regions[i], static_cast<std::int64_t>(i), tilted.shape.width - 1, tilted.shape.height - 1);
  Device::ask(on_, device_.get(),
              [&](auto& call) { areal::tilted_sums(on_, tilted, call.in(regions), call.out(out)); });
}

void RegionRunner::region_histograms(const TensorView& tensor, std::span<const Region> regions,
                                     std::span<std::uint64_t> out, Outside outside) {
  check_regions(regions, rules_of(tensor, outside));
  Device::ask(on_, device_.get(),
              [&](auto& call) { areal::region_histograms(on_, tensor, call.in(regions), call.out(out), outside); });
}

void RegionRunner::region_histograms(const TensorView& tensor, std::span<const Region> regions, std::span<double> out,
                                     Outside outside) {
  check_regions(regions, rules_of(tensor, outside));
  Device::ask(on_, device_.get(),
              [&](auto& call) { areal::region_histograms(on_, tensor, call.in(regions), call.out(out), outside); });
}

void RegionRunner::normalise(std::span<const double> histograms, std::int64_t bins, std::span<double> out) {
  Device::ask(on_, device_.get(), [&](auto& call) { areal::normalise(on_, histograms, bins, call.out(out)); });
}

void RegionRunner::entropies(std::span<const double> histograms, std::int64_t bins, std::span<double> out) {
  Device::ask(on_, device_.get(), [&](auto& call) { areal::entropies(on_, histograms, bins, call.out(out)); });
}

void RegionRunner::percentiles(std::span<const double> histograms, std::int64_t bins, std::span<const double> edges,
                               double percent, std::span<double> out) {
  Device::ask(on_, device_.get(),
              [&](auto& call) { areal::percentiles(on_, histograms, bins, call.in(edges), percent, call.out(out)); });
}

void RegionRunner::medians(std::span<const double> histograms, std::int64_t bins, std::span<const double> edges,
                           std::span<double> out) {
  percentiles(histograms, bins, edges, 50, out);
}

void RegionRunner::modes(std::span<const double> histograms, std::int64_t bins, std::span<std::int64_t> out) {
  Device::ask(on_, device_.get(), [&](auto& call) { areal::modes(on_, histograms, bins, call.out(out)); });
}

void RegionRunner::means(std::span<const double> histograms, std::int64_t bins, std::span<const double> edges,
                         std::span<double> out) {
  Device::ask(on_, device_.get(),
              [&](auto& call) { areal::means(on_, histograms, bins, call.in(edges), call.out(out)); });
}

void RegionRunner::distances(Distance measure, std::span<const double> histograms, std::span<const double> target,
                             std::span<double> out) {
  Device::ask(on_, device_.get(),
              [&](auto& call) { areal::distances(on_, measure, histograms, call.in(target), call.out(out)); });
}

void RegionRunner::window_sums(const TableView& table, const Window& window, const View& out) {
  Device::ask(on_, device_.get(), [&](auto& call) { areal::window_sums(on_, table, window, call.out(out)); });
}

void RegionRunner::window_means(const TableView& table, const Window& window, const View& out) {
  Device::ask(on_, device_.get(), [&](auto& call) { areal::window_means(on_, table, window, call.out(out)); });
}

void RegionRunner::window_variances(const TableView& sum, const TableView& squares, const Window& window,
                                    const View& out) {
  Device::ask(on_, device_.get(),
              [&](auto& call) { areal::window_variances(on_, sum, squares, window, call.out(out)); });
}

void RegionRunner::window_standard_deviations(const TableView& sum, const TableView& squares, const Window& window,
                                              const View& out) {
  Device::ask(on_, device_.get(),
              [&](auto& call) { areal::window_standard_deviations(on_, sum, squares, window, call.out(out)); });
}

void RegionRunner::distance_map(const TensorView& tensor, std::int64_t width, std::int64_t height,
                                std::span<const double> target, Distance measure, const View& out) {
  Device::ask(on_, device_.get(), [&](auto& call) {
    areal::distance_map(on_, tensor, width, height, call.in(target), measure, call.out(out));
  });
}

}  // namespace areal
