// Ranks whose strips lie on devices, which here do their work late: carries through host memory, and straight between
// devices. Which of the two it is, by what MPI says and the user wants.
#include <algorithm>
#include <areal/device.hpp>
#include <cstdlib>
#include "mpi/device_messages.hpp"
#include "queued_gpus.hpp"
#include "ranks.hpp"

namespace areal::test {
namespace {

int from_devices = 0, from_host = 0;  // calls of MPI_Exscan with carries

}  // namespace
}  // namespace areal::test

// Before MPI's own.
extern "C" int MPI_Exscan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const bool there = areal::queued_gpus::gpus().owns(from);
  EXPECT_EQ(areal::queued_gpus::gpus().owns(to), there);
  if (type == MPI_UINT32_T || type == MPI_UINT64_T)  // carries; rows are counted in MPI_INT64_T
    ++(there ? areal::test::from_devices : areal::test::from_host);
  return PMPI_Exscan(from, to, count, type, op, comm);
}

namespace areal::test {
namespace {

constexpr std::uint64_t seed = 20261122;

TEST(DeviceMessages, WhatTravelsBetweenDevices) {
  const MemoryPlace device{MemoryPlace::cuda, 1}, host;
  for (int bits = 0; bits < 8; ++bits) {
    const mpi::MessageFacts facts{.asked = (bits & 1) != 0, .says_yes = (bits & 2) != 0, .by_host = (bits & 4) != 0};
    for (const Type type : {Type::u32, Type::s32, Type::u64, Type::s64}) {
      EXPECT_EQ(mpi::travels_between_devices(device, type, facts), bits == 3) << bits;
      EXPECT_FALSE(mpi::travels_between_devices(host, type, facts)) << bits;
    }
    for (const Type type : {Type::f32, Type::f64})
      EXPECT_FALSE(mpi::travels_between_devices(device, type, facts)) << bits;
  }
}

Array random_image(const Shape& shape, Type type, std::mt19937_64& random) {
  Array image(shape, type);
  for (std::size_t i = 0; i < image.bytes() / size_of(type); ++i) {
    const auto value = static_cast<std::int64_t>(random() % 16);  // no sum of floats rounds
    if (type == Type::f32)
      image.as<float>()[i] = static_cast<float>(value);
    else if (type == Type::u16)
      image.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(value << 12);
    else
      image.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(random());
  }
  return image;
}

/// The first row of the table that differs from the whole image's; -1 where none does.
std::int64_t wrong_row(const ConstView& part, const ConstView& whole, std::int64_t first) {
  for (std::int64_t y = 0; y < part.shape.height; ++y)
    if (std::memcmp(part.row(y), whole.row(first + y),
                    static_cast<std::size_t>(part.shape.width) * size_of(part.type)) != 0)
      return y;
  return -1;
}

const mpi::MessageFacts straight{.asked = true, .says_yes = true, .by_host = false};

void expect_tables(std::optional<mpi::MessageFacts> facts, bool break_it = false) {
  mpi::planted_message_facts = facts;
  from_devices = from_host = 0;
  std::mt19937_64 random(seed);
  int tables = 0, wrong = 0;
  for (const char* const pair : {"8u32u", "16u64u", "32f32f"})
    for (int ranks = 1; ranks <= world_size(); ++ranks)
      for (int turn = 0; turn < 3; ++turn) {
        const Shape shape{1 + static_cast<std::int64_t>(random() % 40), 1 + static_cast<std::int64_t>(random() % 700)};
        const TypePair types = type_pair(pair);
        const Array image = random_image(shape, types.input, random);
        const std::vector<std::int64_t> cuts = random_split(random, shape.height, ranks);
        const FirstRanks some(ranks);
        if (!some) continue;
        const auto rank = static_cast<std::size_t>(some.rank());
        const Execution on{.backend = Backend::cuda, .device = some.rank() % queued_gpus::count};
        const Shape rows{shape.width, cuts[rank + 1] - cuts[rank]};
        DeviceArray strip(rows, types.input, on);
        if (!rows.empty()) copy_view(ConstView(image.view().row(cuts[rank]), types.input, rows), strip.view());
        const SatOptions options{.types = types};
        mpi::Costs costs;
        const mpi::Table table = mpi::sat(some.get(), std::as_const(strip).view(), options,
                                          {.execution = on, .message_bytes = 64, .costs = &costs});
        EXPECT_EQ(table.strip.memory(), (MemoryPlace{MemoryPlace::cuda, on.device}));
        SatTable here = table.strip.copy_to({});
        if (break_it && here.sum().shape.height > 0)
          ++static_cast<std::uint8_t*>(here.sum().row(here.sum().shape.height - 1))[0];
        const SatTable whole = sat(image.view(), options, {.backend = Backend::cpu});
        const std::int64_t at = wrong_row(std::as_const(here).sum(), whole.sum(), cuts[rank]);
        ++tables, wrong += at < 0 ? 0 : 1;
        EXPECT_TRUE(at == -1 || break_it) << pair << ", ranks " << ranks << ", row " << at << ", seed " << seed;
      }
  EXPECT_EQ(wrong, break_it ? tables : 0);
  mpi::planted_message_facts.reset();
}

TEST(DeviceMessages, StraightBetweenDevices) {
  expect_tables(straight);
  EXPECT_GT(from_devices, 0);
  EXPECT_EQ(from_host, 0);  // floats are sent and received
}

TEST(DeviceMessages, ByDefaultAsMpiSays) {
  expect_tables({});
  const mpi::MessageFacts facts = mpi::message_facts();
  const bool travels = facts.asked && facts.says_yes;
  EXPECT_EQ(from_devices > 0, travels);
  EXPECT_EQ(from_host > 0, !travels);
}

TEST(DeviceMessages, ThroughTheHostWhereTheUserWantsThat) {
  setenv("AREAL_MPI_MESSAGES", "host", 1);
  EXPECT_TRUE(mpi::message_facts().by_host);
  expect_tables({});
  EXPECT_EQ(from_devices, 0);
  EXPECT_GT(from_host, 0);
  unsetenv("AREAL_MPI_MESSAGES");
  EXPECT_FALSE(mpi::message_facts().by_host);
}

TEST(DeviceMessages, AWrongEntryIsFound) { expect_tables(straight, true); }

}  // namespace
}  // namespace areal::test
