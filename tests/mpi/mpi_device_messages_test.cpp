// Ranks whose strips lie on devices, which here do their work late: carries through host memory, and straight between
// devices. Which of the two it is, by what MPI says and the user wants.
#include <cstdlib>
#include "device_strip_cases.hpp"
#include "mpi/device_messages.hpp"
#include "queued_gpus.hpp"

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

TEST(DeviceMessages, WhatTravelsBetweenDevices) {
  const MemoryPlace device{MemoryPlace::cuda, 1}, host;
  for (int bits = 0; bits < 8; ++bits) {
    const mpi::MessageFacts facts{
        .has_query = (bits & 1) != 0, .says_yes = (bits & 2) != 0, .by_host = (bits & 4) != 0};
    for (const Type type : {Type::u32, Type::s32, Type::u64, Type::s64}) {
      EXPECT_EQ(mpi::travels_between_devices(device, type, facts), bits == 3) << bits;
      EXPECT_FALSE(mpi::travels_between_devices(host, type, facts)) << bits;
    }
    for (const Type type : {Type::f32, Type::f64})
      EXPECT_FALSE(mpi::travels_between_devices(device, type, facts)) << bits;
  }
}

const mpi::MessageFacts straight{.has_query = true, .says_yes = true, .by_host = false};

void expect_tables(std::optional<mpi::MessageFacts> facts, bool break_it = false) {
  mpi::planted_message_facts = facts;
  from_devices = from_host = 0;
  expect_device_tables({.devices = queued_gpus::count, .squares = false, .break_it = break_it});
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
  const bool travels = facts.has_query && facts.says_yes;
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

// What cuda_mpi_test asks of GPUs.
TEST(DeviceStripCases, TensorsInHostMemory) {
  expect_device_tensors(Backend::cpu, 1);
  expect_device_tensors(Backend::cpu, 1, true);
}

}  // namespace
}  // namespace areal::test
