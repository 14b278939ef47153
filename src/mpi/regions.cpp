// Answers about regions: the agreement of all ranks, pieces of regions, and statistics from their sums.
#include <algorithm>
#include <climits>
#include <cmath>
#include <type_traits>
#include <utility>
#include "formulas/variance.hpp"
#include "mpi/corner_sums.hpp"
#include "mpi/exchange.hpp"

namespace areal::mpi {
namespace {

std::int64_t fingerprint(std::span<const Region> regions) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a over 64-bit words
  for (const Region& r : regions)
    for (const std::int64_t v : {r.x, r.y, r.width, r.height})
      hash = (hash ^ static_cast<std::uint64_t>(v)) * 1099511628211u;
  return static_cast<std::int64_t>(hash);
}

/// Requires as many planes as the strip has, with the rows that the table states.
void require_rows(const Source& source) {
  if (source.view.data == nullptr && !source.view.shape.empty())
    throw InvalidArgument("table: its memory is a null pointer");
  const std::int64_t height = source.rows.count + (source.border == Border::zero ? 1 : 0);
  if (source.rows.first < 0 || source.rows.count < 0 || source.rows.count > source.rows.of - source.rows.first ||
      source.view.shape.height != height)
    throw InvalidArgument("table: rows " + std::to_string(source.rows.first) + " to " +
                          std::to_string(source.rows.first + source.rows.count) + " of " +
                          std::to_string(source.rows.of) + " are not those of its strip");
}

/// Why that table's sums cannot be returned as Out; "" if they can.
template <class Out>
std::string misfit(Type type) {
  const bool fits =
      std::is_same_v<Out, double> || (!is_float(type) && is_signed_integer(type) == std::is_signed_v<Out>);
  if (fits) return "";
  return "out: the table has sums of " + std::string(name_of(type)) + ", which double takes" +
         (is_float(type)            ? ""
          : is_signed_integer(type) ? " and std::int64_t"
                                    : " and std::uint64_t");
}

/// The most tables of one query: sums, squares and counts.
constexpr std::size_t most_tables = 3;

struct Query {
  std::string question;
  bool is_reversed = false;
  std::vector<Source> tables;  ///< the first has the planes of the answers
  std::string refusal;         ///< why this rank cannot answer
};

/// `answer(sums, i, plane, region)` for each answer, `sums` being those of the query's tables, whose i-th it is.
template <class Out, class Answer>
void answers(MPI_Comm caller, const Query& query, Span<const Region> regions, Span<Out> out, const Options& how,
             Answer&& answer) {
  const Communicator comm(caller);
  std::vector<Shared> shared{{"number of regions", static_cast<std::int64_t>(regions.size()), {}},
                             {"regions", regions.memory().is_host() ? fingerprint(regions.host()) : 0, "that differ"},
                             {query.question, 0, {}},
                             {"tables of the query", static_cast<std::int64_t>(query.tables.size()), {}},
                             {"message_bytes", static_cast<std::int64_t>(how.message_bytes), {}}};
  const Source& first = query.tables[0];
  shared.push_back({"width", first.width(), {}});
  shared.push_back({"rows of the image", first.rows.of, {}});
  shared.push_back({"border", static_cast<int>(first.border), std::string(name_of(first.border))});
  for (std::size_t i = 0; i < most_tables; ++i) {
    const Source& table = query.tables[std::min(i, query.tables.size() - 1)];
    shared.push_back({"planes", table.planes(), {}});
    shared.push_back({"type of the table", static_cast<int>(table.view.type), std::string(name_of(table.view.type))});
  }
  comm.require_same(shared, query.refusal);
  comm.together([&] {
    for (const Source& table : query.tables) {
      if (!table.view.memory.is_host())
        throw InvalidArgument("table: it lies in device memory; copy_to host memory, where its corners are read");
      require_rows(table);
    }
    if (!regions.memory().is_host() || !out.memory().is_host())
      throw InvalidArgument("regions and out: they must lie in host memory");
    if (query.is_reversed) throw InvalidArgument("table: a reversed table does not answer regions over ranks");
    const auto wanted = static_cast<std::size_t>(first.planes()) * regions.size();
    if (out.size() != wanted)
      throw InvalidArgument("out of " + std::to_string(out.size()) + ": " + std::to_string(wanted) +
                            " answers are asked for");
    for (std::size_t i = 0; i < regions.size(); ++i)
      checked_region(regions[i], static_cast<std::int64_t>(i), first.width(), first.rows.of, Outside::error,
                     first.border);
  });
  const std::int64_t planes = first.planes();
  const auto all = static_cast<std::int64_t>(regions.size());
  const auto piece =
      std::max<std::int64_t>(1, std::min<std::int64_t>(static_cast<std::int64_t>(how.message_bytes), INT_MAX) / 8 /
                                    std::max<std::int64_t>(1, planes));
  std::vector<CornerSums> sums;
  comm.together([&] {
    for (const Source& table : query.tables) sums.emplace_back(table, std::min(piece, all));
  });
  for (std::int64_t from = 0; from < all; from += piece) {
    const std::span<const Region> some =
        regions.host().subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(std::min(piece, all - from)));
    for (CornerSums& of : sums) of.reduce(comm, some, how);
    for (std::size_t i = 0; i < some.size(); ++i)
      for (std::int64_t p = 0; p < planes; ++p)
        out[(from + static_cast<std::int64_t>(i)) * planes + p] =
            answer(std::as_const(sums), static_cast<std::int64_t>(i), p, some[i]);
  }
}

/// Sums of the one table.
template <class Out>
void sums_of(MPI_Comm comm, Query query, Span<const Region> regions, Span<Out> out, const Options& how) {
  const std::int64_t planes = query.tables[0].planes();
  const ConstView& view = query.tables[0].view;
  if (query.refusal.empty() && view.shape.width > 0) query.refusal = misfit<Out>(view.type);
  answers(comm, query, regions, out, how,
          [&](const std::vector<CornerSums>& sums, std::int64_t i, std::int64_t plane, const Region&) {
            if constexpr (std::is_same_v<Out, double>)
              return sums[0].real(i * planes + plane);
            else
              return static_cast<Out>(sums[0].integer(i * planes + plane));
          });
}

/// True if that is one of the table's views. Tests the width, since a strip without rows may have no memory.
bool has(const SatTable& table, const ConstView& view) {
  return view.shape.width > 0 && view.shape.width == table.sum().shape.width;
}

/// In this order: sums, squares if requested, for statistics counts if there are any.
Query query_of(std::string question, const Table& table, bool squares, bool statistics) {
  const SatTable& strip = table.strip;
  const ConstView sum = strip.sum();
  const bool without_columns = sum.shape.width == 0;  // then all sums are 0
  const bool lacks_squares = squares && !without_columns && !has(strip, strip.squares());
  Query query{std::move(question), strip.is_reversed(), {}, {}};
  if (lacks_squares) query.refusal = "table: it has no squares; make it with squares";
  const auto add = [&](const ConstView& view) { query.tables.push_back({view, strip.border(), table.rows}); };
  if (statistics || !squares) add(sum);
  if (squares) add(without_columns || lacks_squares ? sum : strip.squares());
  if (statistics && has(strip, strip.count())) add(strip.count());
  return query;
}

std::uint64_t pixels_of(const Region& r) {
  return static_cast<std::uint64_t>(r.width) * static_cast<std::uint64_t>(r.height);
}

/// The valid pixels of a region, of a plane: from the last of the tables, if `counted`. One channel of counts serves
/// all channels.
std::uint64_t count_of(const std::vector<CornerSums>& sums, bool counted, std::int64_t i, std::int64_t plane,
                       const Region& region) {
  if (!counted) return pixels_of(region);
  const Source &counts = sums.back().source(), &of = sums[0].source();
  const std::int64_t image = plane / of.view.shape.channels;
  const std::int64_t at = counts.view.shape.channels == of.view.shape.channels ? plane : image;
  return sums.back().magnitude(i * counts.planes() + at);
}

void variances(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<double> out, const Options& how,
               bool roots) {
  const Query query = query_of(roots ? "standard deviations" : "variances", table, true, true);
  const bool counted = query.tables.size() == 3;
  const std::int64_t planes = query.tables[0].planes();
  answers(comm, query, regions, out, how,
          [&](const std::vector<CornerSums>& sums, std::int64_t i, std::int64_t plane, const Region& region) {
            const std::int64_t at = i * planes + plane;
            const std::uint64_t n = count_of(sums, counted, i, plane, region);
            const CornerSums &s1 = sums[0], &s2 = sums[1];
            double variance = 0;
            if (is_float(s1.source().view.type))
              variance = formulas::variance(s1.real(at), s2.real(at), static_cast<double>(n));
            else if (is_float(s2.source().view.type))
              variance = formulas::variance(s1.magnitude(at), s2.real(at), n);
            else
              variance = formulas::variance(s1.magnitude(at), s2.magnitude(at), n);
            return roots ? std::sqrt(variance) : variance;
          });
}

}  // namespace

void region_sums(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<double> out, const Options& how) {
  sums_of(comm, query_of("sums", table, false, false), regions, out, how);
}
void region_sums(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<std::uint64_t> out,
                 const Options& how) {
  sums_of(comm, query_of("sums", table, false, false), regions, out, how);
}
void region_sums(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<std::int64_t> out,
                 const Options& how) {
  sums_of(comm, query_of("sums", table, false, false), regions, out, how);
}

void region_squares(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<double> out,
                    const Options& how) {
  sums_of(comm, query_of("squares", table, true, false), regions, out, how);
}
void region_squares(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<std::uint64_t> out,
                    const Options& how) {
  sums_of(comm, query_of("squares", table, true, false), regions, out, how);
}

void region_means(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<double> out, const Options& how) {
  const Query query = query_of("means", table, false, true);
  const bool counted = query.tables.size() == 2;
  const std::int64_t planes = query.tables[0].planes();
  answers(comm, query, regions, out, how,
          [&](const std::vector<CornerSums>& sums, std::int64_t i, std::int64_t plane, const Region& region) {
            const std::uint64_t n = count_of(sums, counted, i, plane, region);
            return n > 0 ? sums[0].real(i * planes + plane) / static_cast<double>(n) : formulas::not_a_number();
          });
}
void region_variances(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<double> out,
                      const Options& how) {
  variances(comm, table, regions, out, how, false);
}
void region_standard_deviations(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<double> out,
                                const Options& how) {
  variances(comm, table, regions, out, how, true);
}

void region_histograms(MPI_Comm comm, const Tensor& tensor, Span<const Region> regions, Span<std::uint64_t> out,
                       const Options& how) {
  sums_of(comm, {"histograms", false, {Source{tensor.strip.tensor(), tensor.strip.border(), tensor.rows}}, {}}, regions,
          out, how);
}
void region_histograms(MPI_Comm comm, const Tensor& tensor, Span<const Region> regions, Span<double> out,
                       const Options& how) {
  sums_of(comm, {"histograms", false, {Source{tensor.strip.tensor(), tensor.strip.border(), tensor.rows}}, {}}, regions,
          out, how);
}

}  // namespace areal::mpi
