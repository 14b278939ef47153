// Windows of tables.

#include <areal/window.hpp>

#include "tables.hpp"

namespace doors {

Json answer_window(const Question& q, const Tables& tables) {
  if (tables.reverse) throw BadQuestion("window: of a reversed table");
  if (tables.volume) throw BadQuestion("window: of a volume");
  if (!q.has("out")) throw BadQuestion("out: none is given");
  const areal::Window window = window_of(q);
  const bool by_stats = q.has("stats") && q["stats"].size() == 1;
  const std::string stat = q["window"].value("stat", by_stats ? q["stats"][0].get<std::string>() : "mean");
  const areal::SatView view = tables.view();
  areal::Shape shape = areal::window_shape(view.sum.image_width(), view.sum.image_height(), window);
  shape.channels = tables.sum.shape.channels;
  shape.batch = tables.sum.shape.batch;
  shape.layout = q.has_param("out_layout") ? layout_of(q.word("out_layout")) : tables.sum.shape.layout;
  const bool on_device = q.word("ask_from", "host") == "device";
  Room out(shape, type_of_name(q["window"].value("type", "64f")), lie_of_outputs(q),
           on_device ? view.memory() : areal::MemoryPlace());
  const areal::Execution on = query_options(q).execution;
  const auto ask = [&stat, &window, &on](const areal::SatView& table, const areal::View& to) {
    if (stat == "sum")
      areal::window_sums(table, window, to, on);
    else if (stat == "mean")
      areal::window_means(table, window, to, on);
    else if (stat == "variance")
      areal::window_variances(table, window, to, on);
    else if (stat == "std")
      areal::window_standard_deviations(table, window, to, on);
    else
      throw BadQuestion("window: its stat " + stat + " is none of sum, mean, variance, std");
  };
  if (q.word("by", "all") == "planes") {
    for (std::int64_t n = 0; n < shape.batch; ++n)
      for (std::int64_t c = 0; c < shape.channels; ++c) ask(plane_of(tables, c, n), areal::plane(out.view(), c, n));
  } else {
    ask(view, out.view());
  }
  Json answer = q.answer();
  const std::string path = q.text("out") + ".window.npy";
  write_npy(path, out.take("the windows"));
  answer["window"] = path;
  return answer;
}

}  // namespace doors
