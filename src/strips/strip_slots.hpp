#pragma once
// The buffers of strips on their way, and what computes them: two of pixels, one or two of tables, the carry row, a
// plan for strips of one height. On CUDA each direction has a stream: uploads, kernels and downloads of neighbouring
// strips overlap.

#include <areal/strips.hpp>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>
#include "api/core/memory.hpp"
#include "strips/pipeline.hpp"

namespace areal::strips {

/// What the rows of an image, a mask or a table hold.
struct RowType {
  Type type = Type::u8;
  std::int64_t channels = 1;
  Layout layout = Layout::interleaved;

  Shape rows(std::int64_t width, std::int64_t height) const { return {width, height, channels, 1, layout}; }
};

/// A plan for strips of so many rows, with its workspace.
class StripPlan {
 public:
  virtual ~StripPlan() = default;
  /// `above` has a row of carry_lead + W + 1 entries for each table, without memory where zeros are above.
  virtual void execute(const std::vector<ConstView>& inputs, const std::vector<View>& tables,
                       const std::vector<ConstView>& above) = 0;
};

/// What is computed of each strip: tables of border `zero`, one row and column larger than it.
struct StripWork {
  Execution execution;  ///< its backend is not automatic
  std::int64_t width = 0, height = 0;
  std::vector<RowType> inputs, tables;
  bool carried = true;  ///< tables take over the row above, and leave
  int carry_lead = 0;   ///< zeros before the row of W + 1 entries that a plan takes over
  int table_buffers = slots;
  std::uint64_t default_memory = std::uint64_t{16} << 20;
  std::function<std::size_t(std::int64_t rows)> workspace_bytes;
  std::function<std::unique_ptr<StripPlan>(std::int64_t rows, Stream stream)> plan;

  bool on_cuda() const noexcept { return execution.backend == Backend::cuda; }
};

/// Bytes where strips of so many rows are computed, and on CUDA in the host's page-locked memory, too; see
/// StripOptions.
struct StripBytes {
  std::uint64_t computing = 0, host = 0;
  std::uint64_t most() const noexcept { return computing > host ? computing : host; }
};
/// None where they do not fit 63 bits.
std::optional<StripBytes> strip_bytes(const StripWork& work, std::int64_t rows, std::int64_t tile_height);
/// Rows of a strip: the most whose bytes the options allow. Throws OutOfMemory where there are none.
std::int64_t strip_height(const StripWork& work, const StripOptions& options);
/// The same where bytes may be too few: 0 then.
std::int64_t strip_height_within(const StripWork& work, const StripOptions& options, std::uint64_t bytes);

/// Where no memory is given: the work's, or what these rows take where that is more.
inline constexpr std::int64_t default_rows = 8;
std::uint64_t default_limit(const StripWork& work, std::int64_t tile_height);
/// On the host: so many strips that the stages overlap, and that new memory takes less time than an image of few
/// pixels.
constexpr std::int64_t default_most_rows(std::int64_t height) { return height / 16 > 64 ? height / 16 : 64; }

/// For the strips of one image, from the first on.
class StripSlots {
 public:
  /// Allocates. Throws OutOfMemory, DeviceError.
  StripSlots(const StripWork& work, std::int64_t height);
  ~StripSlots();

  /// Host memory for the pixels of a strip of so many rows, once the strip before it has left them.
  View input(int slot, std::size_t which, std::int64_t rows);
  /// They are there: on CUDA, queues their copy.
  void upload(int slot, std::int64_t rows);
  /// The tables; on CUDA queued. On the host the pixels may lie elsewhere.
  void compute(int slot, std::int64_t rows, const std::vector<ConstView>* pixels = nullptr);
  /// Where they are computed.
  View table(int slot, std::size_t which, std::int64_t rows);
  /// In host memory, complete. On CUDA this waits for the strip alone.
  std::vector<ConstView> download(int slot, std::int64_t rows);
  /// The last rows of the tables alone, in host memory.
  std::vector<ConstView> last_rows(int slot, std::int64_t rows);
  /// Of what `compute` queues.
  Stream stream() const;

 private:
  struct Device;
  void keep_last_rows(int slot, std::int64_t rows);

  const StripWork& work_;
  std::int64_t height_;
  MemoryPlace place_;
  std::unique_ptr<Device> device_;  // on CUDA
  std::array<std::vector<Memory>, slots> inputs_, tables_;
  std::vector<Memory> last_rows_;
  std::vector<Memory> above_;
  std::unique_ptr<StripPlan> plan_;
  std::int64_t plan_rows_ = -1;
  bool first_ = true;
};

}  // namespace areal::strips
