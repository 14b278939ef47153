#include "job.hpp"
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include "io/out.hpp"

namespace areal::command {

void say(const std::string& sentence) { write_message("areal-mpi: " + sentence); }

Job::Job(int& argc, char**& argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED,
                  &provided);  // on an error MPI ends the process with its own message
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

Job::~Job() { MPI_Finalize(); }

int Job::local_rank() const {
  MPI_Comm machine = MPI_COMM_NULL;
  int rank = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  MPI_Comm_rank(machine, &rank);
  MPI_Comm_free(&machine);
  return rank;
}

/// Waits for the other ranks for some seconds: ranks that throw together arrive together.
bool Job::all_are_here() const {
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS) return false;
  for (const auto start = std::chrono::steady_clock::now();
       std::chrono::steady_clock::now() - start < std::chrono::seconds(3);
       std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
    int done = 0;
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done) return true;
  }
  return false;
}

void Job::broadcast(void* data, int count, MPI_Datatype type) const {
  const int code = MPI_Bcast(data, count, type, 0, comm());
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw mpi::MpiError("MPI_Bcast: " + std::string(text.data()));
}

void Job::require_same(std::string words) const {
  std::size_t all = std::hash<std::string>{}(words), first_all = all;
  words.resize(200);  // the same size on all ranks
  std::string first = words;
  broadcast(first.data(), static_cast<int>(first.size()), MPI_CHAR);
  broadcast(&first_all, 1, MPI_UINT64_T);
  together([&] {
    if (words != first || all != first_all)
      throw InvalidArgument("was asked for " + std::string(words.c_str()) + ", and the first rank for " +
                            first.c_str() + ": all ranks must be started with the same of these");
  });
}

int Job::end(const std::string& sentence, int code) {
  if (!all_are_here()) abort("rank " + std::to_string(rank_) + ": " + sentence, code);
  if (speaks()) say(sentence);
  return code;
}

void Job::abort(const std::string& sentence, int code) {
  say(sentence);
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

}  // namespace areal::command
