#include "pieces/core/table_work.hpp"
#include <algorithm>
#include <utility>
#include "api/core/planned.hpp"

namespace areal::pieces {
namespace {

class TableStep final : public Step {
 public:
  TableStep(SatPlan plan, Stream stream) : planned_(std::move(plan), stream) {}

  void execute(const Views& views) override {
    SatArguments arguments;
    arguments.image = views.inputs[0];
    if (views.inputs.size() > 1) arguments.mask = views.inputs[1];
    arguments.sum = views.outputs[0], arguments.carry = views.carries[0];
    std::size_t t = 1;
    if (planned_.plan.squares_type())
      arguments.squares = views.outputs[t], arguments.squares_carry = views.carries[t], ++t;
    if (t < views.outputs.size()) arguments.count = views.outputs[t], arguments.count_carry = views.carries[t];
    planned_.plan.execute(arguments, planned_.workspace);
  }

 private:
  Planned<SatPlan> planned_;
};

}  // namespace

TableWork::TableWork(const Shape& image, Type type, const SatOptions& options, const Execution& execution,
                     Tables tables)
    : image_(image), type_(type), options_(options) {
  execution_ = execution;
  options_.carries = form_.carried = form_.downloads = tables == Tables::leave;
  form_.margin = options.border == Border::zero ? 1 : 0;
  form_.carry_lead = 1 - form_.margin;  // else the row begins with the corner
  form_.reverse = options.reverse;
  // What a plan of one part refuses, and its backend; it takes no memory.
  const SatPlan first = plan_of(image.width, std::min<std::int64_t>(image.height, 256));
  execution_ = first.execution();
  // On the host, tables that stay in a cache until they are given out; on a device, copies that are worth their calls.
  if (on_cuda()) form_.usual_bytes = std::uint64_t{64} << 20;
  form_.inputs.push_back({type, image.channels, image.layout});
  if (options.mask) form_.inputs.push_back({Type::u8, 1, Layout::interleaved});
  form_.outputs.push_back({first.types().table, image.channels, options.tables});
  if (first.squares_type()) form_.outputs.push_back({*first.squares_type(), image.channels, options.tables});
  if (options.mask || options.ignore_nan) form_.outputs.push_back({Type::u32, 1, options.tables});
}

SatPlan TableWork::plan_of(std::int64_t width, std::int64_t height) const {
  return SatPlan({width, height, image_.channels, 1, image_.layout}, type_, options_, execution_);
}
std::size_t TableWork::workspace_bytes(std::int64_t width, std::int64_t height) const {
  return plan_of(width, height).workspace_bytes();
}
std::unique_ptr<Step> TableWork::plan(std::int64_t width, std::int64_t height, Stream stream) const {
  return std::make_unique<TableStep>(plan_of(width, height), stream);
}

}  // namespace areal::pieces
