#include "volume.hpp"

#include <areal/error.hpp>
#include <areal/info.hpp>
#include <cstring>
#include <vector>
#include "progress.hpp"

namespace areal::command {
namespace {

// Throws unless the frame has the size, channels and type of the first. The message names the first difference.
void require_alike(const Array& first, const Item& item, const std::string& name) {
  const Shape &a = first.shape(), &b = item.pixels.shape();
  const auto differs = [&](const std::string& what, const std::string& of_first) {
    throw IoError(fmt::format("{}: frame {} {}, the first {}; all frames of a volume have one size and type", name,
                              item.number, what, of_first));
  };
  if (a.width != b.width || a.height != b.height)
    differs(fmt::format("is {}x{}", b.width, b.height), fmt::format("is {}x{}", a.width, a.height));
  if (a != b) differs(fmt::format("has channels: {}", b.channels), fmt::format("has {}", a.channels));
  if (first.type() != item.pixels.type())
    differs(fmt::format("is of {}", name_of(item.pixels.type())), fmt::format("is of {}", name_of(first.type())));
}

}  // namespace

Array gather_volume(Source& source, const std::string& name, std::uint64_t memory, const Settings& settings) {
  Item item;
  std::vector<Array> slices;
  const std::uint64_t most = (memory > 0 ? memory : free_memory()) / 2;  // gathering copies the slices
  std::uint64_t bytes = 0;
  ProgressBar bar("frames", source.count(), settings.quiet);
  while (source.next(item)) {
    if (!slices.empty()) require_alike(slices[0], item, name);
    bytes += item.pixels.bytes();
    if (bytes > most)
      throw OutOfMemory(fmt::format("{}: its first {} frames take {} bytes, more than half of what {}", name,
                                    slices.size() + 1, bytes, memory > 0 ? "--memory leaves" : "is free"),
                        bytes);
    slices.push_back(std::move(item.pixels));
    bar.update(static_cast<std::int64_t>(slices.size()));
  }
  if (slices.size() == 1) return std::move(slices[0]);
  if (slices.empty()) throw IoError(name + ": holds no frames");
  Shape shape = slices[0].shape();
  shape.batch = static_cast<std::int64_t>(slices.size());
  Array volume(shape, slices[0].type());
  char* to = static_cast<char*>(volume.data());
  for (Array& slice : slices) {
    std::memcpy(to, slice.data(), slice.bytes());
    to += slice.bytes();
    slice = Array();
  }
  return volume;
}

}  // namespace areal::command
