#pragma once
// Launches kernels on the simulated machine: the launcher for schedules.
//
//   simt::Launcher gpu({.seed = 7});
//   gpu.add({"in", in.data(), bytes, true, false});
//   gpu.add({"out", out.data(), bytes, false});
//   gpu.launch<Reverse, Config>(blocks, {in.data(), out.data()});      // throws Fault
//   gpu.total().reads.elements;
//
// One Launcher is one device and one stream, and belongs to one thread at a time; several may run at once.

#include <areal/execution.hpp>
#include <areal/research/launch_counts.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "kernels/plan.hpp"
#include "simt/checks/fault.hpp"
#include "simt/engine/machine.hpp"
#include "simt/engine/memory.hpp"
#include "simt/engine/options.hpp"

namespace areal::simt {

class Engine;

class Launcher {
 public:
  using Settings = Options;
  static constexpr int largest_cluster = 4;  ///< blocks; larger clusters would check nothing else
  static constexpr const char* name = "simt";

  explicit Launcher(Options options = {});
  /// For a DevicePlan: calls `on_launch`, if set, after each launch.
  Launcher(const Options& options, Stream, const LaunchReport* on_launch);
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  /// Registers memory that kernels may touch. Throws InvalidArgument if it overlaps another region.
  void add(const Region& region);
  /// Registers all memory that a plan's run may touch. Inputs that overlap become one region.
  void register_memory(std::vector<kernels::MemoryRange> ranges);
  /// Forgets the region that begins there.
  void remove(const void* data);
  /// The number of never written bytes of the region that begins there.
  std::size_t unwritten(const void* data) const;

  /// Runs K<Machine, C> on that many blocks to the end, ignoring `overlap`. Throws Fault.
  template <template <class, class> class K, class C>
  void launch(std::int64_t blocks, const typename K<Machine, C>::Args& args, bool /*overlap*/ = false) {
    run(shape_of<K<Machine, C>>(), blocks, &args, 0);
  }

  /// The same with all blocks at once. Returns false without running anything if there are more than Options::together,
  /// or the machine is confined.
  template <template <class, class> class K, class C>
  bool launch_together(std::int64_t blocks, const typename K<Machine, C>::Args& args) {
    if (blocks > most_together() || is_confined()) return false;
    run(shape_of<K<Machine, C>>(), blocks, &args, 0, true);
    return true;
  }

  template <template <class, class> class K, class C>
  std::int64_t most_together() const {
    return most_together();
  }

  bool multiplies_tiles() const;
  template <template <class, class> class K, class C>
  bool multiplies_bits() const {
    return multiplies_bits();
  }

  /// The clusters of `blocks_each` blocks, 1 to 16, that Options::residents holds at once.
  template <template <class, class> class K, class C>
  int most_clusters(int blocks_each) const {
    return most_clusters_of(blocks_each);
  }
  /// Runs a grid of clusters, all of them resident. Throws InvalidArgument for more than most_clusters, and Fault.
  template <template <class, class> class K, class C>
  void launch_clusters(int blocks_each, std::int64_t clusters, const typename K<Machine, C>::Args& args,
                       bool /*overlap*/ = false) {
    run(shape_of<K<Machine, C>>(), clusters * blocks_each, &args, blocks_each);
  }
  template <template <class, class> class K, class C>
  bool launch_clusters_together(int blocks_each, std::int64_t clusters, const typename K<Machine, C>::Args& args) {
    if (clusters > most_clusters_of(blocks_each) || is_confined()) return false;
    run(shape_of<K<Machine, C>>(), clusters * blocks_each, &args, blocks_each, true);
    return true;
  }

  /// The counterpart of cudaMemsetAsync: n bytes from p on, between two launches.
  void fill(void* p, int byte, std::size_t n);

  /// Zeroes or copies memory outside of any run: neither checked nor counted.
  void clear(void* p, std::size_t n);
  void copy_in(void* to, const void* from, std::size_t n);
  /// Empty: blocks have as much shared memory as they request.
  static std::string lacks_shared(const Options&, std::size_t) { return {}; }

  const std::vector<LaunchCounts>& launches() const { return launches_; }
  Counts total() const;
  void clear_counts() { launches_.clear(), filled_ = 0; }

 private:
  template <class Kernel>
  static KernelShape shape_of() {
    return {typeid(Kernel).name(), Kernel::threads,
            std::is_empty_v<typename Kernel::Shared> ? 0 : sizeof(typename Kernel::Shared),
            [](ThreadInterface& thread, const void* a) {
              Kernel kernel{Machine(thread), *static_cast<const typename Kernel::Args*>(a)};
              kernel();
            }};
  }
  int most_clusters_of(int blocks_each) const;
  int most_together() const;
  bool is_confined() const;
  bool multiplies_bits() const;
  /// cluster_blocks: 0 for a launch without clusters. together: all blocks run at once, as in clusters always.
  void run(const KernelShape& shape, std::int64_t blocks, const void* args, int cluster_blocks, bool together = false);

  std::unique_ptr<Engine> engine_;
  const LaunchReport* on_launch_ = nullptr;
  std::vector<LaunchCounts> launches_;
  std::uint64_t filled_ = 0;
};

}  // namespace areal::simt
