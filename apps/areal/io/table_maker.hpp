#pragma once
// The tables of one image after another: planned once per shape, memory kept between frames.

#include <areal/sat.hpp>
#include <memory>
#include <optional>
#include <string>
#include "answers.hpp"

namespace areal::command {

class TableMaker {
 public:
  /// `type pair` by name; empty takes the default of each image. `squares` is a type's name, "auto", or empty.
  /// `best_r`: of hybrid-1r1w, the r that does best for each size.
  TableMaker(SatOptions options, std::string types, std::string squares, bool best_r = false);

  /// Computes. `name` is the image's, for sentences. Throws InvalidArgument for a type pair that cannot hold the image.
  void make(const ConstView& image, const ConstView& mask, const std::string& name, const Settings& settings);

  const SatPlan& plan() const { return runner_->plan(); }
  const Array& sum() const noexcept { return sum_; }
  const Array& squares() const noexcept { return squares_; }
  const Array& tilted() const noexcept { return tilted_; }
  const Array& count() const noexcept { return count_; }
  double seconds() const noexcept { return seconds_; }
  /// The tables of one channel (planar ones), for answers.
  Tables of_channel(std::int64_t channel) const;

 private:
  TypePair types_for(const ConstView& image, const std::string& name) const;
  void plan_for(const ConstView& image, TypePair types, const std::string& name, const Settings& settings);

  SatOptions options_;
  std::string types_, squares_text_;
  bool best_r_;
  std::optional<SatRunner> runner_;
  Type image_type_ = Type::u8;
  Array sum_, squares_, tilted_, count_;
  double seconds_ = 0;
};

/// The type of the table of squares: as named, or by `auto` one that does not wrap soon.
Type squares_type(const std::string& text, Type image);

}  // namespace areal::command
