#include "dropin.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <list>
#include <utility>

namespace areal::python::dropin {
namespace {

template <class V, class Array>
std::optional<V> view_as(const Array& array, bool volume) {
  const std::size_t dimensions = array.ndim();
  if (dimensions != 2 && dimensions != 3)
    throw InvalidArgument("an array of " + std::to_string(dimensions) + " dimensions: it must have 2 or 3");
  const auto extent = [&](std::size_t i) { return static_cast<std::int64_t>(array.shape(i)); };
  const std::size_t h = dimensions == 3 && volume ? 1 : 0, w = h + 1;
  Shape shape{extent(w), extent(h)};
  if (dimensions == 3) (volume ? shape.batch : shape.channels) = extent(volume ? 0 : 2);
  const Type type = type_of_dtype(array.dtype());
  if (shape.empty()) return V(array.data(), type, shape);

  const auto is_step = [&](std::size_t i, std::int64_t step) { return extent(i) == 1 || array.stride(i) == step; };
  if (dimensions == 3 && !volume && !is_step(2, 1)) return std::nullopt;
  if (!is_step(w, shape.channels)) return std::nullopt;
  const std::int64_t row = shape.width * shape.channels;
  const std::int64_t row_pitch = shape.height == 1 ? row : array.stride(h);
  if (row_pitch < row) return std::nullopt;
  const std::int64_t plane = row_pitch * shape.height;
  const std::int64_t batch_pitch = shape.batch == 1 ? plane : array.stride(0);
  if (batch_pitch < plane) return std::nullopt;
  const auto size = static_cast<std::int64_t>(size_of(type));
  return V(array.data(), type, shape, row_pitch * size, 0, batch_pitch * size);
}

struct KeptPlans {
  struct Row {
    PlanKey key;
    std::shared_ptr<KeptPlan> plan;
  };
  std::mutex mutex;
  std::list<Row> rows;  // the latest first
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

std::optional<ConstView> read_view(const AnyArray& array, bool volume) { return view_as<ConstView>(array, volume); }
std::optional<View> write_view(const nb::ndarray<>& array, bool volume) { return view_as<View>(array, volume); }

std::optional<TypePair> pair_of(Type input, Type table) {
  for (const TypePair types : {TypePair{input, table}, TypePair{input, other_signedness(table)}})
    if (std::find(type_pairs().begin(), type_pairs().end(), types) != type_pairs().end()) return types;
  return std::nullopt;
}

Type type_of(Squares squares) {
  return squares == Squares::u32 ? Type::u32 : squares == Squares::u64 ? Type::u64 : Type::f64;
}

Execution execution() {
  Execution made;
  made.backend = Backend::cpu;
  return made;
}

KeptPlan::KeptPlan(const PlanKey& key)
    : plan_([&] {
        SatOptions options;
        options.border = key.border, options.types = key.types, options.squares = key.squares;
        options.tilted = key.tilted, options.volume = key.volume;
        options.tables = key.image.layout;
        return SatPlan(key.image, key.types.input, options, execution());
      }()) {}

void KeptPlan::execute(const SatArguments& arguments) {
  std::unique_ptr<Workspace> workspace;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) workspace = std::move(idle_.back()), idle_.pop_back();
  }
  if (!workspace) workspace = std::make_unique<Workspace>(plan_);
  plan_.execute(arguments, *workspace);
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(workspace));
}

std::shared_ptr<KeptPlan> kept_plan(const PlanKey& key) {
  static KeptPlans kept;
  const std::lock_guard lock(kept.mutex);
  for (auto at = kept.rows.begin(); at != kept.rows.end(); ++at)
    if (at->key == key) {
      kept.rows.splice(kept.rows.begin(), kept.rows, at);
      return at->plan;
    }
  kept.rows.push_front({key, std::make_shared<KeptPlan>(key)});
  if (kept.rows.size() > 64) kept.rows.pop_back();
  return kept.rows.front().plan;
}

}  // namespace areal::python::dropin
