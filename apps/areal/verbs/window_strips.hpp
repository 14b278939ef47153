#pragma once
// `areal window INPUT --memory 4G`: windows of an image that passes strip by strip, into a file that grows row by row.

#include "io/routing.hpp"
#include "io/settings.hpp"
#include "window_answer.hpp"

namespace areal::command {

/// Throws OutOfMemory where --memory is too little for the rows of a window.
void windows_by_strips(const WindowRequest& request, const Limits& limits, const Settings& settings);

}  // namespace areal::command
