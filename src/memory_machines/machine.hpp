#pragma once
// The Discrete and the Unified Memory Machine (Nakano 2013, section 2): p threads and one memory of width w and latency
// l, with banks (DMM) or groups (UMM). The host describes a program as steps and barriers:
//
//   Machine<int> machine({Kind::umm, 64, 32, 100}, 2 * n);
//   machine.place(0, input);
//   // 64 threads at once:
//   machine.read(64, [&](std::int64_t i) { return i; }, [&](std::int64_t i, int value) { a[i] = value; });
//   machine.barrier();
//   machine.time().units

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include "memory_machines/cells.hpp"
#include "memory_machines/schedule.hpp"

namespace areal::memory {

enum class Kind : std::uint8_t { dmm, umm };

struct Shape {
  Kind kind = Kind::dmm;
  std::int64_t threads = 1, width = 1, latency = 1;
};

template <class T>
class Machine {
 public:
  /// Throws Fault if the width or the latency is below 1, or the threads are not a multiple of the width.
  Machine(const Shape& shape, std::int64_t cells)
      : shape_(shape),
        schedule_({{shape.kind == Kind::dmm ? Wiring::banks : Wiring::groups, shape.latency}}, shape.threads,
                  shape.width),
        cells_("memory", cells) {}

  const Shape& shape() const { return shape_; }
  std::int64_t threads() const { return shape_.threads; }
  std::int64_t width() const { return shape_.width; }

  /// Threads i < count read cell address(i), or nothing; `take(i, value)` receives what thread i read.
  template <class Address, class Take>
  void read(std::int64_t count, const Address& address, const Take& take) {
    schedule_.step(0, count, 0, address, [&](std::int64_t i, std::int64_t cell) {
      const T& value = cells_.read(i, cell);
      if (trace_) trace_(i, cell, value, false);
      take(i, value);
    });
  }
  /// Threads i < count write value(i) to cell address(i), or nothing.
  template <class Address, class Value>
  void write(std::int64_t count, const Address& address, const Value& value) {
    schedule_.step(0, count, 0, address, [&](std::int64_t i, std::int64_t cell) {
      cells_.write(i, cell, value(i));
      if (trace_) trace_(i, cell, cells_.look(cell), true);
    });
  }
  void barrier() {
    schedule_.barrier();
    cells_.next_period();
  }

  /// Called for every request from now on: the thread, the cell, and the value read or written.
  using Trace = std::function<void(std::int64_t thread, std::int64_t cell, const T& value, bool writes)>;
  void trace(Trace trace) { trace_ = std::move(trace); }

  void place(std::int64_t at, std::span<const T> values) {
    for (std::size_t i = 0; i < values.size(); ++i) cells_.place(at + static_cast<std::int64_t>(i), values[i]);
  }
  std::vector<T> look(std::int64_t at, std::int64_t count) const {
    std::vector<T> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(cells_.look(at + i));
    return values;
  }
  /// The time of everything up to the last barrier.
  const Time& time() const { return schedule_.time(); }

 private:
  Shape shape_;
  Schedule schedule_;
  Cells<T> cells_;
  Trace trace_;
};

}  // namespace areal::memory
