#include "media/video/cuda_stream.hpp"
#include <dlfcn.h>
#include <utility>

// hwcontext_cuda.h includes cuda.h for these two types unless CUDA_VERSION is defined.
#define CUDA_VERSION 0
typedef struct CUctx_st* CUcontext;
typedef struct CUstream_st* CUstream;
extern "C" {
#include <libavutil/hwcontext_cuda.h>
}

namespace areal::media {
namespace {

// The used part of libcuda: CUresult, CUdevice and flags are ints, handles are pointers.
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*get_device)(int*, int) = nullptr;
  int (*retain_context)(void**, int) = nullptr;
  int (*release_context)(int) = nullptr;
  int (*push)(void*) = nullptr;
  int (*pop)(void**) = nullptr;
  int (*priorities)(int*, int*) = nullptr;
  int (*create_stream)(void**, unsigned, int) = nullptr;
  int (*destroy_stream)(void*) = nullptr;
  int (*create_event)(void**, unsigned) = nullptr;
  int (*record_event)(void*, void*) = nullptr;
  int (*wait_event)(void*) = nullptr;
  int (*destroy_event)(void*) = nullptr;
  int (*words_of)(int, const char**) = nullptr;
  std::string why_not;
};
constexpr unsigned non_blocking_stream = 1, blocking_event_without_time = 1 | 2;  // from cuda.h
constexpr int out_of_memory = 2;

Driver open_driver() {
  Driver driver;
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);  // stays open
  if (!library) {
    driver.why_not = "there is no NVIDIA driver (libcuda.so.1)";
    return driver;
  }
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (!function) driver.why_not = std::string("the NVIDIA driver has no ") + name;
  };
  find(driver.init, "cuInit");
  find(driver.get_device, "cuDeviceGet");
  find(driver.retain_context, "cuDevicePrimaryCtxRetain");
  find(driver.release_context, "cuDevicePrimaryCtxRelease_v2");
  find(driver.push, "cuCtxPushCurrent_v2");
  find(driver.pop, "cuCtxPopCurrent_v2");
  find(driver.priorities, "cuCtxGetStreamPriorityRange");
  find(driver.create_stream, "cuStreamCreateWithPriority");
  find(driver.destroy_stream, "cuStreamDestroy_v2");
  find(driver.create_event, "cuEventCreate");
  find(driver.record_event, "cuEventRecord");
  find(driver.wait_event, "cuEventSynchronize");
  find(driver.destroy_event, "cuEventDestroy_v2");
  find(driver.words_of, "cuGetErrorString");
  return driver;
}

const Driver& driver() {
  static const Driver driver = open_driver();
  return driver;
}

std::string words_of(int error) {
  const char* words = nullptr;
  if (driver().words_of(error, &words) != 0 || !words) return "CUDA error " + std::to_string(error);
  return printable(words);
}

}  // namespace

// The stream's context as the thread's current one.
class CudaStream::Current {
 public:
  explicit Current(void* context) : status_(driver().push(context)) {}
  ~Current() {
    void* popped = nullptr;
    if (status_ == 0) (void)driver().pop(&popped);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  int status() const { return status_; }

 private:
  int status_;
};

std::shared_ptr<CudaStream> CudaStream::open(int device, std::string& why_not) {
  const Driver& cuda = driver();
  if (!cuda.why_not.empty()) {
    why_not = cuda.why_not;
    return nullptr;
  }
  const std::string name = "CUDA device " + std::to_string(device);
  int number = 0, status = cuda.init(0);
  if (status == 0) status = cuda.get_device(&number, device);
  void* context = nullptr;
  if (status == 0) status = cuda.retain_context(&context, number);
  if (status != 0) {
    why_not = name + " cannot be used (" + words_of(status) + ")";
    return nullptr;
  }
  std::shared_ptr<CudaStream> stream(new CudaStream(device, context, nullptr));
  // Highest priority: NVDEC's copies are short, and would otherwise wait for the blocks of large kernels.
  const Current current(context);
  status = current.status();
  int least = 0, greatest = 0;
  if (status == 0) status = cuda.priorities(&least, &greatest);
  if (status == 0) status = cuda.create_stream(&stream->handle_, non_blocking_stream, greatest);
  if (status != 0) {
    why_not = name + " cannot be used (" + words_of(status) + ")";
    return nullptr;
  }
  return stream;
}

CudaStream::~CudaStream() {
  if (handle_) {
    const Current current(context_);
    (void)driver().destroy_stream(handle_);
  }
  int number = 0;
  if (driver().get_device(&number, device_) == 0) (void)driver().release_context(number);
}

BufferRef CudaStream::hardware_device(std::string& why_not) {
  BufferRef reference(av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_CUDA));
  if (!reference) {
    why_not = "this FFmpeg is built without CUDA";
    return nullptr;
  }
  // Not av_hwdevice_ctx_create with AV_CUDA_USE_PRIMARY_CONTEXT: it refuses a primary context that the CUDA runtime has
  // already created with other flags, and queues on the default stream.
  auto* const device = reinterpret_cast<AVHWDeviceContext*>(reference->data);
  auto* const of_cuda = static_cast<AVCUDADeviceContext*>(device->hwctx);
  of_cuda->cuda_ctx = static_cast<CUcontext>(context_);
  of_cuda->stream = static_cast<CUstream>(handle_);
  // Freed with the last frame: each refers to the device.
  device->user_opaque = new std::shared_ptr<CudaStream>(shared_from_this());
  device->free = [](AVHWDeviceContext* of) { delete static_cast<std::shared_ptr<CudaStream>*>(of->user_opaque); };
  if (const int status = av_hwdevice_ctx_init(reference.get()); status < 0) {
    why_not = "this FFmpeg cannot use CUDA device " + std::to_string(device_) + " (" + words_for(status) + ")";
    return nullptr;
  }
  return reference;
}

CudaStream::Event::~Event() {
  if (!handle_) return;
  const Current current(stream_->context_);
  (void)driver().destroy_event(handle_);
}

void CudaStream::Event::record(const std::shared_ptr<CudaStream>& stream) {
  const Current current(stream->context_);
  int status = current.status();
  if (!handle_) {
    if (status == 0) status = driver().create_event(&handle_, blocking_event_without_time);
    stream_ = stream;
  }
  if (status == 0) status = driver().record_event(handle_, stream->handle_);
  if (status == out_of_memory) throw std::bad_alloc();
  if (status != 0)
    throw DeviceError(
        "CUDA device " + std::to_string(stream->device_) + ": a decoded frame is lost (" + words_of(status) + ")",
        false);
}

void CudaStream::Event::wait() const {
  const Current current(stream_->context_);
  if (const int status = driver().wait_event(handle_); status != 0)
    throw DeviceError(
        "CUDA device " + std::to_string(stream_->device_) + ": a decoded frame is lost (" + words_of(status) + ")",
        false);
}

}  // namespace areal::media
