#pragma once
// The asynchronous Hierarchical Memory Machine (Kasagi, Nakano, Ito 2014, section II): d DMMs of latency 1, with shared
// memory, and a UMM of latency l over all their threads, with global memory. The DMMs run independently until a barrier
// of all threads, at which shared memory is lost. Threads of one DMM may synchronise without losing it.

#include "memory_machines/cells.hpp"
#include "memory_machines/schedule.hpp"

namespace areal::memory {

struct HierarchyShape {
  std::int64_t blocks = 1;   // DMMs
  std::int64_t threads = 1;  // of each
  std::int64_t width = 1, latency = 1;
  std::int64_t shared_cells = 0;  // of each DMM
  std::int64_t all_threads() const { return blocks * threads; }
};

template <class T>
class Hierarchy {
 public:
  Hierarchy(const HierarchyShape& shape, std::int64_t global_cells)
      : shape_(shape),
        schedule_(pipelines(shape), shape.all_threads(), shape.width, shape.blocks),
        global_("global memory", global_cells) {
    for (std::int64_t b = 0; b < shape.blocks; ++b)
      shared_.emplace_back("shared memory of DMM " + std::to_string(b), shape.shared_cells);
  }

  const HierarchyShape& shape() const { return shape_; }

  /// Threads i < blocks * threads; thread i is in DMM i div threads.
  template <class Address, class Take>
  void read_global(const Address& address, const Take& take) {
    schedule_.step(0, shape_.all_threads(), global_memory(), address,
                   [&](std::int64_t i, std::int64_t cell) { take(i, global_.read(i, cell)); });
  }
  template <class Address, class Value>
  void write_global(const Address& address, const Value& value) {
    schedule_.step(0, shape_.all_threads(), global_memory(), address,
                   [&](std::int64_t i, std::int64_t cell) { global_.write(i, cell, value(i)); });
  }
  /// Each thread reads its own DMM's memory.
  template <class Address, class Take>
  void read_shared(const Address& address, const Take& take) {
    for (std::size_t b = 0; b < shared_.size(); ++b)
      schedule_.step(static_cast<std::int64_t>(b) * shape_.threads, shape_.threads, b, address,
                     [&](std::int64_t i, std::int64_t cell) { take(i, shared_[b].read(i, cell)); });
  }
  template <class Address, class Value>
  void write_shared(const Address& address, const Value& value) {
    for (std::size_t b = 0; b < shared_.size(); ++b)
      schedule_.step(static_cast<std::int64_t>(b) * shape_.threads, shape_.threads, b, address,
                     [&](std::int64_t i, std::int64_t cell) { shared_[b].write(i, cell, value(i)); });
  }
  /// The threads of each DMM wait for each other. Their writes to global memory still need a barrier of all threads
  /// before another thread accesses them.
  void block_barrier() {
    schedule_.block_barrier();
    for (Cells<T>& cells : shared_) cells.next_period();
  }
  void barrier() {
    schedule_.barrier();
    global_.next_period();
    for (Cells<T>& cells : shared_) cells.empty();
  }

  void place(std::int64_t at, std::span<const T> values) {
    for (std::size_t i = 0; i < values.size(); ++i) global_.place(at + static_cast<std::int64_t>(i), values[i]);
  }
  std::vector<T> look(std::int64_t at, std::int64_t count) const {
    std::vector<T> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(global_.look(at + i));
    return values;
  }
  /// The time of everything up to the last barrier.
  const Time& time() const { return schedule_.time(); }

 private:
  static std::vector<Pipeline> pipelines(const HierarchyShape& shape) {
    std::vector<Pipeline> memories(static_cast<std::size_t>(std::max<std::int64_t>(shape.blocks, 0)),
                                   {Wiring::banks, 1});
    memories.push_back({Wiring::groups, shape.latency});
    return memories;
  }
  std::size_t global_memory() const { return shared_.size(); }

  HierarchyShape shape_;
  Schedule schedule_;
  Cells<T> global_;
  std::vector<Cells<T>> shared_;
};

}  // namespace areal::memory
