// Answers about regions: each rank reads the corners in its rows, and one reduction adds what the ranks have.
#include <algorithm>
#include <areal/array.hpp>
#include <climits>
#include <cstring>
#include <type_traits>
#include <vector>
#include "mpi/exchange.hpp"
#include "mpi/shared.hpp"

namespace areal::mpi {
namespace {

/// Planes of a strip's table, with the rows of the image that it has.
struct Source {
  ConstView view;
  Border border = Border::zero;
  Rows rows;
  std::int64_t width() const { return view.shape.width - (border == Border::zero ? 1 : 0); }
  std::int64_t planes() const { return view.shape.batch * view.shape.channels; }
};

template <class T>
T load(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// What a table's entries are added up as: integers modulo 2^64, of which the table's bits count; floats in double.
template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;

/// Sums of rows < y between columns x0 and x1, of one plane, where this rank has that row; else 0.
template <class T>
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
  Wide<T> between(std::int64_t x0, std::int64_t x1, std::int64_t y) const {
    if (y == 0 || y < first_ || y >= first_ + count_) return 0;
    const char* const row = data_ + (y - first_) * pitch_;
    return at(row, x1) - at(row, x0);
  }

 private:
  Wide<T> at(const char* row, std::int64_t x) const {
    return x < shift_ ? Wide<T>(0) : static_cast<Wide<T>>(load<T>(row + (x - shift_) * step_));
  }
  std::int64_t shift_, first_, count_, pitch_, step_;
  const char* data_;
};

template <class T, class Out>
void answer(const Communicator& comm, const Source& source, std::span<const Region> regions, Out* out,
            const Options& how) {
  using W = Wide<T>;
  const std::int64_t planes = source.planes();
  const auto all = static_cast<std::int64_t>(regions.size());
  const auto piece =
      std::max<std::int64_t>(1, std::min<std::int64_t>(static_cast<std::int64_t>(how.message_bytes), INT_MAX) /
                                    static_cast<std::int64_t>(sizeof(W)) / std::max<std::int64_t>(1, planes));
  std::vector<W> sums;
  comm.together([&] { sums.resize(static_cast<std::size_t>(std::min(piece, all) * planes)); });
  for (std::int64_t from = 0; from < all; from += piece) {
    const std::int64_t count = std::min(piece, all - from);
    for (std::int64_t p = 0; p < planes; ++p) {
      const Corners<T> corners(source, p);
      for (std::int64_t i = 0; i < count; ++i) {
        const Region& r = regions[static_cast<std::size_t>(from + i)];
        W sum = 0;
        if (r.width > 0 && r.height > 0)
          sum = corners.between(r.x, r.x + r.width, r.y + r.height) - corners.between(r.x, r.x + r.width, r.y);
        sums[static_cast<std::size_t>(i * planes + p)] = sum;
      }
    }
    // Of a sum of floats at most two ranks have a part, so that no order of additions makes a difference.
    require_mpi(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(count * planes),
                              std::is_same_v<W, double> ? MPI_DOUBLE : MPI_UINT64_T, MPI_SUM, comm.get()),
                "MPI_Allreduce");
    count_message(how, static_cast<std::size_t>(count * planes) * sizeof(W));
    for (std::int64_t i = 0; i < count * planes; ++i) {
      const W sum = sums[static_cast<std::size_t>(i)];
      if constexpr (std::is_floating_point_v<T>)
        out[from * planes + i] = static_cast<Out>(sum);
      else
        out[from * planes + i] = static_cast<Out>(static_cast<T>(sum));
    }
  }
}

std::int64_t fingerprint(std::span<const Region> regions) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a over 64-bit words
  for (const Region& r : regions)
    for (const std::int64_t v : {r.x, r.y, r.width, r.height})
      hash = (hash ^ static_cast<std::uint64_t>(v)) * 1099511628211u;
  return static_cast<std::int64_t>(hash);
}

void require_inside(const Source& source, std::span<const Region> regions) {
  const std::int64_t less = source.border == Border::exclusive ? 1 : 0;
  const std::int64_t width = source.width() - less, height = source.rows.of - less;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const Region& r = regions[i];
    const bool inside = r.x >= 0 && r.y >= 0 && r.width >= 0 && r.height >= 0 && r.x <= source.width() &&
                        r.y <= source.rows.of && r.width <= source.width() - r.x && r.height <= source.rows.of - r.y;
    const bool is_empty = r.width == 0 || r.height == 0;
    if (inside && (is_empty || (r.x + r.width <= width && r.y + r.height <= height))) continue;
    throw InvalidArgument("regions[" + std::to_string(i) + "] " + std::to_string(r.x) + "," + std::to_string(r.y) +
                          "," + std::to_string(r.width) + "," + std::to_string(r.height) +
                          (inside ? ": an exclusive table lacks the last row and column of the image of "
                                  : ": it does not lie inside the image of ") +
                          std::to_string(source.width()) + "x" + std::to_string(source.rows.of));
  }
}

template <class Out>
void answers(MPI_Comm caller, const Source& source, bool reversed, Span<const Region> regions, Span<Out> out,
             const Options& how) {
  const Communicator comm(caller);
  comm.require_same({{"number of regions", static_cast<std::int64_t>(regions.size()), {}},
                     {"regions", regions.memory().is_host() ? fingerprint(regions.host()) : 0, "that differ"},
                     {"width", source.width(), {}},
                     {"planes", source.planes(), {}},
                     {"rows of the image", source.rows.of, {}},
                     {"type of the table", static_cast<int>(source.view.type), std::string(name_of(source.view.type))},
                     {"message_bytes", static_cast<std::int64_t>(how.message_bytes), {}}});
  const Type type = source.view.type;
  comm.together([&] {
    if (!source.view.memory.is_host())
      throw InvalidArgument("table: it lies in device memory; copy_to host memory, where its corners are read");
    if (!regions.memory().is_host() || !out.memory().is_host())
      throw InvalidArgument("regions and out: they must lie in host memory");
    if (reversed) throw InvalidArgument("table: a reversed table does not answer regions over ranks");
    const auto wanted = static_cast<std::size_t>(source.planes()) * regions.size();
    if (out.size() != wanted)
      throw InvalidArgument("out of " + std::to_string(out.size()) + ": " + std::to_string(wanted) +
                            " answers are asked for");
    const bool fits =
        std::is_same_v<Out, double> || (!is_float(type) && is_signed_integer(type) == std::is_signed_v<Out>);
    if (!fits)
      throw InvalidArgument("out: the table has sums of " + std::string(name_of(type)) + ", which double takes" +
                            (is_float(type)            ? ""
                             : is_signed_integer(type) ? " and std::int64_t"
                                                       : " and std::uint64_t"));
    require_inside(source, regions.host());
  });
  switch (type) {
    case Type::f32:
      return answer<float>(comm, source, regions.host(), out.data(), how);
    case Type::f64:
      return answer<double>(comm, source, regions.host(), out.data(), how);
    case Type::u16:
      return answer<std::uint16_t>(comm, source, regions.host(), out.data(), how);
    case Type::u32:
      return answer<std::uint32_t>(comm, source, regions.host(), out.data(), how);
    case Type::s32:
      return answer<std::int32_t>(comm, source, regions.host(), out.data(), how);
    case Type::s64:
      return answer<std::int64_t>(comm, source, regions.host(), out.data(), how);
    default:
      return answer<std::uint64_t>(comm, source, regions.host(), out.data(), how);
  }
}

Source source_of(const Table& table) { return {table.strip.sum(), table.strip.border(), table.rows}; }
Source source_of(const Tensor& tensor) { return {tensor.strip.tensor(), tensor.strip.border(), tensor.rows}; }

}  // namespace

void region_sums(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<double> out, const Options& how) {
  answers(comm, source_of(table), table.strip.is_reversed(), regions, out, how);
}
void region_sums(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<std::uint64_t> out,
                 const Options& how) {
  answers(comm, source_of(table), table.strip.is_reversed(), regions, out, how);
}
void region_sums(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<std::int64_t> out,
                 const Options& how) {
  answers(comm, source_of(table), table.strip.is_reversed(), regions, out, how);
}
void region_histograms(MPI_Comm comm, const Tensor& tensor, Span<const Region> regions, Span<std::uint64_t> out,
                       const Options& how) {
  answers(comm, source_of(tensor), false, regions, out, how);
}
void region_histograms(MPI_Comm comm, const Tensor& tensor, Span<const Region> regions, Span<double> out,
                       const Options& how) {
  answers(comm, source_of(tensor), false, regions, out, how);
}

}  // namespace areal::mpi
