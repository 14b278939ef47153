#pragma once
// Sums of regions from tables whose rows are distributed: each rank reads the corners in its rows, and one reduction
// adds the ranks' parts.

#include <areal/border.hpp>
#include <areal/mpi.hpp>
#include <areal/region.hpp>
#include <cstdint>
#include <span>
#include <vector>
#include "mpi/communicator.hpp"

namespace areal::mpi {

/// Planes of a strip's table, and their rows of the image.
struct Source {
  ConstView view;
  Border border = Border::zero;
  Rows rows;
  std::int64_t width() const { return view.shape.width - (border == Border::zero ? 1 : 0); }
  std::int64_t planes() const { return view.shape.batch * view.shape.channels; }
};

/// The sums of some regions at a time, for each plane of a table: by region, then by plane.
class CornerSums {
 public:
  /// `most` regions at a time.
  CornerSums(const Source& source, std::int64_t most);
  /// Collective; the regions lie inside the image and are the same on all ranks. Counts the message.
  void reduce(const Communicator& comm, std::span<const Region> regions, const Options& how);

  const Source& source() const noexcept { return source_; }
  /// From an integer table, zero- or sign-extended.
  std::uint64_t integer(std::int64_t i) const;
  /// From any table. Sums of floats have the bits of areal::region_sums.
  double real(std::int64_t i) const;
  /// |S| from an integer table.
  std::uint64_t magnitude(std::int64_t i) const;

 private:
  Source source_;
  std::vector<std::uint64_t> integers_;  // modulo 2^64
  std::vector<double> reals_;
};

}  // namespace areal::mpi
