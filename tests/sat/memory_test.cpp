// The one owner of memory: kinds, sizes, growth.
#include "api/core/memory.hpp"
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <cstdint>
#include <cstring>
#include <utility>

namespace areal {
namespace {

TEST(Memory, OfNoBytesHasNoBlock) {
  EXPECT_EQ(Memory().data(), nullptr);
  EXPECT_EQ(Memory(0, {}).data(), nullptr);
  EXPECT_EQ(Memory({0, 7}, Type::f64, {}).view(Type::f64, {0, 7}).data, nullptr);
}

TEST(Memory, IsAlignedAndAllOfItCanBeWritten) {
  for (const std::size_t bytes : {1u, 63u, 64u, 100001u}) {
    const Memory memory(bytes, {});
    ASSERT_NE(memory.data(), nullptr);
    EXPECT_EQ(memory.bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 64, 0u);
    std::memset(memory.data(), 0xA5, bytes);
    EXPECT_EQ(memory.at(bytes - 1) - memory.at(0), static_cast<std::ptrdiff_t>(bytes) - 1);
  }
}

TEST(Memory, GrowsAndNeverShrinks) {
  Memory memory(10, {});
  const void* const before = memory.data();
  memory.grow(10);
  memory.grow(3);
  EXPECT_EQ(memory.data(), before);
  EXPECT_EQ(memory.bytes(), 10u);
  memory.grow(std::size_t{1} << 20);
  EXPECT_EQ(memory.bytes(), std::size_t{1} << 20);
  std::memset(memory.data(), 1, memory.bytes());
}

TEST(Memory, MovesLeaveNothingBehind) {
  Memory from({5, 4}, Type::u16, {});
  const void* const data = from.data();
  const Memory to = std::move(from);
  EXPECT_EQ(to.data(), data);
  EXPECT_EQ(to.bytes(), 40u);
  EXPECT_EQ(from.data(), nullptr);
  EXPECT_EQ(from.bytes(), 0u);
}

TEST(Memory, BeyondTheMachineIsOutOfMemoryWithItsBytes) {
  const Shape shape{std::int64_t{1} << 40, 8};
  try {
    const Memory memory(shape, Type::u8, {});
    FAIL() << "8 TiB were allocated";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.bytes(), std::uint64_t{8} << 40);
    EXPECT_NE(std::string(error.what()).find("1099511627776x8"), std::string::npos) << error.what();
  }
}

TEST(Memory, OfADeviceThatIsNotThere) {
  EXPECT_THROW(Memory(16, {MemoryPlace::cuda, 900}), Unavailable);
  EXPECT_EQ(Memory(0, {MemoryPlace::cuda, 900}).data(), nullptr);
}

}  // namespace
}  // namespace areal
