#pragma once
// A Bed (see device_answers.hpp) whose arrays stay in the host's memory.

#include <areal/execution.hpp>
#include <vector>
#include "region_oracle.hpp"

namespace areal::device_cases {

/// The host's memory is the machine's.
template <Backend backend>
struct HostBed {
  Execution on{.backend = backend, .threads = backend == Backend::cpu ? 2 : 0};
  template <class T>
  Span<const T> in(const std::vector<T>& values) {
    return values;
  }
  template <class T>
  Span<T> out(std::vector<T>& values) {
    return values;
  }
  ConstView in(oracle::Padded& memory) { return memory.view(); }
  View out(oracle::Padded& memory) { return memory.view(); }
  void back() {}
};

}  // namespace areal::device_cases
