#include "api/core/memory.hpp"
#include <areal/info.hpp>
#include <utility>
#include "api/core/device_plan.hpp"
#include "cuda/device.hpp"

namespace areal {
namespace {

/// The data of an owner, kept alive by the shared pointer.
template <class Owner, class... Arguments>
std::shared_ptr<void> block_of(const Arguments&... arguments) {
  const auto owner = std::make_shared<Owner>(arguments...);
  return {owner, owner->data()};
}

}  // namespace

bool exceeds_free_memory(std::uint64_t bytes) {
  constexpr std::uint64_t few = std::uint64_t{1} << 24;
  return bytes > few && bytes > free_memory();
}

Memory::Memory(std::size_t bytes, MemoryPlace place)
    : Memory(Shape{static_cast<std::int64_t>(bytes), 1}, Type::u8, place) {}

Memory::Memory(const Shape& shape, Type type, MemoryPlace place) : bytes_(bytes_of(shape, type)), place_(place) {
  if (bytes_ == 0) return;
  if (place.is_host()) {
    block_ = block_of<Array>(shape, type);
    return;
  }
  require_backend(Backend::cuda, place.device);
  const cuda::DeviceScope scope(place.device);
  block_ = block_of<cuda::Memory>(bytes_);
}

Memory::Memory(Array array) : bytes_(array.bytes()) {
  if (bytes_ == 0) return;
  const auto owner = std::make_shared<Array>(std::move(array));
  block_ = {owner, owner->data()};
}

Memory Memory::of_host(std::size_t bytes, bool page_locked) {
  if (!page_locked) return Memory(bytes, MemoryPlace{});
  Memory made;
  made.page_locked_ = true;
  made.bytes_ = bytes;
  if (bytes > 0) made.block_ = block_of<cuda::PinnedMemory>(bytes);
  return made;
}

void Memory::grow(std::size_t bytes) {
  if (bytes <= bytes_) return;
  block_.reset();  // first: both blocks together may not fit
  bytes_ = 0;
  *this = page_locked_ ? of_host(bytes, true) : Memory(bytes, place_);
}

}  // namespace areal
