// Clusters, sends between their blocks and copies that arrive at barriers, on a GPU. Skipped where there is no GPU; a
// device without clusters must say so.
#include <gtest/gtest.h>
#include <algorithm>
#include <areal/error.hpp>
#include <numeric>
#include <string>
#include "cuda/device.hpp"
#include "cuda/launcher.cuh"

#include "cluster_kernels.hpp"  // kernels come after their machine

namespace areal::cuda {
namespace {

using kernels::ClusterOf;
template <class T>
using Vec4 = kernels::Vec<T, 4>;

class CudaClusters : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) GTEST_SKIP() << "no GPU";
    int major = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "the compute capability");
    has_clusters = major >= 9;
  }
  static cudaStream_t handle(const OwnedStream& stream) { return static_cast<cudaStream_t>(stream.get().handle()); }

  /// Runs as many clusters as the device holds, and one, several times; false where it holds none.
  template <template <class, class> class K, class C>
  bool compare() {
    using Kernel = K<Machine, C>;
    const OwnedStream stream;
    Launcher launcher(handle(stream));
    const int most = launcher.most_clusters<K, C>(C::blocks);
    if (most == 0) return false;
    for (const int clusters : {1, most}) {
      SCOPED_TRACE(testing::Message() << clusters << " clusters of " << C::blocks);
      const std::size_t n = static_cast<std::size_t>(clusters) * C::blocks * Kernel::threads;
      std::vector<std::uint32_t> in(n), out(n);
      for (std::size_t i = 0; i < n; ++i) in[i] = static_cast<std::uint32_t>(i * 2654435761u >> 9);
      const Memory from(n * 4), to(n * 4);
      copy_in(from.data(), in.data(), n * 4, stream.get());
      for (int time = 0; time < 20; ++time) {
        launcher.fill(to.data(), 0xcc, n * 4);
        launcher.launch_clusters<K, C>(
            C::blocks, clusters,
            {static_cast<const std::uint32_t*>(from.data()), static_cast<std::uint32_t*>(to.data())}, time % 2 == 1);
        copy_out(out.data(), to.data(), n * 4, stream.get());
        stream.synchronize();
        EXPECT_EQ(out, Kernel::expected(in));
      }
    }
    return true;
  }

  bool has_clusters = false;
};

// Every device with clusters supports those of 8; the test uses those of 16 if the device supports them.
TEST_F(CudaClusters, AllToAll) {
  EXPECT_EQ((compare<kernels::AllToAll, ClusterOf<1, std::uint32_t>>()), has_clusters);
  EXPECT_EQ((compare<kernels::AllToAll, ClusterOf<2, std::uint32_t>>()), has_clusters);
  EXPECT_EQ((compare<kernels::AllToAll, ClusterOf<8, std::uint64_t>>()), has_clusters);
  if (!compare<kernels::AllToAll, ClusterOf<16, Vec4<std::uint32_t>>>())
    std::puts("the device holds no cluster of 16 blocks");
}
TEST_F(CudaClusters, Ring) {
  EXPECT_EQ((compare<kernels::Ring, ClusterOf<2, Vec4<std::uint32_t>>>()), has_clusters);
  EXPECT_EQ((compare<kernels::Ring, ClusterOf<8, std::uint32_t>>()), has_clusters);
  if (!compare<kernels::Ring, ClusterOf<16, std::uint64_t>>()) std::puts("the device holds no cluster of 16 blocks");
}
TEST_F(CudaClusters, NeighbourExchange) {
  EXPECT_EQ((compare<kernels::NeighbourExchange, ClusterOf<2, std::uint32_t>>()), has_clusters);
  EXPECT_EQ((compare<kernels::NeighbourExchange, ClusterOf<8, std::uint32_t>>()), has_clusters);
  if (!compare<kernels::NeighbourExchange, ClusterOf<16, std::uint32_t>>())
    std::puts("the device holds no cluster of 16 blocks");
}

TEST_F(CudaClusters, MoreThanAreResidentAreRefused) {
  const OwnedStream stream;
  Launcher launcher(handle(stream));
  using C = ClusterOf<2, std::uint32_t>;
  const int most = launcher.most_clusters<kernels::AllToAll, C>(2);
  const std::string held = "the device holds " + std::to_string(most) + " clusters of 2 blocks";
  try {
    launcher.launch_clusters<kernels::AllToAll, C>(2, most + 1, {nullptr, nullptr});
    FAIL() << "threw nothing";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find(held), std::string::npos) << error.what();
  }
  EXPECT_EQ((launcher.most_clusters<kernels::AllToAll, C>(17)), 0);
  EXPECT_EQ((launcher.most_clusters<kernels::AllToAll, C>(0)), 0);
}

}  // namespace
}  // namespace areal::cuda
