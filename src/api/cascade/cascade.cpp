// Cascades from files and text.
#include <areal/cascade.hpp>
#include <areal/error.hpp>
#include <fstream>
#include <string>
#include <utility>
#include "api/cascade/cascade_state.hpp"
#include "api/core/require.hpp"

namespace areal {

std::string_view name_of(CascadeKind kind) noexcept { return kind == CascadeKind::haar ? "haar" : "lbp"; }

Cascade::Cascade(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}

Cascade Cascade::load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw IoError(path + ": cannot be opened");
  std::string text;
  constexpr std::size_t most = (std::size_t{64} << 20) + 1;
  for (std::size_t piece = std::size_t{1} << 16; file && text.size() < most; piece *= 2) {
    const std::size_t size = text.size();
    text.resize(std::min(most, size + piece));
    file.read(text.data() + size, static_cast<std::streamsize>(text.size() - size));
    text.resize(size + static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) throw IoError(path + ": cannot be read");
  try {
    return parse(text);
  } catch (const InvalidArgument& e) {
    throw InvalidArgument(path + ": " + e.what());
  }
}

Cascade Cascade::parse(std::string_view text) {
  return Cascade(std::make_shared<const State>(State{read_cascade(text)}));
}

BoxSize Cascade::window() const noexcept { return {state_->model.width, state_->model.height}; }
CascadeKind Cascade::kind() const noexcept { return state_->model.is_lbp ? CascadeKind::lbp : CascadeKind::haar; }
std::int64_t Cascade::stages() const noexcept { return static_cast<std::int64_t>(state_->model.stages.size()); }
std::int64_t Cascade::features() const noexcept { return static_cast<std::int64_t>(state_->model.features.size()); }
bool Cascade::has_tilted() const noexcept { return state_->model.has_tilted; }
const Cascade::State& Cascade::state() const noexcept { return *state_; }

}  // namespace areal
