#include "dropin.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <list>
#include <mutex>
#include <string>
#include <utility>

namespace areal::python::dropin {
namespace {

template <class V>
std::optional<V> view_as(const ArrayRef& array, const char* name, bool volume) {
  const std::size_t dimensions = array.dimensions;
  if (dimensions != 2 && dimensions != 3)
    throw InvalidArgument(std::string(name) + " has " + std::to_string(dimensions) +
                          " dimensions: it must have 2 or 3");
  const std::size_t h = dimensions == 3 && volume ? 1 : 0, w = h + 1;
  Shape shape{array.extents[w], array.extents[h]};
  if (dimensions == 3) (volume ? shape.batch : shape.channels) = array.extents[volume ? 0 : 2];
  if (shape.empty()) return V(array.data, array.type, shape);

  const auto is_step = [&](std::size_t i, std::int64_t step) {
    return array.extents[i] == 1 || array.strides[i] == step;
  };
  if (dimensions == 3 && !volume && !is_step(2, 1)) return std::nullopt;
  if (!is_step(w, shape.channels)) return std::nullopt;
  const std::int64_t row = shape.width * shape.channels;
  const std::int64_t row_pitch = shape.height == 1 ? row : array.strides[h];
  if (row_pitch < row) return std::nullopt;
  const std::int64_t plane = row_pitch * shape.height;
  const std::int64_t batch_pitch = shape.batch == 1 ? plane : array.strides[0];
  if (batch_pitch < plane) return std::nullopt;
  const auto size = static_cast<std::int64_t>(size_of(array.type));
  return V(array.data, array.type, shape, row_pitch * size, 0, batch_pitch * size);
}

struct KeptPlans {
  struct Row {
    PlanKey key;
    std::shared_ptr<PlannedSat> plan;
  };
  std::mutex mutex;
  std::list<Row> rows;  // the most recently used first
};

Type other_signedness(Type type) {
  switch (type) {
    case Type::u32:
      return Type::s32;
    case Type::s32:
      return Type::u32;
    case Type::u64:
      return Type::s64;
    case Type::s64:
      return Type::u64;
    default:
      return type;
  }
}

}  // namespace

std::optional<ConstView> read_view(nb::handle array, const char* name, bool volume) {
  const std::optional<ArrayRef> found = array_ref(array, name);
  if (!found) return std::nullopt;
  return view_as<ConstView>(*found, name, volume);
}

View write_view(nb::handle array, const char* name, bool volume) {
  if (const std::optional<ArrayRef> found = array_ref(array, name, true))
    if (const std::optional<View> view = view_as<View>(*found, name, volume)) return *view;
  throw InvalidArgument(std::string(name) +
                        ": it cannot be written to, as its elements do not lie in rows of neighbours");
}

std::optional<TypePair> pair_of(Type input, Type table) {
  for (const TypePair types : {TypePair{input, table}, TypePair{input, other_signedness(table)}})
    if (std::find(type_pairs().begin(), type_pairs().end(), types) != type_pairs().end()) return types;
  return std::nullopt;
}

Type type_of(Squares squares) {
  switch (squares) {
    case Squares::u32:
      return Type::u32;
    case Squares::u64:
      return Type::u64;
    case Squares::f32:
      return Type::f32;
    default:
      return Type::f64;
  }
}

Execution execution() {
  Execution made;
  made.backend = Backend::cpu;
  return made;
}

std::shared_ptr<PlannedSat> kept_plan(const PlanKey& key) {
  static auto& kept = *new KeptPlans;  // never destroyed: threads may still execute while the process ends
  const std::lock_guard lock(kept.mutex);
  for (auto at = kept.rows.begin(); at != kept.rows.end(); ++at)
    if (at->key == key) {
      kept.rows.splice(kept.rows.begin(), kept.rows, at);
      return at->plan;
    }
  SatOptions options;
  options.border = key.border, options.types = key.types, options.squares = key.squares;
  options.tilted = key.tilted, options.volume = key.volume;
  options.tables = key.image.layout;
  kept.rows.push_front({key, std::make_shared<PlannedSat>(key.image, key.types.input, options, execution())});
  if (kept.rows.size() > 64) kept.rows.pop_back();
  return kept.rows.front().plan;
}

}  // namespace areal::python::dropin
