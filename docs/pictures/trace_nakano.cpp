// The prefix-sums of Nakano 2013 on the UMM: 16 elements, 8 threads, width 4. A value is the run of elements that it is
// the sum of, so that what each cell holds is seen, and an operand out of place is found.

#include <cstdio>
#include <numeric>
#include "cases.hpp"
#include "memory_machines/prefix_sums.hpp"

namespace areal::simt {
namespace {

constexpr memory::Shape shape{memory::Kind::umm, 8, 4, 1};
constexpr std::int64_t n = 16;

/// Elements from `first` to `last`.
struct TableKind {
  std::int64_t first = -1, last = -1;
};
struct Join {
  TableKind operator()(const TableKind& left, const TableKind& right) const {
    if (left.last + 1 != right.first) throw memory::Fault("what is added is not what comes next");
    return {left.first, right.last};
  }
};

/// k elements at a time; all of them are the optimal prefix-sums.
void trace(const char* name, std::int64_t k) {
  const memory::Rows group{0, 1, k};
  const std::int64_t workspace = memory::next_group(n, shape.width);
  memory::Machine<TableKind> machine(shape, workspace + memory::workspace_cells(group, shape.width));
  std::vector<TableKind> input(n);
  for (std::int64_t i = 0; i < n; ++i) input[static_cast<std::size_t>(i)] = {i, i};
  machine.place(0, input);
  std::printf("{\"name\": \"%s\", \"n\": %lld, \"k\": %lld, \"levels\": [", name, static_cast<long long>(n),
              static_cast<long long>(k));  // the first cell and the length, of each but the input
  const char* comma = "";
  const std::vector<memory::Rows> levels = memory::levels(group, workspace, shape.width);
  for (std::size_t t = 1; t < levels.size(); ++t) {
    std::printf("%s[%lld, %lld]", comma, static_cast<long long>(levels[t].at),
                static_cast<long long>(levels[t].length));
    comma = ", ";
  }
  std::printf("],\n\"requests\": [");  // step, thread, writes, cell, from, to
  comma = "";
  machine.trace([&](std::int64_t thread, std::int64_t cell, const TableKind& value, bool writes) {
    std::printf("%s\n[%lld, %lld, %d, %lld, %lld, %lld]", comma, static_cast<long long>(machine.time().barriers),
                static_cast<long long>(thread), static_cast<int>(writes), static_cast<long long>(cell),
                static_cast<long long>(value.first), static_cast<long long>(value.last));
    comma = ",";
  });
  memory::sequential_prefix_sums_in(machine, n, k, workspace, Join());
  std::printf("]}");
}

}  // namespace

void trace_nakano() {
  std::printf("{\"case\": \"nakano\", \"runs\": [\n");
  trace("optimal", n);
  std::printf(",\n");
  trace("sequential-parallel", 4);
  std::printf("]}\n");
}

}  // namespace areal::simt
