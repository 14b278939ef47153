#pragma once
// Other libraries, found at run time: OpenCV through a plug-in (bench/peers/opencv_peer.cpp), NumPy and scikit-image
// through Python (bench/peers/python_peers.py), as PyTorch and CuPy (bench/peers/python_gpu_peers.py).
// AREAL_PEERS_PYTHON names the Python. Libraries that are not installed are skipped, with the reason in `missing`.

#include <areal/error.hpp>
#include <areal/view.hpp>
#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>
#include "bench/harness/measure.hpp"
#include "bench/protocol/cuda_bench.hpp"

namespace areal::bench {

/// cv::integral: `table` of 32s, 32f or 64f; `squares` (64f) and `tilted` may be null. False if OpenCV does not support
/// the types. `threads` is for cv::setNumThreads.
using CvIntegral = bool (*)(const void* pixels, int type, std::int64_t width, std::int64_t height, void* table,
                            int table_type, void* squares, void* tilted, int threads);

/// cv::boxFilter of an 8u image into 8u, or cv::sqrBoxFilter into 32f, by windows of side x side.
using CvBoxFilter = bool (*)(const void* pixels, std::int64_t width, std::int64_t height, std::int64_t side,
                             bool squared, void* out, int threads);

/// cv::calcHist of each of `count` boxes (x, y, width, height) of an 8u image, bins of equal width over 0 to 256.
using CvHistograms = bool (*)(const void* pixels, std::int64_t width, std::int64_t height, const std::int64_t* boxes,
                              std::int64_t count, std::int64_t bins, std::uint64_t* out, int threads);

/// The function, or nullptr with the reason in `missing`.
CvIntegral find_opencv(std::string& missing);
CvBoxFilter find_opencv_box_filter(std::string& missing);
CvHistograms find_opencv_histograms(std::string& missing);
/// "4.6.0", if one of them was found.
std::string opencv_version();

/// A function of our CUDA plug-in, or nullptr with the reason in `missing`.
void* find_cuda_bench(const char* function, std::string& missing);
/// The same as a CudaBenchX. Throws Unavailable where it is missing.
template <class Bench>
Bench cuda_bench(const char* function) {
  std::string missing;
  const auto bench = reinterpret_cast<Bench>(find_cuda_bench(function, missing));
  if (bench == nullptr) throw Unavailable("--backend cuda: " + missing);
  return bench;
}
/// Calls it. Throws Error with its text, behind `where`, if it fails.
template <class What>
void call(void (*bench)(const What*, char*, std::size_t), const What& what, const std::string& where = {}) {
  std::array<char, 1024> error{};
  bench(&what, error.data(), error.size());
  if (error[0] != 0) throw Error(where + error.data());
}

/// A library of Python. `areal` and `floor` are areal's table and a copy in the same rounds and process; without rounds
/// if areal's Python package is not there.
struct PythonPeer {
  std::string name, version;  // "numpy.cumsum twice", "torch cumsum twice"
  Times times, areal, floor;
};
/// Times of the Python peers on an 8u image of that size; empty with the reason in `missing`.
std::vector<PythonPeer> time_python(std::int64_t width, std::int64_t height, int repetitions, std::string& missing);

struct PythonCase {
  std::string types;
  std::int64_t width, height;
};
struct PythonGpuPeer {
  PythonCase of;
  PythonPeer peer;
};
/// Times of the Python peers on that device, for the cases that they support; their tables are checked. `note` gets the
/// reasons for missing ones.
std::vector<PythonGpuPeer> time_python_gpu(const std::vector<PythonCase>& cases, int repetitions, int device,
                                           const std::function<void(const std::string&)>& note);

}  // namespace areal::bench
