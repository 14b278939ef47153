// The doors of filters: windows straight from the pixels, at once and by strips.

#include <areal/filter.hpp>
#include <areal/strips.hpp>

#include "door.hpp"
#include "run.hpp"
#include "strips.hpp"
#include "tables.hpp"

namespace doors {
namespace {

areal::Filter filter_of(const Json& window) {
  const auto stat = window.value("stat", std::string("mean"));
  const auto threshold = [&](areal::filter::Local method) {
    areal::filter::Threshold made{.method = method, .offset = window.value("offset", 0.0)};
    if (method == areal::filter::Local::sauvola) made.r = window.value("r", 128.0);
    return made;
  };
  if (stat == "threshold") return threshold(areal::filter::Local::mean);
  if (stat == "bradley") return threshold(areal::filter::Local::bradley);
  if (stat == "niblack") return threshold(areal::filter::Local::niblack);
  if (stat == "sauvola") return threshold(areal::filter::Local::sauvola);
  if (stat == "wolf") return threshold(areal::filter::Local::wolf);
  if (stat == "nick") return threshold(areal::filter::Local::nick);
  if (stat == "min") return areal::filter::Minimum{};
  if (stat == "max") return areal::filter::Maximum{};
  if (stat == "guided") return areal::filter::Guided{window.at("eps").get<double>()};
  if (stat == "gaussian")
    return areal::filter::Gaussian{window.at("sigma").at(0).get<double>(), window.at("sigma").at(1).get<double>()};
  if (stat == "sum") return areal::filter::Sum{};
  if (stat == "mean") return areal::filter::Mean{};
  if (stat == "count") return areal::filter::Count{};
  if (stat == "variance") return areal::filter::Variance{};
  if (stat == "std") return areal::filter::StandardDeviation{};
  if (stat == "median") return areal::filter::Percentile{};
  if (stat == "percentile") return areal::filter::Percentile{25};
  if (stat == "equalize") return areal::filter::Equalize{};
  if (stat == "otsu") return areal::filter::Otsu{};
  if (stat == "entropy") return areal::filter::Entropy{};
  if (stat == "modal") return areal::filter::Modal{};
  if (stat == "bilateral") return areal::filter::Bilateral{25};
  throw BadQuestion("window: its stat " + stat +
                    " is none of sum, mean, count, variance, std, median, percentile, equalize, otsu, entropy, modal, "
                    "bilateral, threshold, "
                    "bradley, niblack, sauvola, wolf, nick, min, max, guided, gaussian");
}

areal::FilterOptions options_of(const Question& q, const Inputs& inputs) {
  areal::FilterOptions options;
  options.window = window_of(q);
  options.sizes = q.has("sizes");
  options.nan = q.flag("ignore_nan") ? areal::Missing::omit : areal::Missing::propagate;
  options.mask = inputs.mask.has_value();
  options.min_count = q.family() == "local" ? 1 : 0;  // windows of tables have a sum of no pixels, too
  return options;
}

Json answered(const Question& q, Room& out, Inputs& inputs) {
  inputs.expect_unchanged();
  Json answer = q.answer();
  const std::string path = q.text("out") + ".filter.npy";
  write_npy(path, out.take("the filter's output"));
  answer["window"] = path;
  return answer;
}

/// Windows of a size per pixel, where the question names them, and with channels that lie as the image's.
std::optional<Room> sizes_of(const Question& q) {
  if (!q.has("sizes")) return {};
  Elements elements = read_npy(q.text("sizes"));
  elements.shape.layout = layout_of(q.text("layout", "interleaved"));
  return Room(elements, lie_of_inputs(q), place_of(q));
}

Json filter(const Question& q) {
  if (!q.has("out")) throw BadQuestion("out: none is given");
  std::optional<Room> sizes = sizes_of(q);
  areal::FilterArguments arguments;
  if (sizes) arguments.sizes = std::as_const(*sizes).view();
  const Running running(q);
  Inputs inputs(q);
  const areal::ConstView image = inputs.image_view();
  const areal::FilterPlan plan(image.shape, image.type, type_of_name(q["window"].value("type", "64f")),
                               filter_of(q["window"]), options_of(q, inputs), running.execution());
  arguments.image = image, arguments.mask = inputs.mask_view();
  areal::Shape shape = plan.out_shape();
  if (q.has_param("out_layout")) shape.layout = layout_of(q.word("out_layout"));
  Room out(shape, plan.out(), lie_of_outputs(q), place_of(q));
  GuardedWorkspace workspace(plan, q);
  arguments.out = out.view();
  plan.execute(arguments, workspace.get());
  workspace.finish();
  if (sizes) sizes->expect_unchanged("sizes");
  return answered(q, out, inputs);
}

Json filter_by_strips(const Question& q) {
  if (!q.has("out")) throw BadQuestion("out: none is given");
  Inputs inputs(q.with_param("memory", "host"));
  const areal::ConstView image = inputs.image_view(), mask = inputs.mask_view();
  areal::StripFilter strips(image.shape, image.type, type_of_name(q["window"].value("type", "64f")),
                            filter_of(q["window"]), options_of(q, inputs), strip_options_of(q, false));
  Room out(strips.output_shape(), type_of_name(q["window"].value("type", "64f")), lie_of_outputs(q));
  std::int64_t next = 0;
  strips.run(
      reader_of(image),
      [&](const areal::WindowStrip& strip) {
        const areal::ConstView& rows = strip.values[0];
        if (strip.y != next) throw Failed("a strip begins at row " + std::to_string(strip.y));
        next += rows.shape.height;
        copy_elements(rows, part(out.view(), 0, strip.y, rows.shape.width, rows.shape.height));
        return true;
      },
      inputs.mask ? reader_of(mask) : areal::ImageReader());
  if (next != strips.output_shape().height) throw Failed("strips end at row " + std::to_string(next));
  return answered(q, out, inputs);
}

const std::vector<Door> doors = {{"filter", {"window", "ranks", "local"}, filter},
                                 {"sizes-filter", {"sizes"}, filter},
                                 {"strip-filter", {"window", "ranks", "local"}, filter_by_strips}};

}  // namespace

std::span<const Door> filter_doors() { return doors; }

}  // namespace doors
