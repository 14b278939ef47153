#pragma once
// The state of FilterPlan.

#include <areal/filter.hpp>
#include <optional>
#include <string_view>
#include <variant>
#include "api/core/choice.hpp"
#include "api/core/plan_state.hpp"
#include "cpu/filter/blocks.hpp"
#include "cpu/filter/extremes.hpp"
#include "cpu/filter/gaussian.hpp"
#include "cpu/filter/guided.hpp"
#include "cpu/filter/levels.hpp"
#include "cpu/filter/ranks.hpp"
#include "cpu/filter/sized.hpp"
#include "cpu/filter/walk.hpp"
#include "formulas/window_axis.hpp"
#include "kernels/filter/request.hpp"

namespace areal {

struct FilterPlan::State : Plan::State {
  Shape image;
  Type in = Type::u8, out = Type::u8;
  Filter filter;
  FilterOptions options;
  formulas::WindowAxis columns, rows;
  /// Of the algorithm on the CPU; none for an output without elements.
  std::variant<std::monostate, cpu::Walk, cpu::Blocks, cpu::Extremes, cpu::Guided, cpu::Gaussian, cpu::Ranks,
               cpu::Levels, cpu::Sized>
      on_cpu;
  std::optional<Choice<kernels::FilterSubject>> device;  // on cuda or simt

  Shape out_shape() const { return {columns.outputs, rows.outputs, image.channels, image.batch, image.layout}; }
  void prepare(void* memory, Stream stream) const override;
  /// Runs on views of memory where the plan runs; returns the algorithm.
  std::string_view run(const FilterArguments& arguments, void* memory, Stream stream) const;
  /// Empty, or why its output cannot be made in parts by `run_rows`.
  std::string_view needs_the_whole() const;
  /// On the CPU: some rows of the output, from views of the rows of the image that their windows see.
  void run_rows(const FilterArguments& arguments, const cpu::FilterRows& part, void* memory) const;
};

}  // namespace areal
