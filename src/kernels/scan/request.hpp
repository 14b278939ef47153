#pragma once
// What sums of a line are asked for, before the data is there, and an algorithm of the family `scan` as functions.

#include <areal/type_pair.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace areal::kernels {

struct ScanRequest {
  std::string_view id;
  TypePair types;
  std::int64_t n = 0;
  std::int64_t p = 0;  ///< threads, 0 for as many as there is work
  std::int64_t k = 1;  ///< elements of a group of sequential-parallel
};

/// No functions where there is no such kernel.
template <class Launcher>
struct ScanKernels {
  std::size_t (*workspace_bytes)(const ScanRequest&) = nullptr;
  void (*execute)(Launcher&, const ScanRequest&, const ConstView& line, const View& sums, void* workspace) = nullptr;
};

}  // namespace areal::kernels
