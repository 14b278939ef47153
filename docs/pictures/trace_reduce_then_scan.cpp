// The integral histogram's three launches, on an image of 4 x 4 tiles and 8 bins.

#include "api/core/pixel_rule.hpp"
#include "api/histogram/histogram_request.hpp"
#include "cases.hpp"
#include "kernels/histogram/reduce_then_scan/reduce-then-scan.hpp"
#include "recorder.hpp"
#include "simt/plan.hpp"

namespace areal::simt {

void trace_reduce_then_scan() {
  const Shape shape{4 * 128, 4 * 64};
  const Binning binning = Binning::uniform(8, 0, 256);
  const kernels::HistogramRequest request =
      histogram_request(shape, pixel_bins(binning, Type::u8, 1), {}, {}, "reduce-then-scan");
  const auto plan = make_plan<kernels::Histogram>(request);
  Array image(shape, Type::u8), tensor({shape.width, shape.height, binning.bins(), 1, Layout::planar}, Type::u32),
      workspace({static_cast<std::int64_t>(plan->workspace_bytes()), 1}, Type::u8);
  for (std::size_t i = 0; i < image.bytes(); ++i) image.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 37);
  plan->prepare(workspace.data(), Stream::host());

  Recorder recorder;
  recorder.add({"image", static_cast<const char*>(image.data()), image.bytes(), 1, shape.width, shape.height});
  recorder.add({"tensor", static_cast<const char*>(tensor.data()), tensor.bytes(), 4, shape.width, shape.height});
  const kernels::ReduceThenScanPlan<std::uint32_t> names(request, workspace.data());
  recorder.add("rule", names.tables, 1);
  recorder.add("numbers", names.args.numbers, 16, kernels::tile_squares * kernels::warp_size * 16);
  recorder.add("rows", names.args.rows, 1, kernels::tile_height);
  recorder.add("columns", names.args.columns, 1, kernels::tile_width);
  recorder.add("left", names.left, 2, 2 * kernels::tile_height);  // 16 bits are enough for this image
  recorder.add("above", names.above, 2, 2 * kernels::tile_width);
  recorder.add("corners", names.args.corners, 4, 4);
  recorder.close(static_cast<const char*>(workspace.data()) + workspace.bytes());
  Options options;
  options.residents = 6;
  options.trace = [&](const Event& event) { recorder(event); };
  const auto launches = execute<kernels::Histogram>(request, {image.view(), tensor.view()}, workspace.data(), options);
  recorder.write("reduce-then-scan", "8u32u", launches);
}

}  // namespace areal::simt
