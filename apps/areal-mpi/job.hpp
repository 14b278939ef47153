#pragma once
// One run of the command on all ranks: this rank's number, collective calls, and the end of the job.

#include <mpi.h>
#include <areal/execution.hpp>
#include <areal/mpi.hpp>
#include <functional>
#include <string>

namespace areal::command {

class Job {
 public:
  Job(int& argc, char**& argv);  // MPI_Init
  ~Job();                        // MPI_Finalize
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  MPI_Comm comm() const noexcept { return MPI_COMM_WORLD; }
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  bool speaks() const noexcept { return rank_ == 0; }  ///< prints results common to all ranks
  /// This rank's number among the ranks of its machine.
  int local_rank() const;

  /// See mpi::together.
  void together(const std::function<void()>& part) const { mpi::together(comm(), part); }

  /// Receives the first rank's data. Throws MpiError.
  void broadcast(void* data, int count, MPI_Datatype type) const;
  /// Throws on all ranks if one's command line differs from the first's: their MPI calls would differ and deadlock.
  void require_same(std::string words) const;

  /// Ends the job with that exit code. One rank prints the sentence; MPI_Abort ends ranks that are still at work.
  int end(const std::string& sentence, int code);
  /// The sentence, and MPI_Abort: for what one rank alone knows.
  [[noreturn]] void abort(const std::string& sentence, int code);

 private:
  bool all_are_here() const;
  int rank_ = 0, size_ = 1;
};

/// The sentence on one line, behind the command's name, on standard error.
void say(const std::string& sentence);

}  // namespace areal::command
