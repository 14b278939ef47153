#include "mpi/exchange.hpp"
#include <algorithm>
#include <areal/device.hpp>
#include <climits>
#include <cstring>
#include <vector>

namespace areal::mpi {
namespace {

/// Messages count elements in int; pieces of the vector have this many elements.
std::size_t piece_of(const Options& how, Type type) {
  return std::clamp<std::size_t>(how.message_bytes / size_of(type), 1, INT_MAX);
}

/// Each rank in turn, one piece behind the rank before.
template <class T>
void chain(const Communicator& comm, const T* totals, T* above, std::size_t count, MPI_Datatype type,
           const Options& how) {
  const std::size_t piece = piece_of(how, type_of<T>);
  const bool first = comm.rank() == 0, last = comm.rank() == comm.size() - 1;
  std::vector<T> sum(std::min(piece, count));
  for (std::size_t i = 0; i < count; i += piece) {
    const auto n = std::min(piece, count - i);
    if (first)
      std::fill_n(above + i, n, T(0));
    else
      receive_from_before(comm, above + i, n, type);
    if (last) continue;
    for (std::size_t k = 0; k < n; ++k) sum[k] = above[i + k] + totals[i + k];
    require_mpi(MPI_Send(sum.data(), static_cast<int>(n), type, comm.rank() + 1, 0, comm.get()), "MPI_Send");
    count_message(how, n * sizeof(T));
  }
}

}  // namespace

namespace {

void scan_integers(const Communicator& comm, const void* totals, void* above, std::size_t count, Type type,
                   const Options& how) {
  const std::size_t piece = piece_of(how, type), size = size_of(type);
  const MPI_Datatype datatype = size == 8 ? MPI_UINT64_T : size == 4 ? MPI_UINT32_T : MPI_UINT16_T;
  for (std::size_t i = 0; i < count; i += piece) {
    const auto n = std::min(piece, count - i);
    require_mpi(MPI_Exscan(static_cast<const char*>(totals) + i * size, static_cast<char*>(above) + i * size,
                           static_cast<int>(n), datatype, MPI_SUM, comm.get()),
                "MPI_Exscan");
    count_message(how, n * size);
  }
}

}  // namespace

void receive_from_before(const Communicator& comm, void* into, std::size_t count, MPI_Datatype type) {
  MPI_Status status;
  int came = 0, each = 0;
  require_mpi(MPI_Recv(into, static_cast<int>(count), type, comm.rank() - 1, 0, comm.get(), &status), "MPI_Recv");
  require_mpi(MPI_Get_count(&status, MPI_BYTE, &came), "MPI_Get_count");
  require_mpi(MPI_Type_size(type, &each), "MPI_Type_size");
  const std::size_t expected = count * static_cast<std::size_t>(each);
  if (static_cast<std::size_t>(came) != expected)
    throw MpiError("MPI_Recv: " + std::to_string(came) + " of " + std::to_string(expected) +
                   " bytes came from the rank before");
}

void exclusive_scan(const Communicator& comm, const void* totals, void* above, std::size_t count, Type type,
                    const Options& how) {
  if (type == Type::f32)
    return chain(comm, static_cast<const float*>(totals), static_cast<float*>(above), count, MPI_FLOAT, how);
  if (type == Type::f64)
    return chain(comm, static_cast<const double*>(totals), static_cast<double*>(above), count, MPI_DOUBLE, how);
  scan_integers(comm, totals, above, count, type, how);
  if (comm.rank() == 0 && count > 0) std::memset(above, 0, count * size_of(type));
}

void exclusive_scan_on_device(const Communicator& comm, const ConstView& totals, const View& above,
                              const Options& how) {
  const auto count = static_cast<std::size_t>(bytes_of(totals.shape, totals.type) / size_of(totals.type));
  scan_integers(comm, totals.data, above.data, count, totals.type, how);
  if (comm.rank() == 0) clear_view(above);
}

}  // namespace areal::mpi
