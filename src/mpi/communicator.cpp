#include "mpi/communicator.hpp"
#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <optional>

namespace areal::mpi {
namespace {

// An exception as a message: the type as a number, bytes of an OutOfMemory or the flag of a DeviceError, the text.
enum class Kind : std::int64_t { other, argument, memory, io, unavailable, device, cancelled };

struct Failure {
  Kind kind = Kind::other;
  std::int64_t detail = 0;
  std::string words;
};

Failure failure_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const InvalidArgument& e) {
    return {Kind::argument, 0, e.what()};
  } catch (const OutOfMemory& e) {
    return {Kind::memory, static_cast<std::int64_t>(e.bytes()), e.what()};
  } catch (const IoError& e) {
    return {Kind::io, 0, e.what()};
  } catch (const Unavailable& e) {
    return {Kind::unavailable, 0, e.what()};
  } catch (const DeviceError& e) {
    return {Kind::device, e.lost(), e.what()};
  } catch (const Cancelled& e) {
    return {Kind::cancelled, 0, e.what()};
  } catch (const std::bad_alloc&) {
    return {Kind::memory, 0, "out of memory"};
  } catch (const std::exception& e) {
    return {Kind::other, 0, e.what()};
  } catch (...) {
    return {Kind::other, 0, "an exception of an unknown type"};
  }
}

[[noreturn]] void raise(const Failure& failure, const std::string& words) {
  switch (failure.kind) {
    case Kind::argument:
      throw InvalidArgument(words);
    case Kind::memory:
      throw OutOfMemory(words, static_cast<std::uint64_t>(failure.detail));
    case Kind::io:
      throw IoError(words);
    case Kind::unavailable:
      throw Unavailable(words);
    case Kind::device:
      throw DeviceError(words, failure.detail != 0);
    case Kind::cancelled:
      throw Cancelled(words);
    case Kind::other:
      break;
  }
  throw Error(words);
}

}  // namespace

void require_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) length = 0;
  throw MpiError(std::string(call) + ": " + (length > 0 ? std::string(text.data()) : "error " + std::to_string(code)));
}

Communicator::Communicator(MPI_Comm comm, bool reversed) {
  if (comm == MPI_COMM_NULL) throw InvalidArgument("comm: MPI_COMM_NULL is no communicator");
  int started = 0, finished = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&finished);
  if (!started || finished) throw InvalidArgument("comm: MPI is not initialised, or has been finalised");
  require_mpi(MPI_Comm_rank(comm, &number_), "MPI_Comm_rank");
  // One call for both orders: ranks that disagree about it get an error, and do not wait for each other.
  require_mpi(MPI_Comm_split(comm, 0, reversed ? -number_ : number_, &comm_), "MPI_Comm_split");
  require_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  require_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
}

Communicator::~Communicator() {
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

void Communicator::together(const std::function<void()>& part) const {
  std::optional<Failure> mine;
  try {
    part();
  } catch (const MpiError&) {
    throw;  // the others may be in another call by now
  } catch (...) {
    mine = failure_of(std::current_exception());
  }
  // The lowest rank that failed, and whether all did.
  const std::array<int, 2> failed{mine ? rank_ : size_, mine ? 1 : 0};
  std::array<int, 2> found{};
  require_mpi(MPI_Allreduce(failed.data(), found.data(), 2, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
  const int speaker = found[0];
  if (speaker == size_) return;
  std::array<std::int64_t, 4> head{};
  if (rank_ == speaker)
    head = {static_cast<std::int64_t>(mine->kind), mine->detail, static_cast<std::int64_t>(mine->words.size()),
            number_};
  require_mpi(MPI_Bcast(head.data(), 4, MPI_INT64_T, speaker, comm_), "MPI_Bcast");
  std::string words = rank_ == speaker ? mine->words : std::string(static_cast<std::size_t>(head[2]), ' ');
  require_mpi(MPI_Bcast(words.data(), static_cast<int>(head[2]), MPI_CHAR, speaker, comm_), "MPI_Bcast");
  const Failure failure{static_cast<Kind>(head[0]), head[1], words};
  raise(failure, found[1] == 1 ? words : "rank " + std::to_string(head[3]) + ": " + words);
}

void Communicator::require_same(const std::vector<Shared>& values, const std::string& refusal) const {
  // A message of one length in every call: ranks that make different calls get an error, and do not wait for each
  // other.
  constexpr std::size_t most = 32;
  if (values.size() > most) throw Error("more values are shared than a message takes");
  std::array<std::int64_t, most + 1> first{};
  std::uint64_t names = 14695981039346656037u;  // FNV-1a
  for (std::size_t i = 0; i < values.size(); ++i) {
    first[i + 1] = values[i].value;
    for (const char c : values[i].name + ";") names = (names ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  first[0] = static_cast<std::int64_t>(names);
  require_mpi(MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_INT64_T, 0, comm_), "MPI_Bcast");
  together([&] {
    if (first[0] != static_cast<std::int64_t>(names))
      throw InvalidArgument("this is not the call of the first rank: all ranks make the same calls, in the same order");
    if (!refusal.empty()) throw InvalidArgument(refusal);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i].value != first[i + 1])
        throw InvalidArgument(values[i].name + " " +
                              (values[i].words.empty() ? std::to_string(values[i].value) : values[i].words) +
                              ": all ranks must have the same, and the first has another");
  });
}

Rows Communicator::rows_of(std::int64_t height) const {
  Rows rows;
  rows.count = height;
  require_mpi(MPI_Exscan(&height, &rows.first, 1, MPI_INT64_T, MPI_SUM, comm_), "MPI_Exscan");
  if (rank_ == 0) rows.first = 0;
  require_mpi(MPI_Allreduce(&height, &rows.of, 1, MPI_INT64_T, MPI_SUM, comm_), "MPI_Allreduce");
  return rows;
}

std::int64_t Communicator::least(std::int64_t value) const {
  std::int64_t found = 0;
  require_mpi(MPI_Allreduce(&value, &found, 1, MPI_INT64_T, MPI_MIN, comm_), "MPI_Allreduce");
  return found;
}

void together(MPI_Comm comm, const std::function<void()>& part) { Communicator(comm).together(part); }

Rows even_rows(MPI_Comm comm, std::int64_t of) {
  if (of < 0) throw InvalidArgument("rows " + std::to_string(of) + ": an image has 0 or more");
  int rank = 0, size = 1;
  require_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  require_mpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  const std::int64_t each = of / size, more = of % size;
  return {rank * each + std::min<std::int64_t>(rank, more), each + (rank < more ? 1 : 0), of};
}

}  // namespace areal::mpi
