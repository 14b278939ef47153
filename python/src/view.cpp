// areal.view: the picture that its page asks, and the regions drawn on it.
#include "view/picture.hpp"

#include <areal/error.hpp>
#include <cstring>
#include <memory>
#include <tuple>
#include <variant>
#include "arrays.hpp"
#include "bindings.hpp"
#include "process.hpp"
#include "view/compare.hpp"
#include "view/regions.hpp"

namespace areal::python {
namespace {

using BoxOfPython = std::array<std::int64_t, 4>;

Region region_of(const BoxOfPython& box) { return {box[0], box[1], box[2], box[3]}; }

/// A copy of an array in C order: C x H x W, or H x W as one channel.
Array planes_of(nb::handle array, const char* name) {
  const std::optional<ArrayRef> found = array_ref(array, name);
  if (!found || !found->memory.is_host() || found->dimensions < 2 || found->dimensions > 3)
    throw InvalidArgument(std::string(name) + ": must be an array of the host in C order");
  const std::size_t first = found->dimensions - 2;
  const Shape shape{found->extents[first + 1], found->extents[first], first == 0 ? 1 : found->extents[0], 1,
                    Layout::planar};
  Array planes(shape, found->type);
  if (planes.bytes() != 0) std::memcpy(planes.data(), found->data, planes.bytes());
  return planes;
}

std::unique_ptr<view::Picture> make_picture(nb::handle planes, std::vector<std::string> names, nb::handle luma,
                                            std::int64_t bins, std::optional<std::pair<double, double>> range,
                                            std::uint64_t store_memory) {
  return std::make_unique<view::Picture>(planes_of(planes, "planes"), std::move(names),
                                         luma.is_none() ? Array() : planes_of(luma, "luma"),
                                         view::PictureOptions{bins, range, store_memory});
}

nb::object number_of(const view::Number& number) {
  return std::visit([](auto value) { return nb::object(nb::cast(value)); }, number);
}

/// (pixels, nan, sum as text, mean, std, min, max, under, over,
/// percentiles, histogram).
nb::tuple tuple_of(const view::Answer& answer) {
  const view::Moments& m = answer.moments;
  return nb::make_tuple(m.pixels, m.nans, m.sum, m.mean, m.deviation, number_of(m.least), number_of(m.most), m.under,
                        m.over, answer.percentiles, answer.histogram);
}

/// A tuple for each box; with a reference, one of the boxes by its index, each ends with the distances to it.
std::vector<nb::object> answers(const view::Picture& picture, std::size_t channel,
                                const std::vector<BoxOfPython>& boxes, std::optional<std::size_t> reference) {
  if (channel >= picture.channels()) throw InvalidArgument("channel: there is none of that number");
  if (reference && *reference >= boxes.size()) throw InvalidArgument("reference: must be the index of a box");
  std::vector<view::Answer> found;
  std::vector<std::array<double, view::measures.size()>> distances;
  without_gil(false, [&] {
    for (const BoxOfPython& box : boxes) found.push_back(picture.answer(channel, region_of(box)));
    if (reference)
      for (const view::Answer& answer : found) distances.push_back(view::distances_between(answer, found[*reference]));
  });
  std::vector<nb::object> tuples;
  for (std::size_t i = 0; i < found.size(); ++i)
    tuples.push_back(
        nb::make_tuple(tuple_of(found[i]), reference ? nb::object(nb::cast(distances[i])) : nb::object(nb::none())));
  return tuples;
}

nb::bytes tile(const view::Picture& picture, std::uint64_t channel, std::uint64_t level, std::uint64_t column,
               std::uint64_t row) {
  if (!picture.has_tile(channel, level, column, row)) throw InvalidArgument("tile: there is none of these numbers");
  std::string bytes;
  without_gil(false, [&] {
    bytes = picture.tile(channel, level, static_cast<std::int64_t>(column), static_cast<std::int64_t>(row));
  });
  return nb::bytes(bytes.data(), bytes.size());
}

std::vector<std::string> measure_names() {
  std::vector<std::string> names;
  for (const Distance measure : view::measures) names.emplace_back(name_of(measure));
  return names;
}

}  // namespace

void bind_view(nb::module_& m) {
  m.def("view_measures", &measure_names);
  nb::class_<view::Picture>(m, "ViewPicture")
      .def_prop_ro("width", &view::Picture::width)
      .def_prop_ro("height", &view::Picture::height)
      .def_prop_ro("type", [](const view::Picture& picture) { return std::string(name_of(picture.type())); })
      .def_prop_ro("names", &view::Picture::names)
      .def_prop_ro("colour", &view::Picture::colour)
      .def_prop_ro("levels",
                   [](const view::Picture& picture) {
                     std::vector<std::pair<std::int64_t, std::int64_t>> levels;
                     for (const view::Extent& level : picture.levels()) levels.emplace_back(level.width, level.height);
                     return levels;
                   })
      .def_prop_ro("range", &view::Picture::range)
      .def("set_range", &view::Picture::set_range, nb::arg("range"))
      .def_prop_ro("drawn", &view::Picture::drawn)
      .def_prop_ro("bins", &view::Picture::bins)
      .def_prop_ro("edges",
                   [](const view::Picture& picture) {
                     const auto [lo, hi] = picture.range();
                     return Binning::uniform(picture.bins(), lo, hi).bin_edges();
                   })
      .def("answers", &answers, nb::arg("channel"), nb::arg("boxes"), nb::arg("reference").none())
      .def("tile", &tile, nb::arg("channel"), nb::arg("level"), nb::arg("column"), nb::arg("row"));
  m.def("view_picture", &make_picture, nb::arg("planes"), nb::arg("names"), nb::arg("luma").none(), nb::arg("bins"),
        nb::arg("range").none(), nb::arg("store_memory"));
  nb::class_<view::Regions>(m, "ViewRegions")
      .def(nb::init<std::int64_t, std::int64_t>(), nb::arg("width"), nb::arg("height"))
      .def(
          "set",
          [](view::Regions& regions, std::int64_t id, const std::string& name, const BoxOfPython& box) {
            return regions.set(id, name, region_of(box));
          },
          nb::arg("id"), nb::arg("name"), nb::arg("box"))
      .def("remove", &view::Regions::remove, nb::arg("id"))
      .def("all",
           [](const view::Regions& regions) {
             std::vector<std::tuple<std::int64_t, std::string, BoxOfPython>> all;
             for (const auto& [id, name, box] : regions.all())
               all.emplace_back(id, name, BoxOfPython{box.x, box.y, box.width, box.height});
             return all;
           })
      .def_prop_ro("revision", &view::Regions::revision);
}

}  // namespace areal::python
