// libcuda.so.1 with what FFmpeg and areal call of the driver and of NVDEC; a libnvcuvid.so.1 without a function needs
// it.
#include "nvdec_stand_in.hpp"
#include <ffnvcodec/dynlink_loader.h>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace {

using areal::test::NvdecStandIn;
NvdecStandIn told;
std::mutex mutex;  // of all streams and decoders
thread_local std::vector<CUcontext> current;
int contexts[2];  // their addresses are the contexts

struct Stream {
  std::deque<std::function<void()>> queued;
  std::int64_t begun = 0, ended = 0;  // how many were ever queued and done
  void run_to(std::int64_t number) {
    for (; ended < number && !queued.empty(); ++ended) {
      if (!told.never_writes) queued.front()();
      queued.pop_front();
    }
  }
};
struct Event {
  Stream* stream = nullptr;
  std::int64_t number = 0;
};

struct Output {
  std::vector<std::uint8_t> bytes;
  int surface = -1;  // that is mapped there
};
struct Decoder {
  CUVIDDECODECREATEINFO info;
  std::vector<std::int64_t> pictures;  // the frame in each surface
  std::vector<std::shared_ptr<Output>> outputs;
  unsigned pitch() const { return static_cast<unsigned>((info.ulTargetWidth + 511) / 512 * 512); }
};

bool has_context() {
  if (!current.empty()) return true;
  ++told.wrong;
  return false;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT NvdecStandIn* areal_nvdec_stand_in() { return &told; }

EXPORT CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
EXPORT CUresult cuDeviceGet(CUdevice* out, int number) {
  if (number < 0 || number > 1) return static_cast<CUresult>(101);
  *out = number;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetAttribute(int* out, int, CUdevice) {
  *out = 512;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice number) {
  *out = reinterpret_cast<CUcontext>(&contexts[number]);
  told.device = number;
  ++told.contexts;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  --told.contexts;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context) {
  current.push_back(context);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxPopCurrent_v2(CUcontext* out) {
  if (!has_context()) return static_cast<CUresult>(201);
  *out = current.back();
  current.pop_back();
  return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0, *greatest = -5;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamCreateWithPriority(CUstream* out, unsigned flags, int priority) {
  if (!has_context()) return static_cast<CUresult>(201);
  told.wrong += flags != 1 || priority != -5;
  *out = reinterpret_cast<CUstream>(new Stream);
  ++told.streams;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamDestroy_v2(CUstream stream) {
  if (!has_context()) return static_cast<CUresult>(201);
  delete reinterpret_cast<Stream*>(stream);
  --told.streams;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuEventCreate(CUevent* out, unsigned) {
  if (!has_context()) return static_cast<CUresult>(201);
  *out = reinterpret_cast<CUevent>(new Event);
  ++told.events;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
  const std::lock_guard lock(mutex);
  auto& at = *reinterpret_cast<Event*>(event);
  at.stream = reinterpret_cast<Stream*>(stream);
  at.number = at.stream->begun;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuEventSynchronize(CUevent event) {
  const std::lock_guard lock(mutex);
  const auto& at = *reinterpret_cast<Event*>(event);
  at.stream->run_to(at.number);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuEventDestroy_v2(CUevent event) {
  delete reinterpret_cast<Event*>(event);
  --told.events;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuGetErrorString(CUresult error, const char** out) {
  *out = error == 101 ? "invalid device ordinal" : "an error";
  return CUDA_SUCCESS;
}
EXPORT CUresult cuGetErrorName(CUresult, const char** out) {
  *out = "CUDA_ERROR";
  return CUDA_SUCCESS;
}

EXPORT CUresult cuvidGetDecoderCaps(CUVIDDECODECAPS* caps) {
  if (!has_context()) return static_cast<CUresult>(201);
  caps->bIsSupported = caps->nBitDepthMinus8 == 0 && caps->eChromaFormat == cudaVideoChromaFormat_420;
  caps->nMinWidth = 48, caps->nMinHeight = 16;
  caps->nMaxWidth = caps->nMaxHeight = 4096;
  caps->nMaxMBCount = 65536;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuvidCreateDecoder(CUvideodecoder* out, CUVIDDECODECREATEINFO* info) {
  if (!has_context()) return static_cast<CUresult>(201);
  if (told.refuses_decoders || info->ulNumDecodeSurfaces > 32) return static_cast<CUresult>(801);
  auto decoder = std::make_unique<Decoder>();
  decoder->info = *info;
  decoder->pictures.assign(info->ulNumDecodeSurfaces, -1);
  *out = decoder.release();
  ++told.decoders;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuvidDestroyDecoder(CUvideodecoder handle) {
  const std::lock_guard lock(mutex);
  const auto* const decoder = static_cast<Decoder*>(handle);
  for (const auto& output : decoder->outputs) told.wrong += output->surface >= 0;
  delete decoder;
  --told.decoders;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuvidDecodePicture(CUvideodecoder handle, CUVIDPICPARAMS* picture) {
  if (!has_context()) return static_cast<CUresult>(201);
  const std::lock_guard lock(mutex);
  auto& decoder = *static_cast<Decoder*>(handle);
  const int surface = picture->CurrPicIdx;
  for (const auto& output : decoder.outputs) told.wrong += output->surface == surface;
  told.wrong += surface < 0 || surface >= static_cast<int>(decoder.pictures.size());
  decoder.pictures.at(static_cast<std::size_t>(surface)) = picture->CodecSpecific.h264.CurrFieldOrderCnt[0] / 2;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuvidMapVideoFrame64(CUvideodecoder handle, int surface, unsigned long long* out, unsigned* pitch,
                                     CUVIDPROCPARAMS* how) {
  if (!has_context()) return static_cast<CUresult>(201);
  const std::lock_guard lock(mutex);
  if (told.maps++ == told.fails_at_map) return static_cast<CUresult>(999);
  auto& decoder = *static_cast<Decoder*>(handle);
  if (told.mapped >= static_cast<int>(decoder.info.ulNumOutputSurfaces)) {
    ++told.wrong;
    return static_cast<CUresult>(2);
  }
  std::shared_ptr<Output> free;
  for (const auto& output : decoder.outputs)
    if (output->surface < 0) free = output;
  if (!free) free = decoder.outputs.emplace_back(std::make_shared<Output>());
  free->surface = surface;
  free->bytes.assign(static_cast<std::size_t>(decoder.pitch()) * decoder.info.ulTargetHeight * 3 / 2,
                     areal::test::not_written);
  auto& stream = *reinterpret_cast<Stream*>(how->output_stream);
  ++stream.begun;
  const std::int64_t frame = decoder.pictures[static_cast<std::size_t>(surface)];
  const auto width = static_cast<std::int64_t>(decoder.info.ulTargetWidth), step = std::int64_t{decoder.pitch()};
  const auto height = static_cast<std::int64_t>(decoder.info.ulTargetHeight);
  stream.queued.push_back([at = std::weak_ptr<Output>(free), frame, width, height, step] {
    const std::shared_ptr<Output> output = at.lock();
    if (!output || output->surface < 0) return;  // unmapped before
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x)
        output->bytes[static_cast<std::size_t>(y * step + x)] = areal::test::painted(x, y, frame);
  });
  *out = reinterpret_cast<unsigned long long>(free->bytes.data());
  *pitch = decoder.pitch();
  if (++told.mapped > told.most_mapped) told.most_mapped = told.mapped.load();
  return CUDA_SUCCESS;
}
EXPORT CUresult cuvidUnmapVideoFrame64(CUvideodecoder handle, unsigned long long at) {
  if (!has_context()) return static_cast<CUresult>(201);
  const std::lock_guard lock(mutex);
  for (const auto& output : static_cast<Decoder*>(handle)->outputs)
    if (reinterpret_cast<unsigned long long>(output->bytes.data()) == at && output->surface >= 0) {
      output->surface = -1;
      std::memset(output->bytes.data(), areal::test::unmapped, output->bytes.size());
      --told.mapped;
      return CUDA_SUCCESS;
    }
  ++told.wrong;
  return static_cast<CUresult>(1);
}

// What FFmpeg looks for and nobody calls.
#define NEVER(name)                    \
  EXPORT CUresult name() {             \
    ++told.wrong;                      \
    return static_cast<CUresult>(801); \
  }
// clang-format off
NEVER(cuDeviceGetCount) NEVER(cuDeviceGetName) NEVER(cuDeviceComputeCapability) NEVER(cuCtxCreate_v2)
NEVER(cuCtxSetLimit) NEVER(cuCtxDestroy_v2) NEVER(cuMemAlloc_v2) NEVER(cuMemAllocPitch_v2) NEVER(cuMemAllocManaged)
NEVER(cuMemsetD8Async) NEVER(cuMemFree_v2) NEVER(cuMemcpy) NEVER(cuMemcpyAsync) NEVER(cuMemcpy2D_v2)
NEVER(cuMemcpy2DAsync_v2) NEVER(cuMemcpyHtoD_v2) NEVER(cuMemcpyHtoDAsync_v2) NEVER(cuMemcpyDtoH_v2)
NEVER(cuMemcpyDtoHAsync_v2) NEVER(cuMemcpyDtoD_v2) NEVER(cuMemcpyDtoDAsync_v2) NEVER(cuCtxGetDevice)
NEVER(cuDevicePrimaryCtxRelease) NEVER(cuDevicePrimaryCtxSetFlags) NEVER(cuDevicePrimaryCtxGetState)
NEVER(cuDevicePrimaryCtxReset) NEVER(cuStreamCreate) NEVER(cuStreamQuery) NEVER(cuStreamSynchronize)
NEVER(cuStreamAddCallback) NEVER(cuEventQuery) NEVER(cuLaunchKernel) NEVER(cuLinkCreate) NEVER(cuLinkAddData)
NEVER(cuLinkComplete) NEVER(cuLinkDestroy) NEVER(cuModuleLoadData) NEVER(cuModuleUnload) NEVER(cuModuleGetFunction)
NEVER(cuModuleGetGlobal) NEVER(cuTexObjectCreate) NEVER(cuTexObjectDestroy) NEVER(cuGLGetDevices_v2)
NEVER(cuGraphicsGLRegisterImage) NEVER(cuGraphicsUnregisterResource) NEVER(cuGraphicsMapResources)
NEVER(cuGraphicsUnmapResources) NEVER(cuGraphicsSubResourceGetMappedArray)
NEVER(cuGraphicsResourceGetMappedPointer_v2) NEVER(cuArray3DCreate_v2) NEVER(cuArrayDestroy)
NEVER(cuvidGetDecodeStatus) NEVER(cuvidReconfigureDecoder) NEVER(cuvidCtxLockCreate) NEVER(cuvidCtxLockDestroy)
NEVER(cuvidCtxLock) NEVER(cuvidCtxUnlock) NEVER(cuvidCreateVideoSource) NEVER(cuvidCreateVideoSourceW)
NEVER(cuvidDestroyVideoSource) NEVER(cuvidSetVideoSourceState) NEVER(cuvidGetVideoSourceState)
NEVER(cuvidGetSourceVideoFormat) NEVER(cuvidGetSourceAudioFormat) NEVER(cuvidCreateVideoParser)
NEVER(cuvidParseVideoData) NEVER(cuvidDestroyVideoParser)
    // clang-format on
