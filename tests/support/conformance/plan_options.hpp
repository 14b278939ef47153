#pragma once
// All parameters of a SatPlan in one place: options, execution and the papers' parameters. The suites vary them
// together.

#include <areal/research/sat.hpp>
#include <optional>
#include <string>

namespace areal::conformance {

struct PlanOptions {
  Border border = Border::zero;
  std::string algorithm = "auto";
  Backend backend = Backend::cpu;
  int device = 0;
  int threads = 0;
  std::optional<Type> squares = {};  ///< 32u, 64u, 64f or 32f
  bool tilted = false;
  bool mask = false;
  bool ignore_nan = false;
  bool volume = false;
  bool reverse = false;
  bool carries = false;
  double r = 0.25;
  WarpScan scan = WarpScan::kogge_stone;
  Layout tables = Layout::planar;
  Progress progress = {};
  LaunchReport on_launch = {};
};

inline Squares squares_of(std::optional<Type> type) {
  if (!type) return Squares::no;
  return *type == Type::u32   ? Squares::u32
         : *type == Type::u64 ? Squares::u64
         : *type == Type::f32 ? Squares::f32
                              : Squares::f64;
}

/// Whether every backend sums squares of such pixels in that type.
inline bool has_squares(Type pixels, Type squares) {
  if (squares == Type::f64) return true;
  if (squares == Type::f32) return size_of(pixels) == 1 || pixels == Type::f16 || pixels == Type::f32;
  return !is_float(pixels) && (squares == Type::u64 || size_of(pixels) <= 2);
}

inline SatOptions options_of(const TypePair& types, const PlanOptions& asked) {
  SatOptions options;
  options.border = asked.border;
  options.types = types;
  options.algorithm = asked.algorithm;
  options.squares = squares_of(asked.squares);
  options.tilted = asked.tilted;
  options.mask = asked.mask;
  options.ignore_nan = asked.ignore_nan;
  options.volume = asked.volume;
  options.reverse = asked.reverse;
  options.carries = asked.carries;
  options.tables = asked.tables;
  options.progress = asked.progress;
  return options;
}
inline Execution execution_of(const PlanOptions& asked) {
  return {.backend = asked.backend, .device = asked.device, .threads = asked.threads};
}

inline SatPlan plan_of(const Shape& image, TypePair types, const PlanOptions& asked = {}) {
  return research::sat_plan(image, types.input, options_of(types, asked),
                            {.r = asked.r, .scan = asked.scan, .on_launch = asked.on_launch}, execution_of(asked));
}

}  // namespace areal::conformance
