#pragma once
// One rank's part of a table during its computation: inputs and outputs.

#include <areal/mpi.hpp>
#include <optional>
#include <vector>
#include "mpi/column_sums.hpp"
#include "mpi/communicator.hpp"

namespace areal::mpi {

/// One of the tables of a plan.
struct Output {
  Type type = Type::u32;
  Term term = Term::pixel;
  Shape row;  ///< of the carry: 1 x (W + 1)
};

struct SatStrip {
  ConstView image, mask;
  const SatPlan* plan = nullptr;
  SatTable* table = nullptr;
  std::vector<Output> outputs;  ///< the sum first

  View table_of(const Output& output) const {
    return output.term == Term::pixel ? table->sum() : output.term == Term::square ? table->squares() : table->count();
  }
  bool has_floats() const;
};

std::vector<Output> outputs_of(const SatPlan& plan);
/// The plan's arguments, without carries.
SatArguments arguments_of(const SatStrip& strip);
/// An output's carry in the arguments.
Carry& carry_of(SatArguments& arguments, Term term);

/// The last row of the strip's own table of border `zero`, for each output, in host memory. `sums_of_blocks` computes
/// it by plans, on any backend, from blocks of rows; each row lies where its output's Execution says.
std::vector<DeviceArray> sums_of_columns(const SatStrip& strip);
std::vector<DeviceArray> sums_of_blocks(const SatStrip& strip, const std::vector<Execution>& where);

/// Computes the strip's tables with these carries.
void execute_with(const SatStrip& strip, const std::vector<DeviceArray>& above);

/// Computes the strip's tables on the CPU, adding rows in the image's order over all ranks: floats too have the bits of
/// one rank. Collective.
void execute_in_order(const Communicator& comm, const SatStrip& strip, const Options& how);

}  // namespace areal::mpi
