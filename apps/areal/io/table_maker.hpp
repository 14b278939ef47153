#pragma once
// The tables of one image after another: planned once per shape, memory kept between frames.

#include <areal/research/sat.hpp>
#include <optional>
#include <string>
#include "exact_sums.hpp"
#include "settings.hpp"

namespace areal::command {

struct TableRequest {
  SatOptions options;  // without types and squares, which depend on the image
  research::SatParameters parameters;
  std::optional<TypePair> types;
  std::string squares;       // a type's name, "auto", or empty for no such table
  std::uint64_t memory = 0;  // that an image may take with its tables; 0: what is free
  std::string memory_option = {};
  bool best_r = false;  // of hybrid-1r1w, the r that does best for each size
};

/// Of --squares for such pixels; an empty text asks for none. Throws InvalidArgument for a type that there is not.
Squares squares_named(const std::string& text);

class TableMaker {
 public:
  /// Throws InvalidArgument for squares of a type that there is not.
  explicit TableMaker(TableRequest request);

  /// Computes. `name` is the image's, for sentences. Throws InvalidArgument for types that cannot hold the image.
  void make(const ConstView& image, const ConstView& mask, const std::string& name, const Settings& settings);

  const SatPlan& plan() const { return *plan_; }
  std::string algorithm() const { return workspace_->algorithm(); }  ///< what made the last tables
  const SatTable& table() const noexcept { return table_; }          ///< in host memory
  double seconds() const noexcept { return seconds_; }
  /// Of the last image: what decides whether an answer may have wrapped.
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
