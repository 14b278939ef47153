// areal.filters: template matching and its peaks.
#include <areal/error.hpp>
#include <areal/match.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>
#include "bindings.hpp"
#include "planned.hpp"
#include "process.hpp"
#include "recently_used.hpp"

namespace areal::python {

template <>
struct Arguments<MatchPlan> {
  using Type = MatchArguments;
};

namespace {

MatchMethod method_of(const std::string& name) {
  if (const auto method = match_method_named(name)) return *method;
  throw InvalidArgument("method " + name +
                        ": may be sqdiff, sqdiff-normed, ccorr, ccorr-normed, ccoeff or ccoeff-normed");
}

/// The axes of a template: the image's without N.
const Axes& axes_of_template(const Axes& axes) {
  if (axes.volume) throw InvalidArgument("axes DHW: templates are of images; with NHW each slice is one");
  if (axes.n < 0) return axes;
  std::string letters = axes.letters;
  std::erase(letters, 'N');
  return Axes::of(letters, letters.size());
}

/// An image and a template in the same memory order.
struct Pair {
  CallArrays arrays;
  PythonArray image, kept;
  Pixels pixels;
  ConstView templ;
  const Axes& axes;

  Pair(nb::handle on, nb::handle array, nb::handle of_template, std::string_view letters, bool may_transpose)
      : arrays{Framework(on)}, image(arrays.first(array, "array")), axes(Axes::of(letters, image.ref().dimensions)) {
    const Axes& own = axes_of_template(axes);
    pixels = arrays.pixels(array, axes, may_transpose, false, image);
    if (arrays.read(of_template, "template").ref().dimensions != static_cast<std::size_t>(own.dimensions))
      throw InvalidArgument("template: it must have the axes " + std::string(own.letters) + ", as the image does");
    const bool planar = own.c >= 0 && own.c != own.dimensions - 1;
    templ = arrays.view(of_template, "template", own,
                        {planar ? Layout::planar : Layout::interleaved, pixels.order.transposed, 0}, kept);
    if (templ.type != pixels.view.type)
      throw InvalidArgument("template of " + std::string(numpy_name(templ.type)) + ": the image is of " +
                            numpy_name(pixels.view.type));
  }
};

struct MatchKey {
  PlanKey plan;
  bool transposed;
  Shape templ;
  MatchMethod method;
  Type out;
  std::string algorithm;
  int threads;
  friend bool operator==(const MatchKey&, const MatchKey&) = default;
};

/// The scores, with the image's axes but C.
nb::object matched(nb::handle on, nb::handle array, nb::handle of_template, const std::string& letters, nb::handle out,
                   const std::string& method, const std::string& dtype, const std::string& algorithm, int threads) {
  static auto& recent = *new RecentlyUsed<MatchKey, Planned<MatchPlan>>;  // see areal.sat
  Pair pair(on, array, of_template, letters, true);
  const ConstView& image = pair.pixels.view;
  MatchKey key{{image.shape, image.type, pair.pixels.order.layout, &pair.axes, image.memory, 0},
               pair.pixels.order.transposed,
               pair.templ.shape,
               method_of(method),
               type_of_numpy_name(dtype, "dtype"),
               algorithm,
               threads};
  key.plan.is_numpy = pair.arrays.framework().is_numpy(), key.plan.is_forked = is_forked_child();
  const auto planned = recent.get(key, [&] {
    return std::make_shared<Planned<MatchPlan>>(image.shape, pair.templ.shape, image.type, key.out,
                                                MatchOptions{key.method, algorithm},
                                                execution_for(execution_of("auto", 0, threads), key.plan));
  });
  const Axes& axes = pair.axes.without_channels();
  const Order order{Layout::interleaved, pair.pixels.order.transposed, 0};
  const Shape shape = planned->plan.out_shape();
  MatchArguments arguments{image, pair.templ, {}};
  if (!out.is_none()) {
    const PythonArray given = pair.arrays.writable(out);
    require_like(given.ref(), array_shape(ConstView(nullptr, key.out, shape), axes, order), key.out);
    const std::optional<View> view = writable_view(given.ref(), axes, order);
    if (!view) throw InvalidArgument("out: its memory must lie as the image's does");
    arguments.out = *view;
    planned->execute(arguments, pair.arrays);
    return nb::borrow(out);
  }
  const std::string in_memory = memory_letters(axes, order);
  NewArray made = pair.arrays.empty(key.out, extents_of(shape, in_memory, order));
  arguments.out = View(made.data(), key.out, shape);
  planned->execute(arguments, pair.arrays);
  return pair.arrays.framework().reordered(made.take(), in_memory, axes.letters);
}

using HitOfPython = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, double, double>;

std::vector<HitOfPython> hits(nb::handle on, nb::handle array, nb::handle of_template, const std::string& letters,
                              const std::vector<double>& scales, const std::string& method, std::int64_t top,
                              std::optional<double> threshold, std::optional<std::int64_t> distance,
                              const std::string& algorithm, int threads) {
  const Pair pair(on, array, of_template, letters, false);  // equal hits are in the order of rows
  const HitOptions options{method_of(method), threshold, top, distance, algorithm};
  const Execution execution = execution_of("auto", 0, is_forked_child() ? 1 : threads);
  std::vector<Hit> found;
  without_gil(true, [&] { found = match_hits(pair.pixels.view, pair.templ, scales, options, execution); });
  std::vector<HitOfPython> answer;
  answer.reserve(found.size());
  for (const Hit& hit : found) answer.emplace_back(hit.x, hit.y, hit.width, hit.height, hit.scale, hit.score);
  return answer;
}

std::vector<std::tuple<std::int64_t, std::int64_t, double>> peaks_of(nb::handle on, nb::handle scores, std::int64_t top,
                                                                     std::optional<double> threshold,
                                                                     std::int64_t distance, bool minima, int threads) {
  const CallArrays arrays{Framework(on)};
  CallArrays reading = arrays;
  PythonArray kept = reading.first(scores, "scores");
  const Axes& axes = Axes::of("HW", kept.ref().dimensions);
  const Pixels pixels = reading.pixels(scores, axes, false, false, kept);
  std::vector<Peak> found;
  const Execution execution = execution_of("auto", 0, is_forked_child() ? 1 : threads);
  without_gil(true, [&] { found = peaks(pixels.view, {threshold, top, distance, minima}, execution); });
  std::vector<std::tuple<std::int64_t, std::int64_t, double>> answer;
  answer.reserve(found.size());
  for (const Peak& peak : found) answer.emplace_back(peak.x, peak.y, peak.score);
  return answer;
}

}  // namespace

void bind_match(nb::module_& m) {
  m.def("match", &matched, nb::arg("on"), nb::arg("array"), nb::arg("template"), nb::arg("axes"), nb::arg("out").none(),
        nb::arg("method"), nb::arg("dtype"), nb::arg("algorithm"), nb::arg("threads"));
  m.def("match_hits", &hits, nb::arg("on"), nb::arg("array"), nb::arg("template"), nb::arg("axes"), nb::arg("scales"),
        nb::arg("method"), nb::arg("top"), nb::arg("threshold").none(), nb::arg("distance").none(),
        nb::arg("algorithm"), nb::arg("threads"));
  m.def("peaks", &peaks_of, nb::arg("on"), nb::arg("scores"), nb::arg("top"), nb::arg("threshold").none(),
        nb::arg("distance"), nb::arg("minima"), nb::arg("threads"));
}

}  // namespace areal::python
