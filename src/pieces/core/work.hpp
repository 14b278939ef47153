#pragma once
// What is computed of a part of an image: which rows it reads, which it makes, and a step that does it.

#include <areal/carry.hpp>
#include <areal/execution.hpp>
#include <areal/pieces.hpp>
#include <areal/region.hpp>
#include <areal/sequence.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace areal::pieces {

/// What the rows of an image, a mask, a table or a tensor hold.
struct Rows {
  Type type = Type::u8;
  std::int64_t channels = 1;
  Layout layout = Layout::interleaved;

  Shape of(std::int64_t width, std::int64_t height) const { return {width, height, channels, 1, layout}; }
};

/// One part of an image, of all that is computed of it. Parts are computed in the order of their numbers.
struct Part {
  std::int64_t number = 0;
  Region pixels;
  std::int64_t above = 0, below = 0;  ///< rows of the halo, which its inputs have too

  std::int64_t end() const noexcept { return pixels.y + pixels.height; }
  /// \name Rows of its inputs. With a halo that wraps, the first may lie above the image and the last below it.
  ///@{
  std::int64_t first_row() const noexcept { return pixels.y - above; }
  std::int64_t rows() const noexcept { return above + pixels.height + below; }
  ///@}
};

/// Rows of the image that a part reads above and below its own.
struct Halo {
  enum class Beyond : std::uint8_t {
    cut,     ///< the image's edges cut the halo off
    inside,  ///< parts are of the rows whose whole halo lies in the image
    wrap     ///< beyond an edge are the rows of the other end
  };
  std::int64_t above = 0, below = 0;
  Beyond beyond = Beyond::cut;
  bool is_made = true;    ///< outputs include its rows, which the driver crops
  bool is_whole = false;  ///< there is none, as a part is the whole image: windows wrap around it more than once

  std::int64_t rows() const noexcept { return above + below; }
};

/// A part's views, where the step computes.
struct Views {
  std::vector<ConstView> inputs;
  std::vector<View> outputs;
  std::vector<Carry> carries = {};  ///< one for each output
  Part part = {};                   ///< by lanes
};

/// Computes parts of one extent, one after another, in a workspace of its own.
class Step {
 public:
  virtual ~Step() = default;
  /// Queues on CUDA, and has computed elsewhere. Allocates nothing.
  virtual void execute(const Views& views) = 0;
};

/// What a work reads, makes and hands on.
struct Form {
  std::vector<Rows> inputs;   ///< the image; a mask or weights
  std::vector<Rows> outputs;  ///< sum, squares and count, or a tensor; none where a step keeps what it computes
  int margin = 1;             ///< rows and columns of an output beside its part's: 1 with border `zero`, 0 with `none`
  bool carried = false;       ///< outputs take over sums of their neighbours
  int carry_lead = 0;         ///< entries before the row above, as wide as the output, that a step takes over
  bool reverse = false;       ///< outputs sum what lies right and below: `above` is below, `left` is right
  bool downloads = false;     ///< outputs leave, for host memory
  std::uint64_t usual_bytes = std::uint64_t{16} << 20;  ///< for parts on their way, where the caller names no memory
  Halo halo;                                            ///< only without carries
};

/// Throws InvalidArgument for an algorithm that makes no parts: `made` is "tables by strips".
void require_carries(std::string_view family, std::string_view algorithm, const char* made);

/// Throws InvalidArgument for groups of bins of what has no bins.
void require_no_bins(const PieceOptions& pieces, const char* made);

/// Outputs in the order of a form as what is given out.
Piece piece_of(std::int64_t x, std::int64_t y, const std::vector<ConstView>& outputs, bool squares);

inline Execution execution_of(const Worker& worker) {
  return {.backend = worker.backend, .device = worker.device, .threads = worker.threads};
}

/// Plans for parts of any extent. Const, so that all who compute share one.
class Work {
 public:
  virtual ~Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  const Form& form() const noexcept { return form_; }
  const Execution& execution() const noexcept { return execution_; }  ///< its backend is not automatic
  bool on_cuda() const noexcept { return execution_.backend == Backend::cuda; }
  /// Where it computes.
  MemoryPlace memory() const noexcept {
    return on_cuda() ? MemoryPlace{MemoryPlace::cuda, execution_.device} : MemoryPlace{};
  }

  /// Of a step for inputs of that extent; allocates nothing.
  virtual std::size_t workspace_bytes(std::int64_t width, std::int64_t height) const = 0;
  /// Throws OutOfMemory. The device is current.
  virtual std::unique_ptr<Step> plan(std::int64_t width, std::int64_t height, Stream stream) const = 0;

 protected:
  Work() = default;

  Form form_;
  Execution execution_;
};

}  // namespace areal::pieces
