#pragma once
// Computes the layer that a page requests.

#include <cstdint>
#include "view/layer.hpp"
#include "view/message.hpp"

namespace areal::command::page {

/// `memory`: bytes that it may take. Throws Error, whose sentences name the page's fields, and Cancelled.
view::Layer make_layer(const view::Scene& scene, const AskLayer& ask, std::uint64_t memory, int threads);

}  // namespace areal::command::page
