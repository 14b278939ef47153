// Template matching: checks, the choice of the algorithm, and an execute.
#include <algorithm>
#include <areal/error.hpp>
#include <areal/match.hpp>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include "api/core/execute.hpp"
#include "api/core/memory_check.hpp"
#include "api/core/plan_state.hpp"
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "cpu/match/match.hpp"
#include "policy/match_choice.hpp"

namespace areal {

namespace {

constexpr std::array<std::string_view, 6> method_names = {"sqdiff",       "sqdiff-normed", "ccorr",
                                                          "ccorr-normed", "ccoeff",        "ccoeff-normed"};

constexpr ArgumentViews<MatchArguments, 2, 1> match_views{
    {{{"image", &MatchArguments::image}, {"template", &MatchArguments::templ}}}, {{{"out", &MatchArguments::out}}}};

}  // namespace

std::string_view name_of(MatchMethod method) noexcept { return method_names[static_cast<std::size_t>(method)]; }

std::optional<MatchMethod> match_method_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i < method_names.size(); ++i)
    if (method_names[i] == name) return static_cast<MatchMethod>(i);
  return std::nullopt;
}

struct MatchPlan::State : Plan::State {
  Shape image, templ;
  Type in = Type::u8, out = Type::f32;
  MatchOptions options;
  std::optional<cpu::Match> match;  // none for an output without elements

  Shape out_shape() const { return {image.width - templ.width + 1, image.height - templ.height + 1, 1, image.batch}; }
  void prepare(void*, Stream) const override {}
};

namespace {

void check_request(const Shape& image, const Shape& templ, Type in, Type out, const MatchOptions& options,
                   const Execution& execution) {
  check_shape("image", image, in);
  check_shape("template", templ, in);
  require(in == Type::u8 || in == Type::u16 || in == Type::f32 || in == Type::f64, "image type ", name_of(in),
          ": it may be 8u, 16u, 32f or 64f");
  require(out == Type::f32 || out == Type::f64, "out type ", name_of(out), ": scores are 32f or 64f");
  require(static_cast<std::size_t>(options.method) < method_names.size(), "method ", static_cast<int>(options.method),
          ": there are 0 to ", method_names.size() - 1);
  require(templ.batch == 1, "template: ", templ.batch, " images, it may be one");
  require(templ.channels == image.channels, "template: ", templ.channels, " channels, the image has ", image.channels);
  require(image.channels > 0, "image: it has no channels");
  require(templ.width > 0 && templ.height > 0, "template of ", templ.width, "x", templ.height, " has no pixels");
  require(templ.width <= image.width && templ.height <= image.height, "template of ", templ.width, "x", templ.height,
          " is larger than the image of ", image.width, "x", image.height);
  require(static_cast<double>(templ.width) * static_cast<double>(templ.height) * static_cast<double>(image.channels) <
              0x1p31,
          "template of ", templ.width, "x", templ.height, "x", templ.channels, " has 2^31 or more elements");
  require(options.algorithm == "auto" || options.algorithm == "fft" || options.algorithm == "direct", "algorithm ",
          options.algorithm, " is not one of auto, fft, direct");
  require(execution.threads >= 0, "threads ", execution.threads, ": it may be 0 (all) or more");
  require(execution.backend == Backend::automatic || execution.backend == Backend::cpu, "backend ",
          name_of(execution.backend), ": template matching runs on the CPU");
}

/// The largest error of a product of transforms, in units of the norms of its factors: a twiddle factor of kissfft is
/// within 18 * 2^-53, its product within 3 and the rest of a butterfly within 11, for three transforms along two axes,
/// and the product of the spectra. Gentleman and Sande 1966.
double error_of(const policy::MatchTiles& tiles) {
  return 32 * 0x1p-53 * (3 * (policy::butterflies(tiles.width) + policy::butterflies(tiles.height)) + 1);
}

/// The largest error of a sum of products of integers. Two tiles, or two bytes, are at most 2^7 in magnitude.
double error_of_integers(const policy::MatchTiles& tiles, const Shape& templ, Type in, int parts) {
  const double pixels = static_cast<double>(tiles.width) * static_cast<double>(tiles.height);
  const double of_template = static_cast<double>(templ.width) * static_cast<double>(templ.height);
  const double most = in == Type::u16 && parts == 1 ? 0x1p15 : 0x1p7;
  return error_of(tiles) * static_cast<double>(templ.channels) * 0x1p7 * std::sqrt(2 * pixels) * most *
         std::sqrt(of_template);
}

constexpr double most_error = 0.25;

struct MatchChoice {
  policy::MatchTiles tiles;
  int parts = 1;
  std::string reason;
};

MatchChoice choose(const Shape& image, const Shape& templ, Type in, const std::string& algorithm) {
  MatchChoice direct{policy::direct_tiles(image, templ), 1, "requested"};
  if (algorithm == "direct") return direct;
  if (algorithm == "auto" && !cpu::Transform::is_available()) {
    direct.reason = "this library was built without kissfft";
    return direct;
  }
  MatchChoice fft{policy::fft_tiles(image, templ, in != Type::u16, 1), 1, "requested"};
  const auto inexact = [&] { return !is_float(in) && error_of_integers(fft.tiles, templ, in, fft.parts) > most_error; };
  if (in == Type::u16 && fft.tiles.fft && inexact()) fft = {policy::fft_tiles(image, templ, false, 2), 2, fft.reason};
  if (algorithm == "auto" && direct.tiles.nanoseconds <= fft.tiles.nanoseconds && direct.tiles.nanoseconds < 1e12) {
    direct.reason = "a small template needs few products";
    return direct;
  }
  require(fft.tiles.fft, "template of ", templ.width, "x", templ.height, ": algorithm fft takes up to ",
          policy::most_transform, " pixels along each axis, direct any");
  require(!inexact(), "template of ", templ.width, "x", templ.height, ": algorithm fft could err by ",
          error_of_integers(fft.tiles, templ, in, fft.parts),
          " in a sum of products, where 1/4 is allowed; direct is exact");
  if (algorithm == "auto") fft.reason = "fewer operations than one for each pixel of the template";
  return fft;
}

}  // namespace

MatchPlan::MatchPlan(const Shape& image, const Shape& templ, Type in, Type out, const MatchOptions& options,
                     const Execution& execution)
    : Plan([&]() -> std::shared_ptr<const Plan::State> {
        check_request(image, templ, in, out, options, execution);
        auto state = std::make_shared<State>();
        state->execution = execution;
        state->execution.backend = Backend::cpu;
        require_stream_of(state->execution);
        state->image = image, state->templ = templ, state->in = in, state->out = out, state->options = options;
        const MatchChoice choice = choose(image, templ, in, options.algorithm);
        state->algorithm = choice.tiles.fft ? "fft" : "direct";
        state->reason = choice.reason;
        if (state->out_shape().empty()) return state;
        cpu::MatchRequest request;
        request.method = options.method;
        request.image = image, request.templ = templ, request.in = in, request.out = out;
        request.fft = choice.tiles.fft;
        request.width = choice.tiles.width, request.height = choice.tiles.height;
        request.step_x = choice.tiles.step_x, request.step_y = choice.tiles.step_y;
        request.across = choice.tiles.across, request.down = choice.tiles.down;
        request.parts = choice.parts;
        request.error = error_of(choice.tiles);
        request.threads = execution.threads;
        state->workspace_bytes = state->match.emplace(request).workspace_bytes();
        return state;
      }()) {}

void MatchPlan::execute(const MatchArguments& arguments, Workspace& workspace) const {
  const State& s = state();
  Workspace::State& w = require_workspace(s, workspace);
  check_view("image", arguments.image, s.image, s.in);
  Shape templ = s.templ, out = s.out_shape();
  templ.layout = arguments.templ.shape.layout, out.layout = arguments.out.shape.layout;  // any
  check_view("template", arguments.templ, templ, s.in);
  check_view("out", arguments.out, out, s.out);
  require_memories(*this, match_views, arguments, true);
  require(!may_overlap(arguments.image, arguments.out), "out: it overlaps the image");
  require(!may_overlap(arguments.templ, arguments.out), "out: it overlaps the template");
  execute_in(w, match_views, arguments, [&](const MatchArguments& there, void* memory, Stream) {
    if (s.match) s.match->execute(there, memory);
    w.ran = s.algorithm;
  });
}

const MatchPlan::State& MatchPlan::state() const noexcept { return static_cast<const State&>(*state_); }
const Shape& MatchPlan::image_shape() const noexcept { return state().image; }
const Shape& MatchPlan::template_shape() const noexcept { return state().templ; }
Shape MatchPlan::out_shape() const noexcept { return state().out_shape(); }
Type MatchPlan::in() const noexcept { return state().in; }
Type MatchPlan::out() const noexcept { return state().out; }
const MatchOptions& MatchPlan::options() const noexcept { return state().options; }

void match_template(const ConstView& image, const ConstView& templ, const View& out, const MatchOptions& options,
                    const Execution& execution) {
  require(templ.type == image.type, "template type ", name_of(templ.type), ": the image is of ", name_of(image.type));
  const MatchPlan plan(image.shape, templ.shape, image.type, out.type, options, execution_of(image, execution));
  Workspace workspace(plan);
  plan.execute({image, templ, out}, workspace);
}

}  // namespace areal
