// NPP as a peer of `areal bench`, opened at run time: the build needs neither its headers nor its libraries.
#include <dlfcn.h>
#include <areal/error.hpp>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <vector>
#include "cuda_device.hpp"
#include "device_peers.hpp"

namespace areal::bench {
namespace {

namespace fs = std::filesystem;

// As NPP 10.1 and later declare them. The context is passed by value.
struct NppiSize {
  int width, height;
};
struct NppStreamContext {
  cudaStream_t hStream;
  int nCudaDeviceId, nMultiProcessorCount, nMaxThreadsPerMultiProcessor, nMaxThreadsPerBlock;
  std::size_t nSharedMemPerBlock;
  int nCudaDevAttrComputeCapabilityMajor, nCudaDevAttrComputeCapabilityMinor;
  unsigned int nStreamFlags;
  int nReserved0;
};
struct NppLibraryVersion {
  int major, minor, build;
};
static_assert(sizeof(NppStreamContext) == 48);
template <class T>
using Integral = int (*)(const unsigned char* in, int in_pitch, T* out, int out_pitch, NppiSize size, T value,
                         NppStreamContext context);
using SquaresIntegral = int (*)(const unsigned char* in, int in_pitch, int* out, int out_pitch, double* squares,
                                int squares_pitch, NppiSize size, int value, double squares_value,
                                NppStreamContext context);

struct NppiPoint {
  int x, y;
};
using FilterBox = int (*)(const unsigned char* in, int in_pitch, unsigned char* out, int out_pitch, NppiSize size,
                          NppiSize mask, NppiPoint anchor, NppStreamContext context);

struct Npp {
  void *statistics = nullptr, *filters = nullptr;
  std::string version;
};

/// Folders of CUDA's libraries; the loader's own places first.
std::vector<fs::path> folders() {
  std::vector<fs::path> all{""};
  std::vector<fs::path> roots;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* const given = std::getenv(name)) roots.emplace_back(given);
  roots.emplace_back("/usr/local/cuda");
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/usr/local", ignored))
    if (entry.path().filename().string().starts_with("cuda-")) roots.push_back(entry.path());
  for (const fs::path& root : roots)
    for (const char* part : {"lib64", "targets/x86_64-linux/lib"}) all.push_back(root / part);
  return all;
}

// libnppist.so needs libnppc.so, which the loader does not find in another folder by itself, so it is opened first, and
// stays open.
const Npp& npp() {
  static const Npp found = [] {
    for (const char* version : {".13", ".12", ".11", ".14", ""})
      for (const fs::path& folder : folders()) {
        const auto open = [&](const char* name, int flags) {
          return dlopen((folder / (std::string(name) + version)).c_str(), RTLD_NOW | flags);
        };
        void* const core = open("libnppc.so", RTLD_GLOBAL);
        void* const statistics = core == nullptr ? nullptr : open("libnppist.so", RTLD_LOCAL);
        if (statistics == nullptr) continue;
        Npp npp{statistics, open("libnppif.so", RTLD_LOCAL), ""};
        if (const auto tell = reinterpret_cast<const NppLibraryVersion* (*)()>(dlsym(core, "nppGetLibVersion"))) {
          const NppLibraryVersion* const v = tell();
          npp.version = std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->build);
        }
        return npp;
      }
    return Npp{};
  }();
  return found;
}

NppStreamContext context_of(const Scene& scene) {
  NppStreamContext context{};
  context.hStream = scene.stream;
  context.nCudaDeviceId = scene.device;
  const auto ask = [&](cudaDeviceAttr attribute) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, attribute, scene.device));
    return value;
  };
  context.nMultiProcessorCount = ask(cudaDevAttrMultiProcessorCount);
  context.nMaxThreadsPerMultiProcessor = ask(cudaDevAttrMaxThreadsPerMultiProcessor);
  context.nMaxThreadsPerBlock = ask(cudaDevAttrMaxThreadsPerBlock);
  context.nSharedMemPerBlock = static_cast<std::size_t>(ask(cudaDevAttrMaxSharedMemoryPerBlock));
  context.nCudaDevAttrComputeCapabilityMajor = ask(cudaDevAttrComputeCapabilityMajor);
  context.nCudaDevAttrComputeCapabilityMinor = ask(cudaDevAttrComputeCapabilityMinor);
  check(cudaStreamGetFlags(scene.stream, &context.nStreamFlags));
  return context;
}

/// Rows at CUDA's preferred pitch, so that NPP has what its own nppiMalloc would return.
class Rows {
 public:
  Rows(std::size_t row_bytes, std::size_t rows) : row_bytes_(row_bytes), rows_(rows) {
    check(cudaMallocPitch(&data_, &pitch_, row_bytes, rows));
  }
  ~Rows() { cudaFree(data_); }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  void fill(const void* contiguous) const {
    check(cudaMemcpy2D(data_, pitch_, contiguous, row_bytes_, row_bytes_, rows_, cudaMemcpyDeviceToDevice));
  }
  void fetch(void* host) const {
    check(cudaMemcpy2D(host, row_bytes_, data_, pitch_, row_bytes_, rows_, cudaMemcpyDeviceToHost));
  }
  void spoil() const { check(cudaMemset2D(data_, pitch_, 0xa5, row_bytes_, rows_)); }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  int pitch() const { return static_cast<int>(pitch_); }

 private:
  void* data_ = nullptr;
  std::size_t pitch_ = 0, row_bytes_, rows_;
};

struct Prepared {
  std::unique_ptr<Rows> image, table, squares;
  NppiSize size;
  NppStreamContext context;
};

}  // namespace

std::optional<DevicePeer> npp_integral(const Scene& scene, std::string& missing) {
  // 32u has the bits of 32s. NPP's squares are only 64f.
  const bool whole_numbers = size_of(scene.types.table) == 4 && !is_float(scene.types.table);
  const std::string function = scene.squares                    ? "nppiSqrIntegral_8u32s64f_C1R"
                               : scene.types.table == Type::f32 ? "nppiIntegral_8u32f_C1R"
                                                                : "nppiIntegral_8u32s_C1R";
  if (scene.types.input != Type::u8 || !(whole_numbers || (scene.types.table == Type::f32 && !scene.squares))) {
    missing = "NPP has no integral of " + name_of(scene.types) + (scene.squares ? " with squares" : "");
    return {};
  }
  if (npp().statistics == nullptr) {
    missing = "NPP (libnppist.so) was not found";
    return {};
  }
  void* const symbol = dlsym(npp().statistics, (function + "_Ctx").c_str());
  if (symbol == nullptr) {
    missing = "NPP " + npp().version + " has no " + function + "_Ctx";
    return {};
  }
  const auto columns = static_cast<std::size_t>(scene.width), rows = static_cast<std::size_t>(scene.height);
  auto made = std::make_shared<Prepared>();
  if ((columns + 128) * 4 * (rows + 1) > std::numeric_limits<int>::max()) {
    missing = "NPP is not run for tables beyond 2 GiB, because it may not support their offsets";
    return {};
  }
  made->image = std::make_unique<Rows>(columns, rows);
  made->image->fill(scene.image);
  made->table = std::make_unique<Rows>((columns + 1) * 4, rows + 1);
  made->table->spoil();
  if (scene.squares) {
    made->squares = std::make_unique<Rows>((columns + 1) * 8, rows + 1);
    made->squares->spoil();
  }
  check(cudaDeviceSynchronize());  // the scene's stream does not wait for the default one
  made->size = {static_cast<int>(scene.width), static_cast<int>(scene.height)};
  made->context = context_of(scene);
  const auto call = [made, symbol, squares = scene.squares.has_value(), table = scene.types.table] {
    const Rows &in = *made->image, &out = *made->table;
    const auto integral = [&](auto zero) {
      using T = decltype(zero);
      return reinterpret_cast<Integral<T>>(symbol)(in.as<unsigned char>(), in.pitch(), out.as<T>(), out.pitch(),
                                                   made->size, zero, made->context);
    };
    if (squares)
      return reinterpret_cast<SquaresIntegral>(symbol)(in.as<unsigned char>(), in.pitch(), out.as<int>(), out.pitch(),
                                                       made->squares->as<double>(), made->squares->pitch(), made->size,
                                                       0, 0.0, made->context);
    return table == Type::f32 ? integral(0.0F) : integral(0);
  };
  DevicePeer peer;
  peer.name = "npp " + npp().version + " " + function;
  peer.run = [call, function] {
    // Values above 0 are warnings.
    if (const int status = call(); status < 0) throw Error(function + " answers " + std::to_string(status));
  };
  peer.border = Border::zero;
  peer.table = made->table->as<void>();
  peer.pitch = made->table->pitch();
  if (scene.squares) peer.squares = Type::f64;
  peer.fetch = [made](void* table, void* squares) {
    made->table->fetch(table);
    if (made->squares) made->squares->fetch(squares);
  };
  return peer;
}

std::optional<DevicePeer> npp_box(const Scene& scene, std::int64_t side, std::string& missing) {
  void* const symbol = npp().filters == nullptr ? nullptr : dlsym(npp().filters, "nppiFilterBox_8u_C1R_Ctx");
  if (symbol == nullptr) {
    missing = "NPP (libnppif.so) was not found";
    return {};
  }
  const std::int64_t before = side / 2;
  const auto columns = static_cast<std::size_t>(scene.width), rows = static_cast<std::size_t>(scene.height);
  const auto more = static_cast<std::size_t>(side);
  auto made = std::make_shared<Prepared>();
  made->image = std::make_unique<Rows>(columns + more, rows + more);
  made->table = std::make_unique<Rows>(columns, rows);
  made->image->spoil(), made->table->spoil();
  auto* const first = made->image->as<unsigned char>() + before * made->image->pitch() + before;
  check(cudaMemcpy2D(first, static_cast<std::size_t>(made->image->pitch()), scene.image, columns, columns, rows,
                     cudaMemcpyDeviceToDevice));
  check(cudaDeviceSynchronize());
  made->size = {static_cast<int>(scene.width), static_cast<int>(scene.height)};
  made->context = context_of(scene);
  DevicePeer peer;
  peer.name = "npp " + npp().version + " nppiFilterBox_8u_C1R";
  peer.run = [made, symbol, first, side, before] {
    const NppiSize mask{static_cast<int>(side), static_cast<int>(side)};
    const NppiPoint anchor{static_cast<int>(before), static_cast<int>(before)};
    const Rows& out = *made->table;
    const int status = reinterpret_cast<FilterBox>(symbol)(first, made->image->pitch(), out.as<unsigned char>(),
                                                           out.pitch(), made->size, mask, anchor, made->context);
    if (status < 0) throw Error("nppiFilterBox_8u_C1R answers " + std::to_string(status));
  };
  peer.border = Border::none;
  peer.table = made->table->as<void>();
  peer.pitch = made->table->pitch();
  peer.fetch = [made](void* table, void*) { made->table->fetch(table); };
  return peer;
}

}  // namespace areal::bench
