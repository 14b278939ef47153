#pragma once
// An exclusive scan of a vector over the ranks, in pieces.

#include <areal/mpi.hpp>
#include <areal/type.hpp>
#include <cstddef>
#include "mpi/communicator.hpp"

namespace areal::mpi {

/// above[i] = the sum of all earlier ranks' totals[i]; zeros on the first. Integers modulo 2^k, by MPI_Exscan. Floats
/// are added in the order of the ranks, each rank adding its totals to the message of the rank before: no reduction
/// tree of MPI affects the bits. `above` has the size of `totals`, and does not overlap it.
void exclusive_scan(const Communicator& comm, const void* totals, void* above, std::size_t count, Type type,
                    const Options& how);

/// The same for integers from memory of a device to memory of the same device, which MPI accesses itself. Work queued
/// there must be complete.
void exclusive_scan_on_device(const Communicator& comm, const ConstView& totals, const View& above, const Options& how);

/// Receives `count` elements from the rank before. Throws MpiError for another number.
void receive_from_before(const Communicator& comm, void* into, std::size_t count, MPI_Datatype type);

/// The seconds since the last call, or since construction.
class Clock {
 public:
  Clock() : last_(MPI_Wtime()) {}
  double lap() {
    const double now = MPI_Wtime(), before = last_;
    last_ = now;
    return now - before;
  }

 private:
  double last_;
};

/// Adds to `how.costs`, where there are any.
inline void count_message(const Options& how, std::size_t bytes) {
  if (how.costs != nullptr) how.costs->messages += 1, how.costs->bytes += bytes;
}

}  // namespace areal::mpi
