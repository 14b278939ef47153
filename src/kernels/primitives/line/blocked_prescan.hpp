#pragma once
// Scans of lines in shared memory, each by as many blocks as needed: what Lee and Choe's four share (2014), for the
// rows of matrices and for one line. 1 launch, reads 1 and writes 1 per element, if a block holds a line. Blocks of
// longer lines also write their sums, which are scanned exclusively and added to all elements of all blocks (Harris):
// two more launches, 1 more read and write per element (and the same again if there are more sums than a block holds).
// Workspace: the blocks' sums.
//
//                                     a thread has two elements     a thread has 2^(Q+1)
//   Harris' padding (equation 1)      harris                        lee-choe-multiple
//   the new mapping (equation 3)      lee-choe-shared               lee-choe
//
// Two elements: a block of 1024 threads holds 2048. 2^(Q+1): a thread has up to 8 elements of 4 bytes, or 4 of 8 bytes,
// which is what 48 KiB of shared memory hold. The paper leaves open longer lines: here they have several blocks of that
// size. It also leaves open lengths that are no power of two: here zeros fill the end of shared memory. Adjacent
// threads move adjacent elements, whichever thread owns them in the tree. Blocks have 64, 256, 512 or 1024 threads, as
// the line's length needs.

#include <array>
#include "kernels/primitives/line/capacity.hpp"
#include "kernels/primitives/line/prescan.hpp"
#include "kernels/primitives/planes.hpp"
#include "kernels/primitives/workspace.hpp"

namespace areal::kernels {

/// Adds the sum of the blocks before to each block's piece.
template <class M, class C>
struct AddSums {
  using T = typename C::T;
  using A = Added<T>;
  using Args = PrescanArgs;
  struct Shared {
    A before;
  };
  static constexpr int threads = C::threads, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const std::int64_t line = m.block() / a.pieces, piece = m.block() % a.pieces;
    if (m.thread() == 0) m.put(s.before, load<A, T>(m, a.sums, line, piece));
    m.sync();
    const A before = m.get(s.before);
    const Matrix matrix = a.of.of(line / a.height);
    const std::int64_t y = line % a.height, x = piece * a.piece;
    for (int i = m.thread(); i < a.piece && x + i < a.length; i += threads)
      store(m, matrix, y, x + i, static_cast<T>(before + load<A, T>(m, matrix, y, x + i)));
  }
};

/// The scan of lines, each by as many blocks as needed.
template <class T, class Map, bool several, int most>
class BlockedPrescan {
 public:
  /// Elements of a thread.
  static constexpr int per = elements_a_thread(several, sizeof(Added<T>));
  /// Elements of a block.
  static constexpr int capacity = most * per;

  /// All rows of matrices, `height` each.
  BlockedPrescan(std::int64_t matrices, std::int64_t height, std::int64_t length, Workspace& from) {
    lines_ = matrices * height;
    PrescanArgs a;
    a.height = height;
    for (;;) {
      a.length = length;
      a.piece = piece_of(length, capacity);
      a.pieces = blocks_of(length, a.piece);
      if (a.pieces > 1) a.sums = take_planes<T>(from, 1, lines_, a.pieces).of(0);
      level_[levels_++] = a;
      if (a.pieces == 1) return;
      length = a.pieces;
      const Matrix sums = a.sums;
      a = {};
      a.of = {sums.first, sums.pitch, 0, true};
      a.height = lines_, a.exclusive = true;
    }
  }

  template <class Launcher>
  void run(Launcher& launcher, const Planes& of) const {
    run(launcher, of, 0);
  }

 private:
  template <class Launcher>
  void run(Launcher& launcher, const Planes& of, int level) const {
    PrescanArgs a = level_[level];
    if (level == 0) a.of = of;
    if (a.length > 2 * most && several)
      launcher.template launch<Prescan, PrescanConfig<T, Map, most, per>>(lines_ * a.pieces, a, false);
    else
      with_threads<most>(a.length, [&]<int threads>() {
        launcher.template launch<Prescan, PrescanConfig<T, Map, threads, 2>>(lines_ * a.pieces, a, false);
      });
    if (a.pieces == 1) return;
    run(launcher, of, level + 1);
    launcher.template launch<AddSums, PrescanConfig<T, Map, most, per>>(lines_ * a.pieces, a, false);
  }

  std::array<PrescanArgs, 16> level_;  // blocks of 128 elements need as many for 2^63
  int levels_ = 0;
  std::int64_t lines_ = 0;
};

}  // namespace areal::kernels
