// The algorithms of Poostchi et al. 2017 on a tensor of 2 bins x 48 x 64, in tiles of 16 x 16.

#include "api/core/pixel_rule.hpp"
#include "api/histogram/histogram_request.hpp"
#include "cases.hpp"
#include "kernels/histogram/poostchi/cw-b.hpp"
#include "kernels/histogram/poostchi/cw-sts.hpp"
#include "kernels/histogram/poostchi/cw-tis.hpp"
#include "kernels/histogram/poostchi/wf-tis.hpp"
#include "simt/plan.hpp"
#include "warp_log.hpp"

namespace areal::simt {
namespace {

using T = std::uint32_t;
template <class Counter>
using CwB = kernels::CrossWeaveBaseline<Counter>;
template <class Counter>
using CwSts = kernels::ScanTransposeScan<Counter>;

template <template <class> class Algorithm>
void trace(Logs& logs, const char* id) {
  const Shape shape{64, 48};
  const Binning binning = Binning::uniform(2, 0, 256);
  const kernels::HistogramRequest request =
      histogram_request(shape, pixel_bins(binning, Type::u8, 1), {}, {.tile = 16}, id);
  const auto plan = make_plan<kernels::Histogram>(request);
  Array image(shape, Type::u8), tensor({shape.width, shape.height, binning.bins(), 1, Layout::planar}, Type::u32),
      workspace({static_cast<std::int64_t>(plan->workspace_bytes()), 1}, Type::u8);
  for (std::size_t i = 0; i < image.bytes(); ++i) image.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 37);
  plan->prepare(workspace.data(), Stream::host());

  WarpLog log;
  log.name("image", image.data(), shape.width, shape.height, 1);
  log.name("tensor", tensor.data(), shape.width, shape.height * binning.bins());
  // Behind the rule's table.
  const char* const first =
      kernels::first_in(workspace.data()) + kernels::padded(static_cast<std::int64_t>(request.tables.size()));
  const std::string name = id;
  if (name == "cw-b" || name == "cw-sts")
    log.name("transposed", first, shape.height, shape.width * binning.bins());
  else if (name == "wf-tis")
    log.name("saved", first, shape.height, binning.bins());
  Launcher launcher(log.options());
  kernels::PlainHistogram<Launcher, T, Algorithm>::execute(launcher, request, {image.view(), tensor.view()},
                                                           workspace.data());
  logs.add(log, name);
}

}  // namespace

void trace_poostchi() {
  Logs logs("poostchi");
  trace<CwB>(logs, "cw-b");
  trace<CwSts>(logs, "cw-sts");
  trace<kernels::CrossWeaveTiled>(logs, "cw-tis");
  trace<kernels::WavefrontTiled>(logs, "wf-tis");
}

}  // namespace areal::simt
