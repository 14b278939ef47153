#include "cuda_queries.hpp"

#include <cuda_runtime.h>
#include <areal/region.hpp>
#include <areal/sat.hpp>
#include <areal/table.hpp>
#include <areal/window.hpp>
#include <cstdint>
#include <vector>
#include "cuda_device.hpp"
#include "profiled.cuh"

namespace areal::bench {
namespace {

/// A table of 32u, `pitch` entries from row to row.
struct Entries {
  const std::uint32_t* first;
  std::int64_t pitch;
  __device__ std::uint32_t operator()(std::int64_t x, std::int64_t y) const { return first[y * pitch + x]; }
};
struct Entries64 {
  const std::uint64_t* first;
  std::int64_t pitch;
  __device__ std::uint64_t operator()(std::int64_t x, std::int64_t y) const { return first[y * pitch + x]; }
};

template <class Table>
__device__ auto four(const Table& at, const Region& r) {
  return at(r.x + r.width, r.y + r.height) - at(r.x, r.y + r.height) - at(r.x + r.width, r.y) + at(r.x, r.y);
}

__device__ std::int64_t number() { return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

__global__ void gather_two(Entries sum, Entries64 squares, const Region* regions, std::int64_t n, double* out) {
  const std::int64_t i = number();
  if (i >= n) return;
  const Region r = regions[i];
  out[i] = static_cast<double>(four(sum, r)) + static_cast<double>(four(squares, r));
}

__global__ void gather_rotated(Entries tilted, const Region* regions, std::int64_t n, double* out) {
  const std::int64_t i = number();
  if (i >= n) return;
  const Region r = regions[i];
  out[i] = tilted(r.x + r.width - r.height, r.y + r.width + r.height) - tilted(r.x - r.height, r.y + r.height) -
           tilted(r.x + r.width, r.y + r.width) + tilted(r.x, r.y);
}

__global__ void gather_boxes(Entries volume, std::int64_t rows_a_slice, const Box* boxes, std::int64_t n, double* out) {
  const std::int64_t i = number();
  if (i >= n) return;
  const Box b = boxes[i];
  const Region side{b.x, b.y, b.width, b.height};
  const Entries near{volume.first + b.z * rows_a_slice * volume.pitch, volume.pitch};
  const Entries far{near.first + b.depth * rows_a_slice * volume.pitch, volume.pitch};
  out[i] = four(far, side) - four(near, side);
}

/// Four entries read for four pixels written.
template <class Out>
__global__ void pass(const uint4* table, std::int64_t n, Out* out) {
  struct alignas(4 * sizeof(Out)) Four {
    Out at[4];
  };
  const std::int64_t i = number();
  if (i >= n) return;
  const uint4 entries = table[i];
  reinterpret_cast<Four*>(out)[i] = {{static_cast<Out>(entries.x), static_cast<Out>(entries.y),
                                      static_cast<Out>(entries.z), static_cast<Out>(entries.w)}};
}

class Bench {
 public:
  explicit Bench(const CudaQueries& what)
      : c_(what), image_(what.image, static_cast<std::size_t>(what.width * what.height)) {
    execution_.backend = Backend::cuda;
    execution_.device = c_.device;
    execution_.stream = Stream::cuda(stream_.get());
  }

  void run() {
    {
      const SatTable table =
          sat(pixels({c_.width, c_.height}), {.types = type_pair("8u32u"), .squares = Squares::u64}, execution_);
      const Copied regions(c_.regions.data(), c_.regions.size_bytes());
      const auto n = static_cast<std::int64_t>(c_.regions.size());
      const Span<const Region> there = regions.span<Region>(c_.regions.size(), place_);
      answer<double>(
          "region_variances", "gather", c_.regions.size() * (sizeof(Region) + 4 * (4 + 8) + 8), c_.regions.size(),
          [&](double* out) {
            const Entries64 squares{static_cast<const std::uint64_t*>(table.squares().data), c_.width + 1};
            gather_two<<<blocks(n), 256, 0, stream_.get()>>>(entries(table.sum()), squares, regions.of<Region>(), n,
                                                             out);
          },
          [&](const Span<double>& out) { region_variances(table.view(), there, out, {.execution = execution_}); });
      windows(table);
      borders(table);
    }
    rotated();
    boxes();
  }

 private:
  /// Host memory's content on the device.
  struct Copied {
    Copied(const void* from, std::size_t bytes) : memory(bytes) {
      check(cudaMemcpy(memory.data(), from, bytes, cudaMemcpyHostToDevice));
    }
    template <class T>
    const T* of() const {
      return static_cast<const T*>(memory.data());
    }
    template <class T>
    Span<const T> span(std::size_t n, const MemoryPlace& place) const {
      return {of<T>(), n, place};
    }
    Memory memory;
  };

  static unsigned blocks(std::int64_t threads) { return static_cast<unsigned>((threads + 255) / 256); }
  static Entries entries(const ConstView& table) {
    return {static_cast<const std::uint32_t*>(table.data), table.row_pitch / 4};
  }
  ConstView pixels(const Shape& shape) const { return ConstView(image_.memory.data(), Type::u8, shape).in(place_); }

  /// Times both in turns, then passes on the result of another run of ours.
  void time(const char* query, const char* floor, std::uint64_t bytes, const std::function<void()>& plain,
            const std::function<void()>& ours, const Memory& out, std::size_t out_bytes) {
    auto times = time_shuffled({plain, ours}, c_.repetitions, stream_.get());
    check(cudaMemsetAsync(out.data(), 0xa5, out_bytes, stream_.get()));
    run_profiled(ours, stream_.get());
    std::vector<std::byte> answers(out_bytes);
    check(cudaMemcpy(answers.data(), out.data(), out_bytes, cudaMemcpyDeviceToHost));
    c_.done({query, floor, bytes, std::move(times[1]), std::move(times[0]), answers.data(), out_bytes});
  }
  template <class T, class Plain, class Ours>
  void answer(const char* query, const char* floor, std::uint64_t bytes, std::size_t n, const Plain& plain,
              const Ours& ours) {
    const Memory out(n * sizeof(T));
    auto* const first = static_cast<T*>(out.data());
    const Span<T> span(first, n, place_);
    time(
        query, floor, bytes, [&] { plain(first); }, [&] { ours(span); }, out, n * sizeof(T));
  }

  template <class Out, class Ours>
  void window(const char* query, const SatTable& table, Type type, const Ours& ours) {
    const Shape shape{c_.width, c_.height};
    const auto n = static_cast<std::size_t>(c_.width * c_.height);
    const Memory out(n * sizeof(Out));
    const View view = View(out.data(), type, shape).in(place_);
    const auto fours = static_cast<std::int64_t>(n / 4);
    time(
        query, "pass", n * (sizeof(std::uint32_t) + sizeof(Out)),
        [&] {
          pass<<<blocks(fours), 256, 0, stream_.get()>>>(static_cast<const uint4*>(table.sum().data), fours,
                                                         static_cast<Out*>(out.data()));
        },
        [&] { ours(view); }, out, n * sizeof(Out));
  }
  void windows(const SatTable& table) {
    window<std::uint8_t>("window_means", table, Type::u8,
                         [&](const View& out) { window_means(table.view(), c_.window, out, execution_); });
    window<float>("window_sums", table, Type::f32,
                  [&](const View& out) { window_sums(table.view(), c_.window, out, execution_); });
  }

  void borders(const SatTable& table) {
    const Shape inside{c_.width, c_.height}, outside{c_.width + 1, c_.height + 1};
    const Memory one(static_cast<std::size_t>(outside.width * outside.height) * 4);
    const Memory other(static_cast<std::size_t>(outside.width * outside.height) * 4);
    const auto bytes_of = [](const Shape& shape) { return static_cast<std::size_t>(shape.width * shape.height) * 4; };
    const View without = View(one.data(), Type::u32, inside).in(place_);
    const View with = View(other.data(), Type::u32, outside).in(place_);
    const auto copy = [&] {
      check(cudaMemcpyAsync(other.data(), one.data(), bytes_of(inside), cudaMemcpyDeviceToDevice, stream_.get()));
    };
    time(
        "zero to none", "copy", bytes_of(inside) + bytes_of(outside), copy,
        [&] { convert_border(TableView(table.sum(), Border::zero), without, Border::none, {}, execution_); }, one,
        bytes_of(inside));
    time(
        "none to zero", "copy", bytes_of(inside) + bytes_of(outside), copy,
        [&] { convert_border(TableView(without, Border::none), with, Border::zero, {}, execution_); }, other,
        bytes_of(outside));
  }

  void rotated() {
    const SatTable table =
        sat(pixels({c_.width, c_.height}), {.types = type_pair("8u32u"), .tilted = true}, execution_);
    const Copied regions(c_.rotated.data(), c_.rotated.size_bytes());
    const auto n = static_cast<std::int64_t>(c_.rotated.size());
    answer<double>(
        "tilted_sums", "gather", c_.rotated.size() * (sizeof(Region) + 4 * 4 + 8), c_.rotated.size(),
        [&](double* out) {
          gather_rotated<<<blocks(n), 256, 0, stream_.get()>>>(entries(table.tilted()), regions.of<Region>(), n, out);
        },
        [&](const Span<double>& out) {
          tilted_sums(table.view(), regions.span<Region>(c_.rotated.size(), place_), out, {.execution = execution_});
        });
  }

  void boxes() {
    const SatTable table = sat(pixels(c_.volume), {.types = type_pair("8u32u"), .volume = true}, execution_);
    const Copied boxes(c_.boxes.data(), c_.boxes.size_bytes());
    const auto n = static_cast<std::int64_t>(c_.boxes.size());
    answer<double>(
        "box_sums", "gather", c_.boxes.size() * (sizeof(Box) + 8 * 4 + 8), c_.boxes.size(),
        [&](double* out) {
          gather_boxes<<<blocks(n), 256, 0, stream_.get()>>>(entries(table.sum()), c_.volume.height + 1,
                                                             boxes.of<Box>(), n, out);
        },
        [&](const Span<double>& out) {
          box_sums(TableView(table.sum(), table.border()), boxes.span<Box>(c_.boxes.size(), place_), out,
                   {.execution = execution_});
        });
  }

  const CudaQueries& c_;
  const OwnedStream stream_ = new_stream();
  const MemoryPlace place_{MemoryPlace::cuda, c_.device};
  const Copied image_;
  Execution execution_;
};

}  // namespace

void run_queries(const CudaQueries& queries) {
  check(cudaSetDevice(queries.device));
  Bench(queries).run();
}

}  // namespace areal::bench
