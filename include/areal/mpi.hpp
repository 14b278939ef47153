#pragma once
/// \file mpi.hpp Tables and tensors of images whose rows are spread over the ranks of an MPI communicator. A library of
/// its own, `areal::mpi`; <areal/areal.hpp> does not include it.
///
/// Every rank owns a strip: full-width rows that follow those of the rank before. Strips may have any height, none
/// included, and the width, which a strip without rows has, too, is the same on all ranks.
///
/// All functions are collective: every rank of the communicator calls them, in the same order, and with the same
/// options. What cannot be on one rank throws on all ranks, with the same type and sentence, which names the rank;
/// nothing hangs. An error of MPI itself is the communicator's error handler's; where that returns, it throws MpiError
/// on the ranks that saw it, and the others may wait: end the job by MPI_Abort.
///
/// Messages go through host memory. Where strips lie in device memory and MPI says while it runs that it takes such
/// memory (Open MPI's MPIX_Query_cuda_support), the carries of integer tables travel from device to device;
/// AREAL_MPI_MESSAGES=host in the environment keeps them from it. Communication happens on a duplicate of the
/// communicator, which each call makes and frees. MPI must have been initialised, with MPI_THREAD_FUNNELED at least
/// where threads compute; calls come from the main thread.

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

/// MPI answered with an error. `what()` names the call and has MPI's words.
class MpiError : public Error {
 public:
  using Error::Error;
};

/// The rows of the image that a rank owns: [first, first + count) of `of`.
struct Rows {
  std::int64_t first = 0, count = 0, of = 0;
};

/// Rows spread as evenly as they can be: the first `of` modulo the number of ranks have one more. No communication.
/// Throws InvalidArgument for a negative number of rows.
Rows even_rows(MPI_Comm comm, std::int64_t of);

/// What a call cost this rank.
struct Costs {
  double sums_seconds = 0;      ///< sums of the strip's columns; of floats on the CPU the sums along its rows
  double exchange_seconds = 0;  ///< carries, and waiting for other ranks
  double table_seconds = 0;     ///< the strip's table
  std::uint64_t messages = 0;   ///< calls of MPI_Exscan, MPI_Allreduce, or messages sent
  std::uint64_t bytes = 0;      ///< handed to these calls
};

/// How a call works on this rank. `message_bytes` and `carry_bytes` must be the same on all ranks.
struct Options {
  Execution execution = {};
  std::size_t message_bytes = std::size_t{1} << 20;  ///< the most that one message has: carries go in pieces of these
  std::size_t carry_bytes = std::size_t{64} << 20;   ///< the most that the carries of a tensor take: bins go in groups
  Costs* costs = nullptr;                            ///< added up here
};

/// A rank's part of the table of the whole image.
struct Table {
  /// As SatPlan makes it of the strip with its carry. With border `zero` it has a row more than the strip, which is the
  /// last of the rank before (zeros on the first); of a reversed table it is the row after, the first of the rank
  /// behind.
  SatTable strip;
  Rows rows;
};

/// A rank's part of the tensor of the whole image; a row more with border `zero`, as above.
struct Tensor {
  HistogramTensor strip;
  Rows rows;
};

/// The strip's part of the image's table, and of its squares and counts: a first pass over the pixels sums columns, an
/// exclusive scan over the ranks makes each rank's carry of these sums, and a second pass over the pixels makes the
/// table. Types, where none are named, are those of the whole image.
///
/// Integers have the bits of one rank, and of areal::sat. Floats have them, too, where all ranks compute on the CPU
/// with one SIMD target: sums along rows are computed first, and rows are then added in the image's order, a block of
/// columns after the other, while the next rank works on the block before. Where a rank computes elsewhere, the sums of
/// strips are added in the order of the ranks: the same bits from run to run for the same strips and backends, and not
/// those of other strips.
///
/// `mask` has the strip's rows; see SatOptions::mask. O(h W) a channel and image for h rows, and O(W) bytes of messages
/// for each rank.
/// Throws InvalidArgument for what SatPlan refuses with a carry (volumes, tilted tables, algorithms of papers), and
/// where widths, types, channels or options of two ranks differ.
Table sat(MPI_Comm comm, const ConstView& strip, const SatOptions& options = {}, const Options& how = {},
          const ConstView& mask = {});

/// The same into the table of an earlier call with a strip of the same shape and type and the same options, whose
/// memory is used again; another one is replaced.
void sat(MPI_Comm comm, Table& into, const ConstView& strip, const SatOptions& options = {}, const Options& how = {},
         const ConstView& mask = {});

/// The strip's part of the image's integral histogram, in groups of bins whose carries fit `carry_bytes`.
///
/// Counts have the bits of one rank. Weights are added in the order of the ranks: the same bits from run to run for the
/// same strips and backends; with weights that no order rounds, those of one rank.
/// Throws InvalidArgument as `sat` does; OutOfMemory where a rank's part of the tensor does not fit.
Tensor integral_histogram(MPI_Comm comm, const ConstView& strip, const Binning& binning,
                          const HistogramOptions& options = {}, const Options& how = {}, const ConstView& weights = {});

/// \name Sums of N regions of the image, as areal::region_sums has them, with its bits: of each plane, N x batch x
/// channels. The ranks that own a region's last row and the row above it read its corners there, and one reduction, in
/// pieces, gives every rank all answers. Regions are the same on all ranks. The table lies in host memory, and is not
/// reversed. O(N) a rank.
/// Throws InvalidArgument, naming the region, for one that reaches outside the image, and for regions that differ.
///@{
void region_sums(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<double> out,
                 const Options& how = {});
void region_sums(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<std::uint64_t> out,
                 const Options& how = {});
void region_sums(MPI_Comm comm, const Table& table, Span<const Region> regions, Span<std::int64_t> out,
                 const Options& how = {});
///@}

/// \name Sums of squares of N regions, from a table that has squares; means, variances and standard deviations, as
/// areal::region_means and its fellows have them, with their bits: over the valid pixels, where the table has a count.
/// N x batch x channels, as sums; a region without (valid) pixels gives NaN, but for squares, of which it has 0. Each
/// table that is read (sums, squares, counts) costs one reduction for each piece of the regions.
/// Throws as region_sums; InvalidArgument for squares and variances of a table without squares, and for squares in
/// integers of a table whose squares are floats.
///@{
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

/// \name Histograms of N regions, N x bins row by row, by the same way.
///@{
void region_histograms(MPI_Comm comm, const Tensor& tensor, Span<const Region> regions, Span<std::uint64_t> out,
                       const Options& how = {});
void region_histograms(MPI_Comm comm, const Tensor& tensor, Span<const Region> regions, Span<double> out,
                       const Options& how = {});
///@}

/// Calls `part` on every rank; where it throws on one, all ranks throw what the lowest such rank threw, its sentence
/// behind the rank's number. For work between collective calls, so that no rank waits for one that failed.
void together(MPI_Comm comm, const std::function<void()>& part);

}  // namespace areal::mpi
