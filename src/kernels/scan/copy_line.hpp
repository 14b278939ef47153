#pragma once
// A line as terms of its sums, for scans in place. 1 launch. Reads 1, writes 1 per element, coalesced. Blocks of 256
// threads.

#include "kernels/primitives/line/threads.hpp"
#include "kernels/primitives/matrix.hpp"

namespace areal::kernels {

struct CopyLineArgs {
  Matrix from, to;
  std::int64_t n = 0;
};

template <class M, class C>
struct CopyLine {
  using T = typename C::T;
  using Args = CopyLineArgs;
  using Shared = NoShared;
  static constexpr int threads = 256, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    each_index<threads>(m, 0, a.n,
                        [&](std::int64_t i) { store(m, a.to, 0, i, load<T, typename C::In>(m, a.from, 0, i)); });
  }
};
template <class In, class T, class Launcher>
void copy_line(Launcher& launcher, const Matrix& from, const Matrix& to, std::int64_t n) {
  launcher.template launch<CopyLine, LineConfig<In, T>>(blocks_of(n, CopyLine<NoMachine, LineConfig<In, T>>::threads),
                                                        {from, to, n}, false);
}

}  // namespace areal::kernels
