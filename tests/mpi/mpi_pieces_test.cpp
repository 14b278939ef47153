// The matrix of tests/pieces for mpi::sat: options x borders x type pairs x cuts, against the table of the whole image
// and the definition. The strips of all ranks are put together on every rank.
#include <areal/catalog.hpp>
#include "piece_matrix/table_engines.hpp"
#include "ranks.hpp"

namespace areal::piece_matrix {
namespace {

/// The entries of all ranks. Each rank has those of its rows, and 0 elsewhere.
Values together(const Values& of_rank) {
  Values all = of_rank;
  const int entries = static_cast<int>(of_rank.size());
  if (is_float(all.type))
    MPI_Allreduce(of_rank.real.data(), all.real.data(), entries, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  else
    MPI_Allreduce(of_rank.integer.data(), all.integer.data(), entries, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/// The whole table of one strip a rank. A row that two ranks have comes from the lower rank.
Values joined(const ConstView& strip, const Shape& whole, std::int64_t first, bool skips_first_row) {
  Values rows(strip.type, whole);
  const Values came = conformance::values_of(strip);
  for (std::int64_t n = 0; n < whole.batch; ++n)
    for (std::int64_t c = 0; c < whole.channels; ++c)
      for (std::int64_t y = skips_first_row ? 1 : 0; y < strip.shape.height; ++y)
        for (std::int64_t x = 0; x < whole.width; ++x) {
          const std::size_t to = rows.at(x, first + y, c, n), from = came.at(x, y, c, n);
          if (is_float(rows.type))
            rows.real[to] = came.real[from];
          else
            rows.integer[to] = came.integer[from];
        }
  return together(rows);
}

Tables mpi_tables(const TableQuestion& q, const TableInputs& in) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto cut = [&](int r) {
    return r == ranks ? q.image.height : std::min<std::int64_t>(q.image.height, r * q.cut.height);
  };
  const std::int64_t first = cut(rank), count = cut(rank + 1) - first;
  Watch watch;
  SatOptions options = q.options;
  if (q.progress) options.progress = watch.callback();
  const mpi::Table table =
      mpi::sat(MPI_COMM_WORLD, part(in.image_view(), 0, first, q.image.width, count), options,
               {.execution = {.backend = Backend::cpu, .threads = 1}},
               q.options.mask ? part(in.mask_view(), 0, first, q.image.width, count) : ConstView());
  const SatTable& strip = table.strip;
  const bool zero = q.options.border == Border::zero;
  const auto all = [&](const ConstView& of) {
    Shape whole = of.shape;
    whole.height = conformance::table_shape_of(q.image, q.options.border).height;
    return joined(of, whole, first, zero && rank > 0);
  };
  Tables tables{strip.types(), all(strip.sum()), {}, {}, {}};
  if (q.options.squares != Squares::no) tables.squares = all(strip.squares());
  if (q.options.mask || q.options.ignore_nan) tables.count = all(strip.count());
  return tables;
}

TEST(MpiPieces, EqualTheWholeAndTheDefinition) {
  std::size_t number = 0;
  Refused refused = Refused::of_repository("mpi::sat");
  Faults faults;
  each_table_question([&](const TableQuestion& q) {
    if (extent() == Extent::usual && number++ % 17 != 0) return;  // four processes take long
    faults.add("mpi::sat", q.words(), fault(TableWay{"mpi::sat", mpi_tables}, q, refused));
  });
  faults.add(refused);
}

}  // namespace
}  // namespace areal::piece_matrix
