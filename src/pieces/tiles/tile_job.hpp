#pragma once
// An image that is computed in tiles, and by whom.

#include <algorithm>
#include <areal/border.hpp>
#include <areal/tiled.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>
#include "pieces/core/grid.hpp"
#include "pieces/core/work.hpp"

namespace areal::pieces {

/// The border to compute with. An `exclusive` table is the `zero` table of the image without its last row and column,
/// so `image` loses these.
inline Border without_last(Border border, Shape& image) {
  if (border != Border::exclusive) return border;
  if (image.empty()) return Border::none;  // which has no entries either
  --image.width, --image.height;
  return Border::zero;
}

inline bool is_cuda(const Worker& worker) { return worker.backend == Backend::cuda; }

struct Bins {
  std::int64_t first = 0, count = 0;
};

struct TileJob {
  Shape image;                ///< what is computed: with border `exclusive`, without the last row and column
  Shape whole;                ///< what is read
  std::int64_t x = 0, y = 0;  ///< of the first pixel of `image` in `whole`
  Form form;                  ///< of all bins
  bool squares = false;       ///< the second output
  const char* second = "";    ///< the name of what is read beside the image
  std::vector<Worker> workers;
  int cuda_lanes = 1;  ///< parts that a CUDA worker has in hand at once; others have one
  std::function<void(const std::string&)> note;
  Progress progress;  ///< counts parts
  const char* cancelled = "";
  /// What a worker computes: of a tensor, of those bins.
  std::function<std::unique_ptr<const Work>(const Worker&, const Bins&)> work;
  TiledGrid cut;
  std::int64_t bins = 0;          ///< of a tensor
  std::uint64_t piece_bytes = 0;  ///< the most of one piece, but for one row
  bool planes_apart = false;      ///< pieces may have some of the planes

  int lanes_of(const Worker& worker) const { return is_cuda(worker) ? cuda_lanes : 1; }
  int lanes() const {
    int all = 0;
    for (const Worker& worker : workers) all += lanes_of(worker);
    return all;
  }
  bool has_cuda() const { return std::any_of(workers.begin(), workers.end(), is_cuda); }
  Bins bins_of(std::int64_t group) const {
    const std::int64_t first = group * cut.bins;
    return {first, std::min(cut.bins, bins - first)};
  }
  /// What the caller says of workers and of progress; `work` is given. Throws InvalidArgument, Unavailable.
  void take(const PieceOptions& options);
  TileGrid grid() const { return {image, cut, form.reverse}; }
};

}  // namespace areal::pieces
