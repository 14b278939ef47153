#pragma once
// Tensors that a door has made, and what every such door answers of them: the tensor, histograms of regions, measures
// of these, maps of a distance.

#include <areal/binning.hpp>
#include <areal/histogram_store.hpp>
#include <areal/histogram_tensor.hpp>
#include <areal/table.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "elements.hpp"
#include "question.hpp"
#include "room.hpp"

namespace doors {

/// The weights for each image of a batch.
std::optional<Elements> weights_elements(const Question& question, std::int64_t images);

/// The image and the weights of a question.
struct HistogramInputs {
  explicit HistogramInputs(const Question& question);
  areal::ConstView image_view() const { return image.view(); }
  areal::ConstView weights_view() const { return weights ? std::as_const(*weights).view() : areal::ConstView(); }
  void expect_unchanged();
  Room image;
  std::optional<Room> weights;
};

struct Tensor {
  areal::ConstView view;  ///< planar: channels are bins; the batch are images
  areal::Border border = areal::Border::none;
  std::string ran;
  std::shared_ptr<void> keep;  ///< owns the memory
  areal::TensorView of_image(std::int64_t n) const;
};
/// In a room, checked for writes around it.
Tensor tensor_in(std::shared_ptr<Room> room, areal::Border border);
Tensor tensor_of(std::shared_ptr<areal::HistogramTensor> tensor);

/// The tensor where the question has no regions, else their histograms; of the families measures and distance-map,
/// these.
Json respond(const Question& question, const Tensor& tensor);
/// [image][region][bin], where the histograms of all regions follow each other.
template <class T>
Json histograms_json(const std::vector<T>& values, std::int64_t bins);
Json answer_measures(const Question& question, const Tensor& tensor);
/// Of the regions, in each image of a store.
Json answer_histograms(const Question& question, const areal::HistogramStore& store);
Json answer_distance_map(const Question& question, const Tensor& tensor);

}  // namespace doors

template <class T>
doors::Json doors::histograms_json(const std::vector<T>& values, std::int64_t bins) {
  Json all = Json::array();
  for (std::size_t i = 0; i < values.size(); i += static_cast<std::size_t>(bins)) {
    Json one = Json::array();
    for (std::size_t b = i; b < i + static_cast<std::size_t>(bins); ++b) {
      if constexpr (std::is_floating_point_v<T>)
        one.push_back(hex(values[b]));
      else
        one.push_back(values[b]);
    }
    all.push_back(std::move(one));
  }
  return all;
}
