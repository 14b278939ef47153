#pragma once
// One image in strips of one height, by one work: read, or pushed in blocks.

#include <areal/strips.hpp>
#include <functional>
#include <memory>
#include <optional>
#include "pieces/strips/block_rows.hpp"
#include "pieces/strips/strip_height.hpp"
#include "pieces/strips/strip_run.hpp"

namespace areal::pieces {

/// Where strips are computed: by the one worker. Throws InvalidArgument for several.
Execution strips_on(const PieceOptions& options);

/// What tells a caller's progress of the rows that are done; none where there is none. Throws Cancelled where it says
/// so.
std::function<void(std::int64_t rows)> reporter(const Progress& progress, std::int64_t all);

class StripDriver {
 public:
  /// `second`: what the work reads beside the image, where it reads anything: "mask" or "weights".
  StripDriver(std::unique_ptr<const Work> work, const Shape& image, const PieceOptions& options, std::int64_t height,
              const char* second);
  ~StripDriver();
  StripDriver(StripDriver&&) noexcept;
  StripDriver& operator=(StripDriver&&) noexcept;

  const Work& work() const noexcept { return *work_; }
  std::int64_t height() const noexcept { return height_; }
  /// Where it computes, as the formula of StripSat says.
  std::uint64_t memory_bytes() const noexcept { return bytes_; }

  /// False where the use ended it. Throws InvalidArgument for a reader that is missing, or one that nothing asks for.
  /// Gives up what was pushed.
  bool run(const ImageReader& read, const ImageReader& read_second, const StripUse& use);

  /// \name As StripSat's: after `begin` blocks, then `finish`. After an exception of what a strip is used for, the run
  /// has ended; after a block that was refused it goes on.
  ///@{
  void begin(StripUse use);
  bool push(std::int64_t x, std::int64_t y, const ConstView& block, const ConstView& second);
  /// False where the use ended it.
  bool finish();
  ///@}

 private:
  struct Pushed;
  Pushed& running();

  std::unique_ptr<const Work> work_;
  Shape image_;
  PieceOptions options_;
  std::int64_t height_;
  std::uint64_t bytes_;
  const char* second_;
  std::unique_ptr<Pushed> pushed_;
};

}  // namespace areal::pieces
