#include "run.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <iomanip>
#include <sstream>

namespace doors {

namespace {

template <class T>
T as(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// The sum of two NaNs is either of them, so sign and payload of a NaN may differ from run to run.
bool is_nan(const std::byte* element, areal::Type type) {
  switch (type) {
    case areal::Type::f16:
      return (as<std::uint16_t>(element) & 0x7fff) > 0x7c00;
    case areal::Type::f32:
      return std::isnan(as<float>(element));
    case areal::Type::f64:
      return std::isnan(as<double>(element));
    default:
      return false;
  }
}

}  // namespace

Running::Running(const Question& q) : execution_(execution_of(q)) {
  if (execution_.backend != areal::Backend::cuda) return;
  const std::string stream = q.word("stream", "legacy");
  if (stream == "own") {
    own_.emplace(execution_);
    execution_.stream = own_->get();
  } else if (stream == "legacy") {
    execution_.stream = areal::Stream::legacy_default();
  }
}

GuardedWorkspace::GuardedWorkspace(const areal::Plan& plan, const Question& q) {
  const bool on_host = place_of(q).is_host();
  if (q.word("workspace", plan.memory().is_host() == on_host ? "mine" : "own") == "own") {
    workspace_.emplace(plan);
    return;
  }
  room_.emplace(plan.workspace_bytes(), q, plan.memory());
  const areal::Stream otherwise = plan.memory().is_host() ? areal::Stream::host() : areal::Stream::legacy_default();
  workspace_.emplace(plan, room_->span(), plan.execution().stream.value_or(otherwise));
}

void GuardedWorkspace::finish() {
  workspace_->wait();
  if (room_) room_->expect_guarded();
}

void expect_equal(const Elements& a, const Elements& b, const std::string& what) {
  if (a.shape.width != b.shape.width || a.shape.height != b.shape.height || a.shape.channels != b.shape.channels ||
      a.shape.batch != b.shape.batch || a.type != b.type)
    throw Failed(what + ": shapes or types differ");
  const std::size_t size = areal::size_of(a.type);
  const auto hex = [size](const std::byte* from) {
    std::ostringstream text;  // the highest byte first
    text << std::hex << std::setfill('0');
    for (std::size_t i = size; i-- > 0;) text << std::setw(2) << std::to_integer<int>(from[i]);
    return text.str();
  };
  for (std::size_t i = 0; i < a.bytes.size(); i += size)
    if (std::memcmp(&a.bytes[i], &b.bytes[i], size) != 0 &&
        !(is_nan(&a.bytes[i], a.type) && is_nan(&b.bytes[i], a.type)))
      throw Failed(what + ": element " + std::to_string(i / size) + " of " + std::to_string(a.bytes.size() / size) +
                   " (C-order) differs: 0x" + hex(&a.bytes[i]) + " and 0x" + hex(&b.bytes[i]));
}

void expect_equal(const std::optional<Elements>& a, const std::optional<Elements>& b, const std::string& what) {
  if (a.has_value() != b.has_value()) throw Failed(what + ": only one is there");
  if (a) expect_equal(*a, *b, what);
}

}  // namespace doors
