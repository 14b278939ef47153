// The doors of cascades: detections in each image of the batch.

#include <areal/cascade.hpp>
#include <fstream>
#include <iterator>

#include "door.hpp"
#include "run.hpp"
#include "tables.hpp"

namespace doors {
namespace {

areal::BoxSize size_of(const Question& q, const char* param) {
  const auto [width, height] = q.pair(param, 0, 0);
  return {width, height};
}

areal::DetectOptions options_of(const Question& q) {
  areal::DetectOptions options;
  if (q.has_param("scale_factor")) options.scale_factor = number_of(q.param("scale_factor"));
  options.min_neighbors = q.number("min_neighbors", options.min_neighbors);
  options.min_size = size_of(q, "min_size");
  options.max_size = size_of(q, "max_size");
  return options;
}

std::vector<areal::Detection> found(const Question& q, const areal::Cascade& cascade, areal::ConstView images,
                                    std::int64_t n) {
  images.data = static_cast<const std::byte*>(images.data) + n * images.batch_pitch;
  images.shape.batch = 1;
  return areal::detect(cascade, images, options_of(q), execution_of(q));
}

Json answered(const Question& q, const std::vector<std::vector<areal::Detection>>& all) {
  Json answer = q.answer();
  answer["detections"] = Json::array();
  for (const auto& of_image : all) {
    Json boxes = Json::array();
    for (const areal::Detection& box : of_image) boxes.push_back({box.x, box.y, box.width, box.height, box.neighbors});
    answer["detections"].push_back(boxes);
  }
  return answer;
}

/// One image after another.
Json loaded(const Question& q) {
  Inputs inputs(q);
  const areal::Cascade cascade = areal::Cascade::load(q.text("cascade"));
  std::vector<std::vector<areal::Detection>> all;
  for (std::int64_t n = 0; n < inputs.image_view().shape.batch; ++n)
    all.push_back(found(q, cascade, inputs.image_view(), n));
  inputs.expect_unchanged();
  return answered(q, all);
}

/// All images at once, by threads that share a cascade, and each image twice.
Json shared(const Question& q) {
  Inputs inputs(q);
  std::ifstream file(q.text("cascade"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const areal::Cascade parsed = areal::Cascade::parse(text), cascade = parsed;
  const auto images = static_cast<int>(inputs.image_view().shape.batch);
  std::vector<std::vector<areal::Detection>> all(static_cast<std::size_t>(2 * images));
  on_threads(2 * images,
             [&](int i) { all[static_cast<std::size_t>(i)] = found(q, cascade, inputs.image_view(), i % images); });
  inputs.expect_unchanged();
  for (int i = 0; i < images; ++i)
    if (all[static_cast<std::size_t>(i)] != all[static_cast<std::size_t>(images + i)])
      throw Failed("detections of one image that differ");
  all.resize(static_cast<std::size_t>(images));
  return answered(q, all);
}

const std::vector<Door> doors = {{"cascade", {"cascade"}, loaded}, {"cascade-shared", {"cascade"}, shared}};

}  // namespace

std::span<const Door> cascade_doors() { return doors; }

}  // namespace doors
