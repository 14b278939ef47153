#include "pieces/strips/driver.hpp"
#include <areal/error.hpp>
#include <utility>
#include <vector>
#include "api/core/require.hpp"

namespace areal::pieces {

Execution strips_on(const PieceOptions& options) {
  require(options.workers.size() <= 1, "workers: ", options.workers.size(), "; strips are computed by one");
  return options.workers.empty() ? Execution() : execution_of(options.workers[0]);
}

std::function<void(std::int64_t)> reporter(const Progress& progress, std::int64_t all) {
  if (!progress) return {};
  return [progress, all](std::int64_t rows) {
    if (!progress(rows, all)) throw Cancelled(sentence("the strips were cancelled after ", rows, " of ", all, " rows"));
  };
}

/// An image on its way: blocks become rows, rows strips.
struct StripDriver::Pushed {
  BlockRows blocks;
  StripFeed feed;
  bool goes_on = true;  // the use has not ended it
  bool is_broken = false, is_finished = false;
};

StripDriver::StripDriver(std::unique_ptr<const Work> work, const Shape& image, const PieceOptions& options,
                         std::int64_t height, const char* second)
    : work_(std::move(work)),
      image_(image),
      options_(options),
      height_(height),
      bytes_(StripHeights(*work_, image, options).bytes(height)->computing),
      second_(second) {}
StripDriver::~StripDriver() = default;
StripDriver::StripDriver(StripDriver&&) noexcept = default;
StripDriver& StripDriver::operator=(StripDriver&&) noexcept = default;

bool StripDriver::run(const ImageReader& read, const ImageReader& read_second, const StripUse& use) {
  pushed_.reset();
  return run_strips(*work_, image_, height_, {work_->form(), read, read_second, second_}, use);
}

void StripDriver::begin(StripUse use) {
  pushed_.reset();  // its memory, before there is more
  pushed_.reset(new Pushed{{image_, work_->form().inputs, second_, options_.pushed_width, options_.pushed_height},
                           {*work_, image_, height_, std::move(use)}});
}

StripDriver::Pushed& StripDriver::running() {
  require(pushed_ != nullptr, "nothing has begun: begin comes before push and finish");
  require(!pushed_->is_broken, "the run ended with an exception: begin starts another");
  require(!pushed_->is_finished, "the image is finished: begin starts another");
  return *pushed_;
}

bool StripDriver::push(std::int64_t x, std::int64_t y, const ConstView& block, const ConstView& second) {
  Pushed& pushed = running();
  if (!pushed.goes_on) return false;
  pushed.blocks.push(x, y, block, second, [&](const std::vector<ConstView>& rows) {
    pushed.is_broken = true;  // unless this returns
    pushed.goes_on = pushed.feed.push(rows);
    pushed.is_broken = false;
    return pushed.goes_on;
  });
  return pushed.goes_on;
}

bool StripDriver::finish() {
  Pushed& pushed = running();
  if (pushed.goes_on) {
    pushed.blocks.require_all();
    pushed.is_broken = true;
    pushed.goes_on = pushed.feed.finish();
    pushed.is_broken = false;
  }
  pushed.is_finished = true;
  return pushed.goes_on;
}

}  // namespace areal::pieces
