#pragma once
// Sums of regions from tables whose rows are spread: each rank reads the corners in its rows, and one reduction adds
// what the ranks have.

#include <areal/border.hpp>
#include <areal/mpi.hpp>
#include <areal/region.hpp>
#include <cstdint>
#include <span>
#include <vector>
#include "mpi/communicator.hpp"

namespace areal::mpi {

/// Planes of a strip's table, with the rows of the image that it has.
struct Source {
  ConstView view;
  Border border = Border::zero;
  Rows rows;
  std::int64_t width() const { return view.shape.width - (border == Border::zero ? 1 : 0); }
  std::int64_t planes() const { return view.shape.batch * view.shape.channels; }
};

/// The sums of some regions at a time, of each plane of a table: region by region, its planes side by side.
class CornerSums {
 public:
  /// `most` regions at a time.
  CornerSums(const Source& source, std::int64_t most);
  /// Collective; the regions lie inside the image and are the same on all ranks. Counts the message.
  void reduce(const Communicator& comm, std::span<const Region> regions, const Options& how);

  const Source& source() const noexcept { return source_; }
  /// Of an integer table, with its bits: zeros or the sign above them.
  std::uint64_t integer(std::int64_t i) const;
  /// Of any table. Sums of floats have the bits of areal::region_sums.
  double real(std::int64_t i) const;
  /// |S| of an integer table.
  std::uint64_t magnitude(std::int64_t i) const;

 private:
  Source source_;
  std::vector<std::uint64_t> integers_;  // modulo 2^64
  std::vector<double> reals_;
};

}  // namespace areal::mpi
