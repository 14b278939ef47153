#pragma once
// The tables of one image on disk, T.npy, T.squares.npy, .., each with its sidecar: at once, or piece by piece.

#include <areal/sat.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>
#include "exact_sums.hpp"
#include "input.hpp"
#include "media/media.hpp"

namespace areal::command {

class TableFiles {
 public:
  /// `image` is the shape of the image, `algorithm` what makes the tables.
  TableFiles(const std::string& output, const InputOptions& input, const Shape& image, const SumTypes& types,
             Border border, const std::string& algorithm);

  /// Those of a plan with these options.
  void write(const SatTable& tables, const SatOptions& options);

  /// Opens the files of sums and, where their shapes are not empty, squares and counts; the squares' type is that of
  /// the constructor's SumTypes. Pieces come from one thread at a time, and the files appear with `finish`.
  void open(const Shape& sums, bool squares, const std::optional<Shape>& counts);
  void put(std::int64_t x, std::int64_t y, const ConstView& sums, const ConstView& squares, const ConstView& counts);
  void finish();

  /// The files that were written or are being written.
  const std::vector<std::string>& names() const noexcept { return names_; }

 private:
  std::filesystem::path path_of(const std::string& kind) const;
  std::filesystem::path describe(const std::string& kind, Type input, Type table);
  media::TableWriter writer(const std::string& kind, Type input, Type table, Shape shape);

  std::filesystem::path path_;
  SumTypes types_;
  media::TableFile description_;
  std::vector<std::string> names_;
  std::optional<media::TableWriter> sums_, squares_, counts_;
};

}  // namespace areal::command
