#pragma once
// The papers' integral histograms on the simulated machine, without the library's interface: a request for the kernels,
// its run, and the tensor that it must give, counted pixel by pixel.

#include <gtest/gtest.h>
#include <algorithm>
#include <areal/border.hpp>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>
#include "kernels/histogram/run.hpp"
#include "simt/launcher.hpp"

namespace areal::simt {

/// An image of random bytes and its binning.
struct Asked {
  std::int64_t height = 0, width = 0;
  int bins = 1;
  Border border = Border::none;
  int tile = 32;
  std::uint64_t seed = 7;
  int misalign = 0, gap = 0;  ///< bytes before the tensor, and after each of its rows
  int tile_threads = 0;       ///< 0: the default

  std::string words() const {
    return std::to_string(height) + "x" + std::to_string(width) + ", " + std::to_string(bins) + " bins, border " +
           std::string(name_of(border)) + ", tile " + std::to_string(tile) +
           (tile_threads != 0 ? " by " + std::to_string(tile_threads) + " threads" : "") + ", seed " +
           std::to_string(seed) +
           (misalign || gap ? ", misaligned by " + std::to_string(misalign) + ", gap " + std::to_string(gap) : "");
  }
};

/// The results of a run.
struct Ran {
  std::vector<std::uint64_t> tensor;
  Counts counts;
  std::vector<LaunchCounts> launches;

  std::map<std::string, std::int64_t> by_kernel() const {
    std::map<std::string, std::int64_t> count;
    for (const LaunchCounts& launch : launches) ++count[launch.kernel];
    return count;
  }
};

/// Bytes below 251 are counted, by their remainder.
inline int bin_of_byte(unsigned byte, int bins) { return byte < 251 ? static_cast<int>(byte) % bins : -1; }

inline std::vector<unsigned char> pixels_of(const Asked& asked) {
  std::mt19937_64 random(asked.seed);
  std::vector<unsigned char> pixels(static_cast<std::size_t>(asked.height * asked.width));
  for (unsigned char& pixel : pixels) pixel = static_cast<unsigned char>(random());
  return pixels;
}

/// The tensor by the definition: the number of pixels, row by row, in 64 bits.
inline std::vector<std::uint64_t> expected_tensor(const Asked& asked) {
  const std::vector<unsigned char> pixels = pixels_of(asked);
  const std::int64_t more = asked.border == Border::zero ? 1 : 0, shift = asked.border == Border::none ? 0 : 1;
  const std::int64_t height = asked.height + more, width = asked.width + more;
  std::vector<std::uint64_t> tensor;
  for (int bin = 0; bin < asked.bins; ++bin) {
    std::vector<std::uint64_t> column(static_cast<std::size_t>(width));  // of the rows so far
    for (std::int64_t y = 0; y < height; ++y) {
      std::uint64_t row = 0;
      for (std::int64_t x = 0; x < width; ++x) {
        const bool pixel = y >= shift && x >= shift;
        if (pixel) row += bin_of_byte(pixels[(y - shift) * asked.width + x - shift], asked.bins) == bin;
        tensor.push_back(column[x] += row);
      }
    }
  }
  return tensor;
}

inline kernels::HistogramRequest request_of(const Asked& asked, Type counter) {
  kernels::HistogramRequest request;
  request.image = {asked.width, asked.height};
  request.bins = asked.bins;
  request.counter = counter;
  request.border = asked.border;
  request.tile = asked.tile;
  request.tile_threads = asked.tile_threads;
  request.rule.channel[0].bins = asked.bins;
  std::uint16_t table[256];
  for (unsigned byte = 0; byte < 256; ++byte)
    table[byte] = static_cast<std::uint16_t>(bin_of_byte(byte, asked.bins));  // 0xffff for none
  request.tables.resize(sizeof table);
  std::memcpy(request.tables.data(), table, sizeof table);
  return request;
}

/// Runs it, with all memory poisoned except the image and the rule's table, and compares.
template <class T>
Ran run(const kernels::HistogramKernels<Launcher>& kernels, const Asked& asked, const Options& options = {}) {
  const kernels::HistogramRequest request = request_of(asked, type_of<T>);
  const std::vector<unsigned char> pixels = pixels_of(asked);
  const std::int64_t more = asked.border == Border::zero ? 1 : 0;
  const Shape shape{asked.width + more, asked.height + more, asked.bins, 1, Layout::planar};
  const std::int64_t pitch = shape.width * static_cast<std::int64_t>(sizeof(T)) + asked.gap;
  // Aligned like device memory, at a multiple of address groups.
  std::vector<char> memory(static_cast<std::size_t>(pitch * shape.height * shape.channels) + 512 + asked.misalign);
  char* const first = memory.data() + (-reinterpret_cast<std::uintptr_t>(memory.data()) & 255) + asked.misalign;
  const View tensor(first, type_of<T>, shape, pitch);
  std::vector<char> workspace(kernels.workspace_bytes(request));
  const ConstView image(pixels.data(), Type::u8, request.image);

  Launcher launcher(options);
  launcher.add({"the image", pixels.data(), pixels.size(), true, false});
  launcher.add({"the tensor", first, memory.size() - static_cast<std::size_t>(first - memory.data()), false});
  if (!workspace.empty()) {
    char* const from = workspace.data() + (-reinterpret_cast<std::uintptr_t>(workspace.data()) & 255);
    std::memcpy(from, request.tables.data(), request.tables.size());
    launcher.add({"the rule's table", from, request.tables.size(), true, false});
    char* const rest = from + request.tables.size();
    launcher.add({"the workspace", rest, static_cast<std::size_t>(workspace.data() + workspace.size() - rest), false});
  }
  kernels.execute(launcher, request, {image, tensor}, workspace.data());

  Ran ran;
  ran.counts = launcher.total(), ran.launches = launcher.launches();
  for (std::int64_t bin = 0; bin < shape.channels; ++bin)
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t x = 0; x < shape.width; ++x) {
        T element;
        std::memcpy(&element, static_cast<const char*>(tensor.row(y, bin)) + x * sizeof(T), sizeof(T));
        ran.tensor.push_back(element);
      }
  std::vector<std::uint64_t> expected = expected_tensor(asked);
  for (std::uint64_t& count : expected) count = static_cast<T>(count);
  EXPECT_TRUE(ran.tensor == expected) << asked.words() << ", machine's seed " << options.seed << ": element "
                                      << std::mismatch(expected.begin(), expected.end(), ran.tensor.begin()).first -
                                             expected.begin();
  return ran;
}

}  // namespace areal::simt
