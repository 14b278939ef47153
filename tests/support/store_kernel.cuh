#pragma once
// A kernel that stores one number, where it can or where it must fail.

#include "cuda/launcher.cuh"

namespace areal::cuda {
namespace {

struct Nothing {};

// Writes through the pointer a.
template <class M, class C>
struct Store {
  static constexpr int threads = 32, resident = 1;
  using Shared = NoShared;
  struct Args {
    int* to;
  };
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    if (m.thread() == 0) m.store(a.to, 7);
  }
};

}  // namespace
}  // namespace areal::cuda
