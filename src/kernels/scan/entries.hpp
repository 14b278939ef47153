#pragma once
// The algorithms of the family `scan`, for one launcher, as functions: sums of one line.
//
//   naive, optimal, sequential-parallel    Nakano 2013, 6 and 7
//   harris, lee-choe, its two halves       the scan in shared memory, pieces of a line by as many blocks, whose
//   lee-choe-multiple, lee-choe-shared     sums are scanned and added (histogram/lee-choe.hpp)
//   kogge-stone, ladner-fischer            Chen 2018, IV-C: a line is one warp's, 1024 elements at a time
//
// Those that work in place get the line copied first: a launch, 1 read and 1 write per element.

#include "kernels/device/workspace.hpp"
#include "kernels/histogram/lee-choe.hpp"
#include "kernels/sat/groups.hpp"
#include "kernels/sat/scanrow-column.hpp"
#include "kernels/scan/naive.hpp"
#include "kernels/scan/request.hpp"
#include "kernels/scan/sequential-parallel.hpp"

namespace areal::kernels {

struct CopyLineArgs {
  Matrix from, to;
  std::int64_t n = 0;
};

/// A line as terms of its sums.
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
  launcher.template launch<CopyLine, LineConfig<In, T>>(blocks_of(n, 256), {from, to, n}, false);
}

// Each algorithm: workspace<T>(request, from) takes what it needs; run<In, T>(launcher, request, line, sums, from).

struct NaiveScan {
  template <class T>
  static T* workspace(const ScanRequest& r, Workspace& from) {
    T* cells = nullptr;
    from.take(cells, naive_cells(r.n));
    return cells;
  }
  template <class In, class T, class Launcher>
  static void run(Launcher& launcher, const ScanRequest& r, const Matrix& line, const Matrix& sums, Workspace& from) {
    naive_prefix_sums<LineConfig<In, T>>(launcher, line, sums, r.n, workspace<T>(r, from), r.p);
  }
};

struct OptimalScan {
  template <class T>
  static T* workspace(const ScanRequest& r, Workspace& from) {
    T* cells = nullptr;
    from.take(cells, level_cells(1, r.n));
    return cells;
  }
  template <class In, class T, class Launcher>
  static void run(Launcher& launcher, const ScanRequest& r, const Matrix& line, const Matrix& sums, Workspace& from) {
    optimal_prefix_sums<LineConfig<In, T>>(launcher, {line, sums, 1, r.n, false}, workspace<T>(r, from), r.p);
  }
};

struct SequentialParallelScan {
  template <class T>
  static T* workspace(const ScanRequest& r, Workspace& from) {
    T* cells = nullptr;
    from.take(cells, level_cells(1, std::min(r.k, r.n)));
    return cells;
  }
  template <class In, class T, class Launcher>
  static void run(Launcher& launcher, const ScanRequest& r, const Matrix& line, const Matrix& sums, Workspace& from) {
    copy_line<In, T>(launcher, line, sums, r.n);
    sequential_prefix_sums<LineConfig<T, T>>(launcher, sums, r.n, r.k, workspace<T>(r, from), r.p);
  }
};

/// Map, several: as for histograms.
template <class Map, bool several>
struct SharedMemoryScan {
  template <class T>
  static auto workspace(const ScanRequest& r, Workspace& from) {
    return BlockedPrescan<T, Map, several, 1024>(1, 1, r.n, from);
  }
  template <class In, class T, class Launcher>
  static void run(Launcher& launcher, const ScanRequest& r, const Matrix& line, const Matrix& sums, Workspace& from) {
    copy_line<In, T>(launcher, line, sums, r.n);
    workspace<T>(r, from).run(launcher, {sums.first, 0, 0, sums.aligned});
  }
};

template <WarpScan scan>
struct OneWarpScan {
  template <class T>
  static void workspace(const ScanRequest&, Workspace&) {}
  template <class In, class T, class Launcher>
  static void run(Launcher& launcher, const ScanRequest& r, const Matrix& line, const Matrix& sums, Workspace&) {
    launcher.template launch<ScanRow, ScanConfig<In, T, scan>>(1, {line, sums, 1, r.n}, false);
  }
};

template <class Launcher, class In, class T, class Algorithm>
ScanEntry<Launcher> line_entry() {
  ScanEntry<Launcher> entry;  // its blocks have no more shared memory than every device gives
  entry.workspace_bytes = [](const ScanRequest& request) -> std::size_t {
    Workspace from(nullptr);
    if (request.n > 0) Algorithm::template workspace<T>(request, from);
    return request.n > 0 ? from.bytes() : 0;
  };
  entry.execute = [](Launcher& launcher, const ScanRequest& request, const ConstView& line, const View& sums,
                     void* workspace) {
    if (request.n <= 0) return;
    const auto row = [](const void* first, std::size_t size) {
      return Matrix{static_cast<char*>(const_cast<void*>(first)), 0,
                    reinterpret_cast<std::uintptr_t>(first) % size == 0};
    };
    Workspace from(workspace);
    Algorithm::template run<In, T>(launcher, request, row(line.data, sizeof(In)), row(sums.data, sizeof(T)), from);
  };
  return entry;
}

/// No functions where that algorithm is not one of these.
template <class Launcher, class In, class T>
ScanEntry<Launcher> scan_entry(std::string_view id) {
  if (id == "naive") return line_entry<Launcher, In, T, NaiveScan>();
  if (id == "optimal") return line_entry<Launcher, In, T, OptimalScan>();
  if (id == "sequential-parallel") return line_entry<Launcher, In, T, SequentialParallelScan>();
  if (id == "harris") return line_entry<Launcher, In, T, SharedMemoryScan<Padded<>, false>>();
  if (id == "lee-choe-multiple") return line_entry<Launcher, In, T, SharedMemoryScan<Padded<>, true>>();
  if (id == "lee-choe-shared") return line_entry<Launcher, In, T, SharedMemoryScan<Rotated<>, false>>();
  if (id == "lee-choe") return line_entry<Launcher, In, T, SharedMemoryScan<Rotated<>, true>>();
  if (id == "kogge-stone") return line_entry<Launcher, In, T, OneWarpScan<WarpScan::kogge_stone>>();
  if (id == "ladner-fischer") return line_entry<Launcher, In, T, OneWarpScan<WarpScan::ladner_fischer>>();
  return {};
}

/// The lanes of one group.
template <class Launcher, Group group>
ScanEntry<Launcher> scan_entry_of(const ScanRequest& request) {
#define AREAL_ENTRY(name, in, out)      \
  if constexpr (group_of<out> == group) \
    if (request.lane == Lane{type_of<in>, type_of<out>}) return scan_entry<Launcher, in, Sum<out>>(request.id);
  AREAL_LANES(AREAL_ENTRY)
#undef AREAL_ENTRY
  return {};
}

}  // namespace areal::kernels
