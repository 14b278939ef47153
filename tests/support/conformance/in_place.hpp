#pragma once
// A table in its image's place: input and table have elements of one size, and the border is `none`.

#include <optional>
#include <string>
#include "conformance/sat_case.hpp"
#include "conformance/shapes.hpp"

namespace areal::conformance {

inline constexpr const char* in_place_pairs[] = {"32u32u", "32s32s", "32f32f", "64f64f", "64u64u", "64s64s"};

struct InPlace {
  Shape image;
  TypePair types;
  PlanOptions options;
  Placement place;
};

/// As fault_of, of one execute in host memory whose sum takes the image's place.
inline std::string fault_in_place(const InPlace& p) {
  try {
    PlanOptions options = p.options;
    options.border = Border::none;
    if (p.image.layout == Layout::interleaved && p.image.channels > 1) options.tables = Layout::interleaved;
    const SatPlan plan = plan_of(p.image, p.types, options);
    const Values image =
        random_image(p.types.input, p.image, options.ignore_nan ? Fill::holes : Fill::wild, base_seed());
    std::optional<Values> mask;
    if (options.mask) mask = random_mask(Shape{p.image.width, p.image.height, 1, p.image.batch}, base_seed());
    SatCase c{p.image, p.types, options, p.place, p.place};
    SatMemory memory(c, plan, image, mask ? &*mask : nullptr);
    memory.poison(0x77);
    Buffer both(p.types.table, plan.table_shape(), p.place, Guard::output);
    write(image, both.view());
    SatArguments arguments = memory.arguments();
    arguments.image = ConstView(both.view().data, p.types.input, p.image, both.view().row_pitch,
                                both.view().plane_pitch, both.view().batch_pitch);
    arguments.sum = both.view();
    GuardedWorkspace workspace(plan.workspace_bytes(), 0xA5);
    plan.execute(arguments, workspace.prepare(plan));
    memory.sum = std::move(both);
    return fault_in(memory, expected_tables(c, image, mask ? &*mask : nullptr));
  } catch (const Error& error) {
    return std::string("threw: ") + error.what();
  }
}

}  // namespace areal::conformance
