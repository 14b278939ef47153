#pragma once
/// \file histogram_store.hpp What an image keeps to answer the histograms of regions: the image itself, a compact
/// store, or the integral histogram's tensor; or to answer their quantiles: the image, or a rank store.

#include <areal/array.hpp>
#include <areal/binning.hpp>
#include <areal/execution.hpp>
#include <areal/histogram_tensor.hpp>
#include <areal/plan.hpp>
#include <areal/region.hpp>
#include <areal/region_histogram.hpp>
#include <areal/span.hpp>
#include <areal/table.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace areal {

/// Structures that answer about the histogram or the values of any region, each with the same bits as the others.
enum class Store : std::uint8_t {
  automatic,  ///< the one expected to finish first: see StoreOptions::regions
  none,       ///< the image: regions are counted when they come. No memory. For regions known in advance
  compact,    ///< labels, and counts on a lattice: 5 bytes a pixel for 32 bins, 10 for 256. Counts, no weights
  tensor,     ///< the integral histogram: 4 bytes a pixel and bin. For code that reads it, distance maps and weights
  rank        ///< values in order, without bins: quantiles. 16 bytes a pixel of 16 bits at 4096 x 4096
};
std::string_view name_of(Store store) noexcept;  ///< "auto", "none", "compact", "tensor", "rank"
std::optional<Store> store_named(std::string_view name) noexcept;

struct StoreOptions {
  Store store = Store::automatic;
  std::int64_t regions = -1;  ///< how many regions will be asked about; -1: unknown
  std::int64_t area = -1;     ///< pixels of all of them together; -1: unknown, assumed to be whole images
  bool weighted = false;      ///< builds get weights
  bool masked = false;        ///< builds get a mask
  /// Bytes that a store may take; 0: what the machine has free, of which `automatic` takes 0.9.
  std::uint64_t memory_limit = 0;
  int block = 0;  ///< of `compact`: 32, 64 or 128 pixels between lattice lines; 0: by the number of bins
  /// Of `rank` and unsigned integers: bits of the greatest pixel, such as 12 for a camera's 16u; 0: those of the type.
  int bits = 0;
};

/// What a build reads, in one memory.
struct StoreArguments {
  ConstView image;
  ConstView weights = {};  ///< one 8u, 16u, 32f or 64f for each pixel: histograms are sums of weights, of 64f
  ConstView mask = {};     ///< one 8u for each pixel: where it is 0, the pixel is in no bin
};

/// One image's store, for queries. Owns nothing: valid as long as its store, and unless that is built anew.
class StoreView {
 public:
  StoreView(const TensorView& tensor) noexcept;  // NOLINT: implicit on purpose

  Store store() const noexcept { return store_; }
  std::int64_t bins() const noexcept { return bins_; }  ///< 0 without a binning
  std::int64_t image_width() const noexcept { return width_; }
  std::int64_t image_height() const noexcept { return height_; }
  MemoryPlace memory() const noexcept { return memory_; }
  /// Throws InvalidArgument unless this is a tensor's.
  const TensorView& tensor() const;

  struct Access;  // of the library

 private:
  StoreView() = default;
  Store store_ = Store::none;
  std::int64_t bins_ = 0, width_ = 0, height_ = 0, image_ = 0;
  MemoryPlace memory_;
  std::optional<TensorView> tensor_;
  const void* state_ = nullptr;  // of the HistogramStore
};

/// The store of an image, or of each image of a batch. Made by `histogram_store` and `StorePlan::build`. Move-only. A
/// moved-from store is empty.
class HistogramStore {
 public:
  HistogramStore() noexcept;
  ~HistogramStore();
  HistogramStore(HistogramStore&&) noexcept;
  HistogramStore& operator=(HistogramStore&&) noexcept;

  Store store() const noexcept;  ///< never automatic; none for a moved-from store
  /// Bytes that it owns: 0 for `none`.
  std::uint64_t bytes() const noexcept;
  MemoryPlace memory() const noexcept;
  const Shape& image_shape() const noexcept;
  /// Throws InvalidArgument for a store without a binning, and for a moved-from one.
  const Binning& binning() const;
  /// One image's store. O(1). Throws InvalidArgument for an image out of range.
  StoreView view(std::int64_t image = 0) const;
  /// The only image's. Throws InvalidArgument if there are several.
  operator StoreView() const;  // NOLINT: implicit on purpose
  /// Throws InvalidArgument unless the store is a tensor.
  const HistogramTensor& tensor() const;
  /// The bytes of a compact store, in its memory, which depend on the pixels, the binning, the mask and the block alone
  /// and not on the backend, or those of a rank store, which depend on the pixels and `bits`; else none.
  Span<const std::byte> data() const noexcept;
  /// A copy of them in host memory, 8u, complete on return. O(bytes).
  Array to_host() const;

  struct State;  // of the library
  explicit HistogramStore(std::unique_ptr<State> state) noexcept;
  State* state() const noexcept { return state_.get(); }

 private:
  std::unique_ptr<State> state_;
};

/// Fixes shapes, types and the store in advance: `reason()` says why this store.
class StorePlan : public Plan {
 public:
  /// A plan for images of that shape and element type, whose stores lie in the memory of the execution's backend. Does
  /// not allocate.
  /// Throws InvalidArgument for invalid options and for what a store does not support: weights are for `none` and
  /// `tensor`, masks for `compact` and, on the CPU, `none`. Throws Unavailable for a backend that lacks the store: on
  /// cuda and simt `compact` takes images of at most 4,194,304 rows and columns.
  StorePlan(const Shape& image, Type type, const Binning& binning, const StoreOptions& options = {},
            const Execution& execution = {});
  /// Without a binning, for quantiles and counts below a value (region_quantile.hpp), of each channel for itself: rank
  /// or, on the CPU, none.
  /// Throws InvalidArgument for 64u and 64s, other stores, weights, a mask, and for a rank store of 2^32 pixels or
  /// more; Unavailable for `none` on cuda and simt, and there for more than 2^30 columns of all channels and images.
  StorePlan(const Shape& image, Type type, const StoreOptions& options = {}, const Execution& execution = {});

  Store store() const noexcept;          ///< never automatic
  std::uint64_t bytes() const noexcept;  ///< of the store of all images
  /// Throws OutOfMemory, naming the bytes and the limit, if the store exceeds the memory limit, by default the memory
  /// that is free where it will lie.
  void require_fit() const;
  /// Builds the store, complete on return; on a CUDA stream that the execution names, builds are queued there, but a
  /// build with fewer `bits` than the type has waits to check the pixels. `none`: O(1), and the store refers to the
  /// views' memory, which must stay valid and unchanged. `compact`: O(H W (1 + bins / 32)) an image. `tensor`: O(bins H
  /// W) an image. `rank`: O(bits log(W) H W) a channel. Throws InvalidArgument for views of another shape, type or
  /// memory, and for pixels beyond `bits`; OutOfMemory as `require_fit`; Cancelled.
  HistogramStore build(const StoreArguments& arguments) const;
  /// The same into the memory of a store of this plan, for frame after frame; another store is replaced. On a CUDA
  /// stream, all but the first build may be captured in a graph, of `rank` without `bits`.
  void build(const StoreArguments& arguments, HistogramStore& into) const;
  /// A store of `compact` or `rank` from the bytes that HistogramStore::data gave, in host memory: kept if the store
  /// lies there, else copied. The plan has the shape, type, binning, block, bits and mask of the one that built it, of
  /// any backend. Checks what queries rely on, so that bytes of unknown origin lead to wrong answers at most. O(bytes).
  /// Throws InvalidArgument for other stores, another number of bytes, and bytes that are no such store.
  HistogramStore restore(Array data) const;

  const Shape& image_shape() const noexcept;
  Type image_type() const noexcept;
  /// Throws InvalidArgument for a plan without a binning.
  const Binning& binning() const;
  const StoreOptions& options() const noexcept;  ///< with the chosen block of `compact`

  struct State;  // of the library

 private:
  explicit StorePlan(std::shared_ptr<const State> state) noexcept;
  const State& state() const noexcept;
};

/// Plan and build in one line: the store of an image, or of a batch. Throws what StorePlan and its build throw.
HistogramStore histogram_store(const StoreArguments& arguments, const Binning& binning,
                               const StoreOptions& options = {}, const Execution& execution = {});
HistogramStore histogram_store(const ConstView& image, const Binning& binning, const StoreOptions& options = {},
                               const Execution& execution = {});
/// The same without a binning, for quantiles: see region_quantile.hpp.
HistogramStore histogram_store(const ConstView& image, const StoreOptions& options = {},
                               const Execution& execution = {});

/// \name Histograms of N regions, N x bins row by row, from a store. O(bins) each from a tensor; from a compact store
/// O(bins) and a few hundred pixels each; from none as straight from the image. Counts are exact. All stores give the
/// same bits; sums of weights, which are doubles, do so where all partial sums are exact. 64u reads counts, double any.
/// They run where the store lies, on the plan's stream unless the options name another; of host memory, the CPU and
/// simt read each other's compact stores.
/// @{
void region_histograms(const StoreView& store, Span<const Region> regions, Span<std::uint64_t> out,
                       const QueryOptions& options = {});
void region_histograms(const StoreView& store, Span<const Region> regions, Span<double> out,
                       const QueryOptions& options = {});
template <CountType T = std::uint64_t>
std::vector<T> region_histograms(const StoreView& store, Span<const Region> regions, const QueryOptions& options = {}) {
  std::vector<T> out(regions.size() * static_cast<std::size_t>(store.bins()));
  region_histograms(store, regions, Span<T>(out), options);
  return out;
}
///@}

}  // namespace areal
