#pragma once
// Template matching in tiles. Sums of products come from FFTs (`fft`) or from loops over the template (`direct`); sums
// and deviations of windows from sliding sums of integers, or, for floats, from `blocks` of a tile.
//
// Integers are less half their range. A transform holds two tiles of 8-bit pixels as its real and imaginary parts, or
// the high and the low bytes of one tile of 16 bits; a template of 16 bits has two spectra where one would not be
// exact. Channels are added in the frequency domain. Floats are less the mean of their tile; pixels that are not finite
// are 0 in it. Reads each pixel once for the products and twice for the windows, and those that tiles share again.

#include <areal/match.hpp>
#include <areal/type.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include "cpu/filter/blocks.hpp"
#include "cpu/match/transform.hpp"

namespace areal::cpu {

struct MatchRequest {
  MatchMethod method = MatchMethod::ccoeff_normed;
  Shape image, templ;
  Type in = Type::u8, out = Type::f32;
  bool fft = false;
  std::int64_t width = 1, height = 1;   ///< of a tile
  std::int64_t step_x = 1, step_y = 1;  ///< its positions
  std::int64_t across = 1, down = 1;    ///< tiles of an image
  int parts = 1;                        ///< spectra of the template
  double error = 0;                     ///< of a product of transforms, in units of the norms of its factors
  int threads = 0;
};

class Match {
 public:
  /// A checked request.
  explicit Match(const MatchRequest& request);

  std::size_t workspace_bytes() const noexcept { return layout_.bytes; }
  /// Checked views. The workspace may hold anything.
  void execute(const MatchArguments& arguments, void* workspace) const;

 private:
  template <class T>
  class Work;

  std::int64_t tiles() const { return request_.across * request_.down * request_.image.batch; }
  bool two_tiles() const { return request_.in != Type::u16; }
  /// Units of work: two tiles, or one.
  std::int64_t units() const { return two_tiles() ? (tiles() + 1) / 2 : tiles(); }

  MatchRequest request_;
  bool unit_a_thread_ = true;  ///< or all threads work on one unit at a time
  std::optional<Transform> along_, down_;
  std::optional<Blocks> means_, variances_;
  struct {
    std::size_t values = 0, channels = 0, spectra = 0, first_unit = 0, first_thread = 0, bytes = 0;  // of all
    std::size_t planes = 0, products = 0, pixels = 0, means = 0, deviations = 0, variances = 0, blocks = 0, shifts = 0,
                norms = 0, unit = 0;                                                              // of a unit
    std::size_t line = 0, columns = 0, row = 0, other_row = 0, sums = 0, window = 0, thread = 0;  // of a thread
  } layout_;
};

}  // namespace areal::cpu
