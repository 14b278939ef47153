#pragma once
/// \file pieces.hpp Images computed in parts: how they are read, how they are cut and by whom they are computed, and
/// the pieces of tables and tensors that are given out.

#include <areal/execution.hpp>
#include <areal/region.hpp>
#include <areal/sequence.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace areal {

/// Returns the pixels from column x and row y on, of the shape and type of `buffer`, which is host memory: `buffer`,
/// filled, or host memory of the image's own, of any pitch, that stays valid until the run ends. Called by one thread
/// at a time. Blocks may be requested in any order, and repeatedly if the caller says so.
using ImageReader = std::function<ConstView(std::int64_t x, std::int64_t y, const View& buffer)>;
/// Of an image in host memory, or a mapped file, which stay; nothing is copied.
inline ImageReader image_in_memory(const ConstView& image) {
  return [image](std::int64_t x, std::int64_t y, const View& buffer) {
    ConstView block = image;
    block.data = static_cast<const char*>(image.row(y)) + x * image.column_pitch();
    block.shape = buffer.shape;
    return block;
  };
}

/// Entries of one image's tables or of its tensor, in host memory, page-locked where a CUDA device computed them. Valid
/// during the call.
struct Piece {
  std::int64_t x = 0, y = 0;   ///< position of the first entry in the whole table or tensor
  std::int64_t first_bin = 0;  ///< of a tensor
  ConstView values;            ///< sums; of a tensor, planar: its channels are bins first_bin ..
  ConstView squares = {};      ///< the same entries; empty if not requested
  ConstView count = {};        ///< valid pixels of the same entries; empty without mask and ignore_nan
  int worker = 0;              ///< index of the worker that computed it
};
/// Called with one piece at a time. Returning false ends the run without an error.
using PieceSink = std::function<bool(const Piece&)>;

/// How an image is cut, and who computes the parts: strips (<areal/strips.hpp>) or tiles (<areal/tiled.hpp>), each with
/// all bins or a group of them.
struct PieceOptions {
  /// Empty: one. Its backend is a plan's choice, as where it is Backend::automatic. Strips have one worker at most.
  std::vector<Worker> workers = {};
  /// Bytes that the parts in one worker's hands may take where it computes; 0: chosen, see there.
  std::uint64_t memory = 0;
  /// A part, fixed by hand: its pixels and its bins. 0: chosen from the memory, or the whole extent if another one of
  /// the three is given. Strips have the image's width; only tensors have bins. Affects the bits of floats.
  std::int64_t width = 0, height = 0, bins = 0;
  /// The grid of tiles in which an image is pushed to strips, in pixels; 0: only full-width blocks are pushed. The last
  /// column and row of tiles may be smaller.
  std::int64_t pushed_width = 0, pushed_height = 0;
  Outside outside = Outside::error;  ///< for regions that reach outside the image
  /// Reports the rows of strips, or the tiles with a group of bins, that are done, and the total; may cancel.
  Progress progress = {};
  /// Called with one sentence for the user when a worker is lost and others go on. Called from any thread, one at a
  /// time.
  std::function<void(const std::string& sentence)> note = {};
  /// Of tiles: the most bytes of one piece, the size of the page-locked buffers, three a lane; a piece has at least one
  /// row of one bin.
  std::uint64_t piece_bytes = std::uint64_t{32} << 20;
};

}  // namespace areal
