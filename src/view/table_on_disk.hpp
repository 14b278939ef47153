#pragma once
// A chunked table of sums, of which the picture itself is gone: sums and means of regions, and pixels as differences.

#include <areal/chunked_table.hpp>
#include <cstdint>
#include <filesystem>
#include "view/scene.hpp"

namespace areal::view {

class TableOnDisk final : public Scene {
 public:
  /// `memory`: the most bytes that a question takes; 0: as ChunkedTable chooses. Throws what ChunkedTable throws.
  TableOnDisk(const std::filesystem::path& path, std::uint64_t memory, int threads);

  /// Sum and mean; all other numbers are NaN, and the histogram is empty.
  Answer answer(std::size_t channel, const Region& region, bool final = true) const override;
  Kind kind() const noexcept override { return Kind::table; }

 private:
  static Facts facts_of(const ChunkedTable& table, const ChunkedReadOptions& options);
  TableOnDisk(ChunkedTable table, const ChunkedReadOptions& options);
  void with_pixels(std::size_t first, std::size_t count, std::size_t level, const Region& region,
                   const std::function<void(std::size_t, const ConstView&)>& take) const override;
  void range_changed() override {}  // it has none

  ChunkedTable table_;
  ChunkedReadOptions options_;
};

}  // namespace areal::view
