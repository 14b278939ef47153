#include "sat_plans.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <limits>

namespace areal::python {
namespace {

/// The largest magnitude of a corner's sum, saturated to 64 bits.
bool fits_signed_32(const Shape& shape, Type input, bool volume) {
  const std::uint64_t most = input == Type::u8    ? 255
                             : input == Type::s8  ? 128
                             : input == Type::u16 ? 65535
                                                  : 1ULL << 32;
  std::uint64_t sum = most;
  for (const std::int64_t extent : {shape.width, shape.height, volume ? shape.batch : 1})
    if (__builtin_mul_overflow(sum, static_cast<std::uint64_t>(extent), &sum)) return false;
  return sum <= std::numeric_limits<std::int32_t>::max();
}

bool is_pair(TypePair types) {
  const auto all = type_pairs();
  return std::find(all.begin(), all.end(), types) != all.end();
}

/// The pair to compute, and the type of the framework's table, which may be its signed counterpart.
struct Types {
  TypePair pair;
  Type table;
};
Types types_of(const PlanKey& key, const Options& options) {
  if (options.table) {
    const Type requested = *options.table;
    if (!key.is_numpy && !is_pair({key.input, requested}))
      // Tables wrap modulo 2^k, so both types have the same bits.
      for (const Type same : {signed_type(requested), unsigned_type(requested)})
        if (is_pair({key.input, same})) return {{key.input, same}, requested};
    return {{key.input, requested}, requested};  // the plan reports an unsupported pair
  }
  TypePair types = default_types(key.image, key.input, key.axes->volume);
  if (!key.is_signed || is_float(types.table)) return {types, types.table};
  if (size_of(types.table) == 4 && !fits_signed_32(key.image, key.input, key.axes->volume)) {
    const TypePair wider{key.input, is_signed_integer(key.input) ? Type::s64 : Type::u64};
    if (is_pair(wider)) types = wider;
  }
  return {types, signed_type(types.table)};
}

SatOptions sat_options(const PlanKey& key, const Options& options) {
  SatOptions made = options.sat;
  made.volume = key.axes->volume, made.tables = key.tables;
  made.types = types_of(key, options).pair;
  return made;
}

}  // namespace

PlannedTable::PlannedTable(const PlanKey& key, const Options& options)
    : planned(key.image, key.input, sat_options(key, options), execution_for(options.execution, key)),
      table(types_of(key, options).table) {
  const SatPlan& plan = planned.plan;
  says = nb::make_tuple(key.axes->letters, name_of(plan.options().border), plan.options().reverse,
                        numpy_name(key.input), plan.algorithm(), plan.reason(), name_of(plan.backend()));
}

std::shared_ptr<PlannedTable> planned_table(SatPlans& plans, const Options& options, PlanKey key,
                                            const std::optional<Framework>& on) {
  key.options = options.number, key.is_forked = is_forked_child();
  if (on) key.is_numpy = on->is_numpy(), key.is_signed = on->is_signed();
  return plans.get(key, [&] { return std::make_shared<PlannedTable>(key, options); });
}

Type table_type(const PlanKey& key, const Options& options) { return types_of(key, options).table; }

}  // namespace areal::python
