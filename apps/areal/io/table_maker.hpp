#pragma once
// Computes the tables of consecutive images, with one plan per shape and memory reused between images.

#include <areal/research/sat.hpp>
#include <optional>
#include <string>
#include "exact_sums.hpp"
#include "settings.hpp"

namespace areal::command {

struct TableRequest {
  SatOptions options;  // TableMaker adds types and squares, which depend on the image
  research::SatParameters parameters;
  std::optional<TypePair> types;
  std::string squares;       // a type's name, "auto", or empty for no table of squares
  std::uint64_t memory = 0;  // limit of an image and its tables; 0: free memory
  std::string memory_option = {};
  bool best_r = false;  // choose the best r of hybrid-1r1w for each size
};

/// Parses --squares; empty: no squares. Throws InvalidArgument for an unknown type.
Squares squares_named(const std::string& text);

class TableMaker {
 public:
  /// Throws InvalidArgument for an unknown type of squares.
  explicit TableMaker(TableRequest request);

  /// Computes the tables. Messages call the image `name`. Throws InvalidArgument for types that cannot hold the pixels.
  void make(const ConstView& image, const ConstView& mask, const std::string& name, const Settings& settings);

  const SatPlan& plan() const { return *plan_; }
  std::string algorithm() const { return workspace_->algorithm(); }  ///< of the last tables
  const SatTable& table() const noexcept { return table_; }          ///< in host memory
  double seconds() const noexcept { return seconds_; }
  /// Of the last image, for require_exact.
  const SumTypes& sum_types() const noexcept { return sum_types_; }

 private:
  void plan_for(const ConstView& image, TypePair types, const std::string& name, const Settings& settings);

  TableRequest request_;
  std::optional<SatPlan> plan_;
  std::optional<Workspace> workspace_;
  Type image_type_ = Type::u8;
  SatTable table_;
  SumTypes sum_types_;
  double seconds_ = 0;
};

}  // namespace areal::command
