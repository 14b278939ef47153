#pragma once
// `areal filter NAME INPUT --memory 4G`: a filter of an image that passes strip by strip, into a file that grows row by
// row.

#include <areal/filter.hpp>
#include <functional>
#include <string>
#include "io/input.hpp"
#include "io/routing.hpp"
#include "io/settings.hpp"

namespace areal::command {

/// What to filter, resolved.
struct FilterJob {
  const InputOptions& input;
  std::string output, mask, guide;  ///< files; those of mask and guide may be empty
  std::string size;                 ///< "--size 31", for messages
  Filter filter;
  FilterOptions options;
  std::function<Type(Type image)> output_type;
};

/// Bytes of the image and the output. Opens the image, as does `image_type`.
std::uint64_t whole_bytes(const FilterJob& job, const Settings& settings);
Type image_type(const FilterJob& job, const Settings& settings);

/// Throws InvalidArgument if --edge valid leaves no output.
void require_output(const FilterJob& job, const Shape& image, const Shape& output);

/// Throws OutOfMemory where --memory is too little for the rows of a window.
void filter_by_strips(const FilterJob& job, const Limits& limits, const Settings& settings);

}  // namespace areal::command
