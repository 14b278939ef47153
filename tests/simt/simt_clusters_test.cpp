// Kernels of clusters that keep the rules give correct answers on the simulated machine, whatever the seed, and their
// sends are counted. What breaks a rule is in simt_cluster_faults_test.cpp.
#include <gtest/gtest.h>
#include <cstdlib>
#include "cluster_kernels.hpp"
#include "simt_kernels.hpp"

namespace areal::simt {
namespace {

using kernels::ClusterOf;

std::vector<std::uint32_t> numbers(std::size_t n, std::uint64_t seed) {
  std::vector<std::uint32_t> v(n);
  auto x = static_cast<std::uint32_t>(seed);
  for (auto& e : v) e = (x = x * 1664525u + 1013904223u) >> 9;
  return v;
}

/// For several seeds, with checks and without: the values of `clusters` clusters, and what `look` finds in the counts.
template <template <class, class> class K, class C, class Look>
void compare(int clusters, Look look) {
  using Kernel = K<Machine, C>;
  const bool few = std::getenv("AREAL_TEST_SHORT") != nullptr;
  for (std::uint64_t seed = 1; seed <= (few ? 2 : 6); ++seed)
    for (const bool checks : {true, false}) {
      SCOPED_TRACE(testing::Message() << clusters << " clusters of " << C::blocks << ", seed " << seed);
      Options options;
      options.seed = seed;
      options.checks = checks;
      options.residents = clusters * C::blocks;
      if (seed % 3 == 0) options.start = StartOrder::random;
      auto in = numbers(static_cast<std::size_t>(clusters) * C::blocks * Kernel::threads, seed);
      std::vector<std::uint32_t> out(in.size());
      Launcher launcher(options);
      EXPECT_EQ((launcher.most_clusters<K, C>(C::blocks)), clusters);
      add(launcher, "in", in, true, false);
      add(launcher, "out", out, false);
      launcher.launch_clusters<K, C>(C::blocks, clusters, {in.data(), out.data()});
      EXPECT_EQ(out, Kernel::expected(in));
      look(launcher.total());
      launcher.launch_clusters<K, C>(C::blocks, clusters, {in.data(), out.data()});  // over what the first one left
      EXPECT_EQ(out, Kernel::expected(in));
    }
}

template <int blocks, class T>
void compare_all_to_all(int clusters) {
  compare<kernels::AllToAll, ClusterOf<blocks, T>>(clusters, [&](const Counts& counts) {
    const auto sends = static_cast<std::uint64_t>(clusters) * blocks * blocks * 64;
    EXPECT_EQ(counts.sends, sends);
    EXPECT_EQ(counts.sent_bytes, sends * sizeof(T));
    EXPECT_EQ(counts.cluster_barriers, static_cast<std::uint64_t>(clusters));
    EXPECT_EQ(counts.mbarrier_phases, static_cast<std::uint64_t>(clusters) * blocks);
  });
}

TEST(SimtClusters, AllToAll) {
  compare_all_to_all<1, std::uint32_t>(2);
  compare_all_to_all<2, std::uint64_t>(3);
  compare_all_to_all<16, std::uint32_t>(1);
  compare_all_to_all<16, Vec<std::uint32_t, 4>>(2);
}

TEST(SimtClusters, Ring) {
  const auto look = [](const Counts& counts) { EXPECT_GT(counts.sends, 0u); };
  compare<kernels::Ring, ClusterOf<2, Vec<std::uint32_t, 4>>>(2, look);
  compare<kernels::Ring, ClusterOf<5, std::uint64_t>>(1, look);
  compare<kernels::Ring, ClusterOf<16, std::uint32_t>>(1, look);
}

TEST(SimtClusters, NeighbourExchange) {
  const auto look = [](const Counts& counts) {
    EXPECT_EQ(counts.sends * 2, counts.copied_bytes / 4);
    EXPECT_EQ(counts.cluster_barriers, 6u);
  };
  compare<kernels::NeighbourExchange, ClusterOf<2, std::uint32_t>>(3, look);
  compare<kernels::NeighbourExchange, ClusterOf<8, std::uint32_t>>(3, look);
}

// The same seed gives the same order; another one another.
TEST(SimtClusters, Replay) {
  const auto order = [](std::uint64_t seed) {
    Options options;
    options.seed = seed;
    auto in = numbers(4 * 64, 1);
    std::vector<std::uint32_t> out(in.size());
    Launcher launcher(options);
    add(launcher, "in", in, true, false);
    add(launcher, "out", out, false);
    launcher.launch_clusters<kernels::Ring, ClusterOf<4, std::uint32_t>>(4, 1, {in.data(), out.data()});
    return launcher.launches().at(0).order;
  };
  EXPECT_EQ(order(7), order(7));
  EXPECT_NE(order(7), order(8));
}

TEST(SimtClusters, AsManyAsAreResident) {
  using C = ClusterOf<4, std::uint32_t>;
  std::vector<std::uint32_t> in(4 * 64 * 3), out(in.size());
  Options options;
  options.residents = 11;
  Launcher launcher(options);
  add(launcher, "in", in, true, false);
  add(launcher, "out", out, false);
  EXPECT_EQ((launcher.most_clusters<kernels::AllToAll, C>(4)), 2);
  EXPECT_EQ((launcher.most_clusters<kernels::AllToAll, C>(16)), 0);
  EXPECT_EQ((launcher.most_clusters<kernels::AllToAll, C>(17)), 0);
  launcher.launch_clusters<kernels::AllToAll, C>(4, 2, {in.data(), out.data()});
  EXPECT_THROW((launcher.launch_clusters<kernels::AllToAll, C>(4, 3, {in.data(), out.data()})), InvalidArgument);
  EXPECT_THROW((launcher.launch_clusters<kernels::AllToAll, C>(17, 1, {in.data(), out.data()})), InvalidArgument);
}

// All clusters are resident: each waits for the one after it, whatever the seed.
template <class M, class C>
struct WaitsForTheNext {
  static constexpr int threads = 32;
  using Shared = NoShared;
  struct Args {
    std::uint32_t* flags;
  };
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    if (m.cluster_rank() == 0 && m.thread() == 0) {
      if (m.cluster() + 1 < m.clusters())
        while (m.load_relaxed(a.flags + m.cluster() + 1) == 0) m.pause();
      m.store_relaxed(a.flags + m.cluster(), 1);
    }
    m.sync_cluster();
  }
};
TEST(SimtClusters, WaitForLaterClusters) {
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    std::vector<std::uint32_t> flags(6);
    Options options;
    options.seed = seed;
    options.residents = 12;
    Launcher launcher(options);
    add(launcher, "flags", flags);
    launcher.launch_clusters<WaitsForTheNext, Plain>(2, 6, {flags.data()});
    EXPECT_EQ(flags, std::vector<std::uint32_t>(6, 1));
  }
}

}  // namespace
}  // namespace areal::simt
