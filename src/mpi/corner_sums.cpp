#include "mpi/corner_sums.hpp"
#include <areal/region_histogram.hpp>
#include <type_traits>
#include "mpi/exchange.hpp"

namespace areal::mpi {
namespace {

/// Skips a row that another rank has too: with border `zero` the first is the last of the rank before.
template <class Out>
void add_own_rows(const Source& source, std::span<const Region> regions, Span<Out> out) {
  ConstView rows = source.view;
  std::int64_t first = source.rows.first;
  if (source.border == Border::zero) {
    rows.data = source.view.row(1);
    rows.shape.height -= 1, ++first;
  }
  const Execution on{.backend = Backend::cpu, .threads = 1};
  if constexpr (std::is_same_v<Out, std::uint64_t>)
    if (rows.type == Type::u16)  // from a tensor
      return partial_region_histograms(TensorView(rows, source.border), first, source.rows.of, regions, out, on);
  partial_region_sums(TableView(rows, source.border), first, source.rows.of, regions, out, on);
}

}  // namespace

CornerSums::CornerSums(const Source& source, std::int64_t most) : source_(source) {
  const auto count = static_cast<std::size_t>(most * source.planes());
  if (is_float(source.view.type))
    reals_.resize(count);
  else
    integers_.resize(count);
}

void CornerSums::reduce(const Communicator& comm, std::span<const Region> regions, const Options& how) {
  const Type type = source_.view.type;
  const bool real = is_float(type);
  const auto count = regions.size() * static_cast<std::size_t>(source_.planes());
  if (real)
    add_own_rows(source_, regions, Span<double>(reals_.data(), count));
  else if (is_signed_integer(type))
    add_own_rows(source_, regions, Span<std::int64_t>(reinterpret_cast<std::int64_t*>(integers_.data()), count));
  else
    add_own_rows(source_, regions, Span<std::uint64_t>(integers_.data(), count));
  // At most two ranks contribute to a sum of floats, so the order of additions makes no difference.
  require_mpi(
      MPI_Allreduce(MPI_IN_PLACE, real ? static_cast<void*>(reals_.data()) : static_cast<void*>(integers_.data()),
                    static_cast<int>(count), real ? MPI_DOUBLE : MPI_UINT64_T, MPI_SUM, comm.get()),
      "MPI_Allreduce");
  count_message(how, count * 8);
}

std::uint64_t CornerSums::integer(std::int64_t i) const {
  const std::uint64_t sum = integers_[static_cast<std::size_t>(i)];
  const Type type = source_.view.type;
  if (type == Type::s32) return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(sum)));
  return type == Type::u16 ? sum & 0xFFFF : type == Type::u32 ? sum & 0xFFFFFFFF : sum;
}

double CornerSums::real(std::int64_t i) const {
  if (is_float(source_.view.type)) return reals_[static_cast<std::size_t>(i)];
  const std::uint64_t sum = integer(i);
  return is_signed_integer(source_.view.type) ? static_cast<double>(static_cast<std::int64_t>(sum))
                                              : static_cast<double>(sum);
}

std::uint64_t CornerSums::magnitude(std::int64_t i) const {
  const std::uint64_t sum = integer(i);
  return is_signed_integer(source_.view.type) && static_cast<std::int64_t>(sum) < 0 ? 0 - sum : sum;
}

}  // namespace areal::mpi
