#pragma once
// How images are cut, and memory from which engines read and into which their pieces are gathered.

#include <algorithm>
#include <areal/error.hpp>
#include <areal/execution.hpp>
#include <areal/pieces.hpp>
#include <areal/tiled.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>
#include "conformance/buffer.hpp"
#include "conformance/elements.hpp"

namespace areal::piece_matrix {

using conformance::Buffer;
using conformance::Values;

/// An image's size, and that of a part of it. Strips take the part's height.
struct Cut {
  const char* name;
  std::int64_t image_width, image_height, width, height;
};
inline constexpr Cut cuts[] = {
    {"parts of 7x5", 23, 17, 7, 5},
    {"four rows", 23, 17, 23, 4},
    {"one row", 23, 17, 23, 1},
    {"one column", 23, 17, 1, 17},
    {"the whole", 23, 17, 23, 17},
    {"single pixels", 5, 4, 1, 1},
    {"parts of a vector and more", 70, 9, 33, 4},
    {"parts larger than the image", 6, 5, 9, 8},
    {"an image of one pixel", 1, 1, 1, 1},
    {"an image of one row", 19, 1, 4, 1},
    {"an image of one column", 1, 19, 1, 4},
    {"an image without rows", 9, 0, 4, 3},
    {"an image without columns", 0, 7, 4, 3},
};

/// A part of every image and channel of a view.
template <class V>
V part(V view, std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height) {
  using Byte = std::conditional_t<std::is_same_v<V, ConstView>, const char, char>;
  if (view.data != nullptr) view.data = static_cast<Byte*>(view.row(y)) + x * view.column_pitch();
  view.shape.width = width, view.shape.height = height;
  return view;
}

/// What an engine does that its contract forbids.
struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Calls what runs after an engine was made: what it refuses then, it should have refused before.
template <class Run>
void running(const Run& run) {
  try {
    run();
  } catch (const InvalidArgument& error) {
    throw Broken(std::string("refuses only when it runs: ") + error.what());
  }
}

/// In the stead of an engine without such an argument.
inline void refuse_if(bool condition, const char* sentence) {
  if (condition) throw InvalidArgument(sentence);
}

/// Looks at calls of a progress function: the work done never shrinks, and is all at the end.
class Watch {
 public:
  Progress callback() {
    return [this](std::int64_t done, std::int64_t total) {
      if (done < done_ || done > total) throw Broken("progress shrinks, or passes the whole");
      done_ = done, total_ = total;
      return true;
    };
  }
  void expect_end() const {
    if (done_ != total_) throw Broken("progress ends before the work does");
  }

 private:
  std::int64_t done_ = 0, total_ = 0;
};

/// Fills every second block; of the others, the image's own memory.
inline ImageReader reader_of(const ConstView& image) {
  return [image](std::int64_t x, std::int64_t y, const View& block) {
    const Shape& s = block.shape;
    if (x < 0 || y < 0 || x + s.width > image.shape.width || y + s.height > image.shape.height)
      throw Broken("a reader was called for pixels outside the image");
    const ConstView own = part(image, x, y, s.width, s.height);
    if ((x + y) % 2 == 0) return own;
    conformance::write(conformance::values_of(own), block);
    return ConstView(block);
  };
}

/// How an image reaches an engine for strips.
enum class Way { run, rows, tiles };

inline std::vector<Worker> two_workers(Backend backend) {
  if (backend != Backend::cpu) return {{.backend = backend}};
  return {{.threads = 1}, {.threads = 1}};
}

/// Elements that come in pieces, each exactly once.
class Gathered {
 public:
  Gathered(Type type, const Shape& shape) : values_(type, shape), times_(values_.size()) {}
  void put(const ConstView& piece, std::int64_t x, std::int64_t y, std::int64_t channel = 0) {
    const Shape &s = piece.shape, &whole = values_.shape;
    if (x < 0 || y < 0 || channel < 0 || x + s.width > whole.width || y + s.height > whole.height ||
        channel + s.channels > whole.channels || s.batch > whole.batch)
      throw Broken("a piece lies outside the whole");
    if (piece.type != values_.type) throw Broken("a piece is of another type");
    const Values came = conformance::values_of(piece);
    for (std::int64_t n = 0; n < s.batch; ++n)
      for (std::int64_t c = 0; c < s.channels; ++c)
        for (std::int64_t row = 0; row < s.height; ++row)
          for (std::int64_t column = 0; column < s.width; ++column) {
            const std::size_t to = values_.at(x + column, y + row, channel + c, n), from = came.at(column, row, c, n);
            if (is_float(values_.type))
              values_.real[to] = came.real[from];
            else
              values_.integer[to] = came.integer[from];
            ++times_[to];
          }
  }
  const Values& values() const {
    if (std::any_of(times_.begin(), times_.end(), [](int times) { return times != 1; }))
      throw Broken("pieces do not hold every entry once");
    return values_;
  }

 private:
  Values values_;
  std::vector<int> times_;
};

/// Parts of an image from the top down, of each row of parts the last first.
struct Part {
  std::int64_t x, y, width, height;
};
inline std::vector<Part> parts_of(const Shape& image, std::int64_t width, std::int64_t height) {
  std::vector<Part> parts;
  if (image.width == 0) return parts;
  for (std::int64_t y = 0; y < image.height; y += height)
    for (std::int64_t x = (image.width - 1) / width * width; x >= 0; x -= width)
      parts.push_back({x, y, std::min(width, image.width - x), std::min(height, image.height - y)});
  return parts;
}

}  // namespace areal::piece_matrix
