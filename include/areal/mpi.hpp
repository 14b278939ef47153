#pragma once
/// \file mpi.hpp Tables and tensors of images whose rows are distributed over the ranks of an MPI communicator, as a
/// separate library, `areal::mpi`, which <areal/areal.hpp> does not include.
///
/// Every rank owns a strip: full-width rows that follow those of the rank before. Strips may have any height, including
/// 0; all have the same width, empty ones too.
///
/// All functions are collective: every rank of the communicator calls them, in the same order and with the same
/// options. An invalid argument on one rank throws on all ranks, with the same type and sentence, which names the rank;
/// nothing hangs. An MPI error goes to the communicator's error handler; if that returns, MpiError is thrown on the
/// ranks that saw the error, and the others may wait: end the job by MPI_Abort.
///
/// Messages pass through host memory. If strips lie in device memory and MPI reports at run time that it accepts such
/// memory (Open MPI's MPIX_Query_cuda_support), the carries of integer tables go from device to device;
/// AREAL_MPI_MESSAGES=host in the environment disables this. Each call communicates on a duplicate of the communicator,
/// which it makes and frees. MPI must be initialised, with at least MPI_THREAD_FUNNELED if threads compute; calls come
/// from the main thread.

#include <mpi.h>
#include <areal/binning.hpp>
#include <areal/error.hpp>
#include <areal/execution.hpp>
#include <areal/histogram.hpp>
#include <areal/region.hpp>
#include <areal/sat.hpp>
#include <areal/span.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace areal::mpi {

/// MPI reported an error. `what()` names the call and quotes MPI's message.
class MpiError : public Error {
 public:
  using Error::Error;
};

/// The rows of the image that a rank owns: [first, first + count) of `of`.
struct Rows {
  std::int64_t first = 0, count = 0, of = 0;
};

/// Rows distributed as evenly as possible: the first `of` modulo the number of ranks have one more. No communication.
/// Throws InvalidArgument for a negative number of rows.
Rows even_rows(MPI_Comm comm, std::int64_t of);

/// What a call cost this rank.
struct Costs {
  double sums_seconds = 0;      ///< column sums of the strip; for floats on the CPU its row sums
  double exchange_seconds = 0;  ///< carries, and waiting for other ranks
  double table_seconds = 0;     ///< the strip's table
  std::uint64_t messages = 0;   ///< calls of MPI_Exscan and MPI_Allreduce, and messages sent
  std::uint64_t bytes = 0;      ///< sent by these calls
};

/// Options of a call on this rank. `message_bytes` and `carry_bytes` must be the same on all ranks.
struct Options {
  Execution execution = {};
  std::size_t message_bytes = std::size_t{1} << 20;  ///< the largest message: carries are sent in pieces of this size
  std::size_t carry_bytes = std::size_t{64} << 20;   ///< the most bytes of a tensor's carries: bins go in groups
  Costs* costs = nullptr;                            ///< the call's costs are added here
};

/// A rank's part of the whole image's table.
struct Table {
  /// As SatPlan makes it from the strip with its carry. With border `zero` it has one row more than the strip: the last
  /// row of the rank before (zeros on the first), or, in a reversed table, the first row of the rank after.
  SatTable strip;
  Rows rows;
};

/// A rank's part of the whole image's tensor; one row more with border `zero`, as above.
struct Tensor {
  HistogramTensor strip;
  Rows rows;
};

/// The strip's part of the image's table, and of its squares and counts. A first pass over the pixels sums columns, an
/// exclusive scan over the ranks turns these sums into carries, and a second pass makes the table. Types default to
/// those of the whole image.
///
/// Integers have the bits of one rank, and of areal::sat. So do floats if all ranks compute on the CPU with one SIMD
/// target: each rank sums along rows, then adds rows in the image's order, one block of columns after the other, while
/// the next rank works on the block before. If any rank computes elsewhere, the sums of strips are added in the order
/// of the ranks: the bits then repeat for the same strips and backends, and differ for other strips.
///
/// `mask` has the strip's rows; see SatOptions::mask. O(h W) a channel and image for h rows, and O(W) bytes of messages
/// for each rank.
/// Throws InvalidArgument for what SatPlan refuses with a carry (volumes, tilted tables, algorithms of papers), and if
/// two ranks differ in width, type, channels or options.
Table sat(MPI_Comm comm, const ConstView& strip, const SatOptions& options = {}, const Options& how = {},
          const ConstView& mask = {});

/// The same into the table of an earlier call. Reuses its memory if strip shape, type and options are the same;
/// otherwise replaces it.
void sat(MPI_Comm comm, Table& into, const ConstView& strip, const SatOptions& options = {}, const Options& how = {},
         const ConstView& mask = {});

/// The strip's part of the image's integral histogram, in groups of bins whose carries fit `carry_bytes`.
///
/// Counts have the bits of one rank. Weights are added in the order of the ranks: the bits repeat for the same strips
/// and backends, and equal one rank's for weights whose sums are exact.
/// Throws InvalidArgument as `sat`; OutOfMemory if a rank's part of the tensor does not fit.
Tensor integral_histogram(MPI_Comm comm, const ConstView& strip, const Binning& binning,
                          const HistogramOptions& options = {}, const Options& how = {}, const ConstView& weights = {});

/// \name Sums of N regions of the image, as areal::region_sums, with its bits: N x batch x channels. The ranks that own
/// a region's last row and the row above it read its corners, and one reduction, in pieces, gives every rank all
/// answers. Regions are the same on all ranks. The table lies in host memory and is not reversed. O(N) a rank.
/// Throws InvalidArgument, naming the region, for one that reaches outside the image, and for regions that differ.
/// @{
void region_sums(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<double> out,
                 const Options& how = {});
void region_sums(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<std::uint64_t> out,
                 const Options& how = {});
void region_sums(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<std::int64_t> out,
                 const Options& how = {});
///@}

/// \name Sums of squares of N regions, from a table with squares; means, variances and standard deviations, as
/// areal::region_means and its fellows, with their bits: over the valid pixels, if the table has a count. N x batch x
/// channels. A region without (valid) pixels gives NaN, but 0 as its sum of squares. Each table that is read (sums,
/// squares, counts) costs one reduction for each piece of the regions.
/// Throws as region_sums; InvalidArgument for squares and variances of a table without squares, and for integer answers
/// of squares that are floats.
/// @{
void region_squares(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<double> out,
                    const Options& how = {});
void region_squares(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<std::uint64_t> out,
                    const Options& how = {});
void region_means(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<double> out,
                  const Options& how = {});
void region_variances(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<double> out,
                      const Options& how = {});
void region_standard_deviations(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<double> out,
                                const Options& how = {});
///@}

/// \name Histograms of N regions, N x bins row by row, computed and refused like region_sums.
/// @{
void region_histograms(MPI_Comm comm, const Tensor& tensor, Span<const Region> regions, Span<std::uint64_t> out,
                       const Options& how = {});
void region_histograms(MPI_Comm comm, const Tensor& tensor, Span<const Region> regions, Span<double> out,
                       const Options& how = {});
///@}

/// Calls `part` on every rank; if it throws on any, all ranks throw what the lowest such rank threw, with the rank's
/// number before the sentence. For work between collective calls, so that no rank waits for one that failed.
void together(MPI_Comm comm, const std::function<void()>& part);

}  // namespace areal::mpi
