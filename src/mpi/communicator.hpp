#pragma once
// A duplicate of the caller's communicator for one call, and the agreement of all ranks.

#include <mpi.h>
#include <areal/mpi.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace areal::mpi {

/// Throws MpiError if `code` is an error.
void require_mpi(int code, const char* call);

/// A value that must be equal on all ranks, and its name.
struct Shared {
  std::string name;
  std::int64_t value;
  std::string words;  ///< of the value; empty: the number
};

class Communicator {
 public:
  /// Collective. With `reversed`, the last rank is the first.
  explicit Communicator(MPI_Comm comm, bool reversed = false);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  MPI_Comm get() const noexcept { return comm_; }
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  /// See mpi::together.
  void together(const std::function<void()>& part) const;
  /// Throws on all ranks if one has another value than rank 0, or makes another call, whose names differ, or has a
  /// `refusal`. At most 32 values.
  void require_same(const std::vector<Shared>& values, const std::string& refusal = {}) const;
  /// The rows of this rank, from the heights in the order of the ranks.
  Rows rows_of(std::int64_t height) const;
  /// The least of all ranks' values.
  std::int64_t least(std::int64_t value) const;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, number_ = 0;  ///< number: the rank in the caller's communicator
};

}  // namespace areal::mpi
