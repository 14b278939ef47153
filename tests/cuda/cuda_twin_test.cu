// The kernels of cuda_twins.cuh on a GPU: over the machine and by hand they give the same bits. Times do not decide the
// test; AREAL_TWIN_JSON names a file for them. All is skipped without a GPU.
#include <gtest/gtest.h>
#include <algorithm>
#include <areal/info.hpp>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>
#include "cuda/device.hpp"
#include "cuda_twins.cuh"

namespace areal::twins {
namespace {

#define REQUIRE_CUDA(call) ASSERT_EQ((call), cudaSuccess) << cudaGetErrorString(cudaGetLastError())

std::string records;

class CudaTwins : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) GTEST_SKIP() << "no GPU";
    stream_.emplace();
  }
  static void TearDownTestSuite() {
    const char* const path = std::getenv("AREAL_TWIN_JSON");
    if (path != nullptr && !records.empty()) std::ofstream(path) << "[\n" << records << "\n]\n";
  }

  /// Each form after what `before` does, its `bytes` of output compared with the first one's, then all timed in turns.
  template <class Twin, class Before>
  void compare(const char* name, std::int64_t elements, const typename Twin::Args& args, std::int64_t blocks,
               std::size_t shared, const void* out, std::size_t bytes, Before before) {
    const std::pair<const char*, typename Twin::Kernel> forms[] = {
        {"machine", Twin::machine()}, {"object", Twin::object()}, {"function", Twin::function()}};
    const auto launch = [&](typename Twin::Kernel kernel) {
      kernel<<<static_cast<unsigned>(blocks), Twin::threads, shared, stream()>>>(args);
    };
    std::vector<char> first, again(bytes);
    for (const auto& [form, kernel] : forms) {
      REQUIRE_CUDA(cudaMemsetAsync(const_cast<void*>(out), 0xa5, bytes, stream()));
      before();
      launch(kernel);
      REQUIRE_CUDA(cudaGetLastError());
      cuda::copy_out(again.data(), out, bytes, stream_->get());
      stream_->synchronize();
      if (first.empty()) first = again;
      EXPECT_TRUE(first == again) << name << ": " << form;
    }
    cudaEvent_t begin, end;
    REQUIRE_CUDA(cudaEventCreate(&begin));
    REQUIRE_CUDA(cudaEventCreate(&end));
    std::vector<float> times[3];
    for (int round = -3; round < 51; ++round)
      for (int i = 0; i < 3; ++i) {
        before();
        REQUIRE_CUDA(cudaEventRecord(begin, stream()));
        launch(forms[i].second);
        REQUIRE_CUDA(cudaEventRecord(end, stream()));
        REQUIRE_CUDA(cudaEventSynchronize(end));
        float ms = 0;
        REQUIRE_CUDA(cudaEventElapsedTime(&ms, begin, end));
        if (round >= 0) times[i].push_back(1000 * ms);
      }
    std::ostringstream record;
    record << (records.empty() ? "" : ",\n") << R"( {"what": "twin", "algorithm": ")" << name << R"(", "elements": )"
           << elements << R"(, "device": ")" << devices()[0].name << R"(", "commit": ")"
           << (std::getenv("AREAL_COMMIT") != nullptr ? std::getenv("AREAL_COMMIT") : "unknown")
           << R"(", "time_us": {)";
    for (int i = 0; i < 3; ++i) {
      std::nth_element(times[i].begin(), times[i].begin() + 25, times[i].end());
      record << (i > 0 ? ", \"" : "\"") << forms[i].first << "\": " << times[i][25];
    }
    records += record.str() + "}}";
    std::printf("%s\n", record.str().c_str());
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
  }
  cudaStream_t stream() { return static_cast<cudaStream_t>(stream_->get().handle()); }
  void copy_in(const cuda::Memory& to, const void* from, std::size_t bytes) {
    cuda::copy_in(to.data(), from, bytes, stream_->get());
  }

  std::optional<cuda::OwnedStream> stream_;
};

TEST_F(CudaTwins, Scan) {
  constexpr std::int64_t blocks = 4096, n = blocks * 1024;
  std::vector<std::uint32_t> numbers(n);
  std::mt19937 random(17);
  for (std::uint32_t& number : numbers) number = random();
  const cuda::Memory in(n * 4), out(n * 4), ticket(8), sums(blocks * 8);
  copy_in(in, numbers.data(), n * 4);
  cuda::clear(ticket.data(), 8, stream_->get());
  cuda::clear(sums.data(), blocks * 8, stream_->get());
  const ScanArgs args{static_cast<const std::uint32_t*>(in.data()), static_cast<std::uint32_t*>(out.data()),
                      static_cast<std::uint64_t*>(ticket.data()),
                      static_cast<kernels::TileState<std::uint32_t>*>(sums.data())};
  compare<Scans>("Scan", n, args, blocks, sizeof(Scan<cuda::Machine, kernels::NoConfig>::Shared), out.data(), n * 4,
                 [] {});
  std::vector<std::uint32_t> got(n);
  cuda::copy_out(got.data(), out.data(), n * 4, stream_->get());
  stream_->synchronize();
  std::uint32_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(got[i], sum += numbers[i]) << i << ", seed 17";
}

TEST_F(CudaTwins, Depth) {
  constexpr std::int64_t side = 512, slices = 32, n = side * side * slices;
  std::vector<float> numbers(n);
  std::mt19937 random(18);
  for (float& number : numbers) number = std::uniform_real_distribution<float>(-1, 1)(random);
  const cuda::Memory from(n * 4), table(n * 4);
  copy_in(from, numbers.data(), n * 4);
  kernels::DepthArgs args{static_cast<char*>(table.data()), {}, side, side, side, slices, 0};
  args.out = {side * 4, 4, 0, side * side * 4, kernels::Alignment::elements};
  const auto renew = [&] { cudaMemcpyAsync(table.data(), from.data(), n * 4, cudaMemcpyDeviceToDevice, stream()); };
  compare<Depths>("Depth", n, args, side * side / 256, 0, table.data(), n * 4, renew);
}

TEST_F(CudaTwins, Sums) {
  constexpr std::int64_t side = 2048, n = 1 << 20;
  std::vector<std::uint32_t> table(side * side);
  std::vector<Region> regions(n);
  std::mt19937 random(19);
  for (std::uint32_t& entry : table) entry = random();
  for (Region& r : regions) {
    r.x = random() % side, r.y = random() % side;
    r.width = random() % (side - r.x), r.height = random() % (side - r.y);
  }
  regions[77].x = -1;  // refused
  const cuda::Memory entries(side * side * 4), list(n * sizeof(Region)), out(n * 8), refused(8);
  copy_in(entries, table.data(), side * side * 4);
  copy_in(list, regions.data(), n * sizeof(Region));
  const kernels::RegionList of{static_cast<const Region*>(list.data()), n, Outside::error,
                               static_cast<std::int64_t*>(refused.data())};
  const ConstView view(entries.data(), Type::u32, {side, side});
  const kernels::SumsArgs args{kernels::region_args(of, side - 1, side - 1, false),
                               kernels::table_args(view, Border::zero), out.data(), false};
  compare<Sums>("Sums", n, args, n / 256, 0, out.data(), n * 8,
                [&] { cudaMemsetAsync(refused.data(), 0xff, 8, stream()); });
  std::int64_t first = 0;
  cuda::copy_out(&first, refused.data(), 8, stream_->get());
  stream_->synchronize();
  EXPECT_EQ(first, 77);
}

}  // namespace
}  // namespace areal::twins
