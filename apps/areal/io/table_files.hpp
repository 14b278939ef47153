#pragma once
// Writes the tables of one image, T.npy, T.squares.npy, .., each with its sidecar: whole, or piece by piece.

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
  /// `algorithm` computes the tables.
  TableFiles(const std::string& output, const InputOptions& input, const Shape& image, const SumTypes& types,
             Border border, const std::string& algorithm);

  /// Writes the tables of a plan with these options.
  void write(const SatTable& tables, const SatOptions& options);

  /// Opens the files of sums and, if requested, squares and counts; the constructor's SumTypes have the type of
  /// squares. `put` is not thread-safe. The files appear with `finish`.
  void open(const Shape& sums, bool squares, const std::optional<Shape>& counts);
  void put(std::int64_t x, std::int64_t y, const ConstView& sums, const ConstView& squares, const ConstView& counts);
  void finish();

  /// The files written or open.
  const std::vector<std::string>& names() const noexcept { return names_; }

 private:
  std::filesystem::path path_of(const std::string& kind) const;
  std::filesystem::path describe(const std::string& kind, Type input, Type table);
  media::TableWriter writer(const std::string& kind, Type input, Type table, Shape shape);

  std::filesystem::path path_;
  SumTypes types_;
  media::TableFile description_;
  std::vector<std::string> names_, companions_;  // companions: kinds of the other tables, for the sidecar of the sums
  std::optional<media::TableWriter> sums_, squares_, counts_;
};

}  // namespace areal::command
