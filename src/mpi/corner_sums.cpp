#include "mpi/corner_sums.hpp"
#include <cstring>
#include <type_traits>
#include "mpi/exchange.hpp"

namespace areal::mpi {
namespace {

/// Sums of rows < y between columns x0 and x1, of one plane, where this rank has that row; else 0. Entries of integers
/// are added up modulo 2^64, of which the table's bits count; floats in double.
template <class T, class Wide>
class Corners {
 public:
  Corners(const Source& source, std::int64_t plane)
      : shift_(source.border == Border::none ? 1 : 0),
        // The rows y whose entries are here; with `zero` and `none` the first row of the table is the rank's before.
        first_(source.rows.first + (source.border == Border::exclusive ? 0 : 1)),
        count_(source.rows.count) {
    const Shape& s = source.view.shape;
    const std::int64_t n = s.channels > 0 ? plane / s.channels : 0, c = s.channels > 0 ? plane % s.channels : 0;
    // Row `first_` of the image's table of border zero.
    const std::int64_t row = source.border == Border::zero ? 1 : 0;
    data_ = static_cast<const char*>(source.view.row(0, c, n));
    pitch_ = source.view.row_pitch, step_ = source.view.column_pitch();
    if (data_ != nullptr) data_ += row * pitch_;
  }
  Wide between(std::int64_t x0, std::int64_t x1, std::int64_t y) const {
    if (y == 0 || y < first_ || y >= first_ + count_) return 0;
    const char* const row = data_ + (y - first_) * pitch_;
    return at(row, x1) - at(row, x0);
  }

 private:
  Wide at(const char* row, std::int64_t x) const {
    if (x < shift_) return 0;
    T entry;
    std::memcpy(&entry, row + (x - shift_) * step_, sizeof entry);
    return static_cast<Wide>(entry);
  }
  std::int64_t shift_, first_, count_, pitch_, step_;
  const char* data_;
};

template <class T, class Wide>
void add_planes(const Source& source, std::span<const Region> regions, Wide* sums) {
  const std::int64_t planes = source.planes();
  for (std::int64_t p = 0; p < planes; ++p) {
    const Corners<T, Wide> corners(source, p);
    for (std::size_t i = 0; i < regions.size(); ++i) {
      const Region& r = regions[i];
      Wide sum = 0;
      if (r.width > 0 && r.height > 0)
        sum = corners.between(r.x, r.x + r.width, r.y + r.height) - corners.between(r.x, r.x + r.width, r.y);
      sums[static_cast<std::int64_t>(i) * planes + p] = sum;
    }
  }
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
  switch (source_.view.type) {
    case Type::f32:
      add_planes<float>(source_, regions, reals_.data());
      break;
    case Type::f64:
      add_planes<double>(source_, regions, reals_.data());
      break;
    case Type::u16:
      add_planes<std::uint16_t>(source_, regions, integers_.data());
      break;
    case Type::u32:
    case Type::s32:
      add_planes<std::uint32_t>(source_, regions, integers_.data());
      break;
    default:
      add_planes<std::uint64_t>(source_, regions, integers_.data());
      break;
  }
  // Of a sum of floats at most two ranks have a part, so that no order of additions makes a difference.
  const bool real = is_float(source_.view.type);
  const std::int64_t count = static_cast<std::int64_t>(regions.size()) * source_.planes();
  require_mpi(
      MPI_Allreduce(MPI_IN_PLACE, real ? static_cast<void*>(reals_.data()) : static_cast<void*>(integers_.data()),
                    static_cast<int>(count), real ? MPI_DOUBLE : MPI_UINT64_T, MPI_SUM, comm.get()),
      "MPI_Allreduce");
  count_message(how, static_cast<std::size_t>(count) * 8);
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
