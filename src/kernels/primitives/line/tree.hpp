#pragma once
// The work-efficient scan of Harris, Sengupta and Owens (GPU Gems 3, 39) by one block in shared memory, for a power of
// two of elements: n - 1 operations up the tree of sums, n - 1 and as many swaps down it, 2 log2(n) + 1 barriers. A
// thread has two elements, or 2^(Q+1) where the block has fewer threads than n / 2 (Lee, Choe 2014, 3.1): the nodes
// that lie in its own run of elements, as long as a level has more nodes than the block has threads.
// Map: where element i lies (banks.hpp). Op: any associative operation. The order of operations depends on n alone.

#include "kernels/primitives/line/banks.hpp"
#include "kernels/primitives/line/plus.hpp"
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// f(node) for this thread's nodes of a level.
template <int threads, class M, class F>
AREAL_DEVICE void each_node(const M& m, int nodes, const F& f) {
  const int own = nodes > threads ? nodes / threads : 1;
  const int first = m.thread() * own;
  for (int i = first; i < first + own && i < nodes; ++i) f(i);
}

/// Each right child becomes the sum of its subtree; the last element that of all. A barrier before each level.
template <class Map, int threads, class M, class T, class Op>
AREAL_DEVICE void up_sweep(const M& m, T* cells, int n, const Op& op) {
  for (int nodes = n / 2, stride = 1; nodes > 0; nodes /= 2, stride *= 2) {
    m.sync();
    each_node<threads>(m, nodes, [&](int i) {
      T& right = cells[Map::at(stride * (2 * i + 2) - 1)];
      const T left = m.get(cells[Map::at(stride * (2 * i + 1) - 1)]);
      m.put(right, op(left, m.get(right)));
    });
  }
}

/// From the root, which holds the sum before the first element: each node passes its value to its left child, and that
/// plus the left child's sum to its right one. A barrier before each level.
template <class Map, int threads, class M, class T, class Op>
AREAL_DEVICE void down_sweep(const M& m, T* cells, int n, const Op& op) {
  for (int nodes = 1, stride = n / 2; nodes < n; nodes *= 2, stride /= 2) {
    m.sync();
    each_node<threads>(m, nodes, [&](int i) {
      T& left = cells[Map::at(stride * (2 * i + 1) - 1)];
      T& right = cells[Map::at(stride * (2 * i + 2) - 1)];
      const T sum = m.get(left), before = m.get(right);
      m.put(left, before);
      m.put(right, op(before, sum));
    });
  }
}

/// The exclusive scan, in place, of n = 2^k cells that the block's threads have put; `total` gets the whole sum. Needs
/// no barrier before; after it all threads may read both.
template <class Map, int threads, class M, class T, class Op = Plus>
AREAL_DEVICE void exclusive_scan(const M& m, T* cells, int n, T& total, T identity = T(0), const Op& op = {}) {
  up_sweep<Map, threads>(m, cells, n, op);
  if (m.thread() == 0) {  // the thread that computed the root
    T& root = cells[Map::at(n - 1)];
    m.put(total, m.get(root));
    m.put(root, identity);
  }
  down_sweep<Map, threads>(m, cells, n, op);
  m.sync();
}

}  // namespace areal::kernels
