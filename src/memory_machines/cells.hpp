#pragma once
// The cells of one memory, and the threads that accessed them since the last barrier. Requests between barriers are
// unordered, so it is a fault if one thread writes a cell and another one accesses it. Results are then the same in
// every order, and the schedule need not hold values.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>
#include "memory_machines/schedule.hpp"

namespace areal::memory {

template <class T>
class Cells {
 public:
  Cells(std::string name, std::int64_t size) : name_(std::move(name)), cells_(static_cast<std::size_t>(size)) {}

  const T& read(std::int64_t thread, std::int64_t cell) {
    Cell& c = at(thread, cell);
    if (!c.filled) fault(thread, cell, "reads a cell that no thread filled");
    if (c.written == period_ && c.writer != thread) fault(thread, cell, "reads what another thread wrote", c.writer);
    c.reader = c.read == period_ && c.reader != thread ? several : thread;
    c.read = period_;
    return c.value;
  }
  void write(std::int64_t thread, std::int64_t cell, T value) {
    Cell& c = at(thread, cell);
    if (c.written == period_ && c.writer != thread) fault(thread, cell, "writes what another thread wrote", c.writer);
    if (c.read == period_ && c.reader != thread) fault(thread, cell, "writes what another thread read", c.reader);
    c.value = std::move(value);
    c.writer = thread;
    c.written = period_;
    c.filled = true;
  }
  /// All threads that use this memory have reached a barrier.
  void next_period() { ++period_; }
  /// Discards the contents.
  void empty() {
    for (Cell& cell : cells_) cell = Cell();
    next_period();
  }
  /// Fills cells before the program begins, or reads them after its end, without taking time.
  void place(std::int64_t cell, T value) {
    cells_[static_cast<std::size_t>(cell)].value = std::move(value);
    cells_[static_cast<std::size_t>(cell)].filled = true;
  }
  const T& look(std::int64_t cell) const { return cells_[static_cast<std::size_t>(cell)].value; }

 private:
  static constexpr std::int64_t several = -2;
  struct Cell {
    T value{};
    std::int64_t read = 0, written = 0;  // periods, from 1 on
    std::int64_t reader = 0, writer = 0;
    bool filled = false;
  };

  Cell& at(std::int64_t thread, std::int64_t cell) {
    if (cell < 0 || cell >= static_cast<std::int64_t>(cells_.size()))
      fault(thread, cell, "requests a cell that does not exist");
    return cells_[static_cast<std::size_t>(cell)];
  }
  [[noreturn]] void fault(std::int64_t thread, std::int64_t cell, const char* what, std::int64_t other = -1) const {
    std::string text = name_ + ", cell " + std::to_string(cell) + ": thread " + std::to_string(thread) + " " + what;
    if (other == several) text += " (several did)";
    if (other >= 0) text += " (thread " + std::to_string(other) + ")";
    throw Fault(text + (other == -1 ? "" : ", with no barrier in between"));
  }

  std::string name_;
  std::vector<Cell> cells_;
  std::int64_t period_ = 1;
};

}  // namespace areal::memory
