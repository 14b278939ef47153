#include "pieces/core/filter_work.hpp"
#include "api/core/require.hpp"
#include "api/filter/filter_plan.hpp"
#include "pieces/core/window_work.hpp"

namespace areal::pieces {
namespace {

FilterPlan whole_plan(const Shape& image, Type in, Type out, const Filter& filter, const FilterOptions& options,
                      Execution execution) {
  if (execution.backend == Backend::automatic) execution.backend = Backend::cpu;
  require(execution.backend == Backend::cpu, "backend ", name_of(execution.backend),
          ": filters by strips run on the CPU");
  FilterPlan plan(image, in, out, filter, options, execution);
  const std::string_view why = plan.state().needs_the_whole();
  require(why.empty(), "this filter takes whole images: ", why);
  return plan;
}

class FilterStep final : public Step {
 public:
  explicit FilterStep(const FilterPlan& whole) : whole_(whole), workspace_(whole_) {}

  void execute(const Views& views) override {
    FilterArguments arguments{.image = views.inputs[0], .out = views.outputs[0]};
    if (views.inputs.size() > 1) (whole_.options().mask ? arguments.mask : arguments.guide) = views.inputs[1];
    arguments.out.shape.width = whole_.out_shape().width;
    const Part& part = views.part;
    whole_.state().run_rows(arguments, {part.first_row(), part.pixels.y, part.end()}, workspace_.state()->memory);
  }

 private:
  FilterPlan whole_;
  Workspace workspace_;
};

}  // namespace

FilterWork::FilterWork(const Shape& image, Type in, Type out, const Filter& filter, const FilterOptions& options,
                       const Execution& execution)
    : whole_(whole_plan(image, in, out, filter, options, execution)) {
  execution_ = whole_.execution();
  form_.inputs.push_back({in, image.channels, image.layout});
  if (options.mask) form_.inputs.push_back({Type::u8, 1, Layout::interleaved});
  if (options.guide > 0) form_.inputs.push_back({options.guide_type.value_or(in), options.guide, image.layout});
  form_.outputs.push_back({out, image.channels, image.layout});
  form_.margin = 0;
  form_.downloads = true;
  form_.usual_bytes = std::uint64_t{64} << 20;
  form_.halo = halo_of(whole_.state().rows, std::holds_alternative<filter::Guided>(filter));
  form_.halo.is_made = false;
}

std::size_t FilterWork::workspace_bytes(std::int64_t, std::int64_t) const { return whole_.workspace_bytes(); }
std::unique_ptr<Step> FilterWork::plan(std::int64_t, std::int64_t, Stream) const {
  return std::make_unique<FilterStep>(whole_);
}

}  // namespace areal::pieces
