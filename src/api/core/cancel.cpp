#include <areal/cancel.hpp>
#include <utility>
#include "cpu/cancellation.hpp"

namespace areal {

struct CancelScope::State : cpu::Cancellation {
  using cpu::Cancellation::Cancellation;
};

CancelScope::CancelScope(std::function<bool()> go_on) : state_(std::make_unique<State>(std::move(go_on))) {}
CancelScope::~CancelScope() = default;

}  // namespace areal
